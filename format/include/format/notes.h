/* SPDX-License-Identifier: MIT */
/* Lines of the column NOTES of PROCESS that every command prints, because of them calls may be unseen. Only
 * `dftmerge check` prints the others. */
#ifndef DFT_NOTES_H
#define DFT_NOTES_H

#define DFT_NOTES_COPY     "another copy of the library is loaded, too: it stepped back, and each call counts once"
/* Up to a list of libraries, with the calls that each takes. */
#define DFT_NOTES_TAKEN    "calls are unseen that a library takes before libdftrace.so and hands on past it: "
#define DFT_NOTES_LATE     "libdftrace.so was loaded behind the C library: annotations alone are recorded, and no I/O"
#define DFT_NOTES_DEEPBIND "a library was loaded with RTLD_DEEPBIND: calls that it makes may be unseen"
#define DFT_NOTES_HANDLE   "functions were found by dlsym behind a library that takes them, too: their calls are unseen"

/* Traces of other processes may be gone. */
#define DFT_NOTES_REMOVED "the trace was removed while the program ran, and written again at its end"

#endif
