/* What describes this process in its trace: the PROCESS, CLOCK and END blocks. */
#ifndef DFT_PROCESS_H
#define DFT_PROCESS_H

#include "format.h"

/* Signals blocked. Start returns 0 or -ENOMEM. */
int dft_process_write_start(void);
void dft_process_write_end(enum dft_ending how, int status);

#endif
