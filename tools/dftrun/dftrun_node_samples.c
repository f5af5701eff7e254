/* SPDX-License-Identifier: MIT */
/* Collects samples of the node until they are written. */
#include "dftrun/dftrun_node_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/hash.h"

#define SERIES_MAX  1024u
#define SAMPLES_MAX 16384u
#define NAME_MAX_   128u

struct dft_node_samples {
    uint64_t key, first, now_ns;
    struct dft_counter_series series[SERIES_MAX];
    struct dft_name names[SERIES_MAX];
    char texts[SERIES_MAX][NAME_MAX_];
    uint32_t nseries;
    struct dft_counter_sample samples[SAMPLES_MAX];
    uint32_t count;
};

struct dft_node_samples *dft_node_create(uint64_t key)
{
    struct dft_node_samples *node = calloc(1, sizeof *node);

    if (node)
        node->key = key;
    return node;
}

void dft_node_begin(struct dft_node_samples *node, uint64_t time_ns)
{
    node->now_ns = time_ns;
}

/* Returns the position of a counter, or SERIES_MAX. */
static uint32_t series_of(struct dft_node_samples *node, const char *category, const char *name, enum dft_unit unit,
                          enum dft_counter_kind kind)
{
    char text[NAME_MAX_];
    size_t before = strlen(category) + 1, length = before + strlen(name);
    uint64_t id;
    uint32_t i = 0;

    if (length > sizeof text)
        return SERIES_MAX;
    memcpy(text, category, before);
    memcpy(text + before, name, length - before);
    id = dft_name_id(text, length);
    while (i < node->nseries && node->series[i].id != id)
        i++;
    if (i < node->nseries || i == SERIES_MAX)
        return i;
    memcpy(node->texts[i], text, length);
    node->series[i] = (struct dft_counter_series){.id = id, .unit = (uint8_t)unit, .kind = (uint8_t)kind};
    node->names[i] = (struct dft_name){.id = id, .text = {node->texts[i], (uint32_t)length}};
    return node->nseries++;
}

void dft_node_add(struct dft_node_samples *node, const char *category, const char *name, enum dft_unit unit,
                  enum dft_counter_kind kind, int64_t value)
{
    uint32_t series = series_of(node, category, name, unit, kind);

    if (series < SERIES_MAX && node->count < SAMPLES_MAX)
        node->samples[node->count++] =
            (struct dft_counter_sample){.time_ns = node->now_ns, .series = series, .value = value};
}

struct dft_counters dft_node_counters(struct dft_node_samples *node)
{
    return (struct dft_counters){.key = node->key,
                                 .first = node->first,
                                 .series = node->series,
                                 .nseries = node->nseries,
                                 .samples = node->samples,
                                 .count = node->count,
                                 .names = node->names,
                                 .nnames = node->nseries};
}

void dft_node_sent(struct dft_node_samples *node)
{
    node->first += node->count;
    node->count = 0;
}
