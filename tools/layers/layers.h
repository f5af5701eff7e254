/* SPDX-License-Identifier: MIT */
/* The layers of a job: what each layer of a preset did, and when nothing computed meanwhile: for all processes, and by
 * views.
 *
 * Events go by in order of time. Each belongs to the layers that its rules say (preset.h), and to a
 * group of each layer and view. Groups have counts (aggregate.h) and unions of intervals (spans.h).
 * Memory grows with groups, with the processes that they are active in, and with names. */
#ifndef DFT_LAYERS_H
#define DFT_LAYERS_H

#include "aggregator/aggregate.h"
#include "base/map.h"
#include "base/names.h"
#include "layers/preset.h"
#include "layers/spans.h"
#include "analysis/overlap.h"

#define DFT_LAYER_INTERVALS_MAX 10000u

enum dft_layer_view {
    DFT_LAYER_WHOLE, /* a group a layer; they come first, in the order of the preset */
    DFT_LAYER_TIME,
    DFT_LAYER_PROCESS,
    DFT_LAYER_RANK,
    DFT_LAYER_HOST,
    DFT_LAYER_FILE,
    DFT_LAYER_DIRECTORY,
    DFT_LAYER_PATTERN,
    DFT_LAYER_VIEWS
};
extern const char *const dft_layer_view_words[DFT_LAYER_VIEWS];

struct dft_layer_group {
    struct dft_layer_times times;
    struct dft_metrics metrics;
    uint64_t sizes[DFT_SIZE_CLASSES]; /* data calls by what they requested */
    uint64_t p50, p95, p99;           /* of durations; meaningless without samples */
    uint64_t key; /* interval, position of the process or team in the overlap, or name id of a text */
    uint16_t layer;
    uint8_t view;
};

struct dft_layers_request {
    struct dft_source *source;
    const struct dft_filter *filter; /* chooses processes and a time */
    struct dft_preset *preset;       /* layers of {cat} are made already */
    unsigned views;                  /* 1 << enum dft_layer_view */
    uint64_t width_ns;               /* of intervals; 0: as fits */
};

struct dft_layers {
    const struct dft_preset *preset;
    struct dft_overlap overlap;     /* its processes and teams, with their walls */
    struct dft_layer_group *groups; /* in the order of views; by interval, else the most exposed first */
    uint32_t ngroups, capacity;
    struct dft_names *texts; /* of hosts, directories and patterns */
    uint64_t base_ns, width_ns;
    uint64_t last;              /* interval, which has all that claims to be later than any process lived */
    uint64_t wall_ns;           /* sum over teams */
    uint64_t none_ops, none_ns; /* events in no layer */
    int has_compute;            /* a layer computes that has events */
    int worst;                  /* layer with most of its own time, beside compute and what is above it; -1 */
};

static inline uint64_t dft_layer_interval(uint64_t time, uint64_t base_ns, uint64_t width_ns, uint64_t last)
{
    uint64_t interval = time > base_ns ? (time - base_ns) / width_ns : 0;

    return interval < last ? interval : last;
}

/* Makes the layers of {cat}. Returns as dft_preset_expand. *tells (may be NULL): the first built-in
 * preset that the categories tell of, or NULL. */
int dft_layers_categories(struct dft_source *source, const struct dft_filter *filter, struct dft_preset *preset,
                          const struct dft_builtin_preset **tells);
/* Returns 0, -ENOMEM, or -E2BIG: there would be too many intervals. */
int dft_layers_make(const struct dft_layers_request *request, struct dft_layers *layers);
void dft_layers_fini(struct dft_layers *layers);

/* The text of a group's host, file, directory or pattern. */
struct dft_text dft_layer_group_text(const struct dft_layers *layers, struct dft_source *source,
                                     const struct dft_layer_group *group);

#endif
