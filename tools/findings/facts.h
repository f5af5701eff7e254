/* SPDX-License-Identifier: MIT */
/* What the rules look at: answers that are requested once, and shared by all rules. */
#ifndef DFT_FINDING_FACTS_H
#define DFT_FINDING_FACTS_H

#include "base/map.h"
#include "findings/findings.h"
#include "analysis/overlap.h"
#include "findings/slow_rank.h"
#include "query/answer.h"
#include "query/query.h"
#include "findings/accesses.h"
#include "findings/failures.h"
#include "findings/lock_waits.h"
#include "findings/mounts.h"
#include "findings/places.h"
#include "job/kernel_io.h"

#define DFT_FACT_GROUPS  4096u /* of each answer, those with the most time */
#define DFT_FACT_WINDOWS 20u
#define DFT_FACT_SWEPT   UINT64_C(2000000) /* overlap is exact with so few events, or when all is wanted */

enum dft_fact {
    /* from rows, always */
    DFT_FACT_CALLS,     /* cat, name, op, class, size, access, errno */
    DFT_FACT_TIMES,     /* time (a twentieth of the run, or the interval of rows), op, class, size, errno */
    DFT_FACT_PROCESSES, /* process, class */
    DFT_FACT_REGIONS,   /* cat, name, process; of op REGION */
    /* by file: from events, with op, errno and size; else from rows of files, and only by class */
    DFT_FACT_FILES,    /* file, class */
    DFT_FACT_PATTERNS, /* pattern, class; likewise */
    DFT_FACT_DIRS,     /* dir, class: from events of op OPENDIR alone; for which directory a file is in */
    DFT_FACT_MOUNTS,   /* mount, class; likewise; where a process saw a remote file system */
    DFT_FACT_PLACES,   /* file, class; from events op, errno and program, too. All of them, which places take */
    DFT_FACT_OPENS,    /* file, process; of op OPEN and FOPEN; from events alone */
    DFT_FACT_LINES,    /* line, file, op; where there are stacks */
    DFT_FACT_ERRORS,   /* line, op, errno; likewise */
    DFT_FACT_EXECS,    /* process, file, op; of ops EXEC and SPAWN; from events alone */
    DFT_FACT_LOCKS,    /* file, process; of op LOCK, or from rows of class WAIT; where locks cost time */
    /* where there are several ranks: facts_ranks.h */
    DFT_FACT_RANK_REGIONS, /* innermost region, rank, class: read and write; where there are collective calls */
    DFT_FACT_RANK_TIMES,   /* time (some 200 parts of the run), class: of slow.rank and its class alone */
    DFT_FACT_NEXT_TIMES,   /* the same of slow.next */
    DFT_FACT_RANK_DIRS,    /* dir, rank, class */
    DFT_FACT_RANK_FILES,   /* file, rank, class */
    DFT_FACT_SHARED,       /* time, rank, class, with percentiles: of shared_file alone; from events alone */
    DFT_FACTS
};

/* What the filter leaves out, and some rules need. */
enum dft_lacks {
    DFT_LACKS_CALLS = 1,     /* some of those on a file, of a process or of a time; or which call was on which file */
    DFT_LACKS_FILES = 2,     /* calls on other files, and those on none */
    DFT_LACKS_PROCESSES = 4, /* some of a rank, or of those that a process started */
    DFT_LACKS_RANKS = 8,     /* some; where nobody has a rank, some processes */
    DFT_LACKS_TIMES = 16
};

/* Groups of an answer are sorted by descending time, the first DFT_FACT_GROUPS of them; keys that
 * the list does not name are 0. Texts of their keys are known (dft_facts_text). */
struct dft_facts {
    const struct dft_findings_request *request;
    struct dft_answer answers[DFT_FACTS];
    uint64_t asked;   /* 1 << enum dft_fact: which answers there are */
    int has_file_ops; /* answers by file tell op, errno and size apart */
    int has_stacks;
    int has_too_many;    /* events, to look at them by file: thorough was not requested */
    unsigned lacks;      /* enum dft_lacks; with DFT_LACKS_CALLS there are DFT_FACT_PROCESSES alone */
    uint64_t total_ns;   /* sum of the wall times of processes; of the filter's window, if there is one */
    uint64_t threads_ns; /* ... each as often as it has threads */
    uint64_t uncut_ns;   /* ... and not cut by the window; of this tracing took so much: */
    uint64_t overhead_ns;
    uint64_t start_ns, wall_ns; /* of the job, in that window */
    uint32_t processes;
    uint32_t ranks;            /* that are requested */
    struct dft_slow_rank slow; /* of ranks; rank.time_ns 0: none */
    uint64_t shared_file;      /* of several ranks, with the most time; 0: none */
    unsigned shared_class;
    struct dft_file_places places;
    struct dft_accesses accesses;
    struct dft_lock_waits locks;
    struct dft_failures failures;
    struct dft_file_grouping mounts; /* by mount point, with what processes saw */
    int has_remote;                  /* one of them is a remote file system */
    struct dft_kernel_io io;         /* what the kernel counted */
    struct dft_overlap overlap;      /* where regions compute, or wait for data */
    int has_overlap, has_cpu;
    unsigned char *untraced; /* by number of process: it started a program that has no trace */
    uint32_t nuntraced;
    uint64_t unnamed_ns; /* the most processor time of a process that no such region names; with has_cpu */
};

int dft_facts_has(const struct dft_facts *facts, enum dft_fact fact);
/* The options of the filter (1 << enum dft_filter_option) because of which facts lack these. */
uint64_t dft_facts_options(const struct dft_facts *facts, unsigned lacks);
/* The text of a key of a group, escaped for terminals; "" where it has none. The caller frees it.
 * NULL: no memory. */
char *dft_facts_text(const struct dft_answer *answer, const struct dft_group *group, enum dft_by by);
/* The source line with the most time among calls of these operations (0: all) on a file, or on
 * those of a pattern (0: any), or NULL. The caller frees the text. */
char *dft_facts_line(const struct dft_facts *facts, enum dft_by by, uint64_t id, uint64_t ops);
/* The same of calls that failed with this errno, on any files. */
char *dft_facts_error_line(const struct dft_facts *facts, int err, uint64_t ops);
/* Is this a group of calls of that name? By name alone. */
int dft_facts_is_call(const struct dft_answer *answer, const struct dft_group *group, const char *name);
/* How many processes make data durable; those that the answer leaves out may, too. At least 1. */
uint64_t dft_facts_syncing(const struct dft_facts *facts);
/* The time of calls on locks. *calls: their number; NULL: not needed. */
uint64_t dft_facts_lock_ns(const struct dft_facts *facts, uint64_t *calls);
/* The pattern that a file belongs to; 0: not known. */
uint64_t dft_facts_pattern(const struct dft_facts *facts, uint64_t file);
/* The text of a file that is in an answer by file, escaped for terminals; else "". The caller frees
 * it. NULL: no memory. */
char *dft_facts_file_text(const struct dft_facts *facts, uint64_t file);
/* What stands before the name of a file: "", or words for one that stands for more than aggregates
 * distinguish. */
const char *dft_facts_files_in(const struct dft_facts *facts, uint64_t file);
/* A pattern, escaped for terminals: # stands for numbers that vary, as far as its files are known
 * one by one. The caller frees it. NULL: no memory. */
char *dft_facts_pattern_text(const struct dft_facts *facts, uint64_t pattern);
/* A path, or pattern, without the directory in which all processes began: a part of `path`. */
const char *dft_facts_short(const struct dft_facts *facts, const char *path);
/* How the time of calls of these operations and size classes (masks; 0: all) lies in the run, and
 * from when to when they were made (unchanged: there are none). */
enum dft_when dft_facts_when(const struct dft_facts *facts, uint64_t ops, unsigned sizes, uint64_t *from_ns,
                             uint64_t *to_ns);

/* How time lies in the run, in DFT_FACT_WINDOWS parts and one for what lies behind them. */
enum dft_when dft_facts_judge(const uint64_t *time_ns);

/* The rank of a group by rank or process; -1: none. */
int64_t dft_facts_rank(const struct dft_answer *answer, const struct dft_group *group);
/* Is this region a call of MPI-IO that all ranks make together? */
int dft_is_collective(struct dft_text name);
/* Is a group by region inside of one? */
int dft_facts_in_collective(const struct dft_answer *answer, const struct dft_group *group);

/* Does this team's trainer wait for data most in the first steps of its epochs? */
int dft_facts_starts_slowly(const struct dft_facts *facts, const struct dft_overlap_team *team);

/* Is this as much of all time in I/O as a finding has at least? */
static inline int dft_facts_matters(const struct dft_facts *facts, uint64_t time_ns)
{
    return time_ns >= facts->total_ns / 1000 * facts->request->limits->values[DFT_LIMIT_ANY_SHARE];
}

#endif
