/* Ranks share what they find: inputs, what was scanned of them, notes, blocks. The names are in source_share_names.c. */
#include "source_share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "comm.h"
#include "pack.h"
#include "source_read.h"

/* Gives what rank 0 packed to all, and has it taken apart by all but rank 0. */
static int from_first(struct dft_pack *pack, dft_comm_take_fn *take, void *context)
{
    size_t length = pack->length;
    char *bytes = pack->bytes;
    int rc = dft_comm_agree(pack->rc);

    if (!rc) {
        dft_comm_broadcast(&length, sizeof length);
        if (dft_comm_rank())
            bytes = malloc(length + 1);
        rc = dft_comm_agree(bytes || !length ? 0 : -ENOMEM);
    }
    if (!rc)
        dft_comm_broadcast(bytes, length);
    if (!rc && dft_comm_rank())
        rc = take(context, 0, bytes, length);
    if (dft_comm_rank())
        free(bytes);
    free(pack->bytes);
    return dft_comm_agree(rc);
}

/* --- inputs -------------------------------------------------------------------------------------------------------- */

static int take_inputs(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_source *source = context;
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};

    (void)rank;
    for (uint32_t f = 0; f < source->nfiles; f++)
        free((char *)(uintptr_t)source->files[f].path);
    free(source->files);
    dft_unpack_get(&unpack, &source->nfiles, sizeof source->nfiles);
    source->files = calloc(source->nfiles + 1u, sizeof *source->files);
    if (!source->files) {
        source->nfiles = 0;
        return -ENOMEM;
    }
    for (uint32_t f = 0; f < source->nfiles; f++) {
        struct dft_source_file *file = &source->files[f];

        dft_unpack_get(&unpack, &file->kind, sizeof file->kind);
        dft_unpack_get(&unpack, &file->bytes, sizeof file->bytes);
        file->path = strdup(dft_unpack_string(&unpack));
        if (!file->path)
            return -ENOMEM;
    }
    return 0;
}

static int by_size(const void *left, const void *right, void *context)
{
    const struct dft_source_file *files = context;
    uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;

    if (files[x].bytes != files[y].bytes)
        return files[x].bytes < files[y].bytes ? 1 : -1;
    return x < y ? -1 : x > y;
}

/* A file without bytes is some work too. */
static int spread(struct dft_source *source)
{
    const uint64_t of_file = 4096;
    uint64_t *loads = calloc(dft_comm_size(), sizeof *loads);
    uint32_t *order = malloc((source->nfiles + 1u) * sizeof *order);
    int rc = loads && order ? 0 : -ENOMEM;

    for (uint32_t f = 0; !rc && f < source->nfiles; f++)
        order[f] = f;
    if (!rc)
        qsort_r(order, source->nfiles, sizeof *order, by_size, source->files);
    for (uint32_t i = 0; !rc && i < source->nfiles; i++) {
        unsigned least = 0;

        for (unsigned r = 1; r < dft_comm_size(); r++)
            if (loads[r] < loads[least])
                least = r;
        source->files[order[i]].owner = least;
        loads[least] += source->files[order[i]].bytes + of_file;
    }
    free(loads);
    free(order);
    return rc;
}

int dft_share_inputs(struct dft_source *source)
{
    struct dft_pack pack = {0};
    int rc;

    if (dft_comm_size() == 1)
        return 0;
    dft_pack_put(&pack, &source->nfiles, sizeof source->nfiles);
    for (uint32_t f = 0; f < source->nfiles && !dft_comm_rank(); f++) {
        struct dft_source_file *file = &source->files[f];
        struct stat st;

        if (!stat(file->path, &st))
            file->bytes = (uint64_t)st.st_size;
        dft_pack_put(&pack, &file->kind, sizeof file->kind);
        dft_pack_put(&pack, &file->bytes, sizeof file->bytes);
        dft_pack_string(&pack, file->path);
    }
    rc = from_first(&pack, take_inputs, source);
    return rc ? rc : dft_comm_agree(spread(source));
}

int dft_is_mine(const struct dft_source *source, uint32_t file)
{
    return source->files[file].owner == dft_comm_rank();
}

/* --- what was scanned ---------------------------------------------------------------------------------------------- */

static int is_local(const struct dft_source_file *file)
{
    return file->memory || (file->blocks_path && !strncmp(file->blocks_path, "/proc/self/", 11));
}

static void pack_file(struct dft_pack *pack, struct dft_source *source, uint32_t number,
                      const struct dft_scanned *scanned)
{
    struct dft_source_file file;

    source->files[number].local = (uint8_t)is_local(&source->files[number]);
    file = source->files[number];
    dft_pack_put(pack, &number, sizeof number);
    dft_pack_put(pack, &file, sizeof file);
    dft_pack_string(pack, file.path);
    dft_pack_string(pack, file.local ? NULL : file.blocks_path);
    dft_pack_string(pack, file.why);
    dft_pack_string(pack, file.skipped.why);
    if (file.counts) {
        dft_pack_put(pack, file.counts, sizeof *file.counts);
        dft_pack_string(pack, file.counts->why);
    }
    if (file.end) {
        dft_pack_put(pack, file.end, sizeof *file.end);
        dft_pack_text(pack, file.end->unmet);
    }
    dft_pack_put(pack, &scanned->count, sizeof scanned->count);
    dft_pack_put(pack, scanned->blocks, scanned->count * sizeof *scanned->blocks);
    dft_pack_put(pack, scanned->keys, scanned->count * sizeof *scanned->keys);
    dft_pack_put(pack, &scanned->nrecords, sizeof scanned->nrecords);
    for (size_t i = 0; i < scanned->nrecords; i++) {
        const struct dft_found_record *record = &scanned->records[i];
        struct dft_text *texts[DFT_RECORD_TEXTS];
        unsigned count = dft_record_texts(record->type, record->content, texts);

        dft_pack_put(pack, record, sizeof *record);
        dft_pack_put(pack, record->content, dft_record_bytes(record->type));
        for (unsigned t = 0; t < count; t++)
            dft_pack_text(pack, *texts[t]);
    }
}

/* A text for as long as the source lives. */
static const char *keep_string(struct dft_source *source, const char *string)
{
    void **owned;
    char *copy;

    if (!string)
        return NULL;
    copy = strdup(string);
    owned = reallocarray(source->owned, source->nowned + 1, sizeof *owned);
    if (owned)
        source->owned = owned;
    if (!copy || !owned) {
        free(copy);
        return "";
    }
    source->owned[source->nowned++] = copy;
    return copy;
}

static int take_scanned(struct dft_scanned *scanned, struct dft_unpack *unpack)
{
    dft_scanned_fini(scanned);
    dft_unpack_get(unpack, &scanned->count, sizeof scanned->count);
    scanned->blocks = malloc((scanned->count + 1) * sizeof *scanned->blocks);
    scanned->keys = malloc((scanned->count + 1) * sizeof *scanned->keys);
    if (!scanned->blocks || !scanned->keys)
        return -ENOMEM;
    scanned->capacity = scanned->count;
    dft_unpack_get(unpack, scanned->blocks, scanned->count * sizeof *scanned->blocks);
    dft_unpack_get(unpack, scanned->keys, scanned->count * sizeof *scanned->keys);
    dft_unpack_get(unpack, &scanned->records_capacity, sizeof scanned->records_capacity);
    scanned->records = calloc(scanned->records_capacity + 1, sizeof *scanned->records);
    if (!scanned->records)
        return -ENOMEM;
    while (scanned->nrecords < scanned->records_capacity) {
        struct dft_found_record *record = &scanned->records[scanned->nrecords];
        struct dft_text *texts[DFT_RECORD_TEXTS];
        unsigned count;
        int rc;
        union {
            struct dft_process process;
            struct dft_end end;
            struct dft_group_record group;
        } content;

        dft_unpack_get(unpack, record, sizeof *record);
        dft_unpack_get(unpack, &content, dft_record_bytes(record->type));
        count = dft_record_texts(record->type, &content, texts);
        for (unsigned t = 0; t < count; t++)
            *texts[t] = dft_unpack_text(unpack);
        rc = dft_record_own(record, &content);
        if (rc)
            return rc;
        scanned->nrecords++;
    }
    return 0;
}

struct sharing {
    struct dft_source *source;
    struct dft_scanned **scanned;
};

/* Room for a file that this rank has not heard of. */
static int add_file(struct sharing *sharing)
{
    struct dft_source *source = sharing->source;
    struct dft_source_file *files = reallocarray(source->files, source->nfiles + 2u, sizeof *files);
    struct dft_scanned *more;

    if (!files)
        return -ENOMEM;
    source->files = files;
    more = reallocarray(*sharing->scanned, source->nfiles + 2u, sizeof *more);
    if (!more)
        return -ENOMEM;
    *sharing->scanned = more;
    memset(&more[source->nfiles], 0, sizeof *more);
    memset(&files[source->nfiles++], 0, sizeof *files);
    return 0;
}

/* What not every file has. */
static int take_parts(struct dft_source *source, struct dft_source_file *file, struct dft_unpack *unpack)
{
    const int has_counts = file->counts != NULL, has_end = file->end != NULL;

    file->counts = has_counts ? malloc(sizeof *file->counts) : NULL;
    file->end = has_end ? malloc(sizeof *file->end) : NULL;
    if ((has_counts && !file->counts) || (has_end && !file->end))
        return -ENOMEM;
    if (has_counts) {
        dft_unpack_get(unpack, file->counts, sizeof *file->counts);
        file->counts->why = keep_string(source, dft_unpack_string(unpack));
    }
    if (has_end) {
        struct dft_text unmet;

        dft_unpack_get(unpack, file->end, sizeof *file->end);
        unmet = dft_unpack_text(unpack);
        file->end->unmet.bytes = unmet.length ? keep_string(source, strndupa(unmet.bytes, unmet.length)) : NULL;
    }
    return 0;
}

static int take_file(struct sharing *sharing, struct dft_unpack *unpack)
{
    struct dft_source *source = sharing->source;
    struct dft_source_file *file, old;
    const char *path, *blocks_path;
    uint32_t number;

    dft_unpack_get(unpack, &number, sizeof number);
    if (number >= source->nfiles && add_file(sharing))
        return -ENOMEM;
    file = &source->files[number];
    old = *file;
    dft_unpack_get(unpack, file, sizeof *file);
    path = dft_unpack_string(unpack);
    file->path = old.path ? old.path : strdup(path);
    blocks_path = dft_unpack_string(unpack);
    free(old.blocks_path);
    file->blocks_path = blocks_path ? strdup(blocks_path) : NULL;
    file->why = keep_string(source, dft_unpack_string(unpack));
    file->skipped.why = keep_string(source, dft_unpack_string(unpack));
    free(old.counts);
    free(old.end);
    if (take_parts(source, file, unpack))
        return -ENOMEM;
    file->memory = NULL;
    file->snapshot = NULL;
    if (!file->path || (blocks_path && !file->blocks_path))
        return -ENOMEM;
    return take_scanned(&(*sharing->scanned)[number], unpack);
}

static int take_files(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};
    int rc = 0;

    while (!rc && rank != dft_comm_rank() && unpack.at < unpack.end)
        rc = take_file(context, &unpack);
    return rc;
}

int dft_share_scanned(struct dft_source *source, struct dft_scanned **scanned, int changed)
{
    struct sharing sharing = {source, scanned};
    struct dft_pack pack = {0};
    int rc;

    if (dft_comm_size() == 1)
        return 0;
    for (uint32_t f = 0; f < source->nfiles; f++)
        if (changed ? !dft_comm_rank() && source->files[f].changed : dft_is_mine(source, f))
            pack_file(&pack, source, f, &(*scanned)[f]);
    if (changed)
        return from_first(&pack, take_files, &sharing);
    rc = dft_comm_agree(pack.rc);
    if (!rc)
        rc = dft_comm_exchange(pack.bytes, pack.length, take_files, &sharing);
    free(pack.bytes);
    return rc;
}

void dft_share_running(struct dft_source *source)
{
    for (uint32_t f = 0; dft_comm_size() > 1 && f < source->nfiles; f++)
        if (source->files[f].kind == DFT_FILE_LIVE)
            dft_comm_broadcast(&source->files[f].is_running, sizeof source->files[f].is_running);
}

/* --- notes --------------------------------------------------------------------------------------------------------- */

static int take_notes(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_source *source = context;
    struct dft_unpack unpack = {bytes, (const char *)bytes + length};
    int bad;

    dft_unpack_get(&unpack, &bad, sizeof bad);
    source->notes.bad |= bad;
    while (rank != dft_comm_rank() && unpack.at < unpack.end)
        dft_source_note(source, bad, "%s", dft_unpack_string(&unpack));
    return 0;
}

int dft_share_notes(struct dft_source *source)
{
    struct dft_notes *notes = &source->notes;
    struct dft_pack pack = {0};
    int rc;

    if (dft_comm_size() == 1 || !dft_comm_agree(notes->count != notes->shared))
        return 0;
    dft_pack_put(&pack, &notes->bad, sizeof notes->bad);
    for (size_t i = 0; i < notes->count; i++)
        dft_pack_string(&pack, notes->lines[i] + 1);
    rc = dft_comm_agree(pack.rc);
    if (!rc)
        rc = dft_comm_exchange(pack.bytes, pack.length, take_notes, source);
    notes->shared = notes->count;
    free(pack.bytes);
    return rc;
}

/* --- blocks -------------------------------------------------------------------------------------------------------- */

size_t dft_share_blocks(const struct dft_source *source, const struct dft_block **list, size_t count)
{
    uint64_t all = 0, before = 0;
    unsigned size = dft_comm_size();
    size_t n = 0;

    if (size == 1)
        return count;
    for (size_t i = 0; i < count; i++)
        all += source->files[list[i]->file].local ? 0 : list[i]->stored + sizeof(struct dft_block_header);
    for (size_t i = 0; i < count; i++) {
        const struct dft_source_file *file = &source->files[list[i]->file];
        uint64_t owner = file->owner;

        if (!file->local) {
            owner = (uint64_t)((double)before / (double)all * size);
            before += list[i]->stored + sizeof(struct dft_block_header);
        }
        if ((owner < size ? owner : size - 1) == dft_comm_rank())
            list[n++] = list[i];
    }
    return n;
}

struct serving {
    struct dft_source *source;
    struct dft_reader *reader;
};

/* What is asked for is the number of a block. */
static int give_block(void *context, const void *bytes, size_t length, const void **answer, size_t *answer_length)
{
    struct serving *serving = context;
    struct dft_block_header header;
    const void *payload;
    uint64_t number;
    int rc;

    memcpy(&number, bytes, length);
    rc = dft_reader_block(serving->reader, &serving->source->blocks[number], &header, &payload);
    *answer = rc ? NULL : (const char *)payload - sizeof header;
    *answer_length = rc ? 0 : sizeof header + header.stored;
    return 0;
}

/* Are there blocks that rank 0 cannot read? */
static int has_local(const struct dft_source *source)
{
    for (uint32_t f = 0; f < source->nfiles; f++)
        if (source->files[f].local && source->files[f].owner)
            return 1;
    return 0;
}

int dft_share_serve(struct dft_source *source, int *rc)
{
    struct serving serving = {.source = source};

    *rc = 0;
    if (dft_comm_size() == 1)
        return 1;
    if (!has_local(source))
        return !dft_comm_rank();
    serving.reader = dft_comm_rank() ? dft_reader_create(source) : NULL;
    *rc = dft_comm_agree(serving.reader || !dft_comm_rank() ? 0 : -ENOMEM);
    if (!*rc && dft_comm_rank())
        dft_comm_serve(give_block, &serving);
    dft_reader_destroy(serving.reader);
    return !*rc && !dft_comm_rank();
}

void dft_share_served(struct dft_source *source)
{
    if (dft_comm_size() > 1 && has_local(source))
        dft_comm_served();
}

int dft_share_block(struct dft_source *source, const struct dft_block *block, void *bytes, size_t length)
{
    uint64_t number = (uint64_t)(block - source->blocks);

    return dft_comm_ask(source->files[block->file].owner, &number, sizeof number, bytes, length);
}
