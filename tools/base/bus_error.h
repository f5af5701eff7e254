/* SPDX-License-Identifier: MIT */
/* Reads of a mapped file that cannot be served. Somebody cut the file, its disk fails, or it has a hole on a full
 * tmpfs. The page then reads as zeros, and the program goes on. Also libraries map files (libelf). */
#ifndef DFT_BUS_ERROR_H
#define DFT_BUS_ERROR_H

/* Begins to catch SIGBUS, in all threads. For the main function of a program, not for a library. */
void dft_bus_catch(void);
/* How many pages this thread has found so. */
unsigned long dft_bus_pages(void);

#endif
