/* SPDX-License-Identifier: MIT */
/* Events into rows: what one event adds, and where (aggregate.h defines it). On the drain path of
 * the traced process.
 *
 * Nearly every event falls into the row that the last event of its call and region fell into, and
 * ends in the interval in which it starts: `recent` finds that row without hashing or dividing. All
 * else takes the slow way. */
#include "add_inside.h"

/* What an event adds. Kept in registers on the fast way: nothing that is not inlined gets its
 * address. */
struct add_sample {
    uint64_t start_ns, end_ns;
    struct dft_metrics metrics; /* edge: as if the event ended in its first interval */
};

DFT_INLINE void add_data(struct dft_metrics *metrics, const struct dft_event *event, uint8_t op)
{
    uint64_t bytes = dft_event_bytes(event, op);

    metrics->data = 1;
    add_alike(metrics, bytes, event->size, event->bits, 1);
    if (dft_event_has_offset(event)) {
        uint64_t capacity = (uint64_t)(INT64_MAX - event->offset);

        metrics->offset_min = event->offset;
        metrics->offset_max = event->offset + (int64_t)(bytes < capacity ? bytes : capacity);
    }
}

DFT_INLINE void add_sample_init(struct add_sample *sample, const struct dft_event *event, uint8_t op,
                                enum dft_class class)
{
    struct dft_metrics *metrics = &sample->metrics;
    uint64_t dur = event->phase == DFT_PHASE_COMPLETE && event->calls ? event->dur_ns : 0;

    if (dur > UINT64_MAX - event->start_ns)
        dur = UINT64_MAX - event->start_ns;
    sample->start_ns = event->start_ns;
    sample->end_ns = event->start_ns + dur;
    dft_metrics_clear_inline(metrics);
    metrics->count = event->calls;
    metrics->errors = event->err ? metrics->count : 0;
    if (event->calls) {
        metrics->samples = 1;
        metrics->dur_sum = metrics->dur_min = metrics->dur_max = metrics->edge = dur;
    }
    metrics->first_start = sample->start_ns;
    metrics->last_end = sample->end_ns;
    if (!event->err && (class == DFT_CLASS_READ || class == DFT_CLASS_WRITE))
        add_data(metrics, event, op);
}

DFT_INLINE int add_is_recent(const struct dft_recent *recent, const struct dft_key *key,
                             const struct add_sample *sample)
{
    return recent->subject == key->subject && recent->region == key->region &&
           recent->traits == dft_table_traits(key) && sample->start_ns >= recent->from_ns &&
           sample->start_ns < recent->to_ns && sample->end_ns <= recent->to_ns;
}

static void add_remember(struct dft_recent *recent, const struct dft_key *key, uint64_t start_ns, uint64_t width)
{
    recent->subject = key->subject;
    recent->region = key->region;
    recent->traits = dft_table_traits(key);
    recent->from_ns = start_ns / width * width;
    recent->to_ns = recent->from_ns <= UINT64_MAX - width ? recent->from_ns + width : UINT64_MAX;
    recent->part_ns = recent->part_end_ns = 0;
}

/* The sample lies in the recent row's interval as a whole. Mostly it lies where the last one did. */
DFT_INLINE void add_there(struct add_sample *sample, struct dft_recent *recent, uint64_t width)
{
    struct add_part part;

    sample->metrics.edge = sample->metrics.dur_sum;
    sample->metrics.occupancy = 0;
    if (sample->start_ns >= recent->part_ns && sample->start_ns < recent->part_end_ns &&
        sample->end_ns <= recent->part_end_ns)
        return;
    part = add_part_at(recent->from_ns, width, sample->start_ns);
    recent->part_ns = part.from_ns;
    recent->part_end_ns = part.to_ns;
    sample->metrics.occupancy =
        sample->end_ns <= part.to_ns
            ? UINT64_C(1) << part.number
            : dft_occupancy_of(sample->start_ns - recent->from_ns, sample->end_ns - recent->from_ns, width);
}

/* Finds the row in which the sample starts, sets its edge and occupancy to what lies there, puts the
 * rest into the rows behind it. */
static uint32_t add_locate(struct dft_table *table, struct dft_key *key, struct add_sample *sample, uint64_t width)
{
    uint64_t start_ns = sample->start_ns, end_ns = sample->end_ns;
    uint64_t first = start_ns / width, last = end_ns > start_ns ? (end_ns - 1) / width : first;
    struct dft_metrics *end;
    uint32_t row;

    key->interval = first;
    row = dft_table_find(table, key);
    if (first == last) {
        sample->metrics.edge = end_ns - start_ns;
        sample->metrics.occupancy = dft_occupancy_of(start_ns - first * width, end_ns - first * width, width);
        return row;
    }
    sample->metrics.edge = (first + 1) * width - start_ns;
    sample->metrics.occupancy = dft_occupancy_of(start_ns - first * width, width, width);
    key->interval = last;
    end = &table->rows[dft_table_find(table, key)].metrics;
    end->edge += end_ns - last * width;
    end->occupancy |= dft_occupancy_of(0, end_ns - last * width, width);
    if (last > first + 1) {
        end->step--;
        key->interval = first + 1;
        table->rows[dft_table_find(table, key)].metrics.step++;
    }
    return row;
}

/* Makes `recent` the event's call row and histogram. */
static __attribute__((noinline)) void add_locate_call(struct dft_table *table, struct dft_recent *recent,
                                                      struct dft_key *key, struct add_sample *sample)
{
    struct dft_link *link;

    add_remember(recent, key, sample->start_ns, table->interval_ns);
    recent->row = add_locate(table, key, sample, table->interval_ns);
    link = &table->links[recent->row];
    if (table->keep & DFT_KEEP_HISTOGRAMS && !link->spine) {
        uint32_t histogram;

        key->kind = DFT_ROW_HISTOGRAM;
        key->interval = sample->start_ns / table->interval_ns / DFT_COARSE;
        histogram = dft_table_find(table, key);
        link->spine = table->links[histogram].spine;
    }
    recent->spine = link->spine;
}

/* Adds the parts of the file that the event accessed. */
DFT_INLINE void add_touched(struct dft_table *table, uint32_t row, const struct dft_metrics *metrics)
{
    if (!metrics->bytes || metrics->offset_max < 0)
        return;
    dft_touched_add(&dft_table_pattern(table, row)->touched, (uint64_t)metrics->offset_min,
                    (uint64_t)metrics->offset_max);
}

/* The same for the event's file row. */
DFT_INLINE void add_to_file(struct dft_table *table, const struct dft_event *event, const struct dft_call *call,
                            enum dft_class class, struct add_sample *sample)
{
    struct dft_key key = {.kind = DFT_ROW_FILE,
                          .class = (uint8_t) class,
                          .io = call->io,
                          .region = event->region,
                          .subject = event->file};
    struct dft_recent *recent = &table->recent_files[(event->file + 21 * class) % DFT_RECENT_FILES];
    uint64_t width = table->interval_ns * DFT_COARSE;

    if (add_is_recent(recent, &key, sample)) {
        add_there(sample, recent, width);
    } else {
        add_remember(recent, &key, event->start_ns, width);
        recent->row = add_locate(table, &key, sample, width);
    }
    add_touched(table, recent->row, &sample->metrics);
    dft_metrics_merge_inline(&table->rows[recent->row].metrics, &sample->metrics);
}

DFT_INLINE int add_event(struct dft_table *table, const struct dft_event *event, const struct dft_call *call,
                         enum dft_class class, const struct dft_recent **went)
{
    struct dft_key key = add_key(table, event, call);
    struct dft_recent *recent = add_recent(table, event->call, &key);
    int to_file = table->keep & DFT_KEEP_FILES && event->file;
    struct add_sample sample;
    int is_recent, rc;

    *went = recent;
    add_sample_init(&sample, event, call->op, class);
    is_recent = add_is_recent(recent, &key, &sample);
    rc = is_recent && !to_file ? dft_table_reserve(table, 0, 0, 3, 0) : dft_table_reserve_event(table);
    if (rc)
        return rc;
    if (is_recent)
        add_there(&sample, recent, table->interval_ns);
    else
        add_locate_call(table, recent, &key, &sample);
    dft_metrics_merge_inline(&table->rows[recent->row].metrics, &sample.metrics);
    if (recent->spine) {
        if (sample.metrics.samples)
            dft_table_count_bin(table, recent->spine, DFT_DURATIONS, dft_bin_of(sample.metrics.dur_sum), 1);
        if (sample.metrics.data) {
            dft_table_count_bin(table, recent->spine, DFT_SIZES, dft_bin_of(sample.metrics.bytes), 1);
            dft_table_count_bin(table, recent->spine, DFT_ASKED, dft_bin_of(sample.metrics.asked), 1);
        }
    }
    if (to_file)
        add_to_file(table, event, call, dft_class_on_file(class), &sample);
    return 0;
}

int dft_table_add_one(struct dft_table *table, const struct dft_event *event, const struct dft_call *call,
                      enum dft_class class, const struct dft_recent **recent)
{
    return add_event(table, event, call, class, recent);
}

/* Where a run counts durations and sizes: read once, since the compiler must think that counting
 * changes it. */
struct add_bins {
    struct dft_spine *spine; /* NULL: none are kept */
    struct dft_chunk *chunks;
};

DFT_INLINE void add_bin(struct dft_table *table, const struct add_bins *bins, int which, uint64_t value, uint64_t count)
{
    uint32_t bin = dft_bin_of(value), *chunk;

    if (!bins->spine)
        return;
    chunk = &bins->spine->chunks[which][bin / DFT_CHUNK_BINS];
    if (__builtin_expect(!*chunk, 0))
        *chunk = dft_table_take_chunk(table);
    bins->chunks[*chunk - 1].counts[bin % DFT_CHUNK_BINS] += count;
}

/* Data events of a run that follow each other, and move and ask for the same number of bytes, which
 * calls in a loop do. */
struct add_same {
    int64_t result;
    uint32_t unit, bits;
    uint64_t bytes, asked, count;
};

/* Sums them up. */
DFT_INLINE void add_same_end(struct dft_table *table, const struct add_bins *bins, struct dft_metrics *sum,
                             const struct add_same *same)
{
    if (!same->count)
        return;
    add_alike(sum, same->bytes, same->asked, same->bits, same->count);
    add_bin(table, bins, DFT_SIZES, same->bytes, same->count);
    add_bin(table, bins, DFT_ASKED, same->asked, same->count);
}

/* Does the event belong to the run? */
DFT_INLINE int add_is_of_run(const struct dft_recent *recent, const struct dft_event *event, uint32_t call)
{
    uint64_t end_ns = event->start_ns + event->dur_ns;

    return !((event->call ^ call) | (event->region ^ recent->region) | (event->calls ^ 1u) |
             (uint32_t)(event->phase ^ DFT_PHASE_COMPLETE) | event->err | (event->bits & DFT_BIT_OPEN)) &&
           event->start_ns >= recent->from_ns && event->start_ns < recent->to_ns && end_ns <= recent->to_ns &&
           end_ns >= event->start_ns;
}

/* The i-th event of those to add: with an order the one that it names. */
DFT_INLINE const struct dft_event *add_event_at(const struct dft_event *events, const uint32_t *order, uint32_t i)
{
    return &events[order ? order[i] : i];
}

/* What a data event of a run adds besides its times. */
DFT_INLINE void add_run_data(struct dft_table *table, const struct add_bins *bins, struct dft_metrics *sum,
                             struct add_same *same, const struct dft_event *event, uint8_t op)
{
    if (!same->count || event->result != same->result || event->unit != same->unit || event->bits != same->bits ||
        event->size != same->asked) {
        add_same_end(table, bins, sum, same);
        *same = (struct add_same){event->result, event->unit, event->bits, dft_event_bytes(event, op), event->size, 0};
    }
    same->count++;
    if (dft_event_has_offset(event)) {
        uint64_t capacity = (uint64_t)(INT64_MAX - event->offset);
        int64_t end = event->offset + (int64_t)(same->bytes < capacity ? same->bytes : capacity);

        sum->offset_min = event->offset < sum->offset_min ? event->offset : sum->offset_min;
        sum->offset_max = end > sum->offset_max ? end : sum->offset_max;
    }
}

/* What the times of an event of a run add. */
DFT_INLINE void add_run_times(struct dft_metrics *sum, const struct dft_recent *recent, struct add_part *part,
                              const struct dft_event *event)
{
    uint64_t last = event->start_ns + event->dur_ns, width = recent->to_ns - recent->from_ns;

    sum->samples++;
    sum->dur_sum += event->dur_ns;
    sum->dur_min = event->dur_ns < sum->dur_min ? event->dur_ns : sum->dur_min;
    sum->dur_max = event->dur_ns > sum->dur_max ? event->dur_ns : sum->dur_max;
    sum->first_start = event->start_ns < sum->first_start ? event->start_ns : sum->first_start;
    sum->last_end = last > sum->last_end ? last : sum->last_end;
    if (__builtin_expect(event->start_ns >= part->from_ns && last <= part->to_ns && event->start_ns < part->to_ns, 1))
        return;
    sum->occupancy |= dft_occupancy_of(event->start_ns - recent->from_ns, last - recent->from_ns, width);
    *part = add_part_at(recent->from_ns, width, event->start_ns);
}

/* The events from i on that fall into the same recent row: their sum is made aside and merged once
 * (written out, because gcc keeps the sum of dft_metrics_merge_inline in memory, at twice the
 * cost). Returns where it ends, i when the first is not of that kind (another row, a failure, no
 * room for what it may need). */
DFT_INLINE uint32_t add_run(struct dft_table *table, const struct dft_batch *batch, const uint32_t *order,
                            uint32_t count, uint32_t i, int is_data)
{
    const struct dft_event *events = batch->events, *event = add_event_at(events, order, i), *first = event;
    const struct dft_call *call = &batch->calls[event->call];
    const struct dft_key key = add_key(table, event, call);
    const struct dft_recent recent = *add_recent(table, event->call, &key);
    const struct add_bins bins = {recent.spine ? &table->spines[recent.spine - 1] : NULL, table->chunks};
    uint32_t number = event->call, capacity = (table->chunks_capacity - table->nchunks) / 3;
    uint32_t end = capacity < count - i ? i + capacity : count;
    int has_facets = is_data && !(table->keep & DFT_MIX_OPS);
    struct add_same same = {.count = 0};
    struct add_part part = {.to_ns = 0};
    struct dft_metrics sum;

    /* The last interval of all is cut. */
    if (!recent.to_ns || recent.to_ns - recent.from_ns != table->interval_ns || recent.subject != key.subject ||
        recent.traits != dft_table_traits(&key) || recent.region != key.region)
        return i;
    dft_metrics_clear_inline(&sum);
    for (; i < end; i++, event++) {
        if (order)
            event = add_event_at(events, order, i);
        if (!add_is_of_run(&recent, event, number) || (has_facets && !add_has_facets(event, call->op, &key, first)))
            break;
        add_run_times(&sum, &recent, &part, event);
        add_bin(table, &bins, DFT_DURATIONS, event->dur_ns, 1);
        if (is_data)
            add_run_data(table, &bins, &sum, &same, event, call->op);
    }
    if (is_data)
        add_same_end(table, &bins, &sum, &same);
    sum.count = sum.samples;
    sum.edge = sum.dur_sum;
    sum.data = is_data ? sum.samples : 0;
    dft_metrics_merge_inline(&table->rows[recent.row].metrics, &sum);
    return i;
}

DFT_INLINE int add_all(struct dft_table *table, const struct dft_batch *batch, const uint32_t *order, uint32_t count,
                       uint32_t *position)
{
    const struct dft_event *events = batch->events;
    uint32_t i = *position;
    int rc = 0;

    if (i < count)
        table->sorted = 0;
    for (; i < count; i++) {
        const struct dft_event *event = add_event_at(events, order, i);
        const struct dft_call *call = batch->calls + event->call;
        const struct dft_recent *recent;
        enum dft_class class;

        if (event->call >= batch->ncalls)
            continue;
        class = dft_op_class(call->op);
        if (!add_is_aggregated(event, call->op, class))
            continue;
        if (!(table->keep & DFT_KEEP_FILES) && i + 1 < count &&
            add_event_at(events, order, i + 1)->call == event->call) {
            uint32_t end = add_run(table, batch, order, count, i, class == DFT_CLASS_READ || class == DFT_CLASS_WRITE);

            if (end > i) {
                i = end - 1;
                continue;
            }
        }
        rc = add_event(table, event, call, class, &recent);
        if (rc)
            break;
    }
    *position = i;
    return rc;
}

int dft_table_add(struct dft_table *table, const struct dft_batch *batch, uint32_t *position)
{
    return add_all(table, batch, NULL, batch->count, position);
}

int dft_table_add_ordered(struct dft_table *table, const struct dft_batch *batch, const uint32_t *order, uint32_t count)
{
    uint32_t position = 0;

    return add_all(table, batch, order, count, &position);
}
