/* SPDX-License-Identifier: MIT */
/* Counts how many roots are in which state. */
#include <errno.h>
#include <stdlib.h>

#include "base/order.h"
#include "spans/states.h"

#define CELLS_MAX 4000000u /* states by intervals */

/* What is known of each kind before the states are. */
struct kind {
    int64_t first_ns;
    uint64_t entered;
    size_t state;
};

/* Finds the time of all, and the kinds that occur. Returns 0, -ENOMEM, or DFT_EXIT_BAD: there is no
 * event. */
static int survey(struct dft_spans_states *states, struct dft_spans_walk *walk, struct kind *kinds, int64_t *start,
                  int64_t *end)
{
    for (size_t i = 0; i < walk->nroots; i++) {
        if (!walk->weights[i])
            continue;
        if (dft_spans_walk_root(walk, i))
            return -ENOMEM;
        if (!walk->count)
            continue;
        *start = !states->roots || walk->events[0].ns < *start ? walk->events[0].ns : *start;
        *end = !states->roots || walk->events[walk->count - 1].ns > *end ? walk->events[walk->count - 1].ns : *end;
        states->roots += walk->weights[i];
        for (size_t k = 0; k < walk->count; k++) {
            struct kind *kind = &kinds[walk->events[k].kind];

            if (!kind->entered || walk->events[k].ns < kind->first_ns)
                kind->first_ns = walk->events[k].ns;
            kind->entered += walk->weights[i];
        }
    }
    return states->roots ? 0 : DFT_EXIT_BAD;
}

struct place {
    int64_t first_ns;
    uint32_t kind;
};

static int by_first(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    DFT_ORDER(a->first_ns, b->first_ns);
    DFT_ORDER(a->kind, b->kind);
    return 0;
}

/* Makes the cells. Returns 0, -ENOMEM, or DFT_EXIT_USAGE after an error. */
static int make_cells(struct dft_spans_states *states)
{
    size_t cells = states->count * states->intervals.count;

    if (cells > CELLS_MAX) {
        fprintf(stderr,
                "dftmerge spans states: --interval: %zu states in %zu intervals are too many; choose a longer "
                "interval\n",
                states->count, states->intervals.count);
        return DFT_EXIT_USAGE;
    }
    states->states = calloc(states->count + 1, sizeof *states->states);
    states->means = calloc(cells + 1, sizeof *states->means);
    states->sums = calloc(cells + 1, sizeof *states->sums);
    states->whole = calloc(cells + states->count + 1, sizeof *states->whole);
    return states->states && states->means && states->sums && states->whole ? 0 : -ENOMEM;
}

static int make_states(struct dft_spans_states *states, struct kind *kinds)
{
    size_t nkinds = states->model->nkinds;
    struct place *places = malloc((nkinds + 1) * sizeof *places);
    int rc;

    if (!places)
        return -ENOMEM;
    for (uint32_t i = 0; i < nkinds; i++)
        if (kinds[i].entered)
            places[states->count++] = (struct place){kinds[i].first_ns, i};
    qsort(places, states->count, sizeof *places, by_first);
    rc = make_cells(states);
    for (size_t i = 0; !rc && i < states->count; i++) {
        kinds[places[i].kind].state = i;
        states->states[i] = (struct dft_spans_state){.kind = places[i].kind,
                                                     .entered = kinds[places[i].kind].entered,
                                                     .means = states->means + i * states->intervals.count};
    }
    free(places);
    return rc;
}

/* `weight` roots are in a state for [from, to): parts of intervals are added to sums, and whole ones
 * between as a difference to the interval before. */
static void add(struct dft_spans_states *states, size_t state, uint32_t weight, int64_t from, int64_t to)
{
    const struct dft_spans_intervals *intervals = &states->intervals;
    __int128 *sums = states->sums + state * intervals->count;
    int64_t *whole = states->whole + state * (intervals->count + 1);
    size_t first = dft_spans_interval_of(intervals, from), last = dft_spans_interval_of(intervals, to);
    int64_t width = (int64_t)intervals->width;

    states->states[state].ns += (__int128)weight * (to - from);
    if (first == last) {
        sums[first] += (__int128)weight * (to - from);
        return;
    }
    sums[first] += (__int128)weight * (intervals->start + (int64_t)(first + 1) * width - from);
    sums[last] += (__int128)weight * (to - (intervals->start + (int64_t)last * width));
    whole[first + 1] += weight;
    whole[last] -= weight;
}

static int count(struct dft_spans_states *states, struct dft_spans_walk *walk, const struct kind *kinds)
{
    for (size_t i = 0; i < walk->nroots; i++) {
        if (!walk->weights[i])
            continue;
        if (dft_spans_walk_root(walk, i))
            return -ENOMEM;
        for (size_t k = 0; k < walk->count; k++)
            add(states, kinds[walk->events[k].kind].state, walk->weights[i], walk->events[k].ns,
                k + 1 < walk->count ? walk->events[k + 1].ns : states->intervals.end);
    }
    return 0;
}

static void make_means(struct dft_spans_states *states)
{
    struct dft_spans_intervals *intervals = &states->intervals;

    for (size_t state = 0; state < states->count; state++) {
        int64_t here = 0;

        for (size_t i = 0; i < intervals->count; i++) {
            uint64_t ns = dft_spans_interval_ns(intervals, i);

            here += states->whole[state * (intervals->count + 1) + i];
            states->states[state].means[i] =
                ns ? (double)here + (double)states->sums[state * intervals->count + i] / (double)ns : 0;
        }
    }
    /* what begins at the end has no length */
    intervals->count -= intervals->count > 1 && !dft_spans_interval_ns(intervals, intervals->count - 1);
}

int dft_spans_states_make(struct dft_spans_states *states, struct dft_spans_walk *walk,
                          const struct dft_spans_asked *asked)
{
    struct kind *kinds = calloc(walk->model->nkinds + 1, sizeof *kinds);
    int64_t start = 0, end = 0;
    int rc;

    *states = (struct dft_spans_states){.model = walk->model};
    rc = kinds ? survey(states, walk, kinds, &start, &end) : -ENOMEM;
    if (rc == DFT_EXIT_BAD) {
        free(kinds);
        return 0;
    }
    if (!rc)
        rc = dft_spans_intervals_make(&states->intervals, asked, start, end);
    if (!rc)
        rc = make_states(states, kinds);
    if (!rc)
        rc = count(states, walk, kinds);
    if (!rc)
        make_means(states);
    free(kinds);
    return rc;
}

void dft_spans_states_fini(struct dft_spans_states *states)
{
    free(states->states);
    free(states->means);
    free(states->sums);
    free(states->whole);
}
