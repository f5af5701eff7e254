/* SPDX-License-Identifier: MIT */
/* The parts of the summary: the page for people, JSON and CSV. */
#ifndef DFT_SUMMARY_H
#define DFT_SUMMARY_H

#include <stdio.h>

#include "command/command.h"
#include "findings/findings.h"
#include "job/job.h"
#include "job/kernel_io.h"
#include "query/answer.h"
#include "query/answer_pages.h"
#include "query/answer_sort.h"
#include "query/plan_times.h"
#include "query/query.h"

/* Everything that a summary is to contain. */
struct dft_summary {
    struct dft_source *source;
    const struct dft_options *options;
    struct dft_query query; /* of --by, or category and name */
    int by;                 /* --by was set */
    int all;                /* --all was set */
    int hist;               /* --hist was set */
    struct dft_job job;
    struct dft_limits limits; /* of findings */
};

/* Writes the object. Returns 0, -EINVAL (no such column to sort by) or -ENOMEM. */
int dft_summary_json(FILE *out, struct dft_summary *summary);
/* Each writes to standard output, and returns the same. */
int dft_summary_csv(struct dft_summary *summary);
int dft_summary_text(struct dft_summary *summary);
/* Directories as a tree, or call stacks where the query is by stack; as text. */
int dft_summary_tree(struct dft_summary *summary);

/* Lines of a table that are aligned with each other: a longer one becomes several. */
#define DFT_SUMMARY_LINES 100000u

/* Answers a query, sorted by `sort` (NULL: time). There may be more groups: dft_answer_next;
 * `at_once` is as in dft_order. */
int dft_summary_ask(struct dft_summary *summary, const struct dft_query *query, const char *sort, uint64_t top,
                    uint64_t at_once, struct dft_answer *answer);
/* Bytes that the kernel counted for processes with two samples of /proc/self/io, without those of
 * tracing, and bytes of the calls of the same processes that were seen. All 0 where the filter asks
 * for a part of the calls. */
struct dft_unseen {
    struct dft_kernel_io io;
    uint64_t seen_read, seen_written; /* known on rank 0 */
    struct dft_answer calls;          /* until they are taken */
};
/* What the kernel counted. Returns 0 or -ENOMEM. Collective. */
int dft_unseen_collect(struct dft_summary *summary, struct dft_unseen *unseen);
/* Asks for the calls, beside `count` other queries. Returns how many there are then. */
unsigned dft_unseen_put(struct dft_unseen *unseen, struct dft_query_request *requests, unsigned count);
/* Takes the answer, if they were requested. Returns 0 or -ENOMEM. Collective. */
int dft_unseen_take(struct dft_unseen *unseen);
void dft_unseen_fini(struct dft_unseen *unseen);
void dft_unseen_print(FILE *out, const struct dft_unseen *unseen);
struct dft_json;
void dft_unseen_json(struct dft_json *json, const struct dft_unseen *unseen);

/* The members that `summary --all` has in place of "groups": findings, calls, files ... `head`
 * writes what comes before them, from the answer by call. Returns 0 or -ENOMEM. */
int dft_summary_json_all(struct dft_json *json, struct dft_summary *summary, struct dft_unseen *unseen,
                         void (*head)(void *context, const struct dft_answer *answer), void *context);
/* The members of a group's keys, and one group of an answer, as an object. */
void dft_summary_json_keys(struct dft_json *json, const struct dft_answer *answer, const struct dft_group *group);
void dft_summary_json_group(struct dft_json *json, const struct dft_answer *answer, const struct dft_group *group);

/* What is wrong: rank 0 has it. Answers queries of the page, too (findings.h). Collective.
 * Returns 0 or -ENOMEM. */
int dft_summary_findings(struct dft_summary *summary, const struct dft_query_request *more, unsigned count,
                         struct dft_findings *findings);
/* Notes that nothing passes the filter, where so. Returns whether there is a filter, and nothing
 * passes. Collective. */
int dft_summary_nothing(const struct dft_summary *summary, const struct dft_answer *answer);

#endif
