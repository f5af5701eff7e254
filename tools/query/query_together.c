/* SPDX-License-Identifier: MIT */
/* Questions by file from what all traces did together (index_together.h), and how that is made.
 *
 * Blocks are BUCKETS whose rows are not told apart by process or time: the block is of one region (where else its process
 * stands) and one op (where else its stream is), and what else is the region of a row is its file, 0 without one. Each
 * (region, op, call, file) has a call row, and a histogram row behind it. It is the answer to a question, counted as any
 * other, before its calls become texts: so what is put together from it is the same, to the last digit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mpi/comm.h"
#include "query/index_together.h"
#include "query/query_inside.h"
#include "source/source_names.h"

#define CHUNK     1024u /* groups of a block */
#define EVERYBODY 1u    /* there is but one combination where processes are not told apart */
#define WORTH     8u    /* so many events a group, or it is not worth it */

/* --- making it ------------------------------------------------------------------------------------------------------ */

struct making {
    const struct dft_asking *asking; /* has counted */
    struct dft_together *together;
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
    return a->call < b->call ? -1 : a->call > b->call;
}

static int put_block(struct dft_together *together, size_t *capacity, const void *block, size_t bytes)
{
    if (together->length + bytes > DFT_TOGETHER_BYTES)
        return -EFBIG;
    if (together->length + bytes > *capacity) {
        size_t bigger = 2 * *capacity + bytes;
        char *moved = realloc(together->bytes, bigger);

        if (!moved)
            return -ENOMEM;
        together->bytes = moved;
        *capacity = bigger;
    }
    memcpy(together->bytes + together->length, block, bytes);
    together->length += bytes;
    return 0;
}

static void put_name(const struct making *making, struct dft_buckets *buckets, uint64_t id)
{
    struct dft_text text = dft_names_text(making->asking->names, id);

    if (id && text.bytes && (!buckets->nnames || buckets->names[buckets->nnames - 1].id != id))
        buckets->names[buckets->nnames++] = (struct dft_name){.id = id, .text = text};
}

/* Groups [first, first + count) of the order, all of one region and op; halves, where a block would be too large. */
static int put_groups(struct making *making, uint32_t first, uint32_t count)
{
    const struct dft_group_key *keys = making->asking->total.map.keys, *any = &keys[making->order[first]];
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
            buckets.count++;
        }
        put_name(making, &buckets, key->file);
        making->calls[buckets.ncalls++] =
            (struct dft_call){.id = key->call, .op = key->op, .text = dft_names_text(making->asking->names, key->call)};
    }
    bytes = dft_encode_buckets(making->encoder, &buckets, &block);
    if (bytes > 0)
        return put_block(making->together, &making->capacity, block, (size_t)bytes);
    if (bytes != -E2BIG || count < 2)
        return (int)bytes;
    rc = put_groups(making, first, count / 2);
    return rc ? rc : put_groups(making, first + count / 2, count - count / 2);
}

static int put_all(struct making *making)
{
    const struct dft_group_map *map = &making->asking->total.map;
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
static int fetch_texts(struct dft_asking *asking)
{
    const struct dft_group_map *map = &asking->total.map;
    uint64_t *wanted = malloc((3 * (size_t)map->count + 1) * sizeof *wanted);
    int rc = dft_comm_agree(wanted ? 0 : -ENOMEM);
    size_t n = 0;

    for (uint32_t i = 0; !rc && i < map->count; i++) {
        wanted[n++] = map->keys[i].call;
        wanted[n++] = map->keys[i].file;
        wanted[n++] = map->keys[i].region;
    }
    if (!rc)
        rc = dft_source_names(asking->source, wanted, n);
    free(wanted);
    return rc;
}

/* What was counted becomes blocks. */
static int make_blocks(struct dft_asking *asking, struct dft_together *together, struct dft_encoder *encoder)
{
    struct making *making = calloc(1, sizeof *making);
    uint32_t groups = asking->total.map.count, count;
    struct dft_row *rows;
    int rc = making ? dft_table_rows(asking->total.table, &rows, &count) : -ENOMEM;

    if (!rc) {
        *making = (struct making){.asking = asking, .together = together, .encoder = encoder};
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
static int count_all(struct dft_source *source, struct dft_asking **asking)
{
    const struct dft_query query = {
        .by = {DFT_BY_CAT, DFT_BY_NAME, DFT_BY_REGION, DFT_BY_FILE, DFT_BY_OP}, .nby = 5, .percentiles = 1};
    struct dft_filter all;
    int rc, worth;

    dft_filter_init(&all);
    dft_filter_begin(&all, source);
    rc = dft_comm_agree(dft_asking_begin_all(asking, source, &all, &query));
    if (!rc) {
        (*asking)->in_memory = 1;
        rc = dft_count(*asking);
    }
    if (rc)
        return rc == DFT_TOO_MANY ? 0 : rc;
    worth = !(*asking)->met.second_files && (*asking)->total.map.count <= (*asking)->met.events / WORTH;
    dft_comm_broadcast(&worth, sizeof worth);
    rc = worth ? fetch_texts(*asking) : 0;
    return rc ? rc : worth;
}

/* Rank 0 keeps what was counted, or that it is not worth it. */
static int keep(struct dft_source *source, const struct dft_index_key *key, struct dft_asking *asking, int worth,
                struct dft_together *together)
{
    size_t bytes = dft_encoder_bytes();
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct dft_encoder *encoder = memory == MAP_FAILED ? NULL : dft_encoder_init(memory);
    int rc = !encoder ? -ENOMEM : worth ? make_blocks(asking, together, encoder) : 0;

    if (rc) {
        free(together->bytes);
        together->bytes = NULL;
        together->length = 0;
    }
    if (rc != -ENOMEM)
        dft_together_write(source, key, together);
    if (encoder)
        munmap(memory, bytes);
    return rc == -ENOMEM ? rc : 0;
}

/* Collective. */
static int make(struct dft_source *source, const struct dft_index_key *key, struct dft_together *together)
{
    struct dft_asking *asking = NULL;
    int rc = count_all(source, &asking);

    if (rc >= 0)
        rc = dft_comm_agree(dft_comm_rank() ? 0 : keep(source, key, asking, rc, together));
    if (asking)
        dft_asking_end(asking);
    return rc;
}

/* --- asking it ------------------------------------------------------------------------------------------------------ */

/* Does it tell apart all that the question does? */
static int answers(const struct dft_asking *asking)
{
    const struct dft_filter *filter = asking->filter;
    const unsigned told = 1u << DFT_BY_CAT | 1u << DFT_BY_NAME | 1u << DFT_BY_REGION | 1u << DFT_BY_FILE |
                          1u << DFT_BY_DIR | 1u << DFT_BY_PATTERN | 1u << DFT_BY_OP | 1u << DFT_BY_CLASS;

    return !asking->query.events && !(asking->has & ~told) && !filter->nranks && !filter->npids && !filter->from_ns &&
           filter->to_ns == UINT64_MAX;
}

/* Reads it, or makes it. Collective. */
static int find(struct dft_source *source, struct dft_together *together)
{
    struct dft_index_key key;
    int has_one = dft_together_key(source, &key); /* rank 0 may know more than others of where blocks are */
    int rc = !dft_comm_rank() && has_one ? dft_together_read(source, &key, together) : 0;
    int makes = !rc && has_one;

    dft_comm_broadcast(&makes, sizeof makes);
    rc = dft_comm_agree(rc < 0 ? rc : 0);
    if (!rc && makes)
        rc = make(source, &key, together);
    together->is_there = together->bytes != NULL;
    dft_comm_broadcast(&together->is_there, sizeof together->is_there);
    together->is_known = !rc;
    return rc;
}

/* Reads it, if it is there. Rows of each trace would answer, too, but it has fewer. */
static int look(struct dft_source *source, struct dft_together *together)
{
    struct dft_index_key key;
    int rc = 0;

    if (dft_comm_size() == 1 && dft_together_key(source, &key))
        rc = dft_together_read(source, &key, together);
    together->is_known = rc == 1;
    together->is_there = together->bytes != NULL;
    return rc < 0 ? rc : 0;
}

int dft_together_begin(struct dft_asking *asking)
{
    struct dft_together *together = dft_source_together(asking->source);
    int rc = 0;

    if (!answers(asking))
        return 0;
    if (!together->is_known)
        rc = DFT_HAS_FILES(asking) || asking->filter->nfiles ? find(asking->source, together)
                                                             : look(asking->source, together);
    asking->together = together->is_there ? together : NULL;
    return rc;
}

static int add_names(struct dft_asking *asking, const struct dft_buckets *buckets)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < buckets->nnames; i++)
        if (buckets->names[i].text.bytes)
            rc = dft_names_add(asking->names, buckets->names[i].id, buckets->names[i].text.bytes,
                               buckets->names[i].text.length, NULL);
    for (uint32_t i = 0; !rc && i < buckets->ncalls; i++)
        if (buckets->calls[i].text.bytes)
            rc = dft_names_add(asking->names, buckets->calls[i].id, buckets->calls[i].text.bytes,
                               buckets->calls[i].text.length, NULL);
    return rc;
}

/* The group of a call on a file. Returns 1, 0: it is in none that is counted, or -ENOMEM. */
static int group_of(struct dft_asking *asking, struct dft_counting *counting, const struct dft_event *event,
                    const struct dft_row *row, uint32_t *group, int *passes)
{
    struct dft_group_key key;
    int rc = dft_event_key(asking, counting, NULL, 0, event, row->subject, row->op, &key);

    *passes = rc || !asking->filter->nfiles;
    key.who = EVERYBODY;
    if (rc != 1)
        return rc;
    rc = dft_group_map_get(&counting->tally.map, &key, group);
    return rc ? rc : 1;
}

static int count_block(struct dft_asking *asking, struct dft_counting *counting, struct dft_buckets *buckets)
{
    struct dft_event event = {.region = buckets->key};
    uint32_t group = 0;
    int rc = add_names(asking, buckets), placed = 0;

    for (uint32_t i = 0; rc >= 0 && i < buckets->count; i++) {
        struct dft_row *row = &buckets->rows[i];
        int passes;

        if (row->kind == DFT_ROW_CALL) { /* the histogram behind it has the same group */
            placed = 0;
            if (asking->want_self && buckets->key)
                rc = dft_add_child(asking, counting, EVERYBODY, 0, buckets->key, row->metrics.dur_sum);
            if (rc < 0)
                return rc;
            if (!dft_call_passes(asking, counting, row->subject, row->op))
                continue;
            event.file = row->region;
            rc = placed = group_of(asking, counting, &event, row, &group, &passes);
            counting->met.events += passes ? row->metrics.count : 0;
            counting->met.events_kept += passes ? row->metrics.count : 0;
        }
        if (placed <= 0 || row->kind > DFT_ROW_HISTOGRAM || (row->kind == DFT_ROW_HISTOGRAM && !asking->histograms))
            continue;
        row->interval = row->region = 0;
        row->subject = DFT_SUBJECT(group);
        rc = dft_table_merge(counting->tally.table, row);
        if (rc == -EINVAL) /* bins that no value has: the row says nothing */
            rc = 0;
    }
    return rc < 0 ? rc : dft_merge_partial(asking, counting);
}

int dft_count_together(struct dft_asking *asking, struct dft_counting *counting)
{
    const struct dft_together *together = asking->together;
    struct dft_decoder *decoder = dft_decoder_create();
    struct dft_skipped skipped = {0};
    struct dft_block_header header;
    size_t offset = 0, found;
    int rc = decoder ? 0 : -ENOMEM;

    while (!rc && together->bytes &&
           dft_block_next(together->bytes, together->length, &offset, &header, &found, &skipped)) {
        struct dft_buckets buckets;
        const char *why;

        rc = dft_decode_buckets(decoder, &header, together->bytes + found + sizeof header, &buckets, &why);
        if (!rc)
            rc = count_block(asking, counting, &buckets);
    }
    dft_decoder_destroy(decoder);
    return rc;
}
