/* SPDX-License-Identifier: MIT */
/* Owns the notes about this process, and the count of what has changed. */
#include "store/notes.h"

#include "format/notes.h"

static const char *const note_texts[] = {
    "no place for a live file: events not yet written are lost if the process is killed\n",
    "some rings lie in plain memory: the live file could not grow\n",
    "the machine was suspended, or its clocks disagree: times before and after may not fit\n",
    "the stage could not take the trace: it was written to its place at once\n",
    DFT_NOTES_REMOVED "\n",
    DFT_NOTES_COPY "\n",
    DFT_NOTES_DEEPBIND "\n",
    DFT_NOTES_HANDLE "\n",
};
#define LASTING (~UINT32_C(0) << DFT_NOTE_SECOND_COPY)
static const char *note_text = ""; /* one more line, without its end */
static uint32_t notes;             /* atomic bits */
static uint32_t changes;           /* atomic */

void dft_process_changed(void)
{
    __atomic_fetch_add(&changes, 1, __ATOMIC_RELAXED);
}

void dft_process_note(enum dft_process_note note)
{
    __atomic_fetch_or(&notes, UINT32_C(1) << note, __ATOMIC_RELAXED);
}

void dft_process_note_text(const char *line)
{
    note_text = line;
}

int dft_process_has_unseen(void)
{
    uint32_t unseen = UINT32_C(1) << DFT_NOTE_DEEPBIND | UINT32_C(1) << DFT_NOTE_HANDLE;

    return *note_text || __atomic_load_n(&notes, __ATOMIC_RELAXED) & unseen;
}

uint32_t dft_process_notes(void)
{
    return __atomic_load_n(&notes, __ATOMIC_RELAXED);
}

uint32_t dft_process_changes(void)
{
    return __atomic_load_n(&changes, __ATOMIC_RELAXED);
}

void dft_process_notes_forked(void)
{
    notes &= LASTING;
}

static size_t add_note(char *text, size_t used, size_t capacity, const char *from)
{
    while (*from && used < capacity)
        text[used++] = *from++;
    return used;
}

size_t dft_process_notes_tell(uint32_t of, char *text, size_t capacity)
{
    size_t used = 0;

    for (uint32_t i = 0; i < sizeof note_texts / sizeof *note_texts; i++)
        if (of >> i & 1)
            used = add_note(text, used, capacity, note_texts[i]);
    if (*note_text)
        used = add_note(text, add_note(text, used, capacity, note_text), capacity, "\n");
    return used;
}
