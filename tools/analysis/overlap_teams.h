/* SPDX-License-Identifier: MIT */
/* Processes into teams: those of a rank, or a process and those that it started. */
#ifndef DFT_OVERLAP_TEAMS_H
#define DFT_OVERLAP_TEAMS_H

#include "analysis/overlap.h"

#define DFT_NO_LANE UINT32_MAX

/* Fills in processes and teams of `overlap`, with their wall times and nothing else. compute_ns: of
 * each process of the source, time in compute regions, which decides who is a trainer. *lane_of,
 * which the caller frees: by number in the source, of each image, the position in overlap->processes, or
 * DFT_NO_LANE. Returns 0 or -ENOMEM. */
int dft_overlap_teams(const struct dft_overlap_request *request, const uint64_t *compute_ns,
                      struct dft_overlap *overlap, uint32_t **lane_of);
/* The life of a process, within --from and --to, of all its images. *end <= *start: there is
 * nothing. */
void dft_overlap_life(const struct dft_overlap_request *request, const struct dft_source_process *process,
                      uint64_t *start, uint64_t *end);

#endif
