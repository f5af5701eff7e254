/* SPDX-License-Identifier: MIT */
/* Reads the table events so that those of one name come together: each thread puts the events of a
 * name into a batch of its own. Full batches are kept, or put on the disk when they would take too
 * much memory. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/settings.h"
#include "base/spill_file.h"
#include "format/event.h"
#include "intake/source_names.h"
#include "tables/block_events.h"
#include "tables/columns.h"
#include "tables/event_columns.h"
#include "tables/saved_batch.h"

#define KEPT_BYTES (UINT64_C(192) << 20) /* of all batches */

/* The events of one name that one thread has seen. */
struct shelf {
    struct dft_text name;
    struct dft_maker *maker; /* NULL: all events are put aside, so that many names take little memory */
    size_t bytes;            /* of the maker, as counted last */
    struct dft_saved_batch *saved;
    size_t nsaved, capacity;
};

struct shelves {
    struct shelf **list;
    size_t count, capacity;
    struct dft_map by_call; /* call -> position + 1 */
};

struct by_name {
    struct dft_reading *reading;
    struct shelves *workers;
    unsigned nworkers;
    _Atomic size_t kept; /* bytes */
    size_t kept_most;
    struct dft_spill_file spill;
    pthread_mutex_t lock; /* of the file */
};

static int new_shelf(struct by_name *by_name, struct shelves *shelves, uint64_t call, struct shelf **result)
{
    struct dft_reading *reading = by_name->reading;
    struct shelf *shelf = calloc(1, sizeof *shelf);
    struct dft_text category, name;
    uint64_t *place = dft_map_put(&shelves->by_call, call);
    char text[18], *copy;

    *result = shelf;
    if (!shelf || !place || DFT_ARRAY_PUSH(shelves->list, shelves->capacity, shelves->count, shelf)) {
        free(shelf);
        return -ENOMEM;
    }
    *place = shelves->count;
    dft_names_call(dft_source_names_table(reading->source), call, &category, &name, text);
    copy = malloc((size_t)name.length + 1);
    if (copy)
        memcpy(copy, name.bytes, name.length);
    shelf->name = (struct dft_text){copy, name.length};
    return copy ? 0 : -ENOMEM;
}

static int find_shelf(struct by_name *by_name, struct shelves *shelves, uint64_t call, struct shelf **shelf)
{
    const uint64_t *place = dft_map_find(&shelves->by_call, call);

    if (!place || !*place)
        return new_shelf(by_name, shelves, call, shelf);
    *shelf = shelves->list[*place - 1];
    return 0;
}

/* Puts the batch of a shelf aside. */
static int save(struct by_name *by_name, struct shelf *shelf)
{
    struct dft_saved_batch saved;
    struct dft_table_batch batch;
    int rc = dft_maker_finish(shelf->maker, &batch);

    if (rc || !batch.count)
        return rc;
    rc = dft_saved_batch_make(&saved, &batch, by_name->reading->request->columns);
    if (rc)
        return rc;
    dft_maker_clear(shelf->maker);
    if (atomic_load(&by_name->kept) + saved.length > by_name->kept_most) {
        pthread_mutex_lock(&by_name->lock);
        rc = dft_saved_batch_spill(&saved, &by_name->spill);
        pthread_mutex_unlock(&by_name->lock);
    } else {
        atomic_fetch_add(&by_name->kept, saved.length);
    }
    if (!rc)
        rc = DFT_ARRAY_PUSH(shelf->saved, shelf->capacity, shelf->nsaved, saved);
    if (rc)
        dft_saved_batch_fini(&saved);
    return rc;
}

static int begin_batch(struct by_name *by_name, struct shelf *shelf)
{
    shelf->maker = calloc(1, sizeof *shelf->maker);
    return shelf->maker ? dft_maker_init(shelf->maker, by_name->reading->source, DFT_TABLE_EVENTS,
                                         by_name->reading->request->columns)
                        : -ENOMEM;
}

static void end_batch(struct shelf *shelf)
{
    if (shelf->maker)
        dft_maker_fini(shelf->maker);
    free(shelf->maker);
    shelf->maker = NULL;
}

/* Takes the memory of batches that are not full yet, when there is too much of it. */
static int tidy(struct by_name *by_name, struct shelves *shelves)
{
    int rc = 0;

    for (size_t i = 0; i < shelves->count && !rc; i++) {
        struct shelf *shelf = shelves->list[i];

        rc = shelf->maker ? save(by_name, shelf) : 0;
        end_batch(shelf);
        atomic_fetch_sub(&by_name->kept, shelf->bytes);
        shelf->bytes = 0;
    }
    return rc;
}

static int put(struct by_name *by_name, struct shelf *shelf, const struct dft_event_at *const *events, uint32_t count)
{
    int rc = shelf->maker ? 0 : begin_batch(by_name, shelf);
    uint32_t capacity = rc ? 0 : shelf->maker->capacity;

    if (!rc)
        rc = dft_maker_events(shelf->maker, events, count);
    if (!rc && shelf->maker->capacity != capacity) {
        size_t bytes = sizeof *shelf->maker + dft_maker_bytes(shelf->maker);

        atomic_fetch_add(&by_name->kept, bytes - shelf->bytes);
        shelf->bytes = bytes;
    }
    return rc || shelf->maker->count < by_name->reading->rows ? rc : save(by_name, shelf);
}

/* Events of one call mostly follow each other. */
static int shelve(void *context, unsigned worker, const struct dft_event_at *const *events, uint32_t count,
                  uint32_t *most)
{
    struct by_name *by_name = context;
    struct shelves *shelves = &by_name->workers[worker];
    struct shelf *shelf;
    int rc = 0;

    *most = DFT_CHUNK_EVENTS;
    for (uint32_t first = 0, next; first < count && !rc; first = next) {
        for (next = first + 1; next < count && events[next]->call == events[first]->call;)
            next++;
        rc = find_shelf(by_name, shelves, events[first]->call, &shelf);
        if (!rc)
            rc = put(by_name, shelf, events + first, next - first);
    }
    return rc || atomic_load(&by_name->kept) <= by_name->kept_most + by_name->kept_most / 4 ? rc
                                                                                            : tidy(by_name, shelves);
}

static int shelve_block(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                        size_t number)
{
    struct by_name *by_name = context;
    struct dft_batch batch;
    int rc = dft_block_decode(by_name->reading, reader, block, &batch);

    (void)number;
    return rc ? rc : dft_block_events(by_name->reading, worker, block, &batch, shelve, by_name);
}

/* --- giving ----------------------------------------------------------------------------------- */

/* Texts compare as SQL compares them: byte by byte. */
static int by_text(const void *left, const void *right)
{
    const struct dft_text *a = &(*(struct shelf *const *)left)->name, *b = &(*(struct shelf *const *)right)->name;
    int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);

    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int give_shelf(struct by_name *by_name, struct shelf *shelf)
{
    struct dft_reading *reading = by_name->reading;
    struct dft_table_batch batch;
    int rc = 0;

    for (size_t i = 0; i < shelf->nsaved && !rc; i++) {
        struct dft_cells cells[DFT_EVENTS_COLUMNS];

        rc = dft_saved_batch_open(&shelf->saved[i], &by_name->spill, dft_tables_at(DFT_TABLE_EVENTS),
                                  reading->request->columns, cells, &batch);
        if (!rc)
            rc = reading->take(reading->context, 0, &batch);
        dft_saved_batch_fini(&shelf->saved[i]);
    }
    if (rc || !shelf->maker || !shelf->maker->count)
        return rc;
    rc = dft_maker_finish(shelf->maker, &batch);
    return rc ? rc : reading->take(reading->context, 0, &batch);
}

static int give_all(struct by_name *by_name)
{
    struct shelf **all;
    size_t count = 0, n = 0;
    int rc = 0;

    for (unsigned i = 0; i < by_name->nworkers; i++)
        count += by_name->workers[i].count;
    all = malloc((count + 1) * sizeof *all);
    if (!all)
        return -ENOMEM;
    for (unsigned i = 0; i < by_name->nworkers; i++)
        for (size_t k = 0; k < by_name->workers[i].count; k++)
            all[n++] = by_name->workers[i].list[k];
    qsort(all, n, sizeof *all, by_text);
    for (size_t i = 0; i < n && !rc; i++)
        rc = give_shelf(by_name, all[i]);
    free(all);
    return rc;
}

static void forget(struct by_name *by_name)
{
    for (unsigned i = 0; i < by_name->nworkers; i++) {
        struct shelves *shelves = &by_name->workers[i];

        for (size_t k = 0; k < shelves->count; k++) {
            struct shelf *shelf = shelves->list[k];

            for (size_t s = 0; s < shelf->nsaved; s++)
                dft_saved_batch_fini(&shelf->saved[s]);
            free(shelf->saved);
            end_batch(shelf);
            free((char *)shelf->name.bytes);
            free(shelf);
        }
        free(shelves->list);
        dft_map_fini(&shelves->by_call);
    }
    free(by_name->workers);
    dft_spill_file_close(&by_name->spill);
    pthread_mutex_destroy(&by_name->lock);
}

int dft_read_events_by_name(struct dft_reading *reading)
{
    struct by_name by_name = {.reading = reading,
                              .nworkers = dft_source_threads(reading->source),
                              .kept_most = dft_setting_or(DFT_SETTING_GROUP_BYTES, KEPT_BYTES)};
    const struct dft_block **blocks = NULL;
    size_t count = 0;
    int rc;

    pthread_mutex_init(&by_name.lock, NULL);
    by_name.workers = calloc(by_name.nworkers, sizeof *by_name.workers);
    if (!by_name.workers)
        by_name.nworkers = 0;
    rc = by_name.workers ? dft_blocks_of_events(reading, &blocks, &count) : -ENOMEM;
    if (!rc)
        rc = dft_read_blocks(reading->source, blocks, count, 0, "blocks read", shelve_block, &by_name);
    if (!rc)
        rc = give_all(&by_name);
    free(blocks);
    forget(&by_name);
    return rc;
}
