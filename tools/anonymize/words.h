/* SPDX-License-Identifier: MIT */
/* Keyed hashes of words, in forms that readers take for what the words were; and the table of them. */
#ifndef DFT_ANONYMIZE_WORDS_H
#define DFT_ANONYMIZE_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/map.h"

/* Letters of hashes: no vowel, so that they make no word, and no hexadecimal digit, so that numbers
 * beside them stay numbers. */
#define DFT_HASH_LETTERS   "ghjkmnpqrstvwxyz"
#define DFT_HASH_TOKEN_MAX 28u

enum dft_hash_form {
    DFT_HASH_WORD = 1, /* 14 letters: 56 bits */
    DFT_HASH_SHORT,    /* the first 10 of these letters: of an extension before a number, which has room for few */
    DFT_HASH_NUMBERED, /* 14 letters of the pattern, 0, and 13 hexadecimal digits: a number, as patterns have it */
    DFT_HASH_HEX,      /* 16 hexadecimal digits */
    DFT_HASH_DIGITS,   /* 15 decimal digits */
};

#define DFT_KEY_BYTES 64u
struct dft_hash_key {
    uint8_t bytes[DFT_KEY_BYTES];
};

/* A text that grows. rc: the first error; 0: none. */
struct dft_long_text {
    char *bytes;
    size_t length, capacity;
    int rc;
};
void dft_long_text_add(struct dft_long_text *text, const char *bytes, size_t length);

struct dft_hashed_word;
struct dft_hashes {
    struct dft_hash_key key;
    struct dft_hashed_word *list;
    size_t count, capacity;
    struct dft_long_text texts; /* of all words */
    struct dft_map by_text, by_hash;
    int collided; /* two texts have one hash */
};
void dft_hashes_fini(struct dft_hashes *words);

/* Appends the hash of a text in a form. Errors are those of `out`. */
void dft_hashes_put(struct dft_hashes *words, enum dft_hash_form form, const char *text, size_t length,
                    struct dft_long_text *out);
/* The number that stands for another one. Never 0. */
uint64_t dft_hashes_number(const struct dft_hashes *words, uint64_t number);
/* 16 bytes that stand for a text. */
void dft_hashes_digest(const struct dft_hashes *words, const void *text, size_t length, uint8_t digest[16]);
/* Writes "hash, tab, text" lines. Returns 0 or -errno. */
int dft_hashes_write(const struct dft_hashes *words, FILE *out);

#endif
