/* SPDX-License-Identifier: MIT */
/* What the files about frames share. All reads of the interpreter's memory are checked: a signal
 * handler may come in the middle of a change. */
#ifndef CORE_FRAMES_INSIDE_H
#define CORE_FRAMES_INSIDE_H

#include <stdint.h>
#include <string.h>

#include "dftrace/api.h"

#define CORE_FRAME_TEXT 400u /* bytes of "file:line function" */

/* Where a version of CPython has its fields: offsets in bytes. */
struct core_layout {
    int minor;
    uint16_t state_frame;  /* of the thread's state: the innermost frame, or where it is found */
    uint16_t cframe_frame; /* in 3.11 and 3.12: of that, the innermost frame */
    uint16_t frame_bytes;  /* of a frame, as far as it is read */
    uint16_t frame_back;   /* the caller */
    uint16_t frame_code;
    uint16_t frame_at;      /* the instruction: a pointer, before 3.11 an int */
    uint16_t frame_owner;   /* 3.12: a byte, CORE_OWNED_BY_LOOP */
    uint16_t frame_is_loop; /* 3.11: a byte, 1: the loop was called for this frame */
    uint16_t code_bytes;    /* of a code object, as far as it is read */
    uint16_t code_file, code_name, code_first_line, code_lines;
    uint16_t code_instructions;      /* from 3.11 on */
    uint16_t text_ascii, text_other; /* where a string's characters begin */
};

#define CORE_OWNED_BY_LOOP 3 /* a frame that is no function's: the loop was called here */

/* The bytes of a table of lines, and where in the code the frame is. */
struct core_lines {
    const uint8_t *at, *end;
    int64_t first_line, offset; /* offset: in bytes of code; negative: nothing has run so far */
};

/* A walk, and pages that it may read. */
struct core_reader {
    struct dftrace_walk *walk;
    uintptr_t pages[16];
};

/* Can these bytes be read? */
static inline int core_can_read(struct core_reader *reader, const void *at, size_t bytes)
{
    uintptr_t page = (uintptr_t)at >> 12, *known = &reader->pages[page & 15];

    if (*known == page && page && ((uintptr_t)at + bytes - 1) >> 12 == page)
        return 1;
    if (!reader->walk->can_read(reader->walk, at, bytes))
        return 0;
    *known = page;
    return 1;
}

typedef int64_t core_line_fn(const struct core_lines *lines);

/* The line by one of these, which is remembered: tables are long. */
int64_t core_line(const struct core_lines *lines, core_line_fn *read);

core_line_fn core_line_3_9, core_line_3_10, core_line_3_11;

/* Reads a word of the interpreter. */
static inline uintptr_t core_word(const void *object, size_t offset)
{
    uintptr_t word;

    memcpy(&word, (const char *)object + offset, sizeof word);
    return word;
}

static inline const void *core_pointer(const void *object, size_t offset)
{
    return (const void *)core_word(object, offset); /* NOLINT: a pointer of the interpreter */
}

static inline int32_t core_number(const void *object, size_t offset)
{
    int32_t number;

    memcpy(&number, (const char *)object + offset, sizeof number);
    return number;
}

/* A str as UTF-8, its last `capacity` bytes at most. Returns the length; 0: it is no str, or cannot
 * be read. */
size_t core_frames_text(struct core_reader *reader, const struct core_layout *layout, const void *text, char *to,
                        size_t capacity);

#endif
