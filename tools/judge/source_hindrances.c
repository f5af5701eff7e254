/* SPDX-License-Identifier: MIT */
/* Tells the column NOTES of processes. */
#include <string.h>

#include "format/notes.h"
#include "judge/source_ending.h"
#include "object/source_inside.h"
#include "object/source_notes.h"

/* How many of these processes have the line, up to `most`. */
static uint32_t count_with(const struct dft_source_process *processes, uint32_t n, const char *line, size_t length,
                           uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n && count < most; i++)
        count += dft_source_has_line(processes[i].process.notes, line, length) != 0;
    return count;
}

/* May calls be unseen by what this line tells? */
static int hides_calls(const char *line, size_t length)
{
    static const char *const heads[] = {DFT_NOTES_COPY, DFT_NOTES_TAKEN, DFT_NOTES_LATE, DFT_NOTES_DEEPBIND,
                                        DFT_NOTES_HANDLE};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (length >= strlen(heads[i]) && !memcmp(line, heads[i], strlen(heads[i])))
            return 1;
    return 0;
}

void dft_source_hindrances(struct dft_source *source, int all)
{
    const struct dft_source_process *processes = source->processes;
    uint32_t count = source->nprocesses, same;

    for (uint32_t i = 0; i < count; i++) {
        struct dft_text notes = processes[i].process.notes;
        const char *line = notes.length ? notes.bytes : "", *end = line + notes.length;

        for (size_t length; line < end; line += length + 1) {
            length = strcspn(line, "\n");
            if (!length || (!all && !hides_calls(line, length)) || count_with(processes, i, line, length, 1))
                continue;
            same = count_with(processes + i, count - i, line, length, UINT32_MAX);
            dft_source_note(source, 0, "in %u process%s: %.*s", same, same == 1 ? "" : "es", (int)length, line);
        }
    }
}
