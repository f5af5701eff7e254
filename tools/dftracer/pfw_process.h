/* SPDX-License-Identifier: MIT */
/* Processes of one file. */
#ifndef DFT_DFTRACER_PFW_PROCESS_H
#define DFT_DFTRACER_PFW_PROCESS_H

#include "dftracer/pfw_inside.h"

struct dft_pfw_process *dft_pfw_process(struct dft_pfw *pfw, uint64_t pid, uint64_t host);
void dft_pfw_processes_put(struct dft_pfw *pfw);
void dft_pfw_process_start(struct dft_pfw *pfw, struct dft_pfw_process *process, const struct dft_pfw_record *record,
                           uint64_t start_ns);

#endif
