/* Numbers of lines, of a text that several ranks write: all count lines, each in its share of the
 * blocks, so that each knows the numbers of those that it writes.
 *
 * Lines may tell of the number of an event around theirs, which may have begun in another rank's
 * stretch. Events that are around others and reach into a later stretch are few: they are collected
 * first, and the lines before each are counted. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "command/event_text_inside.h"
#include "source/filter.h"
#include "source/source_order.h"
#include "source/source_visit.h"

#define REACHING_MAX (1u << 20) /* 64 MiB; beyond that one rank writes all */

struct counting {
    struct writing *writing;
    pthread_mutex_t lock;
    uint32_t capacity;
    int too_many;
    _Atomic uint64_t *lines;  /* of each stretch */
    _Atomic uint64_t *before; /* of each reaching event: lines behind the one before it */
};

static size_t stretch_of(const struct writing *writing, uint64_t at)
{
    size_t low = 0, high = writing->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (writing->starts[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* --- events that reach into a later stretch ----------------------------------------------------------------------- */

static int reaches(const struct writing *writing, uint64_t start_ns, uint64_t end_ns)
{
    return end_ns > start_ns && stretch_of(writing, start_ns) != stretch_of(writing, end_ns);
}

static int select_reaching(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct counting *counting = context;
    const struct dft_event_text *text = counting->writing->text;

    (void)process;
    return dft_source_wants(text->source, text->filter, block) && reaches(counting->writing, block->start, block->end);
}

/* Returns 0, -ENOMEM, or -E2BIG: there are too many. */
static int add(struct counting *counting, const struct dft_enclosing_event *event)
{
    struct writing *writing = counting->writing;

    if (writing->nreaching == REACHING_MAX)
        return -E2BIG;
    if (writing->nreaching == counting->capacity) {
        uint32_t capacity = counting->capacity ? 2 * counting->capacity : 64;
        struct dft_enclosing_event *bigger = reallocarray(writing->reaching, capacity, sizeof *bigger);

        if (!bigger)
            return -ENOMEM;
        writing->reaching = bigger;
        counting->capacity = capacity;
    }
    writing->reaching[writing->nreaching++] = *event;
    return 0;
}

static int collect(void *context, unsigned worker, const struct dft_source_process *process,
                   const struct dft_block *block, struct dft_batch *batch)
{
    struct counting *counting = context;
    const struct dft_event_text *text = counting->writing->text;
    int rc = 0;

    (void)worker;
    pthread_mutex_lock(&counting->lock);
    for (uint32_t i = 0; i < batch->count && !rc; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_call *call = &batch->calls[event->call];
        struct dft_enclosing_event around = dft_enclosing_event(event, call->id, dft_batch_number(batch, i), block);

        if (batch->first <= batch->last && reaches(counting->writing, around.start_ns, around.end_ns) &&
            text->encloses(process, event, call->op) && dft_filter_event(text->filter, event, call->id))
            rc = add(counting, &around);
    }
    counting->too_many |= rc == -E2BIG;
    pthread_mutex_unlock(&counting->lock);
    return rc == -ENOMEM ? rc : 0;
}

static int take(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct counting *counting = context;
    int rc = 0;

    (void)rank;
    for (size_t at = 0; at < length && !rc; at += sizeof(struct dft_enclosing_event)) {
        struct dft_enclosing_event event;

        memcpy(&event, (const char *)bytes + at, sizeof event);
        rc = add(counting, &event);
    }
    counting->too_many |= rc == -E2BIG;
    return rc == -ENOMEM ? rc : 0;
}

static int by_order(const void *left, const void *right)
{
    return dft_enclosing_compare(left, right);
}

/* Returns an agreed 0, 1: there are too many, or -errno. */
static int find_reaching(struct counting *counting)
{
    struct writing *writing = counting->writing;
    struct dft_visit visit = {.context = counting, .select = select_reaching, .events = collect};
    struct dft_enclosing_event *mine;
    uint32_t count;
    int rc = dft_source_visit(writing->text->source, &visit);

    mine = writing->reaching;
    count = writing->nreaching;
    writing->reaching = NULL;
    writing->nreaching = counting->capacity = 0;
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_comm_exchange(mine, count * sizeof *mine, take, counting);
    free(mine);
    if (!rc && writing->nreaching)
        qsort(writing->reaching, writing->nreaching, sizeof *writing->reaching, by_order);
    return rc ? rc : dft_comm_agree(counting->too_many);
}

/* --- counting ----------------------------------------------------------------------------------------------------- */

/* How many reaching events come before this one, or are this one. */
static uint32_t reaching_before(const struct writing *writing, const struct dft_enclosing_event *event)
{
    uint32_t low = 0, high = writing->nreaching;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (dft_enclosing_compare(&writing->reaching[middle], event) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int select_block(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct counting *counting = context;

    (void)process;
    return dft_source_wants(counting->writing->text->source, counting->writing->text->filter, block);
}

static int count_lines(void *context, unsigned worker, const struct dft_source_process *process,
                       const struct dft_block *block, struct dft_batch *batch)
{
    struct counting *counting = context;
    const struct writing *writing = counting->writing;
    const struct dft_event_text *text = writing->text;

    (void)worker;
    (void)process;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_call *call = &batch->calls[event->call];
        struct dft_enclosing_event place;
        uint64_t lines;

        if (text->filter && !dft_filter_event(text->filter, event, call->id))
            continue;
        lines = text->lines(event, call->op);
        atomic_fetch_add_explicit(&counting->lines[stretch_of(writing, event->start_ns)], lines, memory_order_relaxed);
        if (!writing->nreaching)
            continue;
        place =
            dft_enclosing_event(event, call->id, batch->first > batch->last ? 0 : dft_batch_number(batch, i), block);
        atomic_fetch_add_explicit(&counting->before[reaching_before(writing, &place)], lines, memory_order_relaxed);
    }
    return 0;
}

/* Sums of all ranks, from `next` on: what comes before each. */
static void number(uint64_t *numbers, const _Atomic uint64_t *lines, size_t count, uint64_t next)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = atomic_load(&lines[i]);
    dft_comm_sum(numbers, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t here = numbers[i];

        numbers[i] = next;
        next += here;
    }
}

static int count_all(struct counting *counting)
{
    struct writing *writing = counting->writing;
    struct dft_visit visit = {
        .context = counting, .select = select_block, .events = count_lines, .progress = "blocks counted"};
    uint64_t *before = calloc(writing->nreaching + 2u, sizeof *before);
    int rc;

    counting->lines = calloc(writing->count + 1, sizeof *counting->lines);
    counting->before = calloc(writing->nreaching + 2u, sizeof *counting->before);
    writing->numbers = calloc(writing->count + 1, sizeof *writing->numbers);
    rc = dft_comm_agree(counting->lines && counting->before && writing->numbers && before ? 0 : -ENOMEM);
    if (!rc)
        rc = dft_source_visit(writing->text->source, &visit);
    if (!rc) {
        number(writing->numbers, counting->lines, writing->count + 1, writing->text->first);
        number(before, counting->before, writing->nreaching + 2u, writing->text->first);
    }
    for (uint32_t i = 0; !rc && i < writing->nreaching; i++)
        writing->reaching[i].number = before[i + 1];
    free(before);
    free(counting->before);
    free(counting->lines);
    return rc;
}

int dft_event_text_number(struct writing *writing)
{
    struct counting counting = {.writing = writing, .lock = PTHREAD_MUTEX_INITIALIZER};
    int rc = 0;

    if (!writing->text->lines || writing->ranks == 1)
        return 0;
    if (writing->text->encloses)
        rc = find_reaching(&counting);
    if (rc == 1) {
        writing->ranks = 1;
        return 0;
    }
    return rc ? rc : count_all(&counting);
}

int dft_event_text_resume(const struct writing *writing, uint64_t from_ns)
{
    int rc = 0;

    if (!writing->text->enclosing || writing->ranks == 1)
        return 0;
    dft_enclosing_clear(writing->text->enclosing);
    for (uint32_t i = 0; i < writing->nreaching && writing->reaching[i].start_ns < from_ns && !rc; i++)
        if (writing->reaching[i].end_ns >= from_ns)
            rc = dft_enclosing_put(writing->text->enclosing, &writing->reaching[i]);
    return rc;
}
