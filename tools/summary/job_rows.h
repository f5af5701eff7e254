/* SPDX-License-Identifier: MIT */
/* Several jobs, or runs, in one directory: a row of each. Each of the newest is opened alone, with its own findings
 * and its own end. */
#ifndef DFT_JOB_ROWS_H
#define DFT_JOB_ROWS_H

#include "summary/summary.h"

struct dft_json;

/* What is known of one. Texts are escaped. */
struct dft_job_row {
    const struct dft_source_job *launch; /* of the source */
    char *job;                           /* the batch system's name for it; NULL: none, or several */
    char *user, *program;                /* who owns the trace; the first program that has a rank, else the first one */
    char *ended;   /* "exit", "exit 3", "SIGSEGV", "rank 5 SIGSEGV", "running" ...; NULL: unknown */
    char *finding; /* the title of the first; NULL: nothing was found */
    uint64_t finding_ns, finding_of_ns; /* the cost of that, and what it is a part of */
    uint64_t io_ns, lives_ns;           /* in I/O, and from start to end, of all its processes together */
    uint32_t ranks;
    int was_read; /* else nothing but `launch` is known */
};

struct dft_job_rows {
    struct dft_job_row *list; /* the newest first; on rank 0 */
    uint32_t count, older;    /* older: these have no row */
    int are_jobs;             /* rows have other `job`s each, which --job takes; else --run takes launch->name */
    int is_one_shown;         /* the page is about the newest of them, not about all together */
};

/* Makes no rows where there is one, or where a filter or --by asks for something else. Returns 0 or -ENOMEM. Rows may
 * be used as long as the source is open. Collective. */
int dft_job_rows_make(struct dft_job_rows *rows, struct dft_summary *summary);
void dft_job_rows_free(struct dft_job_rows *rows);
/* A table, and how to see one of them. Returns 0 or -ENOMEM. */
int dft_job_rows_print(const struct dft_job_rows *rows);
/* The member "overview" of an open object: an array. */
void dft_job_rows_json(struct dft_json *json, const struct dft_job_rows *rows);

#endif
