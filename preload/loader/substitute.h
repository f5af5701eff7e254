/* SPDX-License-Identifier: MIT */
/* Stand-ins for functions that an older C library lacks. */
#ifndef DFT_SUBSTITUTE_H
#define DFT_SUBSTITUTE_H

/* A function that makes the system call of this name itself. NULL: there is none. A program may find
 * our function by dlsym or a weak reference, and take it for the C library's. The function must then do what
 * the name says, as a newer C library would. */
void *dft_substitute(const char *name);

#endif
