/* SPDX-License-Identifier: MIT */
/* Layers by time for people: a line an interval, a column a layer. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "layers/layers_output.h"

#define INTERVALS 60u /* without --top */

/* Layers with any time, those with most of it first. */
struct shown {
    const struct dft_layers *layers;
    uint16_t list[DFT_TABLE_COLUMNS - 1];
    char *titles[DFT_TABLE_COLUMNS - 1];
    unsigned count;
};

/* What stands in a cell: of compute all, of others what is their own. */
static uint64_t time_of(const struct dft_layers *layers, const struct dft_layer_group *group)
{
    return layers->preset->layers[group->layer].computes ? group->times.active_ns : group->times.own_ns;
}

static int choose(struct shown *shown)
{
    const struct dft_layers *layers = shown->layers;
    uint8_t taken[DFT_LAYERS_MAX] = {0};

    for (; shown->count < DFT_TABLE_COLUMNS - 1; shown->count++) {
        uint64_t most = 0;
        uint16_t best = 0;
        const char *name;

        for (uint16_t i = 0; i < layers->preset->nlayers; i++)
            if (!taken[i] && time_of(layers, &layers->groups[i]) > most) {
                most = time_of(layers, &layers->groups[i]);
                best = i;
            }
        if (!most)
            return 0;
        taken[best] = 1;
        name = layers->preset->layers[best].name;
        shown->list[shown->count] = best;
        shown->titles[shown->count] = dft_text_escaped(name, strlen(name));
        if (!shown->titles[shown->count])
            return -ENOMEM;
    }
    return 0;
}

static struct dft_grid *make_grid(const struct shown *shown)
{
    struct dft_grid_column columns[DFT_TABLE_COLUMNS] = {{"from", 0, 0, 0}};

    for (unsigned i = 0; i < shown->count; i++)
        columns[i + 1] = (struct dft_grid_column){shown->titles[i], 0, 0, (uint8_t)i};
    return dft_grid_create(columns, shown->count + 1);
}

/* One interval, whose groups are `count` from `groups` on. */
static int put_interval(struct dft_grid *grid, const struct shown *shown, const struct dft_layer_group *groups,
                        uint32_t count, uint64_t from_ns)
{
    char text[DFT_TEXT_ROOM];
    int rc = dft_grid_cell(grid, dft_text_ns(text, from_ns));

    for (unsigned i = 0; !rc && i < shown->count; i++) {
        uint64_t time = 0;

        for (uint32_t k = 0; k < count; k++)
            if (groups[k].layer == shown->list[i])
                time = time_of(shown->layers, &groups[k]);
        rc = dft_grid_cell(grid, time ? dft_text_ns(text, time) : "");
    }
    return rc;
}

int dft_layers_text_time(const struct dft_layers_asked *asked)
{
    const struct dft_layers *layers = asked->layers;
    struct shown shown = {.layers = layers};
    uint32_t count, same;
    uint64_t start, end, lines = 0, top = asked->top ? asked->top : INTERVALS;
    const struct dft_layer_group *groups = dft_layer_groups(layers, DFT_LAYER_TIME, &count);
    int rc = choose(&shown);
    struct dft_grid *grid = rc ? NULL : make_grid(&shown);

    rc = grid ? 0 : -ENOMEM;
    dft_source_lives(asked->source, &start, &end);
    for (uint32_t i = 0; !rc && i < count; i += same, lines++) {
        for (same = 1; i + same < count && groups[i + same].key == groups[i].key;)
            same++;
        if (lines < top)
            rc = put_interval(grid, &shown, &groups[i], same,
                              layers->base_ns + groups[i].key * layers->width_ns - start);
    }
    if (!rc && !shown.count) {
        puts("\nno layer has time to show");
    } else if (!rc) {
        puts("\nown time by interval; of compute all of it");
        dft_grid_print(grid, stdout);
    }
    if (!rc && shown.count && lines > top)
        printf("and %" PRIu64 " more (--top)\n", lines - top);
    dft_grid_destroy(grid);
    for (unsigned i = 0; i < shown.count; i++)
        free(shown.titles[i]);
    return rc;
}
