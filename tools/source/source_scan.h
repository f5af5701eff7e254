/* SPDX-License-Identifier: MIT */
/* Scanning files for blocks: what was found in a file before it is known what belongs together. */
#ifndef DFT_SOURCE_SCAN_H
#define DFT_SOURCE_SCAN_H

#include "format/decode.h"
#include <stddef.h>
#include <stdint.h>

#include "source/source_object.h"

/* A PROCESS, END or GROUP record that the scan met, before it is known what belongs together. */
struct dft_found_record {
    uint16_t type;
    uint32_t file;
    /* Among several for a key the highest order wins (header.first for PROCESS, events for END), then payload_crc. */
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
    struct dft_block *blocks; /* process is not set yet */
    uint64_t *keys;           /* of each block */
    size_t count, capacity, keys_capacity;
    struct dft_found_record *records;
    size_t nrecords, records_capacity;
    uint8_t looked; /* for what lies beside it, since it was scanned */
};

/* Size and texts of what a record says, by its type. dft_record_own gives it content of its own, whose texts are kept (0 or
 * -ENOMEM). There may be hundreds of thousands of records. */
union dft_record_content {
    struct dft_process process;
    struct dft_source_end end;
    struct dft_group_record group;
};
#define DFT_RECORD_TEXTS 11u
size_t dft_record_bytes(uint16_t type);
unsigned dft_record_texts(uint16_t type, void *content, struct dft_text *texts[DFT_RECORD_TEXTS]);
int dft_record_own(struct dft_source *source, struct dft_found_record *record, union dft_record_content *content);

/* All blocks of all traces into `scanned` (one for each of the source's files). */
int dft_scan_files(struct dft_source *source, struct dft_scanned *scanned);
void dft_scanned_fini(struct dft_scanned *scanned);
/* One trace anew, whose process goes on writing. */
int dft_scan_again(struct dft_source *source, uint32_t file, struct dft_scanned *scanned);
/* What is to be told about the traces, when they have been scanned for the last time. */
void dft_scan_notes(struct dft_source *source);
/* Blocks in memory, for live files. */
int dft_scan_bytes(struct dft_source *source, uint32_t file, const void *bytes, size_t length,
                   struct dft_decoder *decoder, struct dft_scanned *scanned);

#endif
