/* SPDX-License-Identifier: MIT */
/* The number of the descriptor of the trace keeps away from those of the program. */
#ifndef DFT_TRACEFILE_NUMBER_H
#define DFT_TRACEFILE_NUMBER_H

struct dft_ourfile;

/* Makes the kernel's table of descriptors as large as our number needs it. Where a process has threads,
 * that takes up to 20 ms, so it happens before. */
void dft_tracefile_number_prepare(void);
/* A call of the program has just failed with EMFILE. Did it because of us? Then the program makes the call
 * again: our number is free, and errno is `before`. */
int dft_tracefile_let_go(int before);
/* Moves a descriptor of this file, to be used for a moment, as high as it can. Returns its number. */
int dft_tracefile_lift(const struct dft_ourfile *file, int fd);
/* The program wants the number for itself (dup2). Moves our descriptor away first. */
void dft_tracefile_step_aside(int fd);
/* The program has this number, or asks for the next free one from it on. Our descriptor keeps away. */
void dft_tracefile_make_way(int fd);
/* The program asks for a message. */
void dft_tracefile_make_way_for_many(void);

/* Makes a copy of a descriptor of this file on a number of ours. -1: there is none. */
int dft_tracefile_move_up(const struct dft_ourfile *file, int fd);
/* In a forked child. */
void dft_tracefile_number_forked(void);

#endif
