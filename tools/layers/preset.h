/* SPDX-License-Identifier: MIT */
/* A preset: layers, and the rules that say which events belong to them.
 *
 * One rule a line: "LAYER KEY=VALUE...". # begins a comment. Lines of one layer add to each other;
 * all conditions of a line must hold. Keys are those of a selection (views/selection.h), where
 * letters of categories and names fit in either case, and:
 *
 *   inside=            layers, with commas: a region of one of them is around the event
 *   outside=           layers, with commas: the event is in none of them, and none is around it
 *   parent=            the layer that calls this layer
 *   role=compute       the layer computes
 *
 * Layers that a line names stand in earlier lines. The layer {cat} is a layer for each category that
 * its rule chooses. */
#ifndef DFT_LAYERS_PRESET_H
#define DFT_LAYERS_PRESET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/text.h"
#include "views/selection.h"

#define DFT_LAYERS_MAX       128u
#define DFT_LAYER_RULES_MAX  512u
#define DFT_LAYER_PLACES_MAX 63u /* rules with path= or region= */
#define DFT_LAYER_NONE       UINT16_MAX

struct dft_layer_set {
    uint64_t bits[DFT_LAYERS_MAX / 64];
};

static inline void dft_layer_set_add(struct dft_layer_set *set, unsigned layer)
{
    set->bits[layer / 64] |= UINT64_C(1) << layer % 64;
}

static inline int dft_layer_set_has(const struct dft_layer_set *set, unsigned layer)
{
    return set->bits[layer / 64] >> layer % 64 & 1;
}

static inline int dft_layer_set_meets(const struct dft_layer_set *a, const struct dft_layer_set *b)
{
    return ((a->bits[0] & b->bits[0]) | (a->bits[1] & b->bits[1])) != 0;
}

static inline void dft_layer_set_join(struct dft_layer_set *set, const struct dft_layer_set *more)
{
    set->bits[0] |= more->bits[0];
    set->bits[1] |= more->bits[1];
}

struct dft_layer {
    char *name;
    uint16_t parent; /* DFT_LAYER_NONE: none */
    uint8_t computes;
};

struct dft_layer_rule {
    struct dft_selection selection;
    char *exact; /* the category that a layer of {cat} stands for, else NULL; it borrows its selection */
    struct dft_layer_set inside, outside;
    uint16_t layer;   /* DFT_LAYER_NONE: {cat} */
    uint16_t parent;  /* of layers of {cat} */
    int8_t place_bit; /* number among the rules with path= or region=; -1: it has neither */
    uint8_t is_inside, computes;
};

struct dft_preset {
    const char *name;
    struct dft_layer *layers;
    struct dft_layer_rule *rules;
    struct dft_layer_set around; /* layers that inside= and outside= name */
    uint32_t nlayers, layers_capacity, nrules, rules_capacity, nplaces;
};

struct dft_builtin_preset {
    const char *name, *brief;
    const char *tells; /* patterns of categories, with commas, that tell that the preset fits; or NULL */
    const char *text;
};
#define DFT_BUILTIN_PRESETS 4u
extern const struct dft_builtin_preset dft_builtin_presets[DFT_BUILTIN_PRESETS];

/* NULL: there is none of this name. */
const struct dft_builtin_preset *dft_builtin_preset(const char *name);
/* Prints a preset as a file that --preset reads. */
void dft_builtin_preset_print(FILE *out, const struct dft_builtin_preset *builtin);

/* Reads a built-in preset, or a file. Returns 0 or -errno with an error that names file and line.
 * The caller calls fini in either case. */
int dft_preset_init(struct dft_preset *preset, const struct dft_builtin_preset *builtin);
int dft_preset_read(struct dft_preset *preset, const char *path, char *error, size_t size);
void dft_preset_fini(struct dft_preset *preset);
/* Prepares the paths of the rules for a source. Returns 0 or -ENOMEM. */
int dft_preset_begin(struct dft_preset *preset, const struct dft_source *source);
/* Makes layers of {cat} for these categories, which are in order. Returns 0, -ENOMEM, or -E2BIG:
 * there would be more than DFT_LAYERS_MAX layers. */
int dft_preset_expand(struct dft_preset *preset, const struct dft_text *categories, uint32_t count);

/* Is `layer` above `other`, by their parents? */
int dft_layer_is_above(const struct dft_preset *preset, unsigned layer, unsigned other);

#endif
