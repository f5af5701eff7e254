/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: the two kinds of input, and what both print with. */
#ifndef DFT_RANKS_H
#define DFT_RANKS_H

#include <stdio.h>

#include "command/command.h"

/* Is it a file of telemetry by its name (*.json, *.jsonl, *.ndjson), or a directory with such files
 * and no traces? */
int dft_is_telemetry_path(const char *path);

/* Answers from telemetry files: those named, and those in the directories named. phases: traces of the
 * same job, whose regions say what each suspect was doing; NULL: none. Returns the exit code. */
int dft_ranks_telemetry(const struct dft_options *options, const char *phases);

/* "0, 3-7, 12 and 40 more" of ascending ranks, at most `most` pieces. */
void dft_print_ranks(FILE *out, const uint32_t *ranks, uint32_t count, uint32_t most);

#endif
