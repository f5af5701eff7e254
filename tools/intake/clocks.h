/* SPDX-License-Identifier: MIT */
/* Clocks: how the times of one host relate to those of the others, and what brings them together.
 *
 * A process takes one offset between its monotonic clock and Unix time when it is loaded, and keeps
 * the offset. Its times therefore run evenly. Two processes of one host may disagree by what the
 * host's clock was set or slewed in between. Processes of two hosts may disagree by the difference
 * of the hosts' clocks. Two methods correct that. A user must ask for them; the command ranks asks
 * for itself.
 *
 * BY CLOCKS. CLOCK records hold pairs of monotonic and real time, taken at the start and at the end
 * of each process. A line is fitted to all pairs of a host: real - monotonic = offset + drift *
 * time. The times of all processes of the host are put on that line. The rest, between hosts,
 * depends on how well their clocks are kept (NTP). Nothing in a trace tells that.
 *
 * BY AN EVENT that ends in all ranks at the same time (MPI_Init, a barrier, a region around a
 * barrier). The k-th end in each rank is taken for the same moment as the k-th end in all others.
 * Least squares give each host's offset, and with three or more events also its drift. The
 * reference clock is that of the lowest rank's host.
 *
 * A host's clock counts as another clock where real - monotonic jumps by more than a second between
 * processes. Causes are another machine of the same name, or a suspended machine. The residual is
 * what the fit leaves unexplained. The residual is always stated. */
#ifndef DFT_CLOCKS_H
#define DFT_CLOCKS_H

#include "object/object.h"

enum dft_clocks_kind { DFT_CLOCKS_NONE, DFT_CLOCKS_ANCHORS, DFT_CLOCKS_EVENT, DFT_CLOCKS_FIRST };

/* One clock: mostly, one host. The line is over the host's monotonic clock. Unix time is monotonic
 * + offset + drift * (monotonic - base). Other tracers tell no monotonic clock. Their times as
 * recorded stand for the monotonic clock. */
struct dft_clock_of_host {
    struct dft_text host;
    uint32_t processes;
    /* anchors, or events, that the line was fitted to; 0: nothing is known, and the times stay */
    uint32_t points;
    int64_t base_ns;
    int64_t offset_ns;
    double drift;
    double residual_rms; /* ns */
    int64_t residual_max_ns;
    /* smallest and largest correction of its processes' starts and ends */
    int64_t shift_low_ns, shift_high_ns;
};

struct dft_clocks {
    enum dft_clocks_kind kind;
    const char *event; /* DFT_CLOCKS_EVENT: name of the event */
    struct dft_clock_of_host *hosts;
    uint32_t nhosts;
    uint32_t *host_of;    /* by number of process */
    int64_t *first_shift; /* DFT_CLOCKS_FIRST (set by ranks): by number of process */
    uint32_t events;      /* DFT_CLOCKS_EVENT: number of events that each rank was aligned on */
    uint32_t without;     /* processes whose times stay as they are */
    const struct dft_source *source;
};

/* Both return 0 or -ENOMEM. dft_clocks_by_event also returns -ENOENT: fewer than two ranks have an
 * event of this name. After 0 the caller calls dft_clocks_fini. */
int dft_clocks_by_anchors(struct dft_clocks *clocks, struct dft_source *source);
int dft_clocks_by_event(struct dft_clocks *clocks, struct dft_source *source, const char *name);
void dft_clocks_fini(struct dft_clocks *clocks);

/* What to add to a time (Unix ns as recorded) of a process. The correction never reverses the order
 * of two times. */
int64_t dft_clocks_shift(const struct dft_clocks *clocks, uint32_t process, uint64_t time_ns);

/* Corrects from now on the times of events, blocks, processes and the span. The times of rows stay,
 * because their intervals are fixed. Call this once at most, and before events are read. `clocks`
 * must live as long as the source. */
void dft_source_align(struct dft_source *source, const struct dft_clocks *clocks);

/* One line without a newline: what was done, how far times moved, and the residual. The caller
 * frees the line; NULL: no memory. */
char *dft_clocks_text(const struct dft_clocks *clocks);

/* Times in damaged traces may be anything. Sums and differences therefore wrap, as they do in
 * format.h. */
static inline int64_t dft_clock_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t dft_clock_difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* --- private to clocks*.c --------------------------------------------------------------------- */

/* A line through points (x, y): y = offset + drift * (x - base). */
struct dft_clock_point {
    int64_t x, y;
};
void dft_clock_fit(struct dft_clock_of_host *host, const struct dft_clock_point *points, size_t count, int with_drift);
/* host_of, hosts; splits clocks */
int dft_clocks_hosts(struct dft_clocks *clocks, struct dft_source *source);
/* shift_low_ns, shift_high_ns, without */
void dft_clocks_range(struct dft_clocks *clocks);

#endif
