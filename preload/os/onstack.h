/* SPDX-License-Identifier: MIT */
/* Running a function on another stack. */
#ifndef DFT_ONSTACK_H
#define DFT_ONSTACK_H

/* Calls function(argument) with the stack pointer at `top` (aligned to 16, growing down). Signals
 * must be blocked, because a handler would also run on that stack. */
void dft_on_stack(void *top, void (*function)(void *), void *argument);

#endif
