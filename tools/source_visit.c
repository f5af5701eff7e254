/* Visits blocks in N threads, and fetches names. */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source_read.h"

struct visiting {
    struct dft_source *source;
    const struct dft_visit *visit;
};

static int visit_raw(struct visiting *visiting, unsigned worker, struct dft_reader *reader,
                     const struct dft_block *block)
{
    const struct dft_visit *visit = visiting->visit;
    struct dft_block_header header;
    const void *payload;
    int rc = dft_reader_block(reader, block, &header, &payload);

    if (rc)
        return rc == -ENOMEM ? rc : 0;
    return visit->raw(visit->context, worker, &visiting->source->processes[block->process], block, &header, payload);
}

static int visit_block(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                       size_t number)
{
    struct visiting *visiting = context;
    const struct dft_visit *visit = visiting->visit;
    const struct dft_source_process *process = &visiting->source->processes[block->process];
    int rc;

    (void)number;
    if (block->type == DFT_BLOCK_EVENTS && visit->events) {
        struct dft_batch batch;

        rc = dft_reader_events(reader, block, &batch);
        if (!rc)
            return visit->events(visit->context, worker, process, block, &batch);
    } else if (block->type == DFT_BLOCK_BUCKETS && visit->buckets) {
        struct dft_buckets buckets;

        rc = dft_reader_buckets(reader, block, &buckets);
        if (!rc)
            return visit->buckets(visit->context, worker, process, block, &buckets);
    } else {
        return visit_raw(visiting, worker, reader, block);
    }
    return rc == -ENOMEM ? rc : 0;
}

static int wanted_by(const struct dft_source *source, const struct dft_visit *visit, const struct dft_block *block)
{
    int handled = visit->raw || (block->type == DFT_BLOCK_EVENTS && visit->events) ||
                  (block->type == DFT_BLOCK_BUCKETS && visit->buckets);

    if (!handled)
        return 0;
    if (!visit->select)
        return block->state == DFT_BLOCK_USED || block->state == DFT_BLOCK_OVERLAPS;
    return visit->select(visit->context, &source->processes[block->process], block);
}

int dft_source_visit(struct dft_source *source, const struct dft_visit *visit)
{
    struct visiting visiting = {.source = source, .visit = visit};
    const struct dft_block **list = malloc((source->nblocks + 1) * sizeof *list);
    size_t n = 0;
    int rc;

    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < source->nblocks; i++)
        if (wanted_by(source, visit, &source->blocks[i]))
            list[n++] = &source->blocks[i];
    rc = dft_read_blocks(source, list, n, 0, visit->progress, visit_block, &visiting);
    free(list);
    return rc;
}

/* --- names ----------------------------------------------------------------------------------------------------------
 * */

struct fetching {
    struct dft_source *source;
    uint64_t *wanted; /* ascending; NULL: all */
    size_t count;
    int rows_only; /* no EVENTS blocks */
    _Atomic size_t missing;
};

static int by_id(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static int fetch_block(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                       size_t number)
{
    struct fetching *fetching = context;
    struct dft_block_header header;
    const struct dft_name *names;
    const void *payload;
    const char *why = NULL;
    uint32_t count = 0;
    int rc, added;

    (void)worker;
    (void)number;
    if (fetching->wanted && !atomic_load_explicit(&fetching->missing, memory_order_relaxed))
        return 0;
    rc = dft_reader_block(reader, block, &header, &payload);
    if (!rc)
        rc = dft_decode_names(dft_reader_decoder(reader), &header, payload, &names, &count, &why);
    if (rc)
        return rc == -ENOMEM ? rc : 0; /* who needs the block itself notes what is wrong with it */
    for (uint32_t i = 0; !rc && i < count; i++) {
        if (!names[i].text.bytes)
            continue;
        if (fetching->wanted && !bsearch(&names[i].id, fetching->wanted, fetching->count, sizeof(uint64_t), by_id))
            continue;
        rc = dft_names_add(fetching->source->names, names[i].id, names[i].text.bytes, names[i].text.length, &added);
        if (added)
            atomic_fetch_sub_explicit(&fetching->missing, 1, memory_order_relaxed);
    }
    return rc;
}

/* Blocks that may hold names. Copies of a block hold nothing new; a block whose range was seen in another one may. */
static int holds_names(const struct dft_block *block)
{
    return (block->type == DFT_BLOCK_EVENTS || block->type == DFT_BLOCK_BUCKETS || block->type == DFT_BLOCK_NAMES) &&
           block->state != DFT_BLOCK_IDENTICAL;
}

static int fetch_all(struct fetching *fetching)
{
    struct dft_source *source = fetching->source;
    const struct dft_block **list = malloc((source->nblocks + 1) * sizeof *list);
    size_t n = 0;
    int rc;

    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < source->nblocks; i++)
        if (holds_names(&source->blocks[i]) && !(fetching->rows_only && source->blocks[i].type == DFT_BLOCK_EVENTS))
            list[n++] = &source->blocks[i];
    rc = dft_read_blocks(source, list, n, 0, "blocks searched for names", fetch_block, fetching);
    free(list);
    return rc;
}

int dft_source_names(struct dft_source *source, const uint64_t *wanted, size_t count)
{
    struct fetching fetching = {.source = source};
    int rc = 0;

    if (atomic_load(&source->all_names))
        return 0;
    if (!wanted) {
        rc = fetch_all(&fetching);
        if (!rc)
            atomic_store(&source->all_names, 1);
        return rc;
    }
    fetching.wanted = malloc((count + 1) * sizeof *fetching.wanted);
    if (!fetching.wanted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (wanted[i] && !dft_names_text(source->names, wanted[i]).bytes)
            fetching.wanted[fetching.count++] = wanted[i];
    qsort(fetching.wanted, fetching.count, sizeof *fetching.wanted, by_id);
    for (size_t i = 0, n = 0; i < fetching.count; i++) {
        if (!i || fetching.wanted[i] != fetching.wanted[i - 1])
            fetching.wanted[n++] = fetching.wanted[i];
        if (i + 1 == fetching.count)
            fetching.count = n;
    }
    atomic_store(&fetching.missing, fetching.count);
    if (fetching.count)
        rc = fetch_all(&fetching);
    free(fetching.wanted);
    return rc;
}

int dft_source_names_of_rows(struct dft_source *source)
{
    struct fetching fetching = {.source = source, .rows_only = 1};

    return atomic_load(&source->all_names) ? 0 : fetch_all(&fetching);
}
