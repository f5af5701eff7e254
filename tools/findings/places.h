/* SPDX-License-Identifier: MIT */
/* Places: directories and patterns with what was done to the files in them, each file looked at as
 * a whole. */
#ifndef DFT_PLACES_H
#define DFT_PLACES_H

#include <stddef.h>

#include "base/map.h"
#include "format/event.h"

struct dft_facts;
struct dft_facts_questions;

/* Metadata calls by what they are about. */
enum dft_place_calls {
    DFT_PLACE_OPENS, /* and closes */
    DFT_PLACE_STATS,
    DFT_PLACE_LISTS,
    DFT_PLACE_SEEKS,
    DFT_PLACE_CHANGES, /* removes, renames, modes, times ... */
    DFT_PLACE_OTHERS,
    DFT_PLACE_CALLS
};

struct dft_place_sum {
    uint64_t files, calls, opens, bytes, time_ns, meta_ns;
    uint64_t sizes;  /* of these files, as far as they were accessed */
    uint64_t max_ns; /* of a call */
    uint64_t folded; /* of these files, those that stand for more than aggregates tell apart */
};

struct dft_place {
    uint64_t id;
    struct dft_text text;       /* valid as long as the source is; empty: not known */
    uint64_t found;             /* files of which a call succeeded */
    struct dft_place_sum small; /* successful calls on files that were read or written whole in a few calls */
    struct dft_place_sum lost;  /* calls that failed with ENOENT, on files that were never found */
    uint64_t lost_stats;        /* of these, stats */
    struct dft_place_sum meta;  /* successful metadata calls on all other files */
    uint64_t calls[DFT_PLACE_CALLS];
    uint64_t dir;           /* of a pattern: the directory that has all its files; 0: there are several */
    int is_asked, is_found; /* of a directory: calls on itself failed with ENOENT; succeeded */
};

/* Who asked for files that were never found. */
struct dft_asker {
    uint64_t id, calls;
    struct dft_text program; /* valid as long as the source is */
};

struct dft_places {
    struct dft_place *list;
    size_t count, capacity;
    struct dft_map numbers; /* id -> number + 1 */
};

#define DFT_LISTED_SMALL 2u

/* All empty: metadata costs too little to look at files one by one, or they are not to be asked
 * for. */
struct dft_file_places {
    struct dft_places dirs, patterns;
    uint64_t unknown_ns; /* of files anywhere that aggregates do not tell apart */
    struct dft_asker *askers;
    size_t naskers, askers_capacity;
    struct dft_map listed; /* file of DFT_FACT_FILES -> 1, or DFT_LISTED_SMALL */
};

/* Asks for all files. */
void dft_places_put(struct dft_facts *facts, struct dft_facts_questions *questions);
/* Looks at all files, when all has been answered. Returns 0 or -ENOMEM. Collective; the places are
 * on rank 0. */
int dft_places_collect(struct dft_facts *facts);
void dft_places_fini(struct dft_file_places *places);
struct dft_place *dft_places_find(const struct dft_places *places, uint64_t id);

/* What a metadata call is about. */
enum dft_place_calls dft_place_kind(uint8_t op);
/* Adds what is known of several files. */
void dft_place_sum_add(struct dft_place_sum *sum, const struct dft_place_sum *more);
/* Their time; without a call that takes as long as all others together: that is chance. */
uint64_t dft_place_sum_cost(const struct dft_place_sum *sum);
/* The deepest directory that has four fifths of a number (uint64_t, at that offset in struct
 * dft_place) of all directories. */
struct dft_text dft_places_common(const struct dft_places *dirs, size_t offset);
/* Is a directory the other, or below it? */
int dft_place_is_below(struct dft_text directory, struct dft_text above);

#endif
