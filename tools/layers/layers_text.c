/* SPDX-License-Identifier: MIT */
/* Layers for people: the verdict, a table of layers, their sizes, a table of each view. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/facet_words.h"
#include "base/saturate.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "layers/layers_output.h"

#define TOP_DEFAULT 10u

/* --- the head --------------------------------------------------------------------------------- */

static void say_verdict(FILE *out, const struct dft_layers *layers)
{
    const struct dft_layer_times *times;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM], *name;

    if (layers->worst < 0) {
        fputs("no layer has time of its own outside compute", out);
        return;
    }
    times = &layers->groups[layers->worst].times;
    name = dft_text_escaped(layers->preset->layers[layers->worst].name,
                            strlen(layers->preset->layers[layers->worst].name));
    fprintf(out, "%s takes most of the unoverlapped time: %s of its own, which is %s of the time of %" PRIu32 " %s",
            name ? name : "?", dft_text_ns(a, times->own_ns), dft_text_share(b, times->own_ns, layers->wall_ns),
            dft_overlap_working(&layers->overlap), dft_overlap_working(&layers->overlap) == 1 ? "rank" : "ranks");
    fprintf(out, " (unoverlapped %s of %s active)", dft_text_ns(a, times->unoverlapped_ns),
            dft_text_ns(c, times->active_ns));
    free(name);
}

static void say_preset(FILE *out, const struct dft_layers_asked *asked)
{
    const struct dft_layers *layers = asked->layers;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], *name;

    name = dft_text_escaped(layers->preset->name, strlen(layers->preset->name));
    fprintf(out, "preset %s%s", name ? name : "?", asked->is_chosen ? " (chosen by what the traces hold)" : "");
    free(name);
    if (!layers->has_compute)
        fputs("; no layer computes here, so all time is unoverlapped", out);
    if (layers->none_ops)
        fprintf(out, "; %s calls and regions (%s) are in no layer", dft_text_count(a, layers->none_ops),
                dft_text_ns(b, layers->none_ns));
    if (dft_source_kept(asked->source) != DFT_KEPT_ALL)
        fputs("; what was kept as aggregates alone is not in these numbers", out);
}

static int put_head(const struct dft_layers_asked *asked)
{
    struct dft_sentence sentence;
    FILE *out = dft_sentence_begin(&sentence);
    int rc;

    if (out)
        say_verdict(out, asked->layers);
    rc = dft_sentence_end(&sentence, out, "", 0);
    if (rc)
        return rc;
    out = dft_sentence_begin(&sentence);
    if (out)
        say_preset(out, asked);
    return dft_sentence_end(&sentence, out, "", 0);
}

/* --- lines ------------------------------------------------------------------------------------ */

static const struct dft_grid_column columns[] = {
    {"unoverlapped", 0, 0, 1},
    {"own", 0, 0, 0},
    {"active", 0, 0, 2},
    {"% slowest", 0, 0, DFT_GRID_NICE + 6},
    {"time", 0, 0, DFT_GRID_NICE + 9},
    {"ops", 0, 0, DFT_GRID_NICE + 3},
    {"ops/s", 0, 0, DFT_GRID_NICE + 10},
    {"bytes", 0, 0, DFT_GRID_NICE + 4},
    {"bytes/s", 0, 0, DFT_GRID_NICE + 5},
    {"size", 0, 0, DFT_GRID_NICE + 8},
    {"% seq", 0, 0, DFT_GRID_NICE + 11},
    {"mean", 0, 0, DFT_GRID_NICE + 7},
    {"p50", 0, 0, DFT_GRID_NICE + 12},
    {"p95", 0, 0, DFT_GRID_NICE + 13},
    {"p99", 0, 0, DFT_GRID_NICE + 14},
    {"layer", 1, 1, 0},
    {"", 1, DFT_GRID_PATH, 0},
};
#define COLUMNS (sizeof columns / sizeof *columns)

/* The numbers of a line, blank where they mean nothing. */
static int put_numbers(struct dft_grid *grid, const struct dft_layers *layers, const struct dft_layer_group *group)
{
    const struct dft_layer_times *t = &group->times;
    const struct dft_metrics *m = &group->metrics;
    int exposed = !layers->preset->layers[group->layer].computes, active = t->active_ns != 0, rc = 0;
    char texts[COLUMNS - 2][DFT_TEXT_ROOM] = {""};
    unsigned n = 0;

#define PUT(known, call)                                                                                               \
    do {                                                                                                               \
        char *at = texts[n++];                                                                                         \
        if (known)                                                                                                     \
            call;                                                                                                      \
    } while (0)
    PUT(exposed, dft_text_ns(at, t->unoverlapped_ns));
    PUT(exposed, dft_text_ns(at, t->own_ns));
    PUT(1, dft_text_ns(at, t->active_ns));
    PUT(t->slowest_ns, dft_text_share(at, t->slowest_ns, layers->overlap.processes[t->slowest].times.wall_ns));
    PUT(1, dft_text_ns(at, m->dur_sum));
    PUT(1, dft_text_count(at, m->count));
    PUT(active, dft_text_count(at, dft_uint_of(dft_layer_rate(m->count, t->active_ns))));
    PUT(m->data, dft_text_bytes(at, m->bytes));
    PUT(m->data && active, dft_text_bytes(at, dft_uint_of(dft_layer_rate(m->bytes, t->active_ns))));
    PUT(m->data, dft_text_bytes(at, m->bytes / m->data));
    PUT(m->data, dft_text_share(at, m->sequential, m->data));
    PUT(m->samples, dft_text_ns(at, m->dur_sum / m->samples));
    PUT(m->samples, dft_text_ns(at, group->p50));
    PUT(m->samples, dft_text_ns(at, group->p95));
    PUT(m->samples, dft_text_ns(at, group->p99));
#undef PUT
    for (unsigned i = 0; !rc && i < n; i++)
        rc = dft_grid_cell(grid, texts[i]);
    return rc;
}

/* The name of a layer, as far to the right as layers are above it. */
static int put_name(struct dft_grid *grid, const struct dft_preset *preset, uint16_t layer, int is_tree)
{
    char *name = dft_text_escaped(preset->layers[layer].name, strlen(preset->layers[layer].name)), *text = NULL;
    int depth = 0, rc;

    for (uint16_t at = preset->layers[layer].parent; is_tree && at != DFT_LAYER_NONE; at = preset->layers[at].parent)
        depth += 2;
    rc = name && asprintf(&text, "%*s%s%s", depth, "", name,
                          is_tree && preset->layers[layer].computes ? " (computes)" : "") >= 0
             ? dft_grid_cell(grid, text)
             : -ENOMEM;
    free(text);
    free(name);
    return rc;
}

static int has_any(const struct dft_layer_group *group)
{
    return group->metrics.count || group->times.active_ns;
}

/* Layers in the order of the preset. */
static int put_layers(const struct dft_layers *layers)
{
    const struct dft_preset *preset = layers->preset;
    struct dft_grid *grid = dft_grid_create(columns, COLUMNS - 1);
    int rc = grid ? 0 : -ENOMEM;

    for (uint16_t i = 0; !rc && i < preset->nlayers; i++) {
        if (!has_any(&layers->groups[i]))
            continue;
        rc = put_numbers(grid, layers, &layers->groups[i]);
        if (!rc)
            rc = put_name(grid, preset, i, 1);
    }
    if (!rc) {
        putchar('\n');
        dft_grid_print(grid, stdout);
    }
    dft_grid_destroy(grid);
    return rc;
}

/* Layers without events, in one line. */
static int put_empty(const struct dft_layers *layers)
{
    const struct dft_preset *preset = layers->preset;
    struct dft_sentence sentence;
    FILE *out = dft_sentence_begin(&sentence);
    const char *between = "without events: ";

    for (uint16_t i = 0; out && i < preset->nlayers; i++) {
        if (has_any(&layers->groups[i]))
            continue;
        fputs(between, out);
        dft_text_escape(out, preset->layers[i].name, strlen(preset->layers[i].name));
        between = ", ";
    }
    if (out && *between != ',') {
        fclose(out);
        free(sentence.text);
        return 0;
    }
    return dft_sentence_end(&sentence, out, "", 0);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static int put_sizes(const struct dft_layers *layers)
{
    struct dft_grid_column titles[DFT_SIZE_CLASSES + 1];
    char texts[DFT_SIZE_CLASSES][DFT_SIZE_CLASS_CAPACITY], text[DFT_TEXT_ROOM];
    uint8_t shown[DFT_SIZE_CLASSES];
    unsigned n = 0;
    struct dft_grid *grid;
    int rc = 0;

    for (uint8_t class = 1; class < DFT_SIZE_CLASSES; class ++) {
        uint64_t sum = 0;

        for (uint16_t i = 0; i < layers->preset->nlayers; i++)
            sum += layers->groups[i].sizes[class];
        if (!sum)
            continue;
        dft_size_class_text(texts[n], class);
        titles[n] = (struct dft_grid_column){texts[n], 0, 0, 0};
        shown[n++] = class;
    }
    if (!n)
        return 0;
    titles[n] = (struct dft_grid_column){"calls by size", 1, 1, 0};
    grid = dft_grid_create(titles, n + 1);
    rc = grid ? 0 : -ENOMEM;
    for (uint16_t i = 0; !rc && i < layers->preset->nlayers; i++) {
        uint64_t sum = 0;

        for (unsigned k = 0; k < n; k++)
            sum += layers->groups[i].sizes[shown[k]];
        for (unsigned k = 0; !rc && sum && k < n; k++)
            rc = dft_grid_cell(
                grid, layers->groups[i].sizes[shown[k]] ? dft_text_count(text, layers->groups[i].sizes[shown[k]]) : "");
        if (!rc && sum)
            rc = put_name(grid, layers->preset, i, 0);
    }
    if (!rc) {
        putchar('\n');
        dft_grid_print(grid, stdout);
    }
    dft_grid_destroy(grid);
    return rc;
}

/* --- views ------------------------------------------------------------------------------------ */

/* From malloc. */
static char *key_text(const struct dft_layers_asked *asked, const struct dft_layer_group *group)
{
    const struct dft_layers *layers = asked->layers;
    const struct dft_process *process;
    char a[DFT_TEXT_ROOM], *host, *text = NULL;
    struct dft_text known;

    if (group->view >= DFT_LAYER_HOST) {
        known = dft_layer_group_text(layers, asked->source, group);
        return known.length ? dft_text_escaped(known.bytes, known.length) : strdup("(unknown)");
    }
    process = &dft_layer_process(layers, asked->source, group)->process;
    if (group->view == DFT_LAYER_RANK && process->rank >= 0)
        return asprintf(&text, "rank %d", process->rank) < 0 ? NULL : text;
    host = dft_text_escaped(process->host.length ? process->host.bytes : "?",
                            process->host.length ? process->host.length : 1);
    if (process->rank >= 0)
        snprintf(a, sizeof a, "rank %d, ", process->rank);
    else
        *a = '\0';
    if (!host || asprintf(&text, "%spid %u on %s", a, process->pid, host) < 0)
        text = NULL;
    free(host);
    return text;
}

static int put_view(const struct dft_layers_asked *asked, enum dft_layer_view view)
{
    struct dft_grid_column with[COLUMNS];
    uint64_t top = asked->top ? asked->top : TOP_DEFAULT;
    uint32_t count;
    const struct dft_layer_group *groups = dft_layer_groups(asked->layers, view, &count);
    struct dft_grid *grid;
    int rc;

    memcpy(with, columns, sizeof columns);
    with[COLUMNS - 1].title = dft_layer_view_words[view];
    grid = dft_grid_create(with, COLUMNS);
    rc = grid ? 0 : -ENOMEM;
    for (uint32_t i = 0; !rc && i < count && i < top; i++) {
        char *key = key_text(asked, &groups[i]);

        rc = key ? put_numbers(grid, asked->layers, &groups[i]) : -ENOMEM;
        if (!rc)
            rc = put_name(grid, asked->layers->preset, groups[i].layer, 0);
        if (!rc)
            rc = dft_grid_cell(grid, key);
        free(key);
    }
    if (!rc && count) {
        putchar('\n');
        dft_grid_print(grid, stdout);
    } else if (!rc) {
        printf("\nno layer has a %s\n", dft_layer_view_words[view]);
    }
    if (!rc && count > top)
        printf("and %" PRIu64 " more (--top)\n", count - top);
    dft_grid_destroy(grid);
    return rc;
}

int dft_layers_text(const struct dft_layers_asked *asked)
{
    int rc = put_head(asked);

    if (!rc)
        rc = put_layers(asked->layers);
    if (!rc)
        rc = put_empty(asked->layers);
    if (!rc)
        rc = put_sizes(asked->layers);
    for (unsigned i = 0; !rc && i < asked->nviews; i++)
        rc = asked->views[i] == DFT_LAYER_TIME ? dft_layers_text_time(asked) : put_view(asked, asked->views[i]);
    return rc;
}
