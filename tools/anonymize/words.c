/* SPDX-License-Identifier: MIT */
/* Keyed hashes of words, and the table of all that were made. */
#include "anonymize/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "anonymize/key.h"
#include "base/array.h"
#include "base/pattern.h"
#include "base/write_text.h"
#include "format/hash.h"

#define LETTER_BYTES  7u
#define SHORT_LETTERS 10u
#define DIGITS_MOST   UINT64_C(1000000000000000)

struct dft_hashed_word {
    size_t at; /* in `texts` */
    uint32_t length;
    uint8_t form;
    char token[DFT_HASH_TOKEN_MAX + 1];
};

void dft_long_text_add(struct dft_long_text *text, const char *bytes, size_t length)
{
    if (!text->rc)
        text->rc = DFT_ARRAY_RESERVE(text->bytes, text->capacity, text->length + length + 1);
    if (text->rc)
        return;
    if (length)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = 0;
}

void dft_hashes_fini(struct dft_hashes *words)
{
    free(words->list);
    free(words->texts.bytes);
    dft_map_fini(&words->by_text);
    dft_map_fini(&words->by_hash);
    dft_key_forget(&words->key);
}

/* --- hashes ----------------------------------------------------------------------------------- */

void dft_hashes_digest(const struct dft_hashes *words, const void *text, size_t length, uint8_t digest[16])
{
    dft_key_hash(&words->key, text, length, digest, 16);
}

uint64_t dft_hashes_number(const struct dft_hashes *words, uint64_t number)
{
    uint8_t digest[16];
    uint64_t other = 0;

    dft_hashes_digest(words, &number, sizeof number, digest);
    for (unsigned i = 0; i < 8; i++)
        other |= (uint64_t)digest[i] << 8 * i;
    return other ? other : 1;
}

static char *put_hex(char *at, const uint8_t *bytes, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        at += sprintf(at, "%02x", bytes[i]);
    return at;
}

static char *put_letters(char *at, const uint8_t *bytes)
{
    for (unsigned i = 0; i < LETTER_BYTES; i++) {
        *at++ = DFT_HASH_LETTERS[bytes[i] >> 4];
        *at++ = DFT_HASH_LETTERS[bytes[i] & 15];
    }
    *at = 0;
    return at;
}

static int make_numbered(struct dft_hashes *words, const char *text, size_t length, const uint8_t digest[16],
                         char *token)
{
    char *pattern = malloc(length + 1), hex[2 * LETTER_BYTES + 1];
    struct dft_long_text letters = {0};

    if (!pattern)
        return -ENOMEM;
    dft_hashes_put(words, DFT_HASH_WORD, pattern, dft_pattern_of(text, (uint32_t)length, pattern), &letters);
    free(pattern);
    if (!letters.rc) {
        put_hex(hex, digest + LETTER_BYTES, LETTER_BYTES);
        snprintf(token, DFT_HASH_TOKEN_MAX + 1, "%s0%.13s", letters.bytes, hex);
    }
    free(letters.bytes);
    return letters.rc;
}

static int make(struct dft_hashes *words, enum dft_hash_form form, const char *text, size_t length, char *token)
{
    uint8_t digest[16];

    dft_hashes_digest(words, text, length, digest);
    switch (form) {
    case DFT_HASH_NUMBERED:
        return make_numbered(words, text, length, digest, token);
    case DFT_HASH_HEX:
        put_hex(token, digest, 8);
        return 0;
    case DFT_HASH_DIGITS: {
        uint64_t number = 0;

        for (unsigned i = 0; i < 8; i++)
            number |= (uint64_t)digest[i] << 8 * i;
        sprintf(token, "%015llu", (unsigned long long)(number % DIGITS_MOST));
        return 0;
    }
    default:
        put_letters(token, digest);
        token[form == DFT_HASH_SHORT ? SHORT_LETTERS : 2 * LETTER_BYTES] = 0;
        return 0;
    }
}

/* --- the table -------------------------------------------------------------------------------- */

/* Notes the word under its hash. Another word under the same hash is a collision. */
static int note_hash(struct dft_hashes *words, size_t index)
{
    const struct dft_hashed_word *word = &words->list[index];
    uint64_t *place = dft_map_put(&words->by_hash, dft_name_id(word->token, strlen(word->token)));

    if (!place)
        return -ENOMEM;
    words->collided |= *place != 0;
    *place = index + 1;
    return 0;
}

static int add(struct dft_hashes *words, enum dft_hash_form form, const char *text, size_t length, size_t *index)
{
    struct dft_hashed_word word = {.at = words->texts.length, .length = (uint32_t)length, .form = (uint8_t)form};
    int rc = make(words, form, text, length, word.token);

    if (rc)
        return rc;
    word.at = words->texts.length; /* the pattern may have been added meanwhile */
    dft_long_text_add(&words->texts, text, length);
    rc = words->texts.rc ? words->texts.rc : DFT_ARRAY_PUSH(words->list, words->capacity, words->count, word);
    *index = words->count - 1;
    return rc ? rc : note_hash(words, *index);
}

static int is_word(const struct dft_hashes *words, size_t index, enum dft_hash_form form, const char *text,
                   size_t length)
{
    const struct dft_hashed_word *word = &words->list[index];

    return word->form == form && word->length == length && !memcmp(words->texts.bytes + word->at, text, length);
}

void dft_hashes_put(struct dft_hashes *words, enum dft_hash_form form, const char *text, size_t length,
                    struct dft_long_text *out)
{
    uint64_t id = dft_map_join(form, dft_name_id(text, length)), *place;
    size_t index = 0;
    int rc;

    /* texts of one id stand under neighbouring keys */
    while ((place = dft_map_find(&words->by_text, id)) && !is_word(words, *place - 1, form, text, length))
        id += id == UINT64_MAX ? 2 : 1;
    if (place) {
        index = *place - 1;
    } else {
        rc = add(words, form, text, length, &index);
        place = rc ? NULL : dft_map_put(&words->by_text, id);
        if (!place) {
            out->rc = out->rc ? out->rc : rc ? rc : -ENOMEM;
            return;
        }
        *place = index + 1;
    }
    dft_long_text_add(out, words->list[index].token, strlen(words->list[index].token));
}

int dft_hashes_write(const struct dft_hashes *words, FILE *out)
{
    for (size_t i = 0; i < words->count; i++) {
        fprintf(out, "%s\t", words->list[i].token);
        dft_text_escape(out, words->texts.bytes + words->list[i].at, words->list[i].length);
        putc('\n', out);
    }
    return ferror(out) ? -EIO : 0;
}
