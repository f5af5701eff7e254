/* SPDX-License-Identifier: MIT */
/* Places: directories and patterns with what was done to the files in them, each file looked at as
 * a whole. */
#ifndef DFT_PLACES_H
#define DFT_PLACES_H

#include <stddef.h>

#include "base/map.h"
#include "format/text.h"

struct dft_facts;
struct dft_facts_questions;

/* Metadata calls by what they are about. */
enum dft_place_calls {
    DFT_PLACE_OPENS, /* and closes */
    DFT_PLACE_STATS,
    DFT_PLACE_LISTS,
    DFT_PLACE_LOOKUPS, /* that failed, of files that are there at other times */
    DFT_PLACE_REMOVALS,
    DFT_PLACE_RENAMES,
    DFT_PLACE_CUTS,    /* truncates to less, or to what is not known */
    DFT_PLACE_GROWTHS, /* truncates to more, and space for ranges */
    DFT_PLACE_CHANGES, /* links, modes, times ... */
    DFT_PLACE_OTHERS,
    DFT_PLACE_SEEKS, /* no server answers them: they are in no storm */
    DFT_PLACE_CALLS
};

struct dft_place_kind_sum {
    uint64_t calls, time_ns, max_ns;
};

struct dft_place_sum {
    uint64_t files, calls, opens, bytes, time_ns, meta_ns;
    uint64_t sizes;  /* of these files, as far as they were accessed */
    uint64_t max_ns; /* of a call */
    uint64_t folded; /* of these files, those that stand for more than aggregates distinguish */
};

struct dft_file_place {
    uint64_t id;
    struct dft_text text;       /* valid as long as the source is; empty: not known */
    uint64_t found;             /* files of which a call succeeded */
    struct dft_place_sum small; /* successful calls on files that were read or written whole in a few calls */
    struct dft_place_sum lost;  /* calls that failed with ENOENT, on files that were never found */
    uint64_t lost_stats;        /* of these, stats */
    struct dft_place_sum meta;  /* successful metadata calls on all other files; no seeks, as far as is known */
    struct dft_place_kind_sum kinds[DFT_PLACE_CALLS]; /* of these */
    uint64_t dir;           /* of a pattern: the directory that has all its files; 0: there are several */
    int is_asked, is_found; /* of a directory: calls on itself failed with ENOENT; succeeded */
};

/* Who requested files that were never found. */
struct dft_asker {
    uint64_t id, calls, time_ns;
    struct dft_text program; /* valid as long as the source is */
};

/* Calls of one kind on a large file: they free its blocks, or give it some. */
struct dft_large_file {
    uint64_t file, size;
    enum dft_place_calls kind;
    struct dft_place_kind_sum sum;
};

/* A large file that was written once, as a whole. */
struct dft_copied_file {
    uint64_t file, size, time_ns;
    uint64_t write_from_ns, write_to_ns, read_from_ns, read_to_ns; /* read_to_ns 0: it was not read once, as a whole */
    int is_removed;
};

struct dft_places {
    struct dft_file_place *list;
    size_t count, capacity;
    struct dft_map numbers; /* id -> number + 1 */
};

#define DFT_LISTED_SMALL 2u

/* All empty: metadata costs too little to look at files one by one, or nobody requested that. */
struct dft_file_places {
    struct dft_places dirs, patterns;
    uint64_t unknown_ns;            /* of files anywhere that aggregates do not distinguish */
    struct dft_file_place anywhere; /* these files; what is small is not known */
    struct dft_large_file *large;
    size_t nlarge, large_capacity;
    uint64_t large_files, large_bytes; /* of all large files */
    struct dft_copied_file *whole;
    size_t nwhole, whole_capacity;
    struct dft_places saves; /* names that files were renamed to again and again; calls on these are `small` */
    struct dft_asker *askers;
    size_t naskers, askers_capacity;
    struct dft_map listed; /* file of DFT_FACT_FILES -> 1, or DFT_LISTED_SMALL */
};

/* Asks for all files. */
void dft_places_put(struct dft_facts *facts, struct dft_facts_questions *questions);
/* The name that this file was renamed to, if many were; else 0. */
uint64_t dft_places_saved_as(const struct dft_facts *facts, uint64_t file);
/* Looks at all files, when all has been answered. Returns 0 or -ENOMEM. Collective; the places are
 * on rank 0. */
int dft_places_collect(struct dft_facts *facts);
void dft_places_fini(struct dft_file_places *places);
struct dft_file_place *dft_places_find(const struct dft_places *places, uint64_t id);

/* What a metadata call is about. */
enum dft_place_calls dft_place_kind(uint8_t op);
void dft_place_kind_add(struct dft_place_kind_sum *sum, const struct dft_place_kind_sum *more);
/* What metadata calls of the whole run are about: rows of calls tell operations apart, those of
 * files do not. */
void dft_place_kinds_of_run(const struct dft_facts *facts, struct dft_place_kind_sum kinds[DFT_PLACE_CALLS]);
/* Where aggregates do not tell operations apart by file: are there as many large files as these
 * calls, so that they are about them? */
int dft_place_is_of_large(const struct dft_facts *facts, const struct dft_place_kind_sum *calls);
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
