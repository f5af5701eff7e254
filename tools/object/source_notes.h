/* SPDX-License-Identifier: MIT */
/* What a source tells its user: notes, each of them once, the resulting status, and the progress
 * line. */
#ifndef DFT_SOURCE_NOTES_H
#define DFT_SOURCE_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "object/object.h"

/* Adds a note for the user: one line, without a newline. Any thread. Equal texts are kept once.
 * `bad`: enum dft_bad. */
enum dft_bad {
    DFT_BAD_NOTHING = 0,
    DFT_BAD_UNREAD = 1, /* the source lacks something */
    DFT_BAD_OTHER = 2,  /* something is wrong, but nothing is missing */
    DFT_BAD_GONE = 4,   /* what is here is whole, and other files are gone: no failure to read */
};
void dft_source_note(struct dft_source *source, int bad, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The notes so far, sorted, valid until the next note. An example: "FILE: block at 81920: payload
 * checksum differs; 3 of 57 blocks unreadable, the rest used". */
char *const *dft_source_notes(struct dft_source *source, size_t *count);
/* The number of notes of something missing. While there are such notes, nobody can say that nothing
 * was lost. */
uint64_t dft_source_unread(struct dft_source *source);
/* 0: all is well; else something could not be read, or there was nothing to read. */
int dft_source_status(const struct dft_source *source);
/* Prints the notes as "dftmerge: NOTE" lines on stderr (not when quiet). Each note is printed once
 * over all calls. */
void dft_source_report(struct dft_source *source);
/* Shows "done of all WHAT" on stderr after the first second, when stderr is a terminal and not
 * quiet. Any thread; cheap. The line ends with done == all. */
void dft_source_progress(struct dft_source *source, const char *what, uint64_t done, uint64_t all);

#endif
