/* SPDX-License-Identifier: MIT */
/* dftmerge spans types: the types of spans and of their events, with counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "spans/analysis.h"

struct counted {
    uint64_t subspans, facets;
};

static struct counted count_edges(const struct dft_spans_model *model)
{
    struct counted counted = {0};

    for (size_t i = 0; i < model->nedges; i++)
        *(model->edges[i].is_facet ? &counted.facets : &counted.subspans) += 1;
    return counted;
}

static int by_name(const void *left, const void *right)
{
    return strcmp((*(const struct dft_spans_type *const *)left)->name,
                  (*(const struct dft_spans_type *const *)right)->name);
}

/* The types in order of their names; the caller frees the list. */
static const struct dft_spans_type **ordered(const struct dft_spans_model *model)
{
    const struct dft_spans_type **types = malloc((model->ntypes + 1) * sizeof *types);

    for (size_t i = 0; types && i < model->ntypes; i++)
        types[i] = &model->types[i];
    if (types)
        qsort(types, model->ntypes, sizeof *types, by_name);
    return types;
}

static void print_json(const struct dft_spans_model *model, const struct dft_spans_type *const *types)
{
    struct counted counted = count_edges(model);
    struct dft_json json;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_uint(&json, "spans", model->nspans);
    dft_json_uint(&json, "events", model->nevents);
    dft_json_uint(&json, "subspans", counted.subspans);
    dft_json_uint(&json, "facets", counted.facets);
    dft_json_uint(&json, "unreadable_times", model->skipped.times);
    dft_json_array(&json, "types");
    for (size_t i = 0; i < model->ntypes; i++) {
        dft_json_object(&json, NULL);
        dft_json_string(&json, "type", types[i]->name);
        dft_json_uint(&json, "spans", types[i]->spans);
        dft_json_array(&json, "events");
        for (size_t k = 0; k < model->nkinds; k++) {
            if (&model->types[model->kinds[k].type] != types[i])
                continue;
            dft_json_object(&json, NULL);
            dft_json_string(&json, "event", model->kinds[k].event);
            dft_json_uint(&json, "count", model->kinds[k].events);
            dft_json_end_object(&json);
        }
        dft_json_end_array(&json);
        dft_json_end_object(&json);
    }
    dft_json_end_array(&json);
    dft_json_end_object(&json);
}

/* A line for each type of event, and for each type of spans that has none. */
static void print_csv(const struct dft_spans_model *model, const struct dft_spans_type *const *types)
{
    puts("type,spans,event,count");
    for (size_t i = 0; i < model->ntypes; i++) {
        int any = 0;

        for (size_t k = 0; k < model->nkinds; k++) {
            if (&model->types[model->kinds[k].type] != types[i])
                continue;
            any = 1;
            dft_csv_text(stdout, types[i]->name, strlen(types[i]->name));
            printf(",%llu,", (unsigned long long)types[i]->spans);
            dft_csv_text(stdout, model->kinds[k].event, strlen(model->kinds[k].event));
            printf(",%llu\n", (unsigned long long)model->kinds[k].events);
        }
        if (any)
            continue;
        dft_csv_text(stdout, types[i]->name, strlen(types[i]->name));
        printf(",%llu,,\n", (unsigned long long)types[i]->spans);
    }
}

static void print_line(uint64_t count, const char *indent, const char *name)
{
    char number[DFT_TEXT_ROOM];

    printf("%12s  %s", dft_text_count(number, count), indent);
    dft_text_escape(stdout, name, strlen(name));
    putchar('\n');
}

static void print_text(const struct dft_spans_model *model, const struct dft_spans_type *const *types)
{
    for (size_t i = 0; i < model->ntypes; i++) {
        print_line(types[i]->spans, "", types[i]->name);
        for (size_t k = 0; k < model->nkinds; k++)
            if (&model->types[model->kinds[k].type] == types[i])
                print_line(model->kinds[k].events, "    ", model->kinds[k].event);
    }
}

static int run(int argc, char **argv)
{
    struct dft_spans_analysis analysis;
    const struct dft_spans_type **types;
    int code;

    if (dft_spans_analysis_begin(&analysis, &dft_spans_types, DFT_SPANS_TAKES_CSV, argc, argv, &code))
        return code;
    types = ordered(&analysis.model);
    code = types ? DFT_EXIT_OK : -ENOMEM;
    if (types && analysis.asked.options.json) {
        print_json(&analysis.model, types);
    } else if (types && analysis.asked.options.csv) {
        print_csv(&analysis.model, types);
    } else if (types && !analysis.model.nspans) {
        fprintf(stderr, "dftmerge spans: %s has no spans; `dftmerge spans import` adds some\n", analysis.asked.file);
        code = DFT_EXIT_BAD;
    } else if (types) {
        print_text(&analysis.model, types);
    }
    free(types);
    return dft_spans_analysis_end(&analysis, code);
}

const struct dft_command dft_spans_types = {
    .name = "spans types",
    .arguments = "FILE.db",
    .brief = "The types of spans, and of their events, with counts",
    .details =
        "Below each type of spans stand the types of its events. The other verbs name events by both words, as in "
        "parsl.monitoring.try/running.",
    .example = "dftmerge spans types workflow.db",
    .run = run,
};
