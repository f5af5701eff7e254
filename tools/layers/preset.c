/* SPDX-License-Identifier: MIT */
/* Presets: what layers and rules mean, and the layers of {cat}. */
#include "layers/preset.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "views/filter_paths.h"

int dft_preset_begin(struct dft_preset *preset, const struct dft_source *source)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < preset->nrules; i++)
        rc = dft_selection_begin(&preset->rules[i].selection, source);
    return rc;
}

int dft_layer_is_above(const struct dft_preset *preset, unsigned layer, unsigned other)
{
    for (other = preset->layers[other].parent; other != DFT_LAYER_NONE; other = preset->layers[other].parent)
        if (other == layer)
            return 1;
    return 0;
}

void dft_preset_fini(struct dft_preset *preset)
{
    for (uint32_t i = 0; i < preset->nlayers; i++)
        free(preset->layers[i].name);
    for (uint32_t i = 0; i < preset->nrules; i++) {
        if (preset->rules[i].exact)
            dft_filter_paths_fini(&preset->rules[i].selection.paths);
        else
            dft_selection_fini(&preset->rules[i].selection);
        free(preset->rules[i].exact);
    }
    free(preset->layers);
    free(preset->rules);
    *preset = (struct dft_preset){0};
}

/* --- layers of {cat} -------------------------------------------------------------------------- */

/* The layer of this name, which is made where there is none. Returns its number or -errno. */
static int layer_of(struct dft_preset *preset, const struct dft_layer_rule *rule, struct dft_text category)
{
    struct dft_layer layer = {.parent = rule->parent, .computes = rule->computes};

    layer.name = category.length ? strndup(category.bytes, category.length) : strdup("(none)");
    if (!layer.name)
        return -ENOMEM;
    for (uint32_t i = 0; i < preset->nlayers; i++)
        if (!strcmp(preset->layers[i].name, layer.name)) {
            free(layer.name);
            preset->layers[i].computes |= rule->computes;
            return (int)i;
        }
    if (preset->nlayers < DFT_LAYERS_MAX &&
        !DFT_ARRAY_PUSH(preset->layers, preset->layers_capacity, preset->nlayers, layer))
        return (int)preset->nlayers - 1;
    free(layer.name);
    return preset->nlayers < DFT_LAYERS_MAX ? -ENOMEM : -E2BIG;
}

/* A rule for one category. Conditions of the category itself hold already. */
static int add_rule(struct dft_preset *preset, const struct dft_layer_rule *model, uint16_t layer,
                    struct dft_text category)
{
    struct dft_layer_rule rule = *model;

    rule.layer = layer;
    rule.selection.by[DFT_SELECT_CAT].count = 0;
    rule.exact = strndup(category.length ? category.bytes : "", category.length);
    if (rule.exact && !DFT_ARRAY_PUSH(preset->rules, preset->rules_capacity, preset->nrules, rule))
        return 0;
    free(rule.exact);
    return -ENOMEM;
}

int dft_preset_expand(struct dft_preset *preset, const struct dft_text *categories, uint32_t count)
{
    uint32_t written = preset->nrules;
    int rc = 0;

    for (uint32_t i = 0; rc >= 0 && i < written; i++) {
        if (preset->rules[i].layer != DFT_LAYER_NONE)
            continue;
        for (uint32_t k = 0; rc >= 0 && k < count; k++) {
            if (!dft_selection_text_fits(&preset->rules[i].selection, DFT_SELECT_CAT, categories[k], FNM_CASEFOLD))
                continue;
            rc = layer_of(preset, &preset->rules[i], categories[k]);
            if (rc >= 0) {
                const struct dft_layer_rule model = preset->rules[i]; /* the array may move */

                rc = add_rule(preset, &model, (uint16_t)rc, categories[k]);
            }
        }
    }
    return rc < 0 ? rc : 0;
}
