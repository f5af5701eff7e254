/* SPDX-License-Identifier: MIT */
/* Unions of intervals of groups, and what of them lies outside compute. Nothing of traces.
 *
 * A GROUP belongs to a layer. A LANE is a team (these come first) or a process. A process that is
 * alone in its team stands for the team, too. The intervals of a group in a
 * lane come in order of their start. While one goes on, the group is ACTIVE in the lane. Of that
 * time, UNOVERLAPPED is what lies outside the compute layers of the lane. OWN is what lies outside
 * the layers below, too. Groups of whole layers (is_whole) are what compute and the layers below
 * consist of.
 *
 * Ends wait in a heap, so that all changes come in order of time. A group has one entry there in a
 * lane. Memory grows with groups and the lanes that they are active in. */
#ifndef DFT_LAYERS_SPANS_H
#define DFT_LAYERS_SPANS_H

#include "base/map.h"
#include "layers/preset.h"
#include "analysis/overlap.h"
#include "sweep/cover.h"
#include "sweep/ends.h"

/* Sums over teams, and over processes. */
struct dft_layer_times {
    uint64_t active_ns, unoverlapped_ns, own_ns;
    uint64_t process_active_ns, process_unoverlapped_ns;
    uint64_t slowest_ns; /* active in the process where that is longest */
    uint32_t slowest;    /* that process */
};

struct dft_layer_span;
struct dft_layer_spans {
    const struct dft_preset *preset;
    const struct dft_overlap *overlap; /* teams and processes */
    /* the times of a group; of those of a whole layer when width_ns is not 0, also those of the
     * group of the layer and an interval (from 0 on). NULL: no memory */
    struct dft_layer_times *(*times_of)(void *context, uint32_t group);
    struct dft_layer_times *(*times_at)(void *context, unsigned layer, uint64_t interval);
    void *context;
    uint64_t base_ns, width_ns; /* of intervals; 0: there are none */
    uint64_t last;              /* interval, without an end */
    uint64_t now_ns, cut_ns;    /* cut_ns: end of the interval */
    struct dft_map numbers;     /* group and lane -> position + 1 */
    struct dft_layer_span *list;
    struct dft_cover *covers; /* by lane: compute, then what is below each layer */
    struct dft_sweep_ends ends;
    size_t count, capacity;
};

/* The caller has filled in all above now_ns. Returns 0 or -ENOMEM. */
int dft_layer_spans_init(struct dft_layer_spans *spans);
void dft_layer_spans_fini(struct dft_layer_spans *spans);
/* Goes on to a time: what ends until then ends. Returns 0 or -ENOMEM. */
int dft_layer_spans_until(struct dft_layer_spans *spans, uint64_t now_ns);
/* An interval of a process from now on. Returns 0 or -ENOMEM. */
int dft_layer_spans_add(struct dft_layer_spans *spans, uint32_t group, unsigned layer, int is_whole, uint32_t process,
                        uint64_t end_ns);

#endif
