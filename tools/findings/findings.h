/* SPDX-License-Identifier: MIT */
/* Findings: what is wrong, what it costs, where, and what to do. findings.def is the one list of
 * their kinds.
 *
 * COST. A finding has the time that it costs: measured time of calls or of waiting, never a count.
 * For several processes it is the sum of theirs, and its share is of all their wall times together;
 * a finding about the slowest rank, or about waiting, has the time of that rank and a share of the
 * wall time of the job. Findings below the limit any.share are left out. Where there are ranks, each
 * has a cost to the job, too, which people read: no more than the rank with most time of such calls
 * has of them.
 *
 * TEXTS are made when a finding is: whole sentences without a full stop at the end, in UTF-8, with
 * names of files escaped. Each is freed by dft_findings_fini. */
#ifndef DFT_FINDINGS_H
#define DFT_FINDINGS_H

#include <stdio.h>

#include "findings/limits.h"
#include "findings/verdict.h"
#include "job/job.h"
#include "views/filter.h"

struct dft_json;
struct dft_query_request;

enum dft_sure { DFT_SURE_LOW, DFT_SURE_MEDIUM, DFT_SURE_HIGH };

/* What a share is of: the wall time of the job, or the wall times of all processes (each as often as it has threads)
 * together. */
enum dft_base { DFT_OF_JOB, DFT_OF_PROCESSES, DFT_OF_THREADS };

/* How a finding lies in the run, cut into twenty parts. */
enum dft_when { DFT_WHEN_UNKNOWN, DFT_WHEN_PERSISTENT, DFT_WHEN_GROWING, DFT_WHEN_START, DFT_WHEN_BLIP };

struct dft_finding {
    enum dft_finding_code code;
    enum dft_sure sure;
    enum dft_when when;
    int urgency; /* what has more of it is said first, whatever it costs; 0: by cost */
    uint64_t cost_ns;
    uint64_t of_ns;               /* of which cost_ns is a part */
    enum dft_base of;             /* ... and what that is */
    int is_alone;                 /* one process: all bases are the same */
    uint64_t cost_job_ns, job_ns; /* the cost to the job, at most, and its wall time. 0, 0: there are no ranks */
    uint64_t reported_ns;         /* left out of cost_ns: another finding has it */
    uint64_t calls, bytes, files, errors; /* 0: does not apply */
    unsigned classes;                     /* 1 << class of these calls; 0: its code says it */
    uint64_t from_ns, to_ns;              /* Unix; 0, 0: not known */
    int64_t rank;                         /* -1: none */
    char *title;                          /* "fsync every 20 records": a few words */
    char *where;                          /* path, directory or pattern; NULL: none */
    char *evidence;                       /* the numbers */
    char *advice;                         /* what to do, and what that can gain at most */
    char *why_sure;
    char *line; /* source line that calls; NULL: not known */
};

/* A pattern that costs little where memory answers, and much where each request is a round trip to
 * a server. What it would take is computed, not measured: it is in no sum. */
struct dft_risk {
    enum dft_finding_code code; /* of no finding in the list */
    uint64_t trips;             /* at most */
    uint64_t at_ns, of_ns;      /* what they take at risk.trip each; all that the findings are of */
    int64_t rank;               /* -1: none */
    char *title, *where, *evidence;
};

struct dft_findings {
    char *verdict[DFT_VERDICTS]; /* a line a level; NULL: it does not apply. The first one is the verdict */
    struct dft_finding *list;    /* by descending urgency, then by descending cost */
    size_t count, capacity;
    struct dft_risk *risks; /* by descending at_ns */
    size_t nrisks, risks_capacity;
    char *no_trace;          /* which programs were started and have no trace; or NULL */
    uint64_t not_looked_for; /* 1 << code of what needs more than the traces have, or too long */
    char *why_not;           /* why, and what to do; NULL: all was looked for */
    char *nothing;           /* what was looked at and found good: after "not a problem: " */
    int is_empty;            /* there is a filter, and nothing passes: nothing was looked for */
    int is_of_calls;         /* the filter leaves calls out: only what was lost was looked for */
    char *notes;             /* what costs no time that is known: "32 MiB mapped"; or NULL */
};

struct dft_findings_request {
    struct dft_source *source;
    const struct dft_filter *filter;
    const struct dft_job *job;
    const struct dft_limits *limits;
    int thorough; /* however many events must be read */
    /* Queries that the caller has, which run in the same pass: ten at most. Their answers
     * are empty at first. The caller frees them, whatever findings return. */
    const struct dft_query_request *more;
    unsigned nmore;
};

/* The time that people read, which is what there is to gain at most. */
static inline uint64_t dft_finding_cost_ns(const struct dft_finding *finding)
{
    return finding->job_ns ? finding->cost_job_ns : finding->cost_ns;
}
/* Its share, with its base in words: "31.4 % of the job at most". Writes into `room`, which has DFT_SHARE_ROOM bytes,
 * and returns it. */
#define DFT_SHARE_ROOM 64
const char *dft_finding_share(char *room, const struct dft_finding *finding);

/* Makes all findings. Returns 0 or -ENOMEM. Collective; the findings are on rank 0. */
int dft_findings_make(const struct dft_findings_request *request, struct dft_findings *findings);
void dft_findings_fini(struct dft_findings *findings);

/* The verdict, at most `top` findings for people (0: all, with how sure and when), and what was not looked for.
 * `start_ns`: times count from there. */
void dft_findings_print(FILE *out, const struct dft_findings *findings, size_t top, uint64_t start_ns);
/* The members "verdict", "findings" and "findings_*" of an open object. */
void dft_findings_json(struct dft_json *json, const struct dft_findings *findings);

#endif
