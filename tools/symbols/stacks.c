/* SPDX-License-Identifier: MIT */
/* Turns recorded stacks into texts: names of functions (symbols.c). */
#include "symbols/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/event.h"
#include "format/hash.h"
#include "symbols/own.h"
#include "symbols/symbols.h"

#define PREFIX        6u /* "STACK", NUL */
#define PYTHON_PREFIX 7u /* "PYTHON", NUL */
#define PLACE_PREFIX  5u

uint32_t dft_stack_frames(const struct dft_names *names, uint64_t stack, uint64_t *frames, uint32_t capacity)
{
    struct dft_text text = dft_names_text(names, stack);
    uint32_t n;

    if (!stack || text.length <= PREFIX || memcmp(text.bytes, "STACK", PREFIX) != 0)
        return 0;
    n = (text.length - PREFIX) / 8;
    if (n > capacity)
        n = capacity;
    memcpy(frames, text.bytes + PREFIX, 8 * (size_t)n);
    return n;
}

struct dft_text dft_stack_function(const struct dft_names *names, uint64_t frame, char text[18])
{
    struct dft_text category, name;

    dft_names_call(names, frame, &category, &name, text);
    return name;
}

static uint64_t add(struct dft_names *names, const char *bytes, size_t length, int *rc)
{
    uint64_t id = dft_name_id(bytes, length);

    *rc = dft_names_add(names, id, bytes, (uint32_t)length, NULL);
    return *rc ? 0 : id;
}

/* "file:line function" of a frame of Python. Empty: it is none. */
static struct dft_text python_frame(const struct dft_names *names, uint64_t frame)
{
    struct dft_text text = dft_names_text(names, frame);

    if (text.length <= PYTHON_PREFIX || memcmp(text.bytes, "PYTHON", PYTHON_PREFIX) != 0)
        return (struct dft_text){NULL, 0};
    return (struct dft_text){text.bytes + PYTHON_PREFIX, text.length - PYTHON_PREFIX};
}

static int has(const struct dft_text text, const char *part)
{
    return memmem(text.bytes, text.length, part, strlen(part)) != NULL;
}

/* Whose is a line of Python? The least is the best. */
enum { OF_PROGRAM, OF_NO_FILE, OF_LIBRARY }; /* no file: text that was made or typed, "<string>" */

static unsigned owner_of(const struct dft_text text)
{
    if (text.bytes[0] == '[' || has(text, "/site-packages/") || has(text, "/dist-packages/") ||
        has(text, "/lib/python3.") || has(text, "/lib64/python3.") || has(text, "<frozen "))
        return OF_LIBRARY;
    return text.bytes[0] == '<' ? OF_NO_FILE : OF_PROGRAM;
}

/* The functions of a frame that is none of Python; 0: not known. */
static unsigned frames_at(const struct dft_names *names, uint64_t frame, const struct dft_symbols_frame **frames,
                          char path[1024])
{
    struct dft_text text = dft_names_text(names, frame);
    uint64_t build_id, address;

    if (text.length <= PLACE_PREFIX ||
        !dft_symbols_place(text.bytes + PLACE_PREFIX, text.length - PLACE_PREFIX, path, &build_id, &address))
        return 0;
    return dft_symbols_frames(path, build_id, address, frames);
}

/* --- folded ----------------------------------------------------------------------------------- */

/* Semicolons and ends of lines mean something to who reads a stack. */
static void put_name(FILE *out, struct dft_text name)
{
    for (uint32_t i = 0; i < name.length; i++)
        putc(name.bytes[i] == ';' || name.bytes[i] == '\n' ? ':' : name.bytes[i], out);
}

/* Writes "function (file:12)" for the program, "function [file:12]" for others. */
static void put_frame(FILE *out, struct dft_text name, struct dft_text place, int own)
{
    if (ftell(out))
        putc(';', out);
    put_name(out, name);
    if (!place.length)
        return;
    fputs(own ? " (" : " [", out);
    put_name(out, place);
    putc(own ? ')' : ']', out);
}

/* Writes a frame from "/path/file.py:12 function". */
static void put_python(FILE *out, struct dft_text text)
{
    const char *space = memrchr(text.bytes, ' ', text.length), *end = text.bytes + text.length, *file;

    if (!space || text.bytes[0] == '[') { /* says that frames are left out */
        put_frame(out, text, (struct dft_text){NULL, 0}, 0);
        return;
    }
    file = memrchr(text.bytes, '/', (size_t)(space - text.bytes));
    file = file ? file + 1 : text.bytes;
    put_frame(out, (struct dft_text){space + 1, (uint32_t)(end - space - 1)},
              (struct dft_text){file, (uint32_t)(space - file)}, owner_of(text) != OF_LIBRARY);
}

/* Functions in line are shown where they are the program's own. Under Python a program without lines is the
 * interpreter. */
static void put_code(FILE *out, const struct dft_names *names, uint64_t frame, int under_python)
{
    const struct dft_symbols_frame *frames = NULL;
    char path[1024] = "", text[18];
    unsigned count = frames_at(names, frame, &frames, path);
    struct dft_text name = dft_stack_function(names, frame, text);

    if (!count)
        put_frame(out, name, (struct dft_text){NULL, 0}, 0);
    for (unsigned i = count; i-- > 0;) {
        const struct dft_symbols_frame *at = &frames[i];
        const int is_last = i + 1 == count, own = at->own && (at->line || !under_python);
        const char *place = own || dft_own_module(path) ? at->line : path;

        if (!is_last && !own)
            continue;
        if (!is_last)
            name = dft_text_from(at->function ? at->function : "?");
        place = place ? basename(place) : own ? "" : basename(path);
        put_frame(out, name, dft_text_from(place), own);
    }
}

uint64_t dft_stack_folded(struct dft_names *names, uint64_t stack, int *rc)
{
    uint64_t frames[DFT_STACK_FRAMES_MAX], id = 0;
    uint32_t n = dft_stack_frames(names, stack, frames, DFT_STACK_FRAMES_MAX);
    int under_python = 0, failed;
    char *text = NULL;
    size_t length;
    FILE *out;

    *rc = 0;
    if (!n)
        return 0;
    out = open_memstream(&text, &length);
    for (uint32_t i = n; out && i-- > 0;) {
        struct dft_text python = python_frame(names, frames[i]);

        under_python |= python.length != 0;
        if (python.length)
            put_python(out, python);
        else
            put_code(out, names, frames[i], under_python);
    }
    failed = !out || ferror(out);
    if (!out || fclose(out) || failed)
        *rc = -ENOMEM;
    else
        id = add(names, text, length, rc);
    free(text);
    return id;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* The innermost line of the best owner. */
static struct dft_text python_line(const struct dft_names *names, const uint64_t *frames, uint32_t n)
{
    struct dft_text best = {NULL, 0};
    unsigned least = OF_LIBRARY + 1;

    for (uint32_t i = 0; i < n && least; i++) {
        struct dft_text text = python_frame(names, frames[i]);
        unsigned owner = text.length ? owner_of(text) : least;

        if (owner < least) {
            least = owner;
            best = text;
        }
    }
    return best;
}

/* The line of the innermost function of the program that has one, else its innermost function, else what is
 * innermost. */
static struct dft_text code_line(const struct dft_names *names, const uint64_t *frames, uint32_t n, char text[18])
{
    struct dft_text best = dft_stack_function(names, frames[0], text);
    unsigned least = OF_LIBRARY + 1;
    char path[1024];

    for (uint32_t i = 0; i < n && least; i++) {
        const struct dft_symbols_frame *at;
        unsigned count = frames_at(names, frames[i], &at, path);

        for (unsigned k = 0; k < count && least; k++) {
            const char *line = at[k].line;
            unsigned owner = !at[k].own ? OF_LIBRARY : line ? OF_PROGRAM : OF_NO_FILE;

            if (owner >= least || (owner == OF_LIBRARY && i))
                continue;
            least = owner;
            best = line ? dft_text_from(line) : dft_stack_function(names, frames[i], text);
        }
    }
    return best;
}

uint64_t dft_stack_line(struct dft_names *names, uint64_t stack, int *rc)
{
    uint64_t frames[DFT_STACK_FRAMES_MAX];
    uint32_t n = dft_stack_frames(names, stack, frames, DFT_STACK_FRAMES_MAX);
    struct dft_text text;
    char buffer[18];

    *rc = 0;
    if (!n)
        return 0;
    text = python_line(names, frames, n);
    if (!text.length)
        text = code_line(names, frames, n, buffer);
    return add(names, text.bytes, text.length, rc);
}

void dft_line_stack(struct dft_line *line, const struct dft_names *names, uint64_t stack)
{
    uint64_t frames[DFT_STACK_FRAMES_MAX];
    uint32_t n = dft_stack_frames(names, stack, frames, DFT_STACK_FRAMES_MAX);
    char text[18];

    dft_line_char(line, '[');
    for (uint32_t i = 0; i < n; i++) {
        struct dft_text name = dft_stack_function(names, frames[i], text);

        if (i)
            dft_line_char(line, ',');
        dft_line_quote(line, name.bytes, name.length);
    }
    dft_line_char(line, ']');
}
