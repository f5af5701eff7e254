/* SPDX-License-Identifier: MIT */
/* Groups of layers: one map finds them, the aggregator's table counts them. Another map has the
 * histograms of durations: most bins of most groups are empty. */
#include "layers/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "format/event.h"
#include "format/hash.h"

#define EVENTS 4096u /* that are counted at once */

int dft_layer_collector_init(struct dft_layer_collector *collector, struct dft_source *source)
{
    struct dft_layers *layers = collector->layers;
    const struct dft_overlap *overlap = &layers->overlap;
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    int rc = 0;

    collector->table = dft_table_create(DFT_INTERVAL_NS_MAX, DFT_MIX_OPS);
    collector->events = malloc(EVENTS * sizeof *collector->events);
    collector->calls = malloc(EVENTS * sizeof *collector->calls);
    collector->hosts = calloc(overlap->nprocesses + 1u, sizeof *collector->hosts);
    layers->texts = dft_names_create(NULL);
    if (!collector->table || !collector->events || !collector->calls || !collector->hosts || !layers->texts)
        return -ENOMEM;
    for (uint32_t i = 0; !rc && i < overlap->nprocesses; i++) {
        struct dft_text host = processes[overlap->processes[i].process].process.host;

        collector->hosts[i] = dft_name_id(host.length ? host.bytes : "", host.length);
        rc = dft_names_add(layers->texts, collector->hosts[i], host.length ? host.bytes : "", host.length, NULL);
    }
    for (unsigned layer = 0; !rc && layer < layers->preset->nlayers; layer++)
        rc = dft_layer_collector_key(collector, DFT_LAYER_WHOLE, layer, 0) == DFT_LAYER_GROUP_NONE ? -ENOMEM : 0;
    if (!rc)
        rc = dft_file_grouping_init(&collector->by_dir, DFT_FILES_DIR, 0, source);
    if (!rc)
        rc = dft_file_grouping_init(&collector->by_pattern, DFT_FILES_PATTERN, 0, source);
    return rc;
}

void dft_layer_collector_fini(struct dft_layer_collector *collector)
{
    dft_map_fini(&collector->groups);
    dft_map_fini(&collector->dirs);
    dft_map_fini(&collector->patterns);
    dft_map_fini(&collector->bins);
    dft_file_grouping_fini(&collector->by_dir);
    dft_file_grouping_fini(&collector->by_pattern);
    dft_table_destroy(collector->table);
    free(collector->events);
    free(collector->calls);
    free(collector->hosts);
}

/* --- keys ------------------------------------------------------------------------------------- */

uint32_t dft_layer_collector_key(struct dft_layer_collector *collector, enum dft_layer_view view, unsigned layer,
                                 uint64_t key)
{
    struct dft_layers *layers = collector->layers;
    uint64_t *number = dft_map_put(&collector->groups, dft_map_join(key, (uint64_t)view << 16 | layer));
    struct dft_layer_group group = {.key = key, .layer = (uint16_t)layer, .view = (uint8_t)view};

    if (!number)
        return DFT_LAYER_GROUP_NONE;
    if (!*number) {
        dft_metrics_clear(&group.metrics);
        if (layers->ngroups >= DFT_LAYER_GROUP_NONE - 1 ||
            DFT_ARRAY_PUSH(layers->groups, layers->capacity, layers->ngroups, group))
            return DFT_LAYER_GROUP_NONE;
        *number = layers->ngroups;
    }
    return (uint32_t)*number - 1;
}

/* What a file belongs to, on its way into a map. */
struct place {
    struct dft_names *texts;
    uint64_t *id;
};

static int take_place(void *context, struct dft_text text)
{
    struct place *place = context;

    *place->id = dft_name_id(text.length ? text.bytes : "", text.length);
    return dft_names_add(place->texts, *place->id, text.bytes, text.length, NULL);
}

static int place_of(struct dft_layer_collector *collector, struct dft_map *map, const struct dft_file_grouping *by,
                    uint64_t file, uint64_t *id)
{
    uint64_t *known = dft_map_put(map, file);
    struct place place = {collector->layers->texts, known};
    char text[18];
    int rc = 0;

    if (!known)
        return -ENOMEM;
    if (!*known)
        rc = dft_file_grouping_text(by, dft_names_show(collector->names, file, text), take_place, &place);
    *id = *known;
    return rc;
}

int dft_layer_collector_group(struct dft_layer_collector *collector, const struct dft_layer_event *event,
                              enum dft_layer_view view, unsigned layer, uint32_t *group)
{
    const struct dft_layers *layers = collector->layers;
    uint64_t key = event->process, file = event->event.file, start = event->event.start_ns;
    int rc = 0;

    *group = DFT_LAYER_GROUP_NONE;
    if (view >= DFT_LAYER_FILE && !file)
        return 0;
    if (view == DFT_LAYER_WHOLE)
        key = 0;
    else if (view == DFT_LAYER_TIME)
        key = dft_layer_interval(start, layers->base_ns, layers->width_ns, layers->last);
    else if (view == DFT_LAYER_RANK)
        key = layers->overlap.processes[event->process].team;
    else if (view == DFT_LAYER_HOST)
        key = collector->hosts[event->process];
    else if (view == DFT_LAYER_FILE)
        key = file;
    else if (view == DFT_LAYER_DIRECTORY)
        rc = place_of(collector, &collector->dirs, &collector->by_dir, file, &key);
    else if (view == DFT_LAYER_PATTERN)
        rc = place_of(collector, &collector->patterns, &collector->by_pattern, file, &key);
    if (rc)
        return rc;
    *group = dft_layer_collector_key(collector, view, layer, key);
    return *group == DFT_LAYER_GROUP_NONE ? -ENOMEM : 0;
}

/* --- counts ----------------------------------------------------------------------------------- */

static uint64_t bin_key(uint32_t group, uint64_t dur_ns)
{
    return (uint64_t)group * DFT_BINS + dft_bin_of(dur_ns) + 1;
}

static int flush(struct dft_layer_collector *collector)
{
    struct dft_batch batch = {
        .events = collector->events, .count = collector->count, .calls = collector->calls, .ncalls = collector->count};
    uint32_t position = 0;

    collector->count = 0;
    return dft_table_add(collector->table, &batch, &position);
}

int dft_layer_collector_count(struct dft_layer_collector *collector, const struct dft_layer_event *event,
                              uint32_t group)
{
    uint32_t at = collector->count++;
    uint8_t size = dft_facets_size_class(dft_event_facets(&event->event, event->op));
    uint64_t *bin = event->event.calls ? dft_map_put(&collector->bins, bin_key(group, event->event.dur_ns)) : NULL;

    if (event->event.calls && !bin)
        return -ENOMEM;
    if (bin)
        ++*bin;
    if (size != DFT_SIZE_CLASS_NONE)
        collector->layers->groups[group].sizes[size] += event->event.calls;
    collector->events[at] = event->event;
    collector->events[at].start_ns -= collector->layers->base_ns; /* one interval holds all */
    collector->events[at].call = at;
    collector->events[at].region = 0;
    collector->calls[at] = (struct dft_call){.id = (uint64_t)group + 1, .op = event->op, .io = event->io};
    return collector->count == EVENTS ? flush(collector) : 0;
}

static int by_key(const void *left, const void *right)
{
    const struct dft_map_slot *a = left, *b = right;

    DFT_ORDER(a->key, b->key);
    return 0;
}

/* Percentiles of one group, whose bins begin at a slot. Returns the number of its bins. */
static size_t add_percentiles(struct dft_layers *layers, const struct dft_map_slot *slots, size_t count)
{
    uint64_t number = (slots->key - 1) / DFT_BINS;
    struct dft_layer_group *group = &layers->groups[number];
    uint64_t min = group->metrics.dur_min, max = group->metrics.dur_max;
    struct dft_bin bins[DFT_BINS];
    uint32_t n = 0;

    for (; n < count && (slots[n].key - 1) / DFT_BINS == number; n++)
        bins[n] = (struct dft_bin){(uint32_t)((slots[n].key - 1) % DFT_BINS), slots[n].value};
    group->p50 = dft_percentile(bins, n, 50, min, max);
    group->p95 = dft_percentile(bins, n, 95, min, max);
    group->p99 = dft_percentile(bins, n, 99, min, max);
    return n;
}

int dft_layer_collector_finish(struct dft_layer_collector *collector)
{
    struct dft_layers *layers = collector->layers;
    struct dft_map *bins = &collector->bins;
    struct dft_row *rows = NULL;
    uint32_t count = 0;
    size_t n = 0;
    int rc = flush(collector);

    if (!rc)
        rc = dft_table_rows_unsorted(collector->table, &rows, &count);
    for (uint32_t i = 0; !rc && i < count; i++)
        dft_metrics_merge(&layers->groups[rows[i].subject - 1].metrics, &rows[i].metrics);
    for (size_t i = 0; !rc && i < bins->capacity; i++) /* the map is of no more use */
        if (bins->slots[i].key)
            bins->slots[n++] = bins->slots[i];
    if (n)
        qsort(bins->slots, n, sizeof *bins->slots, by_key);
    for (size_t i = 0; i < n;)
        i += add_percentiles(layers, &bins->slots[i], n - i);
    return rc;
}
