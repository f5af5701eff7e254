/* SPDX-License-Identifier: MIT */
/* A text that is written like a file, into memory that is used again and again. */
#ifndef DFT_MEMORY_TEXT_H
#define DFT_MEMORY_TEXT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/text.h"

/* All zero at first. */
struct dft_memory_text {
    FILE *out; /* NULL: nothing was written yet */
    char *bytes;
    size_t length;
};

/* Begins a text. Returns where to write it, or NULL: no memory. */
static inline FILE *dft_memory_text_begin(struct dft_memory_text *memory)
{
    if (!memory->out)
        memory->out = open_memstream(&memory->bytes, &memory->length);
    if (memory->out)
        rewind(memory->out);
    return memory->out;
}

/* The text that was written since. It is valid until the next one begins. Returns 0 or -ENOMEM. */
static inline int dft_memory_text_end(struct dft_memory_text *memory, struct dft_text *text)
{
    if (fflush(memory->out) || ferror(memory->out) || memory->length > UINT32_MAX)
        return -ENOMEM;
    *text = (struct dft_text){memory->bytes, (uint32_t)memory->length};
    return 0;
}

static inline void dft_memory_text_fini(struct dft_memory_text *memory)
{
    if (memory->out)
        fclose(memory->out);
    free(memory->bytes);
}

#endif
