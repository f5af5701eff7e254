/* How a process ends: what lifecycle.h declares of it, and what lifecycle.c needs. */
#ifndef DFT_ENDING_H
#define DFT_ENDING_H

/* In the constructor, where it is cheap; and in a forked child. */
void dft_ending_init(void);
void dft_ending_forked(void);

#endif
