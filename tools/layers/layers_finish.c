/* SPDX-License-Identifier: MIT */
/* Layers once all events have gone by: their order, their texts, the worst one. And what categories
 * there are before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "layers/collect.h"
#include "analysis/overlap_events.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "query/query.h"
#include "intake/source_names.h"

/* --- before ----------------------------------------------------------------------------------- */

static int by_bytes(const void *left, const void *right)
{
    const struct dft_text *a = left, *b = right;
    uint32_t length = a->length < b->length ? a->length : b->length;
    int order = length ? memcmp(a->bytes, b->bytes, length) : 0;

    if (order)
        return order;
    DFT_ORDER(a->length, b->length);
    return 0;
}

/* The first preset that a category tells of. */
static const struct dft_builtin_preset *told_by(const struct dft_text *categories, uint32_t count)
{
    for (unsigned i = 0; i < DFT_BUILTIN_PRESETS; i++)
        for (const char *at = dft_builtin_presets[i].tells; at && *at;) {
            size_t length = strcspn(at, ",");

            for (uint32_t k = 0; k < count; k++)
                if (categories[k].length == length && !strncasecmp(categories[k].bytes, at, length))
                    return &dft_builtin_presets[i];
            at += length + (at[length] == ',');
        }
    return NULL;
}

int dft_layers_categories(struct dft_source *source, const struct dft_filter *filter, struct dft_preset *preset,
                          const struct dft_builtin_preset **tells)
{
    const struct dft_query query = {.by = {DFT_BY_CAT}, .nby = 1};
    struct dft_filter all = dft_overlap_any_call(filter);
    struct dft_answer answer;
    struct dft_text *categories;
    int rc = dft_query_run(source, &all, &query, &answer);

    if (rc)
        return rc;
    categories = calloc(answer.count + 1u, sizeof *categories);
    for (uint32_t i = 0; categories && i < answer.count; i++) {
        struct dft_key_value value;

        dft_group_value(&answer, &answer.groups[i], DFT_BY_CAT, &value);
        categories[i] = value.text;
    }
    if (categories && answer.count)
        qsort(categories, answer.count, sizeof *categories, by_bytes);
    if (categories && tells)
        *tells = told_by(categories, answer.count);
    if (categories && preset)
        rc = dft_preset_expand(preset, categories, answer.count);
    rc = categories ? rc : -ENOMEM;
    free(categories);
    dft_answer_fini(&answer);
    return rc;
}

/* --- after ------------------------------------------------------------------------------------ */

struct dft_text dft_layer_group_text(const struct dft_layers *layers, struct dft_source *source,
                                     const struct dft_layer_group *group)
{
    return dft_names_text(group->view == DFT_LAYER_FILE ? dft_source_names_table(source) : layers->texts, group->key);
}

struct ordering {
    const struct dft_layers *layers;
    struct dft_source *source;
};

static int by_view(const void *left, const void *right, void *context)
{
    const struct ordering *ordering = context;
    const struct dft_layer_group *a = left, *b = right;
    struct dft_text x, y;

    DFT_ORDER(a->view, b->view);
    if (a->view == DFT_LAYER_WHOLE)
        return a->layer < b->layer ? -1 : a->layer > b->layer;
    if (a->view == DFT_LAYER_TIME)
        DFT_ORDER(a->key, b->key);
    if (a->view != DFT_LAYER_TIME) {
        DFT_ORDER(b->times.own_ns, a->times.own_ns);
        DFT_ORDER(b->times.unoverlapped_ns, a->times.unoverlapped_ns);
        DFT_ORDER(b->times.active_ns, a->times.active_ns);
    }
    DFT_ORDER(a->layer, b->layer);
    if (a->view >= DFT_LAYER_HOST) {
        x = dft_layer_group_text(ordering->layers, ordering->source, a);
        y = dft_layer_group_text(ordering->layers, ordering->source, b);
        if (by_bytes(&x, &y))
            return by_bytes(&x, &y);
    }
    DFT_ORDER(a->key, b->key);
    return 0;
}

/* Texts of files may be forgotten once their events are over. */
static int fetch_files(const struct dft_layers *layers, struct dft_source *source)
{
    uint64_t *ids = malloc((layers->ngroups + 1u) * sizeof *ids);
    uint32_t count = 0;
    int rc = ids ? 0 : -ENOMEM;

    for (uint32_t i = 0; !rc && i < layers->ngroups; i++)
        if (layers->groups[i].view == DFT_LAYER_FILE)
            ids[count++] = layers->groups[i].key;
    if (count)
        rc = dft_source_names(source, ids, count);
    free(ids);
    return rc;
}

/* Compute, and what is above it, is not what anything waits for. */
static int may_be_worst(const struct dft_preset *preset, unsigned layer)
{
    if (preset->layers[layer].computes)
        return 0;
    for (unsigned other = 0; other < preset->nlayers; other++)
        if (preset->layers[other].computes && dft_layer_is_above(preset, layer, other))
            return 0;
    return 1;
}

int dft_layers_finish(struct dft_layers *layers, struct dft_source *source)
{
    const struct dft_preset *preset = layers->preset;
    struct ordering ordering = {layers, source};
    uint64_t most = 0;
    int rc = fetch_files(layers, source);

    if (!rc && layers->ngroups)
        qsort_r(layers->groups, layers->ngroups, sizeof *layers->groups, by_view, &ordering);
    for (unsigned layer = 0; !rc && layer < preset->nlayers; layer++) {
        const struct dft_layer_group *group = &layers->groups[layer];

        layers->has_compute |= preset->layers[layer].computes && group->times.active_ns;
        if (group->times.own_ns > most && may_be_worst(preset, layer)) {
            most = group->times.own_ns;
            layers->worst = (int)layer;
        }
    }
    return rc;
}

void dft_layers_fini(struct dft_layers *layers)
{
    dft_overlap_fini(&layers->overlap);
    dft_names_destroy(layers->texts);
    free(layers->groups);
    *layers = (struct dft_layers){0};
}
