/* SPDX-License-Identifier: MIT */
/* The page for people: its head, its sections in the order of what matters, its footer.
 *
 * SHARES are of two things: of the time of all I/O that was queried, and of the wall time of
 * the processes, of each from its start to its end. --from and --to cut these times, and --rank and
 * --pid choose among the processes. */
#ifndef DFT_PAGE_H
#define DFT_PAGE_H

#include <stdio.h>

#include "summary/summary.h"

/* Calls by class. */
struct dft_page_class {
    uint64_t count, errors, time_ns, bytes, data;
};

struct dft_page {
    struct dft_summary *summary;
    struct dft_page_class classes[DFT_IO_COUNT];
    struct dft_page_class io; /* of all classes that are I/O */
    uint64_t ops;             /* operations that there are */
    uint64_t waits_ns;        /* of calls that are no I/O, and no regions */
    struct dft_answer answer; /* by class: what answered */
    struct dft_answer
        slowest; /* the process (or rank) with the most I/O time; without groups where there is one alone */
    int has_slowest;
    uint64_t lives_ns;                    /* sum of the wall times of the processes */
    uint64_t from_ns, span_ns;            /* where the part of the run begins that was queried, and how long it is */
    uint64_t overhead_ns, uncut_lives_ns; /* of tracing, and of the threads of those that pass: not cut by times */
    uint64_t shortest_ns, longest_ns;
    uint64_t events; /* that these have kept, about */
    uint32_t processes;
    struct dft_answer calls, files; /* what answered these sections, without groups; files: if has_files */
    int has_files;
    uint64_t unsplit; /* events that are in no group of some section */
};

/* --- tables ----------------------------------------------------------------------------------- */

struct dft_page_line {
    const struct dft_answer *answer;
    const struct dft_group *group;
    const char *label; /* instead of the keys, escaped; NULL: the keys */
    uint64_t files;    /* how many it stands for; 0: does not apply */
    uint64_t span_ns;  /* in which its calls were made; 0: that of the table */
};

/* A table of lines. Sums over `all`, and what the lines lack of it, stand at its end. */
struct dft_page_table {
    const struct dft_answer *answer;
    const char *label_title; /* of lines with labels */
    const struct dft_page_line *lines;
    uint32_t count;
    uint64_t share_ns; /* of which lines have their share; bars */
    uint64_t wall_ns;  /* of `processes` together; 0: no column of it */
    uint32_t processes;
    uint64_t span_ns;             /* in which the calls were made; 0: no calls a second */
    const struct dft_totals *all; /* NULL: no sums */
    struct dft_totals before;     /* lines that stand above these, in other pieces */
    const char *total;            /* what they are called */
    const char *rest;             /* what is not in the lines */
    int fits;                     /* keys are as wide as there is room */
};

/* --- parts ------------------------------------------------------------------------------------ */

/* Queries for what the head needs: classes, and the slowest process. Returns how many, at most
 * DFT_PAGE_HEAD. */
#define DFT_PAGE_HEAD 2u
/* The query about ranks. */
extern const struct dft_query dft_page_ranks_query;
/* The first files by time; or of patterns, where there are too many files. */
#define DFT_PAGE_FILES 65536u
#endif
