/* SPDX-License-Identifier: MIT */
/* Telemetry files: samples of memory over time, as stormlog's trackers write them. Here are their
 * contents and the analysis across ranks. The files are JSON of schema version 2, or older records
 * without a version.
 *
 * A file holds a list of records, an object whose "events" is such a list, or one record. A file
 * may also hold any of these one after another (JSON lines). Records are read one at a time. Memory
 * is that of the file's text, plus 64 bytes for each kept record. */
#ifndef DFT_TELEMETRY_H
#define DFT_TELEMETRY_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "telemetry/first_cause.h"

#define DFT_TELEMETRY_TIME_END  (INT64_C(1) << 62) /* the year 2116: sums of two times still fit */
#define DFT_TELEMETRY_WORLD_MAX (1u << 24)         /* a record that claims a larger job is bad */

/* The used fields of one record. A text is its number in the list of texts + 1; 0: none. */
struct dft_telemetry_event {
    int64_t time_ns;
    int64_t used_bytes;
    int64_t interval_ms;
    int64_t pid;
    uint32_t host, job;
    uint32_t rank, world_size;
    uint8_t is_sample;
};

struct dft_telemetry {
    struct dft_telemetry_event *events;
    size_t count, capacity;
    char **texts; /* each text once */
    uint32_t ntexts, texts_capacity;
    struct dft_map text_numbers; /* hash of a text -> number */
    char **problems;             /* "FILE: event 3 (line 4): what is wrong with it" */
    size_t nproblems, problems_capacity;
    /* number of records and files that could not be used; `problems` keeps only the first of
     * many */
    uint64_t bad;
};

/* Was this program built with a JSON library, so that it can read telemetry files? */
int dft_telemetry_can_read(void);

/* Reads a file. Errors in the file become problems. Returns 0 or -ENOMEM. */
int dft_telemetry_read(struct dft_telemetry *telemetry, const char *path);
/* Does the same for text in memory (not ended by 0). */
int dft_telemetry_parse(struct dft_telemetry *telemetry, const char *name, const char *text, size_t length);
void dft_telemetry_fini(struct dft_telemetry *telemetry);

/* --- private to the reading files ------------------------------------------------------------- */

int dft_telemetry_add(struct dft_telemetry *telemetry, const struct dft_telemetry_event *event);
/* The number of a text in the list + 1; 0: no memory. */
uint32_t dft_telemetry_text(struct dft_telemetry *telemetry, const char *text);
int dft_telemetry_problem(struct dft_telemetry *telemetry, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- the analysis ----------------------------------------------------------------------------- */

struct dft_cross_rank {
    const char *job; /* NULL: none */
    uint32_t world_size;
    struct dft_metric_series *series; /* series of each rank that takes part, in order of rank */
    uint32_t nseries;
    /* positions in series, in the order in which the ranks appear in the input */
    uint32_t *appearance;
    uint32_t *missing; /* ranks without samples, ascending */
    uint32_t nmissing;
    int64_t interval_ns; /* usual time between samples; 0: unknown */
    struct dft_first_cause cause;
    char **notes;
    size_t nnotes, notes_capacity;
    struct dft_sample *samples;
};

/* Returns 0 or -ENOMEM. The caller calls dft_cross_rank_fini in either case. */
int dft_cross_rank_analyse(const struct dft_telemetry *telemetry, struct dft_cross_rank *result);
void dft_cross_rank_fini(struct dft_cross_rank *result);

#endif
