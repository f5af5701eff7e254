/* SPDX-License-Identifier: MIT */
/* Names: their texts, fetched from blocks when a command requests them.
 *
 * A command that wants some names gets these. A command that goes through all events (dump, export)
 * locates all names once. Texts are then kept as long as there is room. For each other name, the
 * source remembers a block with the text. Before events are passed on, their missing texts are read
 * from such blocks. These texts are forgotten behind the events (dft_names_lend). */
#include "intake/source_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "intake/source_read.h"
#include "intake/source_exchange.h"
#include "symbols/symbols.h"
#include "object/source_inside.h"
#include "base/settings.h"
#include "format/decode.h"

#define KEPT_SHARE 3u /* of the room for texts: for those that are read in passing */

struct fetching {
    struct dft_source *source;
    struct dft_names *into;
    uint64_t *wanted; /* ascending; NULL: all */
    size_t count;
    int rows_only; /* skips EVENTS blocks */
    int locate;    /* keeps only the places of names for which there is no room */
    uint64_t kept; /* locate, emit: the room for texts, in bytes */
    int alone;     /* this rank fetches alone, from all blocks that hold the names */
    /* gets all names; `kept` bytes of them are kept, too */
    int (*emit)(void *context, uint64_t id, struct dft_text text);
    void *give_context;
    _Atomic int is_full; /* emit: not all of them */
    uint64_t bytes_max;  /* bound in bytes for the texts in `into`; more is -E2BIG. 0: no bound */
    _Atomic size_t missing;
};

static int by_id(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Notes where a name stands: the first block. So the order of threads does not matter. The caller
 * holds the lock. */
static int locate(struct dft_source *source, uint64_t id, const struct dft_block *block)
{
    uint64_t number = (uint64_t)(block - source->blocks) + 1, *place = id ? dft_map_put(&source->located, id) : NULL;

    if (!id)
        return 0;
    if (!place)
        return -ENOMEM;
    if (!*place || number < *place)
        *place = number;
    return 0;
}

/* Texts of calls and regions (they have a NUL) are few, and wanted at any time. They are always
 * kept. */
static int is_kept(const struct fetching *fetching, const struct dft_text *text)
{
    return !fetching->locate || dft_names_bytes(fetching->into) < fetching->kept ||
           memchr(text->bytes, 0, text->length);
}

static int emit_name(struct fetching *fetching, const struct dft_name *name)
{
    int rc = fetching->emit(fetching->give_context, name->id, name->text);

    if (rc || atomic_load_explicit(&fetching->is_full, memory_order_relaxed))
        return rc;
    if (dft_names_bytes(fetching->into) < fetching->kept)
        return dft_names_add(fetching->into, name->id, name->text.bytes, name->text.length, NULL);
    atomic_store_explicit(&fetching->is_full, 1, memory_order_relaxed);
    return 0;
}

static int fetch_name(struct fetching *fetching, const struct dft_block *block, const struct dft_name *name)
{
    int rc, added;

    if (!name->text.bytes)
        return 0;
    if (fetching->emit)
        return emit_name(fetching, name);
    if (fetching->wanted && !bsearch(&name->id, fetching->wanted, fetching->count, sizeof(uint64_t), by_id))
        return 0;
    if (!is_kept(fetching, &name->text) && !dft_names_text(fetching->into, name->id).bytes)
        return locate(fetching->source, name->id, block);
    rc = dft_names_add(fetching->into, name->id, name->text.bytes, name->text.length, &added);
    if (!rc && added)
        atomic_fetch_sub_explicit(&fetching->missing, 1, memory_order_relaxed);
    if (!rc && fetching->bytes_max && dft_names_bytes(fetching->into) > fetching->bytes_max)
        rc = -E2BIG;
    return rc;
}

static int fetch_block(void *context, unsigned worker, struct dft_reader *reader, const struct dft_block *block,
                       size_t number)
{
    struct fetching *fetching = context;
    struct dft_block_header header;
    const struct dft_name *names;
    const void *payload;
    const char *reason = NULL;
    uint32_t count = 0;
    int rc;

    (void)worker;
    (void)number;
    if (fetching->wanted && !atomic_load_explicit(&fetching->missing, memory_order_relaxed))
        return 0;
    rc = dft_reader_block(reader, block, &header, &payload);
    if (!rc)
        rc = dft_decode_names(dft_reader_decoder(reader), &header, payload, &names, &count, &reason);
    if (rc)
        /* the reader of the block itself notes what is wrong with the block */
        return rc == -ENOMEM ? rc : 0;
    if (fetching->locate)
        pthread_mutex_lock(&fetching->source->located_lock);
    for (uint32_t i = 0; !rc && i < count; i++)
        rc = fetch_name(fetching, block, &names[i]);
    if (fetching->locate)
        pthread_mutex_unlock(&fetching->source->located_lock);
    return rc;
}

/* --- which blocks ----------------------------------------------------------------------------- */

int dft_block_has_names(const struct dft_block *block)
{
    return (block->type == DFT_BLOCK_EVENTS || block->type == DFT_BLOCK_BUCKETS || block->type == DFT_BLOCK_NAMES ||
            block->type == DFT_BLOCK_COUNTERS) &&
           block->state != DFT_BLOCK_IDENTICAL;
}

static int by_position(const void *left, const void *right)
{
    const struct dft_block *a = *(const struct dft_block *const *)left, *b = *(const struct dft_block *const *)right;

    return (a > b) - (a < b);
}

/* Lists the blocks in which the wanted names stand, as far as known: each block once. */
static size_t located_blocks(const struct fetching *fetching, const struct dft_block **list)
{
    const struct dft_source *source = fetching->source;
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < fetching->count; i++) {
        const uint64_t *place = dft_map_find(&source->located, fetching->wanted[i]);

        if (place)
            list[n++] = &source->blocks[*place - 1];
    }
    qsort(list, n, sizeof *list, by_position);
    for (size_t i = 0; i < n; i++)
        if (!kept || list[i] != list[kept - 1])
            list[kept++] = list[i];
    return kept;
}

static int fetch(struct fetching *fetching)
{
    struct dft_source *source = fetching->source;
    int known = fetching->wanted && atomic_load(&source->all_located);
    const struct dft_block **list = malloc(((known ? fetching->count : source->nblocks) + 1) * sizeof *list);
    size_t n = 0;
    int rc;

    if (!list)
        return -ENOMEM;
    if (known)
        n = located_blocks(fetching, list);
    for (size_t i = 0; !known && i < source->nblocks; i++)
        if (dft_block_has_names(&source->blocks[i]) &&
            !(fetching->rows_only && source->blocks[i].type == DFT_BLOCK_EVENTS))
            list[n++] = &source->blocks[i];
    n = fetching->alone ? n : dft_exchange_blocks(source, list, n);
    rc = dft_read_blocks(source, list, n, 0, known ? NULL : "blocks searched for names", fetch_block, fetching);
    free(list);
    return rc;
}

/* Each rank fetches its part. Afterwards every rank knows everything. */
static int fetch_shared(struct fetching *fetching)
{
    int rc = dft_comm_agree(fetch(fetching));

    return rc ? rc : dft_exchange_names(fetching->source, fetching->into, fetching->wanted, fetching->count);
}

/* --- names that are wanted -------------------------------------------------------------------- */

/* Lists the wanted names whose texts are not known: ascending, each name once. */
static int list_wanted(struct fetching *fetching, const uint64_t *wanted, size_t count)
{
    const struct dft_source *source = fetching->source;
    size_t all = 0;

    fetching->wanted = malloc((count + 1) * sizeof *fetching->wanted);
    if (!fetching->wanted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        if (wanted[i] && !dft_names_text(source->names, wanted[i]).bytes &&
            !dft_names_text(fetching->into, wanted[i]).bytes)
            fetching->wanted[all++] = wanted[i];
    qsort(fetching->wanted, all, sizeof *fetching->wanted, by_id);
    for (size_t i = 0; i < all; i++)
        if (!i || fetching->wanted[i] != fetching->wanted[i - 1])
            fetching->wanted[fetching->count++] = fetching->wanted[i];
    return 0;
}

static int fetch_wanted(struct fetching *fetching, const uint64_t *wanted, size_t count)
{
    int rc = dft_comm_agree(list_wanted(fetching, wanted, count));

    if (!rc)
        rc = dft_exchange_wanted(fetching->source, fetching->into, &fetching->wanted, &fetching->count);
    atomic_store(&fetching->missing, fetching->count);
    if (!rc && fetching->count)
        rc = fetch_shared(fetching);
    free(fetching->wanted);
    return rc;
}

/* Texts that only the rank has that came across them while counting: of calls, which stand with
 * their events, and of stacks and source lines, which that rank has made. */
static int share(struct fetching *fetching, const uint64_t *wanted, size_t count)
{
    int rc;

    if (dft_comm_size() == 1)
        return 0;
    rc = dft_comm_agree(list_wanted(fetching, wanted, count));
    if (!rc)
        rc = dft_exchange_wanted(fetching->source, fetching->into, &fetching->wanted, &fetching->count);
    free(fetching->wanted);
    return rc;
}

int dft_source_names(struct dft_source *source, const uint64_t *wanted, size_t count)
{
    struct fetching fetching = {.source = source, .into = source->names};
    int rc;

    if (atomic_load(&source->all_names))
        return wanted ? share(&fetching, wanted, count) : 0;
    if (wanted)
        return fetch_wanted(&fetching, wanted, count);
    rc = fetch_shared(&fetching);
    if (!rc)
        atomic_store(&source->all_names, 1);
    return rc;
}

int dft_source_names_each(struct dft_source *source, int (*emit)(void *context, uint64_t id, struct dft_text text),
                          void *context)
{
    struct fetching fetching = {.source = source,
                                .into = source->names,
                                .emit = emit,
                                .give_context = context,
                                .kept = dft_setting(DFT_SETTING_NAMES_BYTES) / KEPT_SHARE,
                                .is_full = dft_comm_size() > 1}; /* each rank sees its part */
    int rc;

    if (atomic_load(&source->all_names))
        return dft_names_each(source->names, emit, context);
    rc = fetch(&fetching);
    if (!rc && !atomic_load(&fetching.is_full))
        atomic_store(&source->all_names, 1);
    return rc;
}

int dft_source_names_into(struct dft_source *source, struct dft_names *names, const uint64_t *wanted, size_t count)
{
    struct fetching fetching = {.source = source, .into = names};

    return atomic_load(&source->all_names) ? 0 : fetch_wanted(&fetching, wanted, count);
}

int dft_source_names_of_rows(struct dft_source *source)
{
    struct fetching fetching = {.source = source, .into = source->names, .rows_only = 1};

    return atomic_load(&source->all_names) || atomic_load(&source->all_located) ? 0 : fetch_shared(&fetching);
}

int dft_source_names_locate(struct dft_source *source)
{
    struct fetching fetching = {.source = source,
                                .into = source->names,
                                .locate = 1,
                                .kept = dft_setting(DFT_SETTING_NAMES_BYTES) / dft_comm_size()};
    int rc;

    if (atomic_load(&source->all_names) || atomic_load(&source->all_located))
        return 0;
    rc = dft_exchange_common(source);
    if (!rc) /* a rank cannot use the place of a name in a block that this rank cannot read */
        return dft_source_names(source, NULL, 0);
    rc = rc < 0 ? rc : dft_comm_agree(fetch(&fetching));
    if (!rc)
        rc = dft_exchange_located(source);
    if (!rc)
        atomic_store(source->located.count ? &source->all_located : &source->all_names, 1);
    return rc;
}

/* Fetches what is not known, in this rank. Returns 0, -ENOMEM or -E2BIG. */
static int fetch_alone(struct fetching *fetching, const uint64_t *wanted, size_t count)
{
    int rc = list_wanted(fetching, wanted, count);

    fetching->alone = 1;
    atomic_store(&fetching->missing, fetching->count);
    if (!rc && fetching->count)
        rc = fetch(fetching);
    free(fetching->wanted);
    return rc;
}

int dft_source_names_take(struct dft_source *source, struct dft_names *names, const uint64_t *wanted, size_t count)
{
    struct fetching fetching = {.source = source, .into = names};

    return atomic_load(&source->all_names) ? 0 : fetch_alone(&fetching, wanted, count);
}

int dft_source_names_lend(struct dft_source *source, const uint64_t *wanted, size_t count, int anyway)
{
    struct dft_names *texts = dft_names_create(dft_symbols_show);
    struct fetching fetching = {.source = source, .into = texts, .bytes_max = anyway ? 0 : DFT_NAMES_LENT};
    int rc = texts ? fetch_alone(&fetching, wanted, count) : -ENOMEM;

    if (rc)
        dft_names_destroy(texts);
    else
        dft_names_lend(source->names, texts);
    return rc;
}

void dft_source_names_return(struct dft_source *source)
{
    if (source->on_return)
        source->on_return(source->on_return_context);
    dft_names_destroy(dft_names_lend(source->names, NULL));
}

void dft_source_names_on_return(struct dft_source *source, void (*write)(void *context), void *context)
{
    source->on_return = write;
    source->on_return_context = context;
}
