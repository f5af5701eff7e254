/* SPDX-License-Identifier: MIT */
/* The column KEPT of PROCESS: from when on which calls were kept as events, and who decided it.
 *
 * The column is a list of pairs of LEB128 numbers. The first number is how many ns lie between the
 * pair before and this pair; the first pair counts from START_NS. The second number is
 * enum dft_keep + 8 * enum dft_keep_why. Each pair holds until the next one, and the last pair holds
 * until the process ends. Without the column, and before the first pair, events are kept. A reader
 * stops at a pair that is not whole or has an unknown dft_keep: what was kept from there on is not
 * known. */
#ifndef DFT_KEPT_H
#define DFT_KEPT_H

#include "format/text.h"

struct dft_process;

/* Which calls become events. All calls are in the aggregates, but for a pause. */
enum dft_keep {
    DFT_KEEP_EVENTS = 0,
    DFT_KEEP_SELECTED = 1,   /* those that the rules of DFTRACER_AGGREGATION_FILE leave */
    DFT_KEEP_AGGREGATES = 2, /* none */
    DFT_KEEP_NOTHING = 3,    /* neither events nor aggregates: a pause */
};
#define DFT_KEEP_COUNT 4

enum dft_keep_why {
    DFT_KEEP_WHY_SETTINGS = 0, /* as the process began */
    DFT_KEEP_WHY_OVERHEAD = 1, /* DFTRACER_MAX_OVERHEAD_PERCENT */
    DFT_KEEP_WHY_BYTES = 2,    /* DFTRACER_MAX_TRACE_BYTES */
    DFT_KEEP_WHY_CONTROL = 3,  /* dftmerge control */
    DFT_KEEP_WHY_PROGRAM = 4,  /* a pause that the program requested (dftrace.h, Python) */
};

#define DFT_KEPT_PAIR_MAX 12u /* bytes of the longest pair */

/* The second number of a pair. */
uint64_t dft_kept_what(enum dft_keep keep, enum dft_keep_why why);

/* Writes a pair at `to`, which has room for DFT_KEPT_PAIR_MAX bytes. Returns its length. */
uint32_t dft_kept_put(uint8_t *to, uint64_t gap_ns, enum dft_keep keep, enum dft_keep_why why);
uint32_t dft_kept_put_raw(uint8_t *to, uint64_t gap_ns, uint64_t what);

/* How many pairs a column has, and how many ns lie between START_NS and the last one. */
uint32_t dft_kept_count(struct dft_text column, uint64_t *last_ns);

/* One stretch of the life of a process. */
struct dft_kept_span {
    uint64_t from_ns, to_ns; /* Unix ns; to_ns is the end that was requested where nothing follows */
    enum dft_keep keep;
    enum dft_keep_why why;
    int known; /* 0: the column is damaged here, so `keep` is not known */
};

/* The stretches one after the other. */
struct dft_kept_reader {
    const uint8_t *at, *end;
    uint64_t end_ns;
    struct dft_kept_span next;
    int is_over;
};

/* `process`: as decoded. end_ns: when the process ended, or when the query ends. */
void dft_kept_begin(struct dft_kept_reader *reader, const struct dft_process *process, uint64_t end_ns);
/* Returns 1 with the next stretch, 0 when there is none. Stretches are not empty. */
int dft_kept_next(struct dft_kept_reader *reader, struct dft_kept_span *kept);

/* How many ns of [from_ns, to_ns) each dft_keep was in force; the last one: it is not known. Adds to
 * `times`. */
void dft_kept_times(const struct dft_process *process, uint64_t from_ns, uint64_t to_ns,
                    uint64_t times[DFT_KEEP_COUNT + 1]);

/* "events", "selected events", "aggregates", "nothing". */
const char *dft_keep_text(enum dft_keep keep);
/* "settings", "overhead", "bytes", "control", "program"; "unknown" for other values. */
const char *dft_keep_why_text(enum dft_keep_why why);

#endif
