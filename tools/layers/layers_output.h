/* SPDX-License-Identifier: MIT */
/* Layers as text, JSON and CSV. */
#ifndef DFT_LAYERS_OUTPUT_H
#define DFT_LAYERS_OUTPUT_H

#include "layers/layers.h"

struct dft_layers_asked {
    struct dft_layers *layers;
    struct dft_source *source;
    const enum dft_layer_view *views; /* as the user named them */
    unsigned nviews;
    uint64_t top;  /* lines of a view; 0: all */
    int is_chosen; /* the preset was chosen by what the traces hold */
};

/* A number of a group, in the order of JSON and CSV. */
struct dft_layer_value {
    const char *name;
    uint64_t number;
    double real;
    uint8_t is_known, is_real;
};
#define DFT_LAYER_VALUES 22u

void dft_layer_values(const struct dft_layers *layers, const struct dft_source *source,
                      const struct dft_layer_group *group, struct dft_layer_value values[DFT_LAYER_VALUES]);
/* The process of a group by process; of one by rank its trainer. */
const struct dft_source_process *dft_layer_process(const struct dft_layers *layers, const struct dft_source *source,
                                                   const struct dft_layer_group *group);
/* The groups of a view: the first one and their number. */
const struct dft_layer_group *dft_layer_groups(const struct dft_layers *layers, enum dft_layer_view view,
                                               uint32_t *count);
/* A number in a second. */
static inline double dft_layer_rate(uint64_t number, uint64_t ns)
{
    return ns ? (double)number * 1e9 / (double)ns : 0;
}

/* Returns 0 or -ENOMEM. */
int dft_layers_text(const struct dft_layers_asked *asked);
int dft_layers_text_time(const struct dft_layers_asked *asked);
void dft_layers_json(const struct dft_layers_asked *asked);
void dft_layers_csv(const struct dft_layers_asked *asked);

#endif
