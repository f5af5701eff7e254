/* The stack trace that a fatal signal prints. */
#ifndef DFT_BACKTRACE_H
#define DFT_BACKTRACE_H

#include <signal.h>

/* Loads libunwind; says so in one line where it is not there. Only when the C library has been initialised: our constructor comes before
 * that, and whoever loads a library there initialises it with neither arguments nor environment. So this is called when the program
 * starts, or from a constructor that is late. */
void dft_backtrace_init(void);

/* One line about the signal and one for each frame of the calling thread, to descriptor 2 if that is still the file that the program
 * was given. Allocates nothing. All signals blocked; on a stack of some 100 KiB; once in the life of a process. Whatever goes wrong on the way (a
 * destroyed stack, a loader's lock that is held) ends the list, not the process. */
void dft_backtrace(int signal, const siginfo_t *info, void *context);

#endif
