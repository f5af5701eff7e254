/* SPDX-License-Identifier: MIT */
/* Scans files for blocks: reads each file, and lets the format find and verify blocks. Keeps the
 * headers of blocks, and decodes PROCESS and END. N threads, by file. */
#include "intake/source_scan.h"

#include "object/source_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/decode.h"
#include "format/event.h"
#include "format/live_format.h"
#include "base/array.h"
#include "base/open_regular.h"
#include "base/work.h"
#include "object/source_notes.h"
#include "intake/source_range.h"
#include "object/source_texts.h"
#include "dftracer/pfw.h"

#define LOOK_BYTES 4096u

/* Makes room for one more block and its key. */
static int scanned_reserve(struct dft_scanned *scanned)
{
    int rc = DFT_ARRAY_RESERVE(scanned->blocks, scanned->capacity, scanned->count + 1);

    return rc ? rc : DFT_ARRAY_RESERVE(scanned->keys, scanned->keys_capacity, scanned->count + 1);
}

void dft_scanned_fini(struct dft_scanned *scanned)
{
    free(scanned->blocks);
    free(scanned->keys);
    free(scanned->records);
    memset(scanned, 0, sizeof *scanned);
}

size_t dft_record_bytes(uint16_t type)
{
    return type == DFT_BLOCK_PROCESS ? sizeof(struct dft_process)
           : type == DFT_BLOCK_END   ? sizeof(struct dft_source_end)
                                     : sizeof(struct dft_group_record);
}

unsigned dft_record_texts(uint16_t type, void *content, struct dft_text *texts[DFT_RECORD_TEXTS])
{
    union dft_record_content *of = content;
    struct dft_process *p = &of->process;
    struct dft_text *const of_process[DFT_RECORD_TEXTS] = {
        &p->host,      &p->job_id, &p->exe,     &p->command, &p->cwd,  &p->version, &p->options,
        &p->live_path, &p->notes,  &p->boot_id, &p->run_id,  &p->role, &p->mounts,  &p->kept};

    if (type == DFT_BLOCK_PROCESS) {
        memcpy(texts, of_process, sizeof of_process);
        return DFT_RECORD_TEXTS;
    }
    texts[0] = type == DFT_BLOCK_END ? &of->end.unmet : &of->group.name;
    texts[1] = &of->group.rules;
    return type == DFT_BLOCK_END ? 1 : 2;
}

int dft_record_own(struct dft_source *source, struct dft_found_record *record, union dft_record_content *content)
{
    struct dft_text *texts[DFT_RECORD_TEXTS];
    size_t count = dft_record_texts(record->type, content, texts), bytes = dft_record_bytes(record->type);

    for (size_t i = 0; i < count; i++) {
        texts[i]->bytes = dft_source_keep(source, texts[i]->bytes, texts[i]->length);
        if (!texts[i]->bytes)
            return -ENOMEM;
    }
    record->content = dft_source_content(source, bytes);
    if (!record->content)
        return -ENOMEM;
    memcpy(record->content, content, bytes);
    return 0;
}

static int decode_end(struct dft_source *source, const struct dft_block_header *header, const void *payload,
                      struct dft_decoder *decoder, struct dft_source_end *kept, const char **reason)
{
    struct dft_end end = {0};
    int rc = dft_decode_end(decoder, header, payload, &end, reason);

    end.key = header->key;
    return rc ? rc : dft_source_keep_end(source, &end, kept);
}

/* Decodes a PROCESS, END or GROUP block. A block that makes no sense is noted. */
static int scan_record(struct dft_source *source, uint32_t file, const struct dft_block_header *header, uint64_t offset,
                       const void *payload, struct dft_decoder *decoder, struct dft_scanned *scanned)
{
    struct dft_found_record *record;
    union dft_record_content content = {0};
    const char *reason = NULL;
    int rc = DFT_ARRAY_RESERVE(scanned->records, scanned->records_capacity, scanned->nrecords + 1);

    if (rc)
        return rc;
    record = &scanned->records[scanned->nrecords];
    memset(record, 0, sizeof *record);
    record->type = header->type;
    record->file = file;
    record->payload_crc = header->payload_crc;
    if (header->type == DFT_BLOCK_PROCESS) {
        rc = dft_decode_process(decoder, header, payload, &content.process, &reason);
        content.process.key = header->key;
        record->order = header->first;
    } else if (header->type == DFT_BLOCK_GROUP) {
        rc = dft_decode_group(decoder, header, payload, &content.group, &reason);
        if (!rc && (!DFT_PART_DIVISION(content.group.part) || content.group.groups > DFT_PART_GROUPS ||
                    DFT_PART_GROUP(content.group.part) >= content.group.groups)) {
            reason = "no such group";
            rc = -EBADMSG;
        }
    } else {
        rc = decode_end(source, header, payload, decoder, &content.end, &reason);
        record->order = content.end.events;
    }
    if (rc == -EBADMSG) {
        dft_source_note(source, 1, "%s: %s record at %llu: %s", source->files[file].path,
                        header->type == DFT_BLOCK_PROCESS ? "PROCESS"
                        : header->type == DFT_BLOCK_END   ? "END"
                                                          : "GROUP",
                        (unsigned long long)offset, reason);
        return 0;
    }
    if (!rc)
        rc = dft_record_own(source, record, &content);
    if (!rc)
        scanned->nrecords++;
    return rc;
}

static void block_fill(struct dft_block *block, const struct dft_block_header *header, uint32_t file, uint64_t offset)
{
    *block = (struct dft_block){.offset = offset,
                                .first = header->first,
                                .last = header->last,
                                .start = header->start,
                                .end = header->end,
                                .file = file,
                                .stream = header->stream,
                                .tid = header->tid,
                                .part = header->part,
                                .count = header->count,
                                .stored = header->stored,
                                .raw = header->raw,
                                .payload_crc = header->payload_crc,
                                .type = header->type};
    if (header->type < DFT_BLOCK_PROCESS || header->type > DFT_BLOCK_GROUP)
        block->state = DFT_BLOCK_UNKNOWN;
}

/* Takes one block that was found at `offset` of the file. */
static int scan_block(struct dft_source *source, uint32_t file, const struct dft_block_header *header, uint64_t offset,
                      const void *payload, struct dft_decoder *decoder, struct dft_scanned *scanned)
{
    int rc;

    if (source->dedupe && header->stream & DFT_STREAM_REPEATED &&
        (header->type == DFT_BLOCK_EVENTS || header->type == DFT_BLOCK_BUCKETS))
        return 0;
    rc = scanned_reserve(scanned);
    if (rc)
        return rc;
    block_fill(&scanned->blocks[scanned->count], header, file, offset);
    scanned->keys[scanned->count++] = header->key;
    source->files[file].blocks++;
    if (header->type == DFT_BLOCK_PROCESS || header->type == DFT_BLOCK_END || header->type == DFT_BLOCK_GROUP)
        rc = scan_record(source, file, header, offset, payload, decoder, scanned);
    return rc;
}

int dft_scan_stretch(struct dft_source *source, uint32_t file, const struct dft_stretch *stretch, size_t *used,
                     struct dft_decoder *decoder, struct dft_scanned *scanned)
{
    struct dft_skipped *skipped = &source->files[file].skipped;
    const uint32_t damaged = skipped->damaged;
    struct dft_block_header header;
    size_t found;
    int rc = 0;

    *used = 0;
    while (!rc &&
           dft_block_next_of(stretch->bytes, stretch->length, stretch->rest, used, &header, &found, skipped) == 1)
        rc = scan_block(source, file, &header, stretch->from + found, stretch->bytes + found + sizeof header, decoder,
                        scanned);
    if (!damaged && skipped->damaged)
        skipped->first_damaged += stretch->from;
    return rc;
}

int dft_scan_bytes(struct dft_source *source, uint32_t file, const void *bytes, size_t length,
                   struct dft_decoder *decoder, struct dft_scanned *scanned)
{
    const struct dft_stretch whole = {.bytes = bytes, .length = length};
    size_t used;

    return dft_scan_stretch(source, file, &whole, &used, decoder, scanned);
}

static void note_file(struct dft_source *source, const struct dft_source_file *file)
{
    const struct dft_skipped *skipped = &file->skipped;
    unsigned long long whole = file->blocks, damaged = skipped->damaged;

    if (damaged)
        dft_source_note(source, 1, "%s: block at %llu: %s; %llu of %llu blocks unreadable%s", file->path,
                        (unsigned long long)skipped->first_damaged, skipped->reason ? skipped->reason : "damaged",
                        damaged, whole + damaged, whole ? ", the rest used" : "");
    else if (!file->bytes)
        dft_source_note(source, 0, "%s: empty", file->path);
    else if (!whole && !skipped->bytes)
        dft_source_note(source, 0, "%s: its process ended before it had written anything", file->path);
    else if (!whole)
        dft_source_note(source, 1, "%s: not a trace: no block of dftrace in it", file->path);
    else if (skipped->bytes)
        dft_source_note(source, 1, "%s: %llu bytes belong to no block; the rest used", file->path,
                        (unsigned long long)skipped->bytes);
}

/* Finds out by its first bytes what kind the file is of. */
static void look_at(struct dft_source_file *file, const char *bytes, size_t length)
{
    uint64_t magic = 0;

    memcpy(&magic, bytes, length < sizeof magic ? length : sizeof magic);
    if (magic == DFT_LIVE_MAGIC || file->kind == DFT_FILE_LIVE)
        file->kind = DFT_FILE_LIVE; /* read later, after coverage of the traces is known */
    else if (magic != DFT_BLOCK_MAGIC && dft_pfw_looks_like(bytes, length))
        file->kind = DFT_FILE_IMPORTED;
}

static void note_unreadable(struct dft_source *source, struct dft_source_file *file, int error)
{
    file->error = error;
    dft_source_note(source, 1, "%s: %s", file->path, dft_open_reason(error));
}

static int scan_file(struct dft_source *source, uint32_t number, struct dft_decoder *decoder,
                     struct dft_scanned *scanned)
{
    struct dft_source_file *file = &source->files[number];
    char head[LOOK_BYTES];
    struct stat st;
    ssize_t n;
    int fd, rc = 0;

    if (dft_pfw_is_name(file->path) && !stat(file->path, &st)) {
        /* converted later, because those threads divide their work otherwise */
        file->kind = DFT_FILE_IMPORTED;
        file->bytes = (uint64_t)st.st_size;
        return 0;
    }
    fd = dft_open_regular(file->path, O_RDONLY, &st);
    if (fd < 0) {
        /* the process of this live file has just ended: live/source_snapshot.c */
        if (fd != -ENOENT || file->kind != DFT_FILE_LIVE)
            note_unreadable(source, file, -fd);
        return 0;
    }
    file->bytes = (uint64_t)st.st_size;
    n = pread(fd, head, sizeof head, 0);
    if (n < 0)
        note_unreadable(source, file, errno);
    else if (n)
        look_at(file, head, (size_t)n);
    if (n > 0 && file->kind == DFT_FILE_TRACE)
        rc = dft_scan_range(source, number, fd, 0, file->bytes, decoder, scanned);
    close(fd);
    return rc;
}

/* Returns spare room. With many files of few blocks, that room would be a good part of the
 * memory. */
static void scanned_fit(struct dft_scanned *scanned)
{
    void *blocks = scanned->count ? realloc(scanned->blocks, scanned->count * sizeof *scanned->blocks) : NULL;
    void *keys = scanned->count ? realloc(scanned->keys, scanned->count * sizeof *scanned->keys) : NULL;

    scanned->blocks = blocks ? blocks : scanned->blocks;
    scanned->keys = keys ? keys : scanned->keys;
    scanned->capacity = blocks ? scanned->count : scanned->capacity;
    scanned->keys_capacity = keys ? scanned->count : scanned->keys_capacity;
}

struct scan {
    struct dft_source *source;
    struct dft_scanned *scanned;
    _Atomic uint64_t done;
};

static int scan_piece(void *context, unsigned worker, size_t from, size_t to)
{
    struct scan *scan = context;
    struct dft_decoder *decoder = dft_decoder_create();
    int rc = decoder ? 0 : -ENOMEM;

    (void)worker;
    for (size_t i = from; !rc && i < to; i++) {
        if (!dft_source_is_mine(scan->source, (uint32_t)i))
            continue;
        rc = scan_file(scan->source, (uint32_t)i, decoder, &scan->scanned[i]);
        scanned_fit(&scan->scanned[i]);
        dft_source_progress(scan->source, "files looked through", atomic_fetch_add(&scan->done, 1) + 1,
                            scan->source->nfiles);
    }
    dft_decoder_destroy(decoder);
    return rc;
}

int dft_scan_files(struct dft_source *source, struct dft_scanned *scanned)
{
    struct scan scan = {.source = source, .scanned = scanned};
    size_t count = source->nfiles, piece = count / (source->threads * 16u);

    return dft_work_run(source->threads, count, piece < 1 ? 1 : piece > 256 ? 256 : piece, scan_piece, &scan);
}

int dft_scan_again(struct dft_source *source, uint32_t number, struct dft_scanned *scanned)
{
    struct dft_source_file *file = &source->files[number];
    struct dft_decoder *decoder = dft_decoder_create();
    int rc;

    if (!decoder)
        return -ENOMEM;
    dft_scanned_fini(scanned);
    file->changed = 1;
    file->blocks = 0;
    memset(&file->skipped, 0, sizeof file->skipped);
    rc = scan_file(source, number, decoder, scanned);
    dft_decoder_destroy(decoder);
    return rc;
}

void dft_scan_notes(struct dft_source *source)
{
    for (uint32_t f = 0; f < source->nfiles; f++)
        if (source->files[f].kind == DFT_FILE_TRACE && !source->files[f].error)
            note_file(source, &source->files[f]);
}
