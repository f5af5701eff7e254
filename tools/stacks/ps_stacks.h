/* SPDX-License-Identifier: MIT */
/* What the threads of running processes are doing now: their call stacks, for `dftmerge ps
 * --stacks`. */
#ifndef DFT_PS_STACKS_H
#define DFT_PS_STACKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/write_json.h"
#include "base/write_text.h"
#include "job/flights.h"
#include "views/ps_tree.h"

#define DFT_PS_STACKS_MAX 100u /* threads of one process */

struct dft_ps_frame {
    const char *function; /* NULL: not known; lives as long as the program */
    const char *line;     /* "/path/source.c:12", or NULL; the same */
    char *module;         /* path, or NULL: no file */
    uint64_t pc;
    uint64_t address; /* in the module */
    uint64_t offset;  /* in the function */
};

struct dft_ps_stack {
    uint32_t process, tid;
    uint32_t count;
    struct dft_ps_frame *frames;
    const char *trouble; /* why there is no stack; NULL: there is one */
};

struct dft_ps_stacks {
    struct dft_ps_stack *list; /* by process, then as their calls in flight stand */
    size_t count;
};

/* Stops each thread that has something in flight, for as long as it takes to copy its stack; of a
 * process that has nothing in flight, the main thread. What cannot be had is noted. Returns 0 or
 * -errno; free the list in either case. */
int dft_ps_stacks_take(struct dft_ps_stacks *stacks, struct dft_source *source, const struct dft_ps_tree *tree,
                       const struct dft_flights *flights);

/* Stops one thread of a running process and copies its stack. stack->tid says which; the rest of it
 * is zeros. Free it with dft_ps_stack_free. */
void dft_ps_stack_take(uint32_t pid, struct dft_ps_stack *stack);

#endif
