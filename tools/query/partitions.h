/* SPDX-License-Identifier: MIT */
/* Partial aggregates on disk, divided by the hash of their keys, so that a partition fits into
 * memory.
 *
 * A partition of level 0 has all groups of which 7 bits of a hash are the same. The hash leaves out
 * the call, so it is known before the texts of calls are, and two calls with one text are in one
 * partition. A partition whose groups do not fit is divided by the next 7 bits of the hash of the
 * whole key: the texts are known by then. Where files are keys, both are bits of the file's hash,
 * and the whole key counts at the levels below.
 *
 * A record is what was counted of one group, or of a member of it, or the time inside one region. A
 * group may have several records. Numbers are LEB128, so a record takes about a quarter of what it
 * takes in memory. One thread at a time. */
#ifndef DFT_PARTITIONS_H
#define DFT_PARTITIONS_H

#include "base/spill_file.h"
#include "query/group_map.h"

#define DFT_PARTITION_BITS  7u
#define DFT_PARTITIONS      (1u << DFT_PARTITION_BITS)
#define DFT_PARTITION_LEVEL 3u /* the last: its groups are counted whatever memory they take */

/* One record. Rows point into memory of who puts it, or of the reader. */
struct dft_record {
    struct dft_group_key key;      /* of the group, or (process group, tid, region) of a region */
    const struct dft_row *rows[3]; /* by kind: call row, histogram row, and that of the pattern; or NULL */
    uint64_t inside_ns;            /* is_parent: time of the events directly inside the region */
    int is_parent;
    uint32_t member; /* calls: how many of the group are of this member; no rows then */
    uint64_t calls;
};

struct dft_extent {
    uint64_t offset;
    uint32_t bytes; /* whole records */
};

struct dft_partition {
    struct dft_extent *extents;
    uint32_t count, capacity;
    uint32_t level, root;     /* root: the number of the partition of level 0 that this one is part of */
    uint64_t records, memory; /* and the bytes that they take in memory; of all ranks after dft_partitions_flush */
};

/* All zero at first, but for `file` and `buffer_bytes`. */
struct dft_partitions {
    struct dft_spill_file *file;
    size_t buffer_bytes; /* of each partition that is being written */
    struct dft_partition *list;
    uint32_t count;
    uint8_t *buffers; /* of the last DFT_PARTITIONS of the list */
    size_t *used;
    uint8_t *record; /* one, being put or read */
};

/* Adds DFT_PARTITIONS empty partitions, which are parts of `root`; records go to these from now
 * on. Return 0 or -errno. */
int dft_partitions_add(struct dft_partitions *partitions, unsigned level, uint32_t root);
/* hash: of the group's key, at this level. memory: what the record takes in memory. */
int dft_partitions_put(struct dft_partitions *partitions, const struct dft_record *record, uint64_t hash,
                       uint64_t memory);
/* The same with a record that is bytes. */
int dft_partitions_put_bytes(struct dft_partitions *partitions, const void *record, size_t bytes, uint64_t hash,
                             uint64_t memory);
/* Writes what is in the buffers. Collective. */
int dft_partitions_flush(struct dft_partitions *partitions);
/* Calls `take` with whole records of a partition, as bytes. Returns 0, -errno, or what `take`
 * returned. */
int dft_partition_read_bytes(struct dft_partitions *partitions, uint32_t number,
                             int (*take)(void *context, const uint8_t *at, const uint8_t *end), void *context);
/* Calls `emit` with each record of a partition. Returns 0, -errno, or what `emit` returned. */
int dft_partition_read(struct dft_partitions *partitions, uint32_t number,
                       int (*emit)(void *context, const struct dft_record *record), void *context);
void dft_partitions_fini(struct dft_partitions *partitions);

/* Structures of 64-bit words as LEB128. Unknown minima are all ones: each word is put one higher,
 * so that these are one byte. dft_words_get returns NULL when the bytes end early. */
uint8_t *dft_words_put(uint8_t *at, const void *words, size_t bytes);
const uint8_t *dft_words_get(const uint8_t *at, const uint8_t *end, void *words, size_t bytes);

#endif
