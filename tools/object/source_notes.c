/* SPDX-License-Identifier: MIT */
/* Notes of a source: what the user must know, each of them once; and the progress line. Any
 * thread.
 *
 * A line has two characters before its text. The first is ' ', or '.' when the line was shown. The
 * second is a digit for what is bad. */
#include "object/source_notes.h"

#include "base/array.h"
#include "base/now.h"
#include "base/write_text.h"
#include "object/source_inside.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DFT_NOTE_HEAD 2
#define NOTES_MAX     10000 /* a hundred thousand damaged files need not all be named */
#define SECOND_NS     UINT64_C(1000000000)

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left + DFT_NOTE_HEAD, *(char *const *)right + DFT_NOTE_HEAD);
}

/* The caller holds the lock. Lack of memory for a note is no reason to fail. The status is kept. */
static void note_keep(struct dft_notes *notes, int bad, const char *text)
{
    char *line;

    for (size_t i = 0; i < notes->count; i++)
        if (!strcmp(notes->lines[i] + DFT_NOTE_HEAD, text))
            return;
    if (DFT_ARRAY_RESERVE(notes->lines, notes->capacity, notes->count + 1) ||
        DFT_ARRAY_RESERVE(notes->shown, notes->shown_capacity, notes->count + 1))
        return;
    if (asprintf(&line, " %d%s", bad, text) >= 0)
        notes->lines[notes->count++] = line;
}

void dft_source_note(struct dft_source *source, int bad, const char *format, ...)
{
    struct dft_notes *notes = &source->notes;
    va_list list;
    char *text;
    int length;

    va_start(list, format);
    length = vasprintf(&text, format, list);
    va_end(list);
    pthread_mutex_lock(&notes->lock);
    notes->bad |= bad & (DFT_BAD_UNREAD | DFT_BAD_OTHER);
    if (length >= 0) {
        if (notes->count < NOTES_MAX)
            note_keep(notes, bad, text);
        else if (notes->count == NOTES_MAX)
            note_keep(notes, 1, "further notes are left out");
    }
    pthread_mutex_unlock(&notes->lock);
    if (length >= 0)
        free(text);
}

char *const *dft_source_notes(struct dft_source *source, size_t *count)
{
    struct dft_notes *notes = &source->notes;

    pthread_mutex_lock(&notes->lock);
    if (notes->count)
        qsort(notes->lines, notes->count, sizeof *notes->lines, by_text);
    for (size_t i = 0; i < notes->count; i++)
        notes->shown[i] = notes->lines[i] + DFT_NOTE_HEAD;
    *count = notes->count;
    pthread_mutex_unlock(&notes->lock);
    return notes->shown;
}

uint64_t dft_source_unread(struct dft_source *source)
{
    struct dft_notes *notes = &source->notes;
    uint64_t unread = 0;

    pthread_mutex_lock(&notes->lock);
    for (size_t i = 0; i < notes->count; i++)
        unread += notes->lines[i][1] == '0' + DFT_BAD_UNREAD || notes->lines[i][1] == '0' + DFT_BAD_GONE;
    pthread_mutex_unlock(&notes->lock);
    return unread;
}

int dft_source_status(const struct dft_source *source)
{
    return source->notes.bad;
}

void dft_source_report(struct dft_source *source)
{
    size_t count;
    char *const *texts = dft_source_notes(source, &count);

    for (size_t i = 0; i < count; i++) {
        if (texts[i][-DFT_NOTE_HEAD] == ' ' && !source->quiet) {
            char *text = dft_text_escaped(texts[i], strlen(texts[i]));

            fprintf(stderr, "dftmerge: %s\n", text ? text : strerror(ENOMEM));
            free(text);
        }
        texts[i][-DFT_NOTE_HEAD] = '.';
    }
}

void dft_source_progress(struct dft_source *source, const char *what, uint64_t done, uint64_t all)
{
    uint64_t now, last, opened = 0;

    if (source->quiet)
        return;
    if (done >= all) {
        if (atomic_exchange(&source->progress_shown, 0))
            dprintf(STDERR_FILENO, "\r\033[K");
        return;
    }
    now = dft_now_ns();
    if (atomic_compare_exchange_strong_explicit(&source->opened_ns, &opened, now, memory_order_relaxed,
                                                memory_order_relaxed))
        opened = now;
    last = atomic_load_explicit(&source->progress_ns, memory_order_relaxed);
    if (now - opened < SECOND_NS || now - last < SECOND_NS / 5 || !isatty(STDERR_FILENO))
        return;
    /* The thread that wins the exchange prints. Nothing else depends on the exchange. */
    if (!atomic_compare_exchange_strong_explicit(&source->progress_ns, &last, now, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    atomic_store(&source->progress_shown, 1);
    dprintf(STDERR_FILENO, "\r%llu of %llu %s\033[K", (unsigned long long)done, (unsigned long long)all, what);
}
