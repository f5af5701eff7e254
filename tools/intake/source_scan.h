/* SPDX-License-Identifier: MIT */
/* Scans files for blocks. Here belong the finds of one file, before processes are known. */
#ifndef DFT_SOURCE_SCAN_H
#define DFT_SOURCE_SCAN_H

#include "format/decode.h"
#include <stddef.h>
#include <stdint.h>

#include "object/object.h"

/* A PROCESS, END or GROUP record that the scan met, before processes are known. */
struct dft_found_record {
    uint16_t type;
    uint32_t file;
    /* A key may have several records. The highest order wins, then payload_crc. The order is
     * header.first for PROCESS, events for END. */
    uint64_t order;
    uint32_t payload_crc;
    union {
        void *content;
        struct dft_process *process;
        struct dft_source_end *end;
        struct dft_group_record *group;
    };
};

/* What the scan of one file found. */
struct dft_scanned {
    struct dft_block *blocks; /* block.process is not set yet */
    uint64_t *keys;           /* key of each block */
    size_t count, capacity, keys_capacity;
    struct dft_found_record *records;
    size_t nrecords, records_capacity;
    uint8_t looked; /* files beside this one were looked for since the scan */
};

/* The size and the texts of a record's content, by the record's type. There may be hundreds of
 * thousands of records. dft_record_own gives a record content of its own, and keeps the texts of
 * that content (0 or -ENOMEM). */
union dft_record_content {
    struct dft_process process;
    struct dft_source_end end;
    struct dft_group_record group;
};
#define DFT_RECORD_TEXTS 14u
size_t dft_record_bytes(uint16_t type);
unsigned dft_record_texts(uint16_t type, void *content, struct dft_text *texts[DFT_RECORD_TEXTS]);
int dft_record_own(struct dft_source *source, struct dft_found_record *record, union dft_record_content *content);

/* Scans all blocks of all traces into `scanned`, which has one entry for each of the source's
 * files. */
int dft_scan_files(struct dft_source *source, struct dft_scanned *scanned);
void dft_scanned_fini(struct dft_scanned *scanned);
/* Scans again one trace whose process goes on writing. */
int dft_scan_again(struct dft_source *source, uint32_t file, struct dft_scanned *scanned);
/* Notes what the user must know about the traces, after the last scan. */
void dft_scan_notes(struct dft_source *source);
/* A part of a file in memory: `from` is its place in the file, and `rest` bytes of the file follow it. */
struct dft_stretch {
    const char *bytes;
    size_t length;
    uint64_t from, rest;
};
/* Scans the blocks that lie whole in a window. *used: where the next window begins. */
int dft_scan_stretch(struct dft_source *source, uint32_t file, const struct dft_stretch *stretch, size_t *used,
                     struct dft_decoder *decoder, struct dft_scanned *scanned);
/* Scans blocks in memory, for live files. */
int dft_scan_bytes(struct dft_source *source, uint32_t file, const void *bytes, size_t length,
                   struct dft_decoder *decoder, struct dft_scanned *scanned);

#endif
