/* SPDX-License-Identifier: MIT */
/* Groups of layers while events go by: their keys, counts and sizes. One thread. */
#ifndef DFT_LAYERS_COLLECT_H
#define DFT_LAYERS_COLLECT_H

#include "layers/layers.h"
#include "layers/matching.h"
#include "views/file_groups.h"

#define DFT_LAYER_GROUP_NONE UINT32_MAX

struct dft_layer_collector {
    struct dft_layers *layers;
    const struct dft_names *names; /* of files */
    unsigned views;
    struct dft_map groups;         /* view, layer and key -> number + 1 */
    struct dft_map dirs, patterns; /* file -> id of its directory, of its pattern */
    struct dft_file_grouping by_dir, by_pattern;
    uint64_t *hosts;         /* by process: name id */
    struct dft_map bins;     /* group and bin of durations -> how many */
    struct dft_table *table; /* a group is a call */
    struct dft_event *events;
    struct dft_call *calls;
    uint32_t count; /* of both */
};

/* Returns 0 or -ENOMEM; the caller calls fini in either case. */
int dft_layer_collector_init(struct dft_layer_collector *collector, struct dft_source *source);
void dft_layer_collector_fini(struct dft_layer_collector *collector);
/* The group of a layer in a view that an event is in, DFT_LAYER_GROUP_NONE: none. Returns 0 or
 * -ENOMEM. */
int dft_layer_collector_group(struct dft_layer_collector *collector, const struct dft_layer_event *event,
                              enum dft_layer_view view, unsigned layer, uint32_t *group);
/* The group with a key, DFT_LAYER_GROUP_NONE: no memory. */
uint32_t dft_layer_collector_key(struct dft_layer_collector *collector, enum dft_layer_view view, unsigned layer,
                                 uint64_t key);
/* Counts an event in a group. Returns 0 or -ENOMEM. */
int dft_layer_collector_count(struct dft_layer_collector *collector, const struct dft_layer_event *event,
                              uint32_t group);
/* Puts what was counted into the groups. Returns 0 or -ENOMEM. */
int dft_layer_collector_finish(struct dft_layer_collector *collector);
/* Orders the groups and finds the worst layer. Returns 0 or -ENOMEM. */
int dft_layers_finish(struct dft_layers *layers, struct dft_source *source);

#endif
