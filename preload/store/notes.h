/* SPDX-License-Identifier: MIT */
/* What PROCESS is to say of how this process was traced, and whether it has changed. */
#ifndef DFT_STORE_NOTES_H
#define DFT_STORE_NOTES_H

#include <stddef.h>
#include <stdint.h>

/* Notes that something could not be done as usual. Any thread. */
enum dft_process_note {
    DFT_NOTE_NO_LIVEFILE,
    DFT_NOTE_PLAIN_RINGS,
    DFT_NOTE_CLOCKS,
    DFT_NOTE_NOT_STAGED,
    DFT_NOTE_REMOVED,
    /* of what is loaded, and stays so in forked children */
    DFT_NOTE_SECOND_COPY,
    DFT_NOTE_DEEPBIND,
    DFT_NOTE_HANDLE
};
void dft_process_note(enum dft_process_note note);
/* A line that stays valid (format/notes.h). Constructor only. */
void dft_process_note_text(const char *line);
/* Do notes tell that calls are unseen? Then a process without an event leaves a trace, too. */
int dft_process_has_unseen(void);
/* Atomic: the bits of enum dft_process_note so far. */
uint32_t dft_process_notes(void);
/* Writes the lines of these notes, and that of dft_process_note_text(). Returns the length, cut to `capacity`. */
size_t dft_process_notes_tell(uint32_t notes, char *text, size_t capacity);

/* There is something new to write about the process, but for notes: dft_process_describe() writes it. Any thread. */
void dft_process_changed(void);
/* Atomic: how often that was so. */
uint32_t dft_process_changes(void);

/* In a forked child: notes of what is loaded stay. */
void dft_process_notes_forked(void);

#endif
