/* SPDX-License-Identifier: MIT */
/* Makes a rollup: counts all events by region, call and file, and writes these groups as blocks of
 * rows. */
#include "query/rollup_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/names.h"
#include "mpi/comm.h"
#include "query/count_pass.h"
#include "query/execution.h"
#include "query/partial.h"
#include "query/plan_processes.h"
#include "query/query_types.h"
#include "query/rollup_file.h"
#include "source/filter.h"
#include "source/source_names.h"

#define CHUNK 1024u /* groups of a block */
#define WORTH 8u    /* so many events a group, or a rollup is not worth it */

struct making {
    const struct dft_execution *execution; /* has counted */
    struct dft_rollup *rollup;
    struct dft_encoder *encoder;
    size_t capacity;
    struct dft_row **rows[2]; /* by group: its call row, and its histogram or NULL */
    uint32_t *order;          /* groups by region, op, file, call */
    struct dft_row chunk[2 * CHUNK];
    struct dft_call calls[CHUNK];
    struct dft_name names[CHUNK + 1];
};

static int by_place(const void *left, const void *right, void *context)
{
    const struct dft_group_key *keys = context, *a = &keys[*(const uint32_t *)left],
                               *b = &keys[*(const uint32_t *)right];

    if (a->region != b->region)
        return a->region < b->region ? -1 : 1;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->facets != b->facets)
        return a->facets < b->facets ? -1 : 1;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    return a->call < b->call ? -1 : a->call > b->call;
}

static int put_block(struct dft_rollup *rollup, size_t *capacity, const void *block, size_t bytes)
{
    if (rollup->length + bytes > DFT_ROLLUP_BYTES)
        return -EFBIG;
    if (rollup->length + bytes > *capacity) {
        size_t bigger = 2 * *capacity + bytes;
        char *moved = realloc(rollup->bytes, bigger);

        if (!moved)
            return -ENOMEM;
        rollup->bytes = moved;
        *capacity = bigger;
    }
    memcpy(rollup->bytes + rollup->length, block, bytes);
    rollup->length += bytes;
    return 0;
}

static void put_name(const struct making *making, struct dft_buckets *buckets, uint64_t id)
{
    struct dft_text text = dft_names_text(making->execution->names, id);

    if (id && text.bytes && (!buckets->nnames || buckets->names[buckets->nnames - 1].id != id))
        buckets->names[buckets->nnames++] = (struct dft_name){.id = id, .text = text};
}

/* Groups [first, first + count) of the order, all of one region and op; halves, where a block
 * would be too large. */
static int put_groups(struct making *making, uint32_t first, uint32_t count)
{
    const struct dft_group_key *keys = making->execution->total.map.keys, *any = &keys[making->order[first]];
    struct dft_buckets buckets = {.key = any->region,
                                  .stream = any->op,
                                  .interval_ns = DFT_QUERY_INTERVAL,
                                  .rows = making->chunk,
                                  .calls = making->calls,
                                  .names = making->names};
    const void *block;
    long bytes;
    int rc;

    put_name(making, &buckets, any->region);
    for (uint32_t i = first; i < first + count; i++) {
        const struct dft_group_key *key = &keys[making->order[i]];

        for (unsigned kind = 0; kind < 2; kind++) {
            const struct dft_row *row = making->rows[kind][making->order[i]];
            struct dft_row *put = &making->chunk[buckets.count];

            if (!row)
                continue;
            *put = *row;
            put->region = key->file;
            put->subject = key->call;
            put->op = key->op;
            put->io = key->class;
            put->access = dft_facets_access(key->facets);
            buckets.count++;
        }
        put_name(making, &buckets, key->file);
        making->calls[buckets.ncalls++] =
            (struct dft_call){.id = key->call,
                              .op = key->op,
                              .io = key->class,
                              .text = dft_names_text(making->execution->names, key->call)};
    }
    bytes = dft_encode_buckets(making->encoder, &buckets, &block);
    if (bytes > 0)
        return put_block(making->rollup, &making->capacity, block, (size_t)bytes);
    if (bytes != -E2BIG || count < 2)
        return (int)bytes;
    rc = put_groups(making, first, count / 2);
    return rc ? rc : put_groups(making, first + count / 2, count - count / 2);
}

static int put_all(struct making *making)
{
    const struct dft_group_map *map = &making->execution->total.map;
    int rc = 0;

    for (uint32_t i = 0; i < map->count; i++)
        making->order[i] = i;
    qsort_r(making->order, map->count, sizeof *making->order, by_place, map->keys);
    for (uint32_t first = 0, next; !rc && first < map->count; first = next) {
        const struct dft_group_key *key = &map->keys[making->order[first]];

        for (next = first + 1; next < map->count && next - first < CHUNK; next++)
            if (map->keys[making->order[next]].region != key->region || map->keys[making->order[next]].op != key->op)
                break;
        rc = put_groups(making, first, next - first);
    }
    return rc;
}

/* The texts of all that is in it. Collective. */
static int fetch_texts(struct dft_execution *execution)
{
    const struct dft_group_map *map = &execution->total.map;
    uint64_t *wanted = malloc((3 * (size_t)map->count + 1) * sizeof *wanted);
    int rc = dft_comm_agree(wanted ? 0 : -ENOMEM);
    size_t n = 0;

    for (uint32_t i = 0; !rc && i < map->count; i++) {
        wanted[n++] = map->keys[i].call;
        wanted[n++] = map->keys[i].file;
        wanted[n++] = map->keys[i].region;
    }
    if (!rc)
        rc = dft_source_names(execution->source, wanted, n);
    free(wanted);
    return rc;
}

/* What was counted becomes blocks. */
static int make_blocks(struct dft_execution *execution, struct dft_rollup *rollup, struct dft_encoder *encoder)
{
    struct making *making = calloc(1, sizeof *making);
    uint32_t groups = execution->total.map.count, count;
    struct dft_row *rows;
    int rc = making ? dft_table_rows(execution->total.table, &rows, &count) : -ENOMEM;

    if (!rc) {
        *making = (struct making){.execution = execution, .rollup = rollup, .encoder = encoder};
        making->order = malloc((groups + 1u) * sizeof *making->order);
        making->rows[0] = calloc(groups + 1u, sizeof *making->rows[0]);
        making->rows[1] = calloc(groups + 1u, sizeof *making->rows[1]);
        rc = making->order && making->rows[0] && making->rows[1] ? 0 : -ENOMEM;
    }
    for (uint32_t i = 0; !rc && i < count; i++)
        making->rows[rows[i].kind == DFT_ROW_HISTOGRAM][DFT_GROUP(rows[i].subject)] = &rows[i];
    if (!rc)
        rc = put_all(making);
    if (making) {
        free(making->order);
        free(making->rows[0]);
        free(making->rows[1]);
    }
    free(making);
    return rc;
}

/* Counts by all that is told apart. Returns 1: it is worth keeping, 0, or -errno. Collective. */
static int count_all(struct dft_source *source, struct dft_execution **execution)
{
    const struct dft_query query = {
        .by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_REGION, DFT_BY_FILE, DFT_BY_OP, DFT_BY_CLASS, DFT_BY_ACCESS},
        .nby = 7,
        .percentiles = 1};
    struct dft_filter all;
    int rc, worth;

    dft_filter_init(&all);
    rc = dft_filter_begin(&all, source);
    if (!rc)
        rc = dft_execution_create(execution, source, &all, &query);
    if (!rc) {
        (*execution)->all_events = 1;
        rc = dft_number_processes(*execution);
    }
    rc = dft_comm_agree(rc);
    if (!rc) {
        (*execution)->in_memory = 1;
        rc = dft_count(execution, 1);
    }
    if (rc)
        return rc == DFT_TOO_MANY ? 0 : rc;
    worth = !(*execution)->stats.second_files && (*execution)->total.map.count <= (*execution)->stats.events / WORTH;
    dft_comm_broadcast(&worth, sizeof worth);
    rc = worth ? fetch_texts(*execution) : 0;
    return rc ? rc : worth;
}

/* Rank 0 keeps what was counted, or that it is not worth it. */
static int keep(struct dft_source *source, const struct dft_index_key *key, struct dft_execution *execution, int worth,
                struct dft_rollup *rollup)
{
    size_t bytes = dft_encoder_bytes();
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct dft_encoder *encoder = memory == MAP_FAILED ? NULL : dft_encoder_init(memory);
    int rc = !encoder ? -ENOMEM : worth ? make_blocks(execution, rollup, encoder) : 0;

    if (rc) {
        free(rollup->bytes);
        rollup->bytes = NULL;
        rollup->length = 0;
    }
    if (rc != -ENOMEM)
        dft_rollup_write(source, key, rollup, encoder);
    if (encoder)
        munmap(memory, bytes);
    return rc == -ENOMEM ? rc : 0;
}

int dft_rollup_make(struct dft_source *source, const struct dft_index_key *key, struct dft_rollup *rollup)
{
    struct dft_execution *execution = NULL;
    int rc = count_all(source, &execution);

    if (rc >= 0)
        rc = dft_comm_agree(dft_comm_rank() ? 0 : keep(source, key, execution, rc, rollup));
    if (execution)
        dft_execution_destroy(execution);
    return rc;
}
