/* What describes this process in its trace: the PROCESS, CLOCK and END blocks. */
#ifndef DFT_PROCESS_H
#define DFT_PROCESS_H

#include "format.h"

/* Signals blocked. They return 0, or -errno: it could not be written. */
int dft_process_write_start(void);
int dft_process_write_end(enum dft_ending how, int status);
/* Writes the start if that was not possible so far and seems to be now. */
void dft_process_describe(void);

#endif
