/* SPDX-License-Identifier: MIT */
/* Shows call stacks of running processes, as text and as JSON. */
#ifndef DFT_STACKS_PS_STACKS_SHOW_H
#define DFT_STACKS_PS_STACKS_SHOW_H

#include "stacks/ps_stacks.h"

void dft_ps_stacks_free(struct dft_ps_stacks *stacks);
void dft_ps_stack_free(struct dft_ps_stack *stack);
/* One line a frame, or why there is none. */
void dft_ps_stack_print(FILE *out, const struct dft_ps_stack *stack);
/* Lines below the process, with one more of the thread; a member of the process. */
int dft_ps_stacks_text(struct dft_grid *grid, const struct dft_ps_stack *stack, int titled);
void dft_ps_stacks_json(struct dft_json *json, const struct dft_ps_stacks *stacks, uint32_t process);
/* The first of a process; those of one process stand together. */
size_t dft_ps_stacks_of(const struct dft_ps_stacks *stacks, uint32_t process);

#endif
