/* SPDX-License-Identifier: MIT */
/* dftmerge spans between: how long it takes from one event of a root to another. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "spans/analysis.h"
#include "spans/distribution.h"
#include "spans/moment.h"
#include "spans/picture.h"

struct between {
    struct dft_spans_analysis analysis;
    enum dft_spans_picture_kind kind;
    uint32_t from, to;
    struct dft_spans_point *points; /* Unix ns, and ns */
    uint32_t *roots;                /* the span of each point */
    size_t count;
    struct dft_spans_distribution distribution;
};

/* The first event of a kind at or behind a place in a root's events; their count: there is none. */
static size_t next_of(const struct dft_spans_walk *walk, size_t at, uint32_t kind)
{
    while (at < walk->count && walk->events[at].kind != kind)
        at++;
    return at;
}

/* The time of the root that was walked last. Returns whether it has both events. */
static int measure_root(const struct between *between, struct dft_spans_point *point)
{
    const struct dft_spans_walk *walk = &between->analysis.walk;
    size_t from = next_of(walk, 0, between->from), to = from;

    if (from == walk->count)
        return 0;
    to = next_of(walk, from + 1, between->to);
    /* events of one moment are in order of their names, so the end may stand before */
    for (size_t k = from; k-- > 0 && walk->events[k].ns == walk->events[from].ns;)
        if (walk->events[k].kind == between->to)
            to = k;
    if (to == walk->count)
        return 0;
    *point = (struct dft_spans_point){walk->events[from].ns, walk->events[to].ns - walk->events[from].ns};
    return 1;
}

static int measure(struct between *between)
{
    struct dft_spans_walk *walk = &between->analysis.walk;
    uint32_t *point_of = malloc((walk->nroots + 1) * sizeof *point_of); /* by root; DFT_SPANS_NONE: none */
    int rc = 0;

    between->points = malloc((walk->nroots + 1) * sizeof *between->points);
    between->roots = malloc((walk->nroots + 1) * sizeof *between->roots);
    if (!between->points || !between->roots || !point_of)
        rc = -ENOMEM;
    for (size_t i = 0; !rc && i < walk->nroots; i++) {
        struct dft_spans_point *point = &between->points[between->count];
        uint32_t like = walk->like[i];
        int has = like < i && point_of[like] != DFT_SPANS_NONE;

        if (has)
            *point = between->points[point_of[like]];
        if (like == i)
            rc = dft_spans_walk_root(walk, i);
        if (!rc && like == i)
            has = measure_root(between, point);
        point_of[i] = has ? (uint32_t)between->count : DFT_SPANS_NONE;
        between->roots[between->count] = walk->roots[i];
        between->count += has;
    }
    free(point_of);
    return rc ? rc : dft_spans_distribution_make(&between->distribution, between->points, between->count);
}

static const char *uuid_of(const struct between *between, size_t i, size_t *length)
{
    const struct dft_spans_model *model = &between->analysis.model;
    const struct dft_spans_span *span = &model->spans[between->roots[i]];

    *length = span->length;
    return model->uuids + span->uuid;
}

static const char *kind_name(const struct between *between, uint32_t kind)
{
    return between->analysis.model.kinds[kind].name;
}

static void print_text(const struct between *between)
{
    char start[DFT_SPANS_MOMENT_CAPACITY], duration[DFT_SPANS_MOMENT_CAPACITY], sentence[DFT_SPANS_SENTENCE];

    printf("%20s %15s root\n", "start", "duration");
    for (size_t i = 0; i < between->count; i++) {
        size_t length;
        const char *uuid = uuid_of(between, i, &length);

        printf("%20s %15s ", dft_spans_moment_text(start, between->points[i].x),
               dft_spans_moment_text(duration, between->points[i].y));
        dft_text_escape(stdout, uuid, length);
        putchar('\n');
    }
    dft_spans_distribution_text(sentence, &between->distribution);
    printf("\n%s\n", sentence);
}

static void print_csv(const struct between *between)
{
    puts("root,start_ns,duration_ns");
    for (size_t i = 0; i < between->count; i++) {
        size_t length;
        const char *uuid = uuid_of(between, i, &length);

        dft_csv_text(stdout, uuid, length);
        printf(",%lld,%lld\n", (long long)between->points[i].x, (long long)between->points[i].y);
    }
}

static void print_json(const struct between *between)
{
    const struct dft_spans_analysis *analysis = &between->analysis;
    struct dft_json json;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_string(&json, "root", analysis->model.types[analysis->type].name);
    dft_json_string(&json, "from", kind_name(between, between->from));
    dft_json_string(&json, "to", kind_name(between, between->to));
    dft_json_uint(&json, "roots", analysis->walk.nroots);
    dft_spans_distribution_json(&json, &between->distribution);
    dft_json_array(&json, "times");
    for (size_t i = 0; i < between->count; i++) {
        size_t length;
        const char *uuid = uuid_of(between, i, &length);

        dft_json_object(&json, NULL);
        dft_json_text(&json, "root", uuid, length);
        dft_json_int(&json, "start_ns", between->points[i].x);
        dft_json_int(&json, "duration_ns", between->points[i].y);
        dft_json_end_object(&json);
    }
    dft_json_end_array(&json);
    dft_json_end_object(&json);
}

static int draw(const struct between *between)
{
    char sentence[DFT_SPANS_SENTENCE], *title;
    struct dft_spans_picture picture = {
        between->kind,           NULL, sentence, "start, since the first", "duration", between->points, between->count,
        &between->analysis.asked};
    int rc;

    if (asprintf(&title, "From %s to %s", kind_name(between, between->from), kind_name(between, between->to)) < 0)
        return -ENOMEM;
    picture.title = title;
    dft_spans_distribution_text(sentence, &between->distribution);
    rc = dft_spans_draw(&between->analysis.asked, dft_spans_picture_draw, &picture);
    free(title);
    return rc;
}

static int print(const struct between *between)
{
    const struct dft_spans_asked *asked = &between->analysis.asked;
    int rc = 0;

    if (!between->count && !asked->options.json && !asked->options.csv) {
        fprintf(stderr, "dftmerge spans: of %zu roots, none has the event --from and then the event --to%s\n",
                between->analysis.walk.nroots, asked->output ? "; no picture was written" : "");
        return DFT_EXIT_BAD;
    }
    if (asked->output && between->count)
        rc = draw(between);
    if (asked->options.json)
        print_json(between);
    else if (asked->options.csv)
        print_csv(between);
    else if (!asked->output)
        print_text(between);
    return rc;
}

/* Returns 0, or the exit code after an error. */
static int understand(struct between *between)
{
    const struct dft_spans_asked *asked = &between->analysis.asked;
    int kind = dft_spans_picture_parse(asked);

    if (kind < 0)
        return DFT_EXIT_USAGE;
    between->kind = (enum dft_spans_picture_kind)kind;
    if (!asked->from || !asked->to) {
        fprintf(stderr,
                "dftmerge spans between: --from EVENT and --to EVENT are needed; `dftmerge spans types %s` "
                "lists the events\n",
                asked->file);
        return DFT_EXIT_USAGE;
    }
    between->from = dft_spans_model_kind(&between->analysis.model, "--from", asked->from);
    if (between->from != DFT_SPANS_NONE)
        between->to = dft_spans_model_kind(&between->analysis.model, "--to", asked->to);
    return between->from == DFT_SPANS_NONE || between->to == DFT_SPANS_NONE ? DFT_EXIT_BAD : 0;
}

static int run(int argc, char **argv)
{
    struct between between = {0};
    int code;

    if (dft_spans_analysis_begin(&between.analysis, &dft_spans_between,
                                 DFT_SPANS_TAKES_ROOT | DFT_SPANS_TAKES_ENDS | DFT_SPANS_TAKES_KIND |
                                     DFT_SPANS_TAKES_OUTPUT | DFT_SPANS_TAKES_SIZE | DFT_SPANS_TAKES_CSV,
                                 argc, argv, &code))
        return code;
    code = understand(&between);
    if (!code)
        code = measure(&between);
    if (!code)
        code = print(&between);
    free(between.points);
    free(between.roots);
    return dft_spans_analysis_end(&between.analysis, code);
}

const struct dft_command dft_spans_between = {
    .name = "spans between",
    .arguments = "FILE.db --from EVENT --to EVENT",
    .brief = "How long it takes from one event of a root to another: each, and the distribution",
    .details = "Takes the first event --from of each root, its subspans and facets, and the first event --to that does "
               "not happen before it. Prints a line for each root that has both: start and duration in seconds.",
    .example = "dftmerge spans between workflow.db --from running --to running_ended -o times.svg --kind histogram",
    .run = run,
};
