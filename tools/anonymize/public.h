/* SPDX-License-Identifier: MIT */
/* What is the same on every machine, and is therefore kept: public.def. */
#ifndef DFT_ANONYMIZE_PUBLIC_H
#define DFT_ANONYMIZE_PUBLIC_H

#include <stddef.h>

#include "base/map.h"

enum dft_public_kind {
    DFT_PUBLIC_PATH = 1,
    DFT_PUBLIC_PLACE,
    DFT_PUBLIC_NAME,
    DFT_PUBLIC_PART,
    DFT_PUBLIC_EXTENSION,
    DFT_PUBLIC_PREFIX,
    DFT_PUBLIC_WORD,
    DFT_PUBLIC_MARK,
    DFT_PUBLIC_FUNCTION, /* of a library that a weave file names */
    DFT_PUBLIC_CALL,     /* "CATEGORY NUL name", also of a counter */
};

struct dft_public {
    struct dft_map texts;
};

/* strict: without paths, names and extensions that decide nothing. Returns 0 or -ENOMEM. */
int dft_public_init(struct dft_public *public, int strict);
void dft_public_fini(struct dft_public *public);

int dft_public_has(const struct dft_public *public, enum dft_public_kind kind, const char *text, size_t length);
/* The same in any case of letters. */
int dft_public_has_folded(const struct dft_public *public, enum dft_public_kind kind, const char *text, size_t length);
/* How many bytes of a component are a public prefix; 0: none. */
size_t dft_public_prefix(const char *text, size_t length);
/* The first mark within a word, in any case of letters. Returns its length; 0: there is none. */
size_t dft_public_find_mark(const char *text, size_t length, size_t *at);

#endif
