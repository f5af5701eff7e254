/* Handlers of exit and quick_exit. */
#ifndef DFT_AT_EXIT_H
#define DFT_AT_EXIT_H

/* Constructor only. */
void dft_at_exit_init(void);

#endif
