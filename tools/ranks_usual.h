/* How long calls of a kind usually take: a histogram of mean durations for each call and size. */
#ifndef DFT_RANKS_USUAL_H
#define DFT_RANKS_USUAL_H

#include <stdint.h>

#define DFT_USUAL_BINS 512u /* eight to a power of two */

struct dft_usual_kind {
    uint64_t call;
    uint8_t is_pending;
    uint32_t size;        /* power of two of the mean size + 1, 0: none */
    uint64_t samples, ns; /* since the last dft_usual_flush */
    uint64_t usual_ns;    /* after dft_usual_finish */
    uint64_t bins[DFT_USUAL_BINS];
};

/* One thread at a time; tables are merged. */
struct dft_usual {
    struct dft_usual_kind **slots;
    uint32_t nslots, count;
    struct dft_usual_kind *pending[256]; /* kinds with samples that are not in their bins */
    uint32_t npending;
};

static inline uint32_t dft_usual_size(uint64_t bytes, uint64_t data)
{
    uint64_t mean = data ? bytes / data : 0;

    return mean ? 64u - (uint32_t)__builtin_clzll(mean) : 0;
}

/* Adds calls that took `ns` together: rows, or events one by one, of which eight in a row count by their mean, and
 * those left at a flush. Return 0 or -ENOMEM. */
int dft_usual_add(struct dft_usual *usual, uint64_t call, uint32_t size, uint64_t samples, uint64_t ns);
void dft_usual_flush(struct dft_usual *usual);
int dft_usual_merge(struct dft_usual *into, const struct dft_usual *from);
/* Finds the usual times, after which they can be asked for; 0 for a kind that was not met. */
void dft_usual_finish(struct dft_usual *usual);
uint64_t dft_usual_ns(const struct dft_usual *usual, uint64_t call, uint32_t size);
void dft_usual_fini(struct dft_usual *usual);

#endif
