/* SPDX-License-Identifier: MIT */
/* Clocks: how the times of one host relate to those of the others, and what it takes to bring them together.
 *
 * A process takes one offset between its monotonic clock and Unix time when it is loaded and keeps it, so its times run
 * evenly, but two processes of one host may disagree by what the host's clock was set or slewed in between, and those of
 * two hosts by what their clocks differ. Two ways to correct that; neither is used unless asked for (ranks asks):
 *
 * BY CLOCKS. CLOCK records hold pairs of monotonic and real time, taken at the start and at the end of each process. All
 * pairs of a host are fitted by a line, real - monotonic = offset + drift * time; the times of all its processes are put
 * on it. What remains between hosts is how well their clocks are kept (NTP); nothing in a trace tells that.
 *
 * BY AN EVENT that ends in all ranks at the same time (MPI_Init, a barrier, a region around one). The k-th end of each
 * rank is taken for the same moment as the k-th of all others; per host, least squares give the offset, and with three
 * or more events the drift. The clock of all is that of the host of the lowest rank.
 *
 * A host's clock counts as another one where real - monotonic jumps by more than a second between processes (another
 * machine of the same name, or a suspended one). The residual is what the fit leaves unexplained, stated always. */
#ifndef DFT_CLOCKS_H
#define DFT_CLOCKS_H

#include "source/source_object.h"

enum dft_clocks_kind { DFT_CLOCKS_NONE, DFT_CLOCKS_ANCHORS, DFT_CLOCKS_EVENT, DFT_CLOCKS_FIRST };

/* One clock: mostly, one host. The line is over its monotonic clock: Unix time is monotonic + offset + drift * (monotonic -
 * base). Where no monotonic clock is known (other tracers), the times as recorded stand for it. */
struct dft_clock_of_host {
    struct dft_text host;
    uint32_t processes;
    uint32_t points; /* anchors, or events, that it was fitted to; 0: nothing is known, its times stay */
    int64_t base_ns;
    int64_t offset_ns;
    double drift;
    double residual_rms; /* ns */
    int64_t residual_max_ns;
    int64_t shift_low_ns, shift_high_ns; /* corrections of its processes' starts and ends: smallest and largest */
};

struct dft_clocks {
    enum dft_clocks_kind kind;
    const char *event; /* DFT_CLOCKS_EVENT: its name */
    struct dft_clock_of_host *hosts;
    uint32_t nhosts;
    uint32_t *host_of;    /* by number of process */
    int64_t *first_shift; /* DFT_CLOCKS_FIRST (set by ranks): by number of process */
    uint32_t events;      /* DFT_CLOCKS_EVENT: how many of them each rank was aligned on */
    uint32_t without;     /* processes whose times stay as they are */
    const struct dft_source *source;
};

/* Each returns 0 or -ENOMEM; dft_clocks_by_event also -ENOENT: no event of this name in two ranks or more. After 0 call
 * dft_clocks_fini. */
int dft_clocks_by_anchors(struct dft_clocks *clocks, struct dft_source *source);
int dft_clocks_by_event(struct dft_clocks *clocks, struct dft_source *source, const char *name);
void dft_clocks_fini(struct dft_clocks *clocks);

/* What to add to a time (Unix ns as recorded) of a process. It never reverses the order of two times. */
int64_t dft_clocks_shift(const struct dft_clocks *clocks, uint32_t process, uint64_t time_ns);

/* From now on the times of events, of blocks, of processes and of the span are corrected; those of rows are not, their
 * intervals being fixed. At most once, before events are read. `clocks` must live as long as the source. */
void dft_source_align(struct dft_source *source, const struct dft_clocks *clocks);

/* One line without a newline: what was done, how much was moved, the residual. Free it; NULL: no memory. */
char *dft_clocks_text(const struct dft_clocks *clocks);

/* Times of damaged traces may be anything: sums and differences wrap, as they do in format.h. */
static inline int64_t dft_clock_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t dft_clock_difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* --- private to clocks*.c ------------------------------------------------------------------------------------------- */

/* A line through points (x, y): y = offset + drift * (x - base). */
struct dft_clock_point {
    int64_t x, y;
};
void dft_clock_fit(struct dft_clock_of_host *host, const struct dft_clock_point *points, size_t count, int with_drift);
int dft_clocks_hosts(struct dft_clocks *clocks, struct dft_source *source); /* host_of, hosts; splits clocks */
void dft_clocks_range(struct dft_clocks *clocks);                           /* shift_low_ns, shift_high_ns, without */

#endif
