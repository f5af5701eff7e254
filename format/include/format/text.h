/* SPDX-License-Identifier: MIT */
/* A text of a trace. It owns no memory: it points into a ring, a block or an arena, and is valid as long as that is. */
#ifndef DFT_TEXT_H
#define DFT_TEXT_H

#include <stdint.h>
#include <string.h>

struct dft_text {
    const char *bytes; /* not NUL-terminated */
    uint32_t length;
};

static inline int dft_text_is(struct dft_text text, const char *word)
{
    return text.length == strlen(word) && !memcmp(text.bytes, word, text.length);
}

static inline int dft_text_same(struct dft_text a, struct dft_text b)
{
    return a.length == b.length && (!a.length || !memcmp(a.bytes, b.bytes, a.length));
}

/* The text of a string, which stays the caller's; NULL: an empty text. */
static inline struct dft_text dft_text_from(const char *bytes)
{
    return (struct dft_text){bytes, bytes ? (uint32_t)strlen(bytes) : 0};
}

/* A definition: id -> text. text.bytes == NULL: only the id is known here. */
struct dft_name {
    uint64_t id;
    struct dft_text text;
    uint8_t cut; /* the text was cut to DFT_TEXT_MAX; the id is that of the whole */
};

#endif
