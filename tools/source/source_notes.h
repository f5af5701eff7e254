/* SPDX-License-Identifier: MIT */
/* What a source tells its user: notes, each once, the status that follows from them, and the progress line. */
#ifndef DFT_SOURCE_NOTES_H
#define DFT_SOURCE_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "source/source_object.h"

/* What the user must be told, one line each, without a newline; any thread. Equal texts are kept once. `bad`: enum
 * dft_bad. */
enum dft_bad {
    DFT_BAD_NOTHING = 0,
    DFT_BAD_UNREAD = 1, /* something is not here */
    DFT_BAD_OTHER = 2,  /* something is wrong, for which nothing is missing */
};
void dft_source_note(struct dft_source *source, int bad, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The notes so far, sorted, valid until the next note. E.g.
 * "FILE: block at 81920: payload checksum differs; 3 of 57 blocks unreadable, the rest used". */
char *const *dft_source_notes(struct dft_source *source, size_t *count);
/* How many notes say that something is not here: then nobody can say that nothing was lost. */
uint64_t dft_source_unread(struct dft_source *source);
/* 0: all good; else something could not be read, or there was nothing to read. */
int dft_source_status(const struct dft_source *source);
/* Prints "dftmerge: NOTE" lines on stderr (not when quiet), each note once over all calls. */
void dft_source_report(struct dft_source *source);
/* Progress on stderr after the first second, when that is a terminal and not quiet: "done of all WHAT". Any thread;
 * cheap. Ends with done == all. */
void dft_source_progress(struct dft_source *source, const char *what, uint64_t done, uint64_t all);

#endif
