/* SPDX-License-Identifier: MIT */
/* Which processes are distinguished. */
#ifndef DFT_PLAN_PROCESSES_H
#define DFT_PLAN_PROCESSES_H

#include "query/execution.h"

/* Numbers the combinations of those traits of processes that are keys: sets process_group_of and
 * process_group. Returns 0 or -ENOMEM. */
int dft_number_processes(struct dft_execution *execution);

#endif
