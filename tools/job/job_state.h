/* SPDX-License-Identifier: MIT */
/* What a job is doing, or was when it was killed; and for how long it was not recorded. */
#ifndef DFT_JOB_STATE_H
#define DFT_JOB_STATE_H

#include "job/job.h"

/* "not recorded: 61 % of the time (paused 3 times by the program)", behind a prefix; nothing at all, and 0, where there
 * was no pause. */
int dft_job_unrecorded(FILE *out, const char *prefix, const struct dft_job *job);
/* That, and behind it what was lost: to be freed, "" where neither was. Returns 0 or -ENOMEM. */
int dft_job_incomplete(char **text, const struct dft_job *job, struct dft_source *source);
/* The sentence of dft_job_unrecorded, to be freed; NULL where there was no pause. */
char *dft_job_unrecorded_text(const char *prefix, const struct dft_job *job);
/* The same as a note. */
void dft_job_note_unrecorded(const struct dft_job *job, struct dft_source *source);
/* That, and what is in flight now, as notes, for commands that look at nothing else of the job. Returns 0 or
 * -ENOMEM. Collective. */
int dft_job_note_state(struct dft_source *source);
/* What is in flight now as a note: what a command says of such a process is not the whole of it. Returns 0 or
 * -ENOMEM. */
int dft_job_note_in_flight(const struct dft_job *job, struct dft_source *source);
void dft_job_json_pauses(struct dft_json *json, const struct dft_job *job); /* the same as the member pauses */
/* The sum of kept_ns. */
uint64_t dft_job_lived_ns(const struct dft_job *job);
/* running: now, or of processes that do not run any more. */
struct dft_job_flying dft_job_flying(const struct dft_job *job, const struct dft_source *source, int running);
/* Is it in flight now: does its process still run? */
int dft_job_flies(const struct dft_flight *flight, const struct dft_source *source);
/* How long a call is in flight: until its process's last sign of life. */
uint64_t dft_job_flown_ns(const struct dft_flight *flight, const struct dft_source *source);
/* "in flight now: open of q/fifo for 3.0 s, in process 123"; nothing, and 0, where no call is. */
int dft_job_in_flight(FILE *out, const struct dft_job *job, const struct dft_source *source);
/* The same as a line on standard output, for the first line of what a command says. */
void dft_job_print_in_flight(const struct dft_job *job, const struct dft_source *source);
/* Leaves out what is in flight and does not pass. A filter of calls leaves nothing. */
void dft_job_filter_flights(struct dft_job *job, const struct dft_source *source, const struct dft_filter *filter);
void dft_job_json_in_flight(struct dft_json *json, const struct dft_job *job, const struct dft_source *source);

#endif
