/* SPDX-License-Identifier: MIT */
/* Turns recorded stacks into texts: names of functions (symbols.c). */
#include "symbols/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/event.h"
#include "format/hash.h"
#include "symbols/symbols.h"

#define PREFIX        6u /* "STACK", NUL */
#define PYTHON_PREFIX 7u /* "PYTHON", NUL */

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

struct dft_text dft_stack_function(const struct dft_names *names, uint64_t frame, char capacity[18])
{
    struct dft_text category, name;

    dft_names_call(names, frame, &category, &name, capacity);
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

/* Writes "function (file.py:12)" of "/path/file.py:12 function": at most two bytes more. Returns
 * the length. */
static uint32_t put_python(char *to, const struct dft_text text)
{
    const char *space = memrchr(text.bytes, ' ', text.length), *end = text.bytes + text.length, *file;
    size_t length;

    if (!space || text.bytes[0] == '[') { /* says that frames are left out */
        memcpy(to, text.bytes, text.length);
        return text.length;
    }
    file = memrchr(text.bytes, '/', (size_t)(space - text.bytes));
    file = file ? file + 1 : text.bytes;
    length = (size_t)(end - space - 1);
    memcpy(to, space + 1, length);
    memcpy(to + length, " (", 2);
    memcpy(to + length + 2, file, (size_t)(space - file));
    length += 2 + (size_t)(space - file);
    to[length++] = ')';
    return (uint32_t)length;
}

uint64_t dft_stack_folded(struct dft_names *names, uint64_t stack, int *rc)
{
    uint64_t frames[DFT_STACK_FRAMES_MAX], id = 0;
    uint32_t n = dft_stack_frames(names, stack, frames, DFT_STACK_FRAMES_MAX);
    char *text = NULL, capacity[18];
    size_t used = 0;

    *rc = 0;
    for (uint32_t i = n; i-- > 0;) {
        struct dft_text name = dft_stack_function(names, frames[i], capacity);
        int is_python = python_frame(names, frames[i]).length != 0;
        char *more = realloc(text, used + name.length + 3);

        if (!more) {
            free(text);
            *rc = -ENOMEM;
            return 0;
        }
        text = more;
        if (is_python)
            name.length = put_python(text + used, name);
        else
            memcpy(text + used, name.bytes, name.length);
        for (uint32_t k = 0; k < name.length; k++)
            if (text[used + k] == ';' || text[used + k] == '\n')
                text[used + k] = ':'; /* they mean something to who reads this */
        used += name.length;
        text[used++] = ';';
    }
    if (used)
        id = add(names, text, used - 1, rc);
    free(text);
    return id;
}

/* --- lines ------------------------------------------------------------------------------------ */

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

/* The innermost line of the best owner. */
static struct dft_text python_line(const struct dft_names *names, uint64_t stack)
{
    uint64_t frames[DFT_STACK_FRAMES_MAX];
    uint32_t n = dft_stack_frames(names, stack, frames, DFT_STACK_FRAMES_MAX);
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

uint64_t dft_stack_line(struct dft_names *names, uint64_t stack, int *rc)
{
    uint64_t frame, build_id, address;
    char path[1024], capacity[18];
    const char *line = NULL;
    struct dft_text text;

    *rc = 0;
    if (!dft_stack_frames(names, stack, &frame, 1))
        return 0;
    text = python_line(names, stack);
    if (text.length)
        return add(names, text.bytes, text.length, rc);
    text = dft_names_text(names, frame);
    if (text.length > 5 && dft_symbols_place(text.bytes + 5, text.length - 5, path, &build_id, &address))
        line = dft_symbols_line(path, build_id, address);
    if (line)
        return add(names, line, strlen(line), rc);
    text = dft_stack_function(names, frame, capacity);
    return add(names, text.bytes, text.length, rc);
}

void dft_line_stack(struct dft_line *line, const struct dft_names *names, uint64_t stack)
{
    uint64_t frames[DFT_STACK_FRAMES_MAX];
    uint32_t n = dft_stack_frames(names, stack, frames, DFT_STACK_FRAMES_MAX);
    char capacity[18];

    dft_line_char(line, '[');
    for (uint32_t i = 0; i < n; i++) {
        struct dft_text name = dft_stack_function(names, frames[i], capacity);

        if (i)
            dft_line_char(line, ',');
        dft_line_quote(line, name.bytes, name.length);
    }
    dft_line_char(line, ']');
}
