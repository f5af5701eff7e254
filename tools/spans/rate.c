/* SPDX-License-Identifier: MIT */
/* dftmerge spans rate: how often an event happens over time. */
#include <errno.h>
#include <stdlib.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "base/svg.h"
#include "spans/analysis.h"
#include "spans/intervals.h"
#include "spans/moment.h"

struct rate {
    struct dft_spans_analysis analysis;
    uint32_t kind;
    struct dft_spans_intervals intervals;
    uint64_t *counts; /* by interval */
};

static int count(struct rate *rate)
{
    const struct dft_spans_model *model = &rate->analysis.model;
    int64_t start = INT64_MAX, end = INT64_MIN;
    int rc;

    for (size_t i = 0; i < model->nevents; i++) {
        if (model->events[i].kind != rate->kind)
            continue;
        start = model->events[i].ns < start ? model->events[i].ns : start;
        end = model->events[i].ns > end ? model->events[i].ns : end;
    }
    rc = dft_spans_intervals_make(&rate->intervals, &rate->analysis.asked, start, end);
    if (rc)
        return rc;
    rate->counts = calloc(rate->intervals.count, sizeof *rate->counts);
    if (!rate->counts)
        return -ENOMEM;
    for (size_t i = 0; i < model->nevents; i++)
        if (model->events[i].kind == rate->kind)
            rate->counts[dft_spans_interval_of(&rate->intervals, model->events[i].ns)]++;
    return 0;
}

static int64_t start_of(const struct rate *rate, size_t i)
{
    return rate->intervals.start + (int64_t)(i * rate->intervals.width);
}

static double a_second(const struct rate *rate, size_t i)
{
    return (double)rate->counts[i] / ((double)rate->intervals.width / 1e9);
}

static void print_text(const struct rate *rate)
{
    printf("%20s %15s %12s %14s\n", "start", "since first", "events", "a second");
    for (size_t i = 0; i < rate->intervals.count; i++) {
        char start[DFT_SPANS_MOMENT_CAPACITY], since[DFT_SPANS_MOMENT_CAPACITY], number[DFT_TEXT_ROOM];

        printf("%20s %15s %12s %14.3f\n", dft_spans_moment_text(start, start_of(rate, i)),
               dft_spans_moment_text(since, start_of(rate, i) - rate->intervals.start),
               dft_text_count(number, rate->counts[i]), a_second(rate, i));
    }
}

static void print_csv(const struct rate *rate)
{
    puts("start_ns,events,per_second");
    for (size_t i = 0; i < rate->intervals.count; i++)
        printf("%lld,%llu,%.17g\n", (long long)start_of(rate, i), (unsigned long long)rate->counts[i],
               a_second(rate, i));
}

static void print_json(const struct rate *rate)
{
    const struct dft_spans_kind *kind = &rate->analysis.model.kinds[rate->kind];
    struct dft_json json;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_string(&json, "event", kind->name);
    dft_json_uint(&json, "events", kind->events);
    dft_spans_intervals_json(&json, &rate->intervals);
    dft_json_array(&json, "intervals");
    for (size_t i = 0; i < rate->intervals.count; i++) {
        dft_json_object(&json, NULL);
        dft_json_int(&json, "start_ns", start_of(rate, i));
        dft_json_uint(&json, "events", rate->counts[i]);
        dft_json_double(&json, "per_second", a_second(rate, i));
        dft_json_end_object(&json);
    }
    dft_json_end_array(&json);
    dft_json_end_object(&json);
}

/* A line through the middles of the intervals, and a bar for each to point at. */
static void put_line(struct dft_svg *svg, const struct rate *rate, const struct dft_scale *x, const struct dft_scale *y)
{
    for (size_t i = 0; i < rate->intervals.count; i++) {
        double left = dft_scale_at(x, (double)(i * rate->intervals.width));
        double right = dft_scale_at(x, (double)((i + 1) * rate->intervals.width));
        double top = dft_scale_at(y, (double)rate->counts[i]);
        char attributes[96], number[DFT_TEXT_ROOM];

        if (!rate->counts[i])
            continue;
        snprintf(attributes, sizeof attributes, " data-start-ns=\"%lld\" data-count=\"%llu\" fill-opacity=\"0.25\"",
                 (long long)start_of(rate, i), (unsigned long long)rate->counts[i]);
        dft_svg_bar(svg, "calls", left, top, right - left, y->from - top, attributes);
        fputs(dft_text_count(number, rate->counts[i]), svg->out);
        dft_svg_bar_end(svg);
    }
    fputs("<path fill=\"none\" stroke=\"#0072b2\" stroke-width=\"1.5\" d=\"", svg->out);
    for (size_t i = 0; i < rate->intervals.count; i++)
        fprintf(svg->out, "%c%.1f %.1f", i ? 'L' : 'M',
                dft_scale_at(x, ((double)i + 0.5) * (double)rate->intervals.width),
                dft_scale_at(y, (double)rate->counts[i]));
    fputs("\"/>\n", svg->out);
}

static int draw(void *context, FILE *out)
{
    const struct rate *rate = context;
    const struct dft_spans_asked *asked = &rate->analysis.asked;
    struct dft_scale x, y = {1, 0, 0, DFT_SVG_COUNT};
    char *title, text[128], label[64], a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM];
    struct dft_svg svg;

    if (asprintf(&title, "Rate of %s", rate->analysis.model.kinds[rate->kind].name) < 0)
        return -ENOMEM;
    dft_svg_begin(&svg, out, asked->width, asked->height, asked->title ? asked->title : title);
    free(title);
    for (size_t i = 0; i < rate->intervals.count; i++)
        y.most = rate->counts[i] > y.most ? rate->counts[i] : y.most;
    y.from = svg.bottom;
    y.to = svg.top;
    x = (struct dft_scale){rate->intervals.count * rate->intervals.width, svg.left, svg.right, DFT_SVG_NS};
    snprintf(text, sizeof text, "%s events in %s.", dft_text_count(a, rate->analysis.model.kinds[rate->kind].events),
             dft_text_ns(b, (uint64_t)(rate->intervals.end - rate->intervals.start)));
    dft_svg_sentence(&svg, text);
    snprintf(label, sizeof label, "events in %s", dft_text_ns(a, rate->intervals.width));
    dft_svg_y_axis(&svg, &y, label);
    put_line(&svg, rate, &x, &y);
    dft_svg_x_axis(&svg, &x, "time since the first such event");
    dft_svg_end(&svg);
    return 0;
}

/* Returns 0, -ENOMEM, or the exit code after an error. */
static int answer(struct rate *rate)
{
    const struct dft_spans_asked *asked = &rate->analysis.asked;
    int rc;

    if (!asked->event) {
        fprintf(stderr, "dftmerge spans rate: which event? --event EVENT; `dftmerge spans types %s` lists them\n",
                asked->file);
        return DFT_EXIT_USAGE;
    }
    rate->kind = dft_spans_model_kind(&rate->analysis.model, "--event", asked->event);
    if (rate->kind == DFT_SPANS_NONE)
        return DFT_EXIT_BAD;
    rc = count(rate);
    if (!rc && asked->output)
        rc = dft_spans_draw(asked, draw, rate);
    if (rc)
        return rc;
    if (asked->options.json)
        print_json(rate);
    else if (asked->options.csv)
        print_csv(rate);
    else if (!asked->output)
        print_text(rate);
    return 0;
}

static int run(int argc, char **argv)
{
    struct rate rate = {0};
    int code;

    if (dft_spans_analysis_begin(&rate.analysis, &dft_spans_rate,
                                 DFT_SPANS_TAKES_EVENT | DFT_SPANS_TAKES_INTERVAL | DFT_SPANS_TAKES_OUTPUT |
                                     DFT_SPANS_TAKES_SIZE | DFT_SPANS_TAKES_CSV,
                                 argc, argv, &code))
        return code;
    code = answer(&rate);
    free(rate.counts);
    return dft_spans_analysis_end(&rate.analysis, code);
}

const struct dft_command dft_spans_rate = {
    .name = "spans rate",
    .arguments = "FILE.db --event EVENT",
    .brief = "How often an event happens over time",
    .details = "Intervals count from the first such event.",
    .example = "dftmerge spans rate workflow.db --event parsl.monitoring.task/returned --interval 1 -o rate.svg",
    .run = run,
};
