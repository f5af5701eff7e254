/* SPDX-License-Identifier: MIT */
/* Two runs side by side: what differs, by how much, and whether that is more than each run
 * differs within itself, or than repetitions of a run differ among themselves.
 *
 * A run answers with groups (query.h), as fine as it takes: those of a call, of one process, in
 * one slice of time. A table of the comparison gathers them under its own keys (calls, regions,
 * patterns of files, groups of ranks); each line of it is an item with the groups, its cells, of
 * both runs. From the cells come the sums, the percentiles (of merged histograms) and the spread.
 *
 * THE SPREAD. What is counted (calls, bytes) is exact: any difference is one, unless a run lost events. Time is judged
 * by its cost, the time of a call: once for every process where both runs have at least DFT_UNITS_MIN that make the
 * call, else for every process and slice of time. A difference is beyond the spread when the costs of B lie higher (or
 * lower) than those of A with p < 0.001 (one-sided rank-sum test of Wilcoxon, Mann and Whitney; in integers), or when
 * the number of calls alone, each at A's cost, makes half of it. With fewer than DFT_UNITS_MIN of them on a side the
 * result is unknown. Percentiles are judged in the same way, by those of the units. What a whole run has in common, a
 * busy file system or another machine, is not distinguished from a change of the program.
 *
 * REPETITIONS. A side may have several runs. The numbers of a side are then the medians of its
 * runs, and the runs are the yardstick (repeated.h), for counts and bytes too, but where all runs of
 * each side have the same: what runs do within themselves decides nothing. All I/O and the lines that
 * have a hundredth of it are tested, at one level for all together (family.h). A line that is not
 * tested is within the spread where the runs of both sides meet, else it is unknown. A number of
 * calls that is exact, and makes half of the change of time, takes that beyond the spread, too. The
 * cells of an item are those of one run a side, the one with the median time in I/O. They are what
 * says which process stands out, and which ranks do alike.
 *
 * ONE ALONE. The rank-sum test is blind to one process among many. So each process of the slower run is also examined
 * alone, where there are several. The process stands out where its calls cost more than DFT_ALONE_TIMES what they cost
 * in any process of the other run. A process whose time beyond that cost is less than DFT_ALONE_SHARE of the largest
 * such time is left out: it explains nothing. The change is beyond the spread when DFT_UNITS_MIN slices of the
 * process's time at least each cost more than any slice of the other run, which has as many. Else, as of aggregates
 * alone, the result is unknown; the change is never within the spread.
 *
 * WHAT BOTH KNOW. A run of which aggregates alone were kept knows calls, and files by class; it
 * does not know which calls were made on which files, nor what was done in a slice of its time.
 * Then the other run is not queried for it either: both get the same query. A number that one run alone
 * knows (percentiles of files) is unknown, never new or gone. So are the numbers of files that one run
 * alone distinguishes, and those of the directory that it counts them by.
 *
 * THE FLOOR. A change of time or of a percentile by less than DFT_FLOOR_PART of what A has is
 * within the spread, whatever the tests say. With many calls a test finds any difference, even
 * that of two clocks; and it reads "0.0 %". */
#ifndef DFT_COMPARE_H
#define DFT_COMPARE_H

#include "command/command.h"
#include "compare/rank_test.h"
#include "compare/repeated.h"
#include "base/array.h"
#include "query/group_map.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "query/answer_sort.h"
#include "query/plan_times.h"
#include "query/query.h"
#include "job/job.h"

#define DFT_UNITS_MIN   DFT_RANK_TEST_MIN
#define DFT_ALONE_TIMES 2
#define DFT_ALONE_SHARE 0.05
#define DFT_FLOOR_PART  200 /* one in so many: 0.5 % */

enum dft_measure {
    DFT_MEASURE_COUNT,
    DFT_MEASURE_BYTES,
    DFT_MEASURE_TIME,
    DFT_MEASURE_P50,
    DFT_MEASURE_P95,
    DFT_MEASURE_P99,
    DFT_MEASURES
};

enum dft_spread { DFT_SPREAD_SAME, DFT_SPREAD_BEYOND, DFT_SPREAD_WITHIN, DFT_SPREAD_UNKNOWN };

/* One number of both sides. */
struct dft_change {
    uint64_t value[2];        /* of several repetitions: the median */
    uint64_t low[2], high[2]; /* ... the range; of one: the value */
    uint8_t known[2];
    uint8_t unsaid; /* a run has such calls, and does not know this number of them */
    uint8_t spread; /* enum dft_spread; what of it is not known is UNKNOWN */
    /* With several repetitions: */
    uint8_t sure;                          /* enum dft_repeated_sure */
    uint8_t is_exact;                      /* all runs of A have one number, all of B another */
    uint8_t is_tested;                     /* what follows is known */
    double chance;                         /* corrected for the number of lines */
    struct dft_repeated_interval interval; /* of the difference */
};

enum dft_compared {
    DFT_COMPARED_TOTAL, /* one item: all I/O */
    DFT_COMPARED_CALLS,
    DFT_COMPARED_REGIONS, /* and all else that is no I/O: fork, exec */
    DFT_COMPARED_FILES,
    DFT_COMPARED_FILE_CALLS, /* call and pattern, for the first lines of the text alone */
    DFT_COMPARED_RANKS,
    DFT_COMPARED_COUNT
};

struct dft_cell {
    uint32_t item;
    const struct dft_group *group;
};

/* Processes (of a group of ranks: ranks) of the slower run that stand out from all of the other
 * one. */
struct dft_alone {
    uint8_t side, sure;        /* sure: one of them does so for long enough */
    uint32_t processes, count; /* that make the call in that run; how many of these stand out, 0: none */
    uint32_t who;              /* the costliest: as in a group's key */
    double times;              /* its cost against the mean of the other run */
    double cost_ns, other_ns;  /* of a call: since it stands out, and in the other run */
    uint64_t since_slice;      /* its first slice of time that cost more than any of the other run */
    uint8_t has_since;         /* 0: it was so from its start, or there are no slices */
};

struct dft_item {
    struct dft_group_key key; /* cat, name; file: the pattern; who: number of the group of ranks + 1 */
    const struct dft_cell *cells[2];
    uint32_t ncells[2];
    struct dft_change changes[DFT_MEASURES];
    int64_t explained_ns; /* the part of the change of time that the number of calls explains */
    int by_cost;          /* the cost of a call changed beyond the spread */
    struct dft_alone alone;
};

/* The numbers of an item in one run. */
struct dft_measured_item {
    uint64_t value[DFT_MEASURES];
    uint8_t known[DFT_MEASURES];
};

struct dft_compared_items {
    struct dft_group_map map;
    struct dft_item *items; /* by number */
    uint32_t count;
    uint32_t *order;         /* those with the largest change first */
    struct dft_cell **cells; /* by run, sorted by item */
    uint32_t *ncells;
    struct dft_measured_item *measured; /* by item, then run */
};

/* One run: a repetition of its side. */
struct dft_compared_run {
    struct dft_options options; /* of the command, with this run's paths */
    char **own_paths;           /* NULL: the paths are the command's */
    struct dft_source *source;
    uint8_t side;
    uint32_t number; /* from 1, in the order of the command line */
    uint64_t io_ns;  /* of several runs */
    /* Patterns that are in another directory than those of runs[0]: id -> (id in runs[0], bytes
     * of the directory to leave out) */
    struct dft_group_map moved; /* key.file */
    struct dft_moved {
        uint64_t file;
        uint32_t cut;
    } * of_moved;
    struct dft_job job;
    struct dft_answer calls, files, ranks;
    int has_ranks, lossy;
    int aggregated;          /* of some of its processes no event was kept */
    int split;               /* of no process of either run: time and calls on files can be distinguished */
    uint32_t most_processes; /* of runs[0] and runs[1]: the run that has more */
};

/* A directory of A and one of B that are taken for each other. */
struct dft_same_directory {
    struct dft_text text[2];
};

struct dft_rank_group {
    char *label; /* "0-3,7" */
};

struct dft_comparison {
    struct dft_compared_run *runs; /* first the one in the middle of A, and that of B */
    uint32_t nruns, capacity;
    uint32_t counts[2]; /* repetitions of A and of B */
    struct dft_compared_items tables[DFT_COMPARED_COUNT];
    struct dft_same_directory *directories;
    uint32_t ndirectories;
    struct dft_group_map labels; /* key.file: of A, those that are in other directories elsewhere */
    uint32_t *cut_of_label;
    uint32_t nlabels_max;
    struct dft_rank_group *rank_groups;
    uint32_t nrank_groups;
    uint32_t *group_of_rank; /* + 1 */
    uint32_t nranks;
    double fail_over; /* percent; below 0: not requested */
    enum dft_measure metric, sort;
    struct dft_failure {
        uint8_t table;
        uint32_t item;
    } * failures;
    uint32_t nfailures;
    struct dft_failure unsure; /* the largest line that is worse, if not by chance; where there is one */
    int has_unsure;
    int untold; /* it is unknown whether all I/O is worse by more than fail_over, chance apart */
};

static inline int dft_compared_is_repeated(const struct dft_comparison *comparison)
{
    return comparison->nruns > 2;
}

struct dft_spread_scratch;

#endif
