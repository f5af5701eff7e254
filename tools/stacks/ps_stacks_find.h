/* SPDX-License-Identifier: MIT */
/* Finds the live file that a running process has mapped, and tells a process by it. */
#ifndef DFT_STACKS_PS_STACKS_FIND_H
#define DFT_STACKS_PS_STACKS_FIND_H

#include "stacks/ps_stacks.h"

/* Puts the path of a process's trace, or of its live file, in the place of its process id among
 * the paths. Nonzero: one of them has none, and the reason is on stderr. */
int dft_ps_stacks_paths(char **paths, int count);
/* Has the process with that pid here this live file mapped? 1, 0, or -errno: its mappings cannot
 * be read. */
int dft_ps_stacks_is_of(uint32_t pid, const char *live_path);

#endif
