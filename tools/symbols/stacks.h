/* SPDX-License-Identifier: MIT */
/* Call stacks of events, for people: preload/ring/stack.c says how they are recorded. */
#ifndef DFT_STACKS_H
#define DFT_STACKS_H

#include "base/names.h"
#include "base/write_line.h"

/* The frames of a stack, from the innermost: their number, at most `capacity`, and the ids of their
 * names; 0: the stack is not known. */
uint32_t dft_stack_frames(const struct dft_names *names, uint64_t stack, uint64_t *frames, uint32_t capacity);

/* A frame's function, or where it lies: "module+0xaddress"; of Python "file:line function". */
struct dft_text dft_stack_function(const struct dft_names *names, uint64_t frame, char text[18]);

/* Writes all functions as a list of JSON, from the innermost. */
void dft_line_stack(struct dft_line *line, const struct dft_names *names, uint64_t stack);

#define DFT_STACK_FRAMES_MAX 257u /* 128 of the processor, 128 of Python and a word about more */

/* All functions from the outermost, with a semicolon between, as tools for flame graphs read them. The program's own
 * are "function (file.cpp:12)", or without a line "function"; functions that were put in line are among them. All
 * others are "function [file.cpp:12]", or "function [module]". Returns the id that the text has in `names` from now on;
 * 0: the stack is not known, or no memory (*rc). */
uint64_t dft_stack_folded(struct dft_names *names, uint64_t stack, int *rc);

/* The same of the source line that called: "/path/source.c:12", of Python "/path/train.py:88 function". It is the
 * innermost of the program's own (own.h), without a line the program's innermost function; where the program has no
 * frame, what is innermost. A frame of Python comes before all others: outside of Python's library and of installed
 * packages, else the innermost. */
uint64_t dft_stack_line(struct dft_names *names, uint64_t stack, int *rc);

#endif
