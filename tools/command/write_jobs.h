/* SPDX-License-Identifier: MIT */
/* The jobs and runs of a source, as JSON and as tables. */
#ifndef DFT_WRITE_JOBS_H
#define DFT_WRITE_JOBS_H

#include "base/write_json.h"
#include "object/object.h"

/* "2026-11-30 00:26:15" (UTC), or "-" where it is not known, into `text` (DFT_TEXT_ROOM bytes), which is
 * returned. */
const char *dft_text_start(char *text, uint64_t start_ns);
/* Writes the member "jobs" of an object: an array. */
void dft_json_jobs(struct dft_json *json, const struct dft_source *source);
/* Writes a table on standard output when there are several jobs. Returns 0 or -ENOMEM. */
int dft_text_jobs(const struct dft_source *source);
/* Do the same for runs; the member is "runs". */
void dft_json_runs(struct dft_json *json, const struct dft_source *source);
int dft_text_runs(const struct dft_source *source);

#endif
