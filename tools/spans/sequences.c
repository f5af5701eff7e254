/* SPDX-License-Identifier: MIT */
/* dftmerge spans sequences: in which orders the events of roots happen, and how long it takes from
 * one to the next. The command; the numbers are in orderings.c. */
#include <string.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "spans/analysis.h"
#include "spans/distribution.h"
#include "spans/orderings.h"

static void print_name(const struct dft_spans_model *model, uint32_t kind)
{
    dft_text_escape(stdout, model->kinds[kind].name, strlen(model->kinds[kind].name));
    putchar('\n');
}

static void print_others(const struct dft_spans_model *model, const struct dft_spans_orderings *orderings)
{
    for (size_t i = 1; i < orderings->count; i++) {
        const struct dft_spans_ordering *ordering = orderings->ordered[i];

        printf("%s\nCount: %llu\n", i == 1 ? "Other orderings of events" : "", (unsigned long long)ordering->roots);
        for (size_t k = 0; k < ordering->length; k++) {
            printf("    ");
            print_name(model, orderings->kinds[ordering->kinds + k]);
        }
    }
}

static void print_text(const struct dft_spans_analysis *analysis, const struct dft_spans_orderings *orderings)
{
    const struct dft_spans_model *model = &analysis->model;
    const struct dft_spans_ordering *most = orderings->ordered[0];
    double roots = (double)most->roots;

    printf("Looking for events rooted in span type ");
    dft_text_escape(stdout, model->types[analysis->type].name, strlen(model->types[analysis->type].name));
    printf("\nThere were %zu different orderings of events\nMost common count: %llu\n"
           "Mean times for most common event sequence (cumul, inter-event)\n",
           orderings->count, (unsigned long long)most->roots);
    for (size_t i = 0; i < most->length; i++) {
        const struct dft_spans_step *step = &orderings->steps[i];

        printf("%15.9f %15.9f %15.9f-%15.9f ", step->since_first / roots, step->since_before / roots, step->least,
               step->most);
        print_name(model, orderings->kinds[most->kinds + i]);
    }
    if (analysis->asked.all)
        print_others(model, orderings);
}

static void print_json(const struct dft_spans_analysis *analysis, const struct dft_spans_orderings *orderings)
{
    const struct dft_spans_model *model = &analysis->model;
    size_t shown = orderings->count && !analysis->asked.all ? 1 : orderings->count;
    struct dft_json json;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_string(&json, "root", model->types[analysis->type].name);
    dft_json_uint(&json, "roots", analysis->walk.nroots);
    dft_json_uint(&json, "roots_without_events", orderings->empty);
    dft_json_uint(&json, "different", orderings->count);
    dft_spans_steps_json(&json, model, orderings, SIZE_MAX);
    dft_json_array(&json, "orderings");
    for (size_t i = 0; i < shown; i++) {
        const struct dft_spans_ordering *ordering = orderings->ordered[i];

        dft_json_object(&json, NULL);
        dft_json_uint(&json, "count", ordering->roots);
        dft_json_array(&json, "events");
        for (size_t k = 0; k < ordering->length; k++)
            dft_json_string(&json, NULL, model->kinds[orderings->kinds[ordering->kinds + k]].name);
        dft_json_end_array(&json);
        dft_json_end_object(&json);
    }
    dft_json_end_array(&json);
    dft_json_end_object(&json);
}

static void csv_steps(const struct dft_spans_model *model, const struct dft_spans_orderings *orderings)
{
    const struct dft_spans_ordering *most = orderings->count ? orderings->ordered[0] : NULL;

    puts("event,since_first_mean_ns,since_before_mean_ns,since_before_min_ns,since_before_max_ns");
    for (size_t i = 0; most && i < most->length; i++) {
        const struct dft_spans_step *step = &orderings->steps[i];
        const char *name = model->kinds[orderings->kinds[most->kinds + i]].name;

        dft_csv_text(stdout, name, strlen(name));
        printf(",%lld,%lld,%llu,%llu\n", (long long)dft_spans_mean(step->since_first_ns, most->roots),
               (long long)dft_spans_mean(step->since_before_ns, most->roots), (unsigned long long)step->least_ns,
               (unsigned long long)step->most_ns);
    }
}

/* All orderings: a line for each event. */
static void csv_orderings(const struct dft_spans_model *model, const struct dft_spans_orderings *orderings)
{
    puts("ordering,count,position,event");
    for (size_t i = 0; i < orderings->count; i++) {
        const struct dft_spans_ordering *ordering = orderings->ordered[i];

        for (size_t k = 0; k < ordering->length; k++) {
            const char *name = model->kinds[orderings->kinds[ordering->kinds + k]].name;

            printf("%zu,%llu,%zu,", i + 1, (unsigned long long)ordering->roots, k + 1);
            dft_csv_text(stdout, name, strlen(name));
            putchar('\n');
        }
    }
}

static int print(const struct dft_spans_analysis *analysis, const struct dft_spans_orderings *orderings)
{
    const struct dft_spans_model *model = &analysis->model;

    if (analysis->asked.options.json)
        print_json(analysis, orderings);
    else if (analysis->asked.options.csv && analysis->asked.all)
        csv_orderings(model, orderings);
    else if (analysis->asked.options.csv)
        csv_steps(model, orderings);
    else if (orderings->count)
        print_text(analysis, orderings);
    else
        fprintf(stderr, "dftmerge spans: no root of type %s has events, nor have its subspans and facets\n",
                model->types[analysis->type].name);
    return orderings->count || analysis->asked.options.json || analysis->asked.options.csv ? DFT_EXIT_OK : DFT_EXIT_BAD;
}

static int run(int argc, char **argv)
{
    struct dft_spans_analysis analysis;
    struct dft_spans_orderings orderings;
    int code;

    if (dft_spans_analysis_begin(&analysis, &dft_spans_sequences,
                                 DFT_SPANS_TAKES_ROOT | DFT_SPANS_TAKES_ALL | DFT_SPANS_TAKES_CSV, argc, argv, &code))
        return code;
    code = dft_spans_orderings_make(&orderings, &analysis.walk);
    if (!code)
        code = print(&analysis, &orderings);
    dft_spans_orderings_fini(&orderings);
    return dft_spans_analysis_end(&analysis, code);
}

const struct dft_command dft_spans_sequences = {
    .name = "spans sequences",
    .arguments = "FILE.db",
    .brief = "In which orders events happen, and how long it takes from one to the next",
    .details = "Takes the events of each root, of its subspans downwards, and of facets in both directions, by time. "
               "Shows the most common ordering: for each event the mean time since the first event, and the mean, the "
               "least and the most time since the event before.",
    .example = "dftmerge spans sequences workflow.db --root parsl.monitoring.task --all",
    .run = run,
};
