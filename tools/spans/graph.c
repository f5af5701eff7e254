/* SPDX-License-Identifier: MIT */
/* dftmerge spans graph: the types of spans, and how they relate. The command: DOT, JSON, CSV. */
#include "spans/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "spans/analysis.h"

/* A name inside the quotes of DOT. */
static int put_name(const char *name)
{
    char *text = dft_text_escaped(name, strlen(name));

    for (const char *at = text; at && *at; at++) {
        if (*at == '"' || *at == '\\')
            putchar('\\');
        putchar(*at);
    }
    free(text);
    return text ? 0 : -ENOMEM;
}

static int print_dot(const struct dft_spans_graph *graph)
{
    int rc = 0;

    puts("digraph spans {\n  node [shape=box];");
    for (size_t i = 0; !rc && i < graph->nnodes; i++) {
        printf("  n%zu [label=\"", i);
        rc = put_name(graph->nodes[i].name);
        printf("\\n%llu\"];\n", (unsigned long long)graph->nodes[i].spans);
    }
    for (size_t i = 0; i < graph->nlinks; i++)
        printf("  n%u -> n%u [label=\"%llu\"%s];\n", graph->links[i].from, graph->links[i].to,
               (unsigned long long)graph->links[i].count,
               graph->links[i].is_facet ? ", style=dashed, dir=none, constraint=false" : "");
    puts("}");
    return rc;
}

static void print_json(const struct dft_spans_graph *graph)
{
    struct dft_json json;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_array(&json, "nodes");
    for (size_t i = 0; i < graph->nnodes; i++) {
        dft_json_object(&json, NULL);
        dft_json_string(&json, "type", graph->nodes[i].name);
        dft_json_uint(&json, "spans", graph->nodes[i].spans);
        dft_json_end_object(&json);
    }
    dft_json_end_array(&json);
    dft_json_array(&json, "edges");
    for (size_t i = 0; i < graph->nlinks; i++) {
        dft_json_object(&json, NULL);
        dft_json_string(&json, "from", graph->nodes[graph->links[i].from].name);
        dft_json_string(&json, "to", graph->nodes[graph->links[i].to].name);
        dft_json_string(&json, "kind", graph->links[i].is_facet ? "facet" : "subspan");
        dft_json_uint(&json, "count", graph->links[i].count);
        dft_json_end_object(&json);
    }
    dft_json_end_array(&json);
    dft_json_end_object(&json);
}

static void print_csv(const struct dft_spans_graph *graph)
{
    puts("from,to,kind,count");
    for (size_t i = 0; i < graph->nlinks; i++) {
        const char *from = graph->nodes[graph->links[i].from].name, *to = graph->nodes[graph->links[i].to].name;

        dft_csv_text(stdout, from, strlen(from));
        putchar(',');
        dft_csv_text(stdout, to, strlen(to));
        printf(",%s,%llu\n", graph->links[i].is_facet ? "facet" : "subspan", (unsigned long long)graph->links[i].count);
    }
}

static int print(const struct dft_spans_asked *asked, const struct dft_spans_graph *graph)
{
    struct dft_spans_graph_picture picture = {graph, asked->title ? asked->title : "Types of spans"};
    int rc = 0;

    if (!graph->nnodes && !asked->options.json && !asked->options.csv) {
        fprintf(stderr, "dftmerge spans: %s has no spans; `dftmerge spans import` adds some\n", asked->file);
        return DFT_EXIT_BAD;
    }
    if (asked->output && graph->nnodes)
        rc = dft_spans_draw(asked, dft_spans_graph_draw, &picture);
    if (!rc && asked->options.json)
        print_json(graph);
    else if (!rc && asked->options.csv)
        print_csv(graph);
    else if (!rc && !asked->output)
        rc = print_dot(graph);
    return rc;
}

static int run(int argc, char **argv)
{
    struct dft_spans_analysis analysis;
    struct dft_spans_graph graph;
    int code;

    if (dft_spans_analysis_begin(&analysis, &dft_spans_graph, DFT_SPANS_TAKES_OUTPUT | DFT_SPANS_TAKES_CSV, argc, argv,
                                 &code))
        return code;
    code = dft_spans_graph_make(&graph, &analysis.model);
    if (!code)
        code = print(&analysis.asked, &graph);
    dft_spans_graph_fini(&graph);
    return dft_spans_analysis_end(&analysis, code);
}

const struct dft_command dft_spans_graph = {
    .name = "spans graph",
    .arguments = "FILE.db",
    .brief = "The types of spans, and how they relate, as DOT or as a picture",
    .details = "Arrows lead from spans to their subspans, dashed lines join facets. Numbers are counts.",
    .example = "dftmerge spans graph workflow.db | dot -Tsvg -o graph.svg",
    .run = run,
};
