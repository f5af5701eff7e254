/* SPDX-License-Identifier: MIT */
/* A DFTracer trace becomes blocks of our own: events, aggregates, names, processes and their
 * ends. */
#ifndef DFT_PFW_H
#define DFT_PFW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Part of what decides whether an index made earlier still fits: to be raised with every change of
 * what is made. */
#define DFT_PFW_VERSION 6u

#define DFT_PFW_PERIOD_NS UINT64_C(5000000000)

/* The same with the request: an index that was made otherwise does not fit. */
uint64_t dft_pfw_version(uint64_t period_ns, int period_ends);

/* What was found in a file beyond events; all of it can be reported to the user. */
#define DFT_PFW_COUNTS                                                                                                 \
    DFT_PFW_COUNT(lines)   /* with something on them, frame included */                                                \
    DFT_PFW_COUNT(records) /* whole ones of any kind */                                                                \
    DFT_PFW_COUNT(events)  /* complete ones: calls and regions */                                                      \
    DFT_PFW_COUNT(metadata)                                                                                            \
    DFT_PFW_COUNT(counters)                                                                                            \
    DFT_PFW_COUNT(aggregated)    /* records that stand for many calls */                                               \
    DFT_PFW_COUNT(invalid)       /* lines, or pieces of them, that are no record */                                    \
    DFT_PFW_COUNT(first_invalid) /* the line of the first of them */                                                   \
    DFT_PFW_COUNT(torn)          /* of the invalid ones: the last line, without an end */                              \
    DFT_PFW_COUNT(unknown)       /* records of a kind that is not known */                                             \
    DFT_PFW_COUNT(repeated)      /* records that stand there, byte for byte, for the second time or more */            \
    DFT_PFW_COUNT(long_durations)                                                                                      \
    DFT_PFW_COUNT(long_sizes) /* events whose bytes, or aggregated ones whose calls, add up to too much */             \
    DFT_PFW_COUNT(untimed)    /* records left out: their time is none */                                               \
    DFT_PFW_COUNT(far)        /* events that start years away from the first one */                                    \
    DFT_PFW_COUNT(bytes)      /* the sum of all events' bytes */                                                       \
    DFT_PFW_COUNT(time_ns)    /* ... and times */                                                                      \
    DFT_PFW_COUNT(long_lines)                                                                                          \
    DFT_PFW_COUNT(unresolved) /* events on files whose hash has no name in the file */                                 \
    DFT_PFW_COUNT(ambiguous)  /* events on files whose hash has had several names */                                   \
    DFT_PFW_COUNT(arguments)  /* left out or cut */                                                                    \
    DFT_PFW_COUNT(long_pids)  /* processes whose number has more than 32 bits */                                       \
    DFT_PFW_COUNT(not_kept)   /* events that no block could take */                                                    \
    DFT_PFW_COUNT(unchecked)  /* records not looked at for repetitions: there were too many */                         \
    DFT_PFW_COUNT(unspread)   /* aggregated records that do not say how their calls are spread: no percentiles */

struct dft_pfw_counts {
#define DFT_PFW_COUNT(name) uint64_t name;
    DFT_PFW_COUNTS
#undef DFT_PFW_COUNT
    const char *reason; /* a static text: what is wrong with the compressed data, NULL: nothing */
};

struct dft_pfw_job {
    const char *path;
    uint64_t period_ns; /* of aggregated records; 0: as the trace says, else DFT_PFW_PERIOD_NS */
    int period_ends;    /* their time is that of the period's end */
    uint64_t identity;  /* tells this file from all others: it goes into the keys of its processes */
    /* Takes a block. Returns 0, or what ends the conversion. */
    int (*put)(void *context, const void *block, size_t bytes);
    /* Forgets all blocks put so far: the file is read once more, because of what stands at its
     * end. */
    int (*again)(void *context);
    /* May be NULL: not 0 as long as the next block need not be compressed. */
    const int *plain;
    /* May be NULL: how many bytes of the file have been read. */
    void (*progress)(void *context, uint64_t bytes);
    void *context;
};

/* Memory for conversions, one a thread. */
struct dft_pfw_worker;
struct dft_pfw_worker *dft_pfw_worker_create(void); /* NULL: no memory */
void dft_pfw_worker_destroy(struct dft_pfw_worker *worker);

/* Converts one file. Returns 0, -ENOMEM, what put or again returned, or another -errno: the file
 * could not be read. */
int dft_pfw_convert(struct dft_pfw_worker *worker, const struct dft_pfw_job *job, struct dft_pfw_counts *counts);

/* The encoder of a worker, between conversions. */
struct dft_encoder;
struct dft_encoder *dft_pfw_worker_encoder(struct dft_pfw_worker *worker);

/* The static text of a `reason` that was written somewhere. NULL for none. */
const char *dft_pfw_reason(const char *bytes, size_t length);

/* Does the beginning of a file look like such a trace (gzip, or text with a record, or a frame)? */
int dft_pfw_looks_like(const void *bytes, size_t length);

/* Is it, by its name, a trace of DFTracer? */
static inline int dft_pfw_is_name(const char *path)
{
    size_t n = strlen(path);

    return (n >= 4 && !strcmp(path + n - 4, ".pfw")) || (n >= 7 && !strcmp(path + n - 7, ".pfw.gz"));
}

#endif
