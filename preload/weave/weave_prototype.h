/* SPDX-License-Identifier: MIT */
/* The prototype language of weave files: declarations as in C. */
#ifndef DFT_WEAVE_PROTOTYPE_H
#define DFT_WEAVE_PROTOTYPE_H

#include "weave/weave_text.h"
#include "weave/weave_types.h"

#define DFT_WEAVE_ARGUMENTS 64u

struct dft_weave_argument {
    const char *name; /* "" without one */
    struct dft_weave_type type;
};

struct dft_weave_function {
    const char *name; /* texts are kept */
    struct dft_weave_type result;
    uint32_t count;
    struct dft_weave_argument arguments[DFT_WEAVE_ARGUMENTS];
};

/* "TYPE NAME(TYPE NAME, ...)". Returns 0, or -EINVAL with text->wrong; text->at is behind it. */
int dft_weave_parse_function(struct dft_weave_text *text, struct dft_weave_function *function);
/* What follows the word `typedef`: "TYPE NAME;". */
int dft_weave_parse_typedef(struct dft_weave_text *text);
/* What follows the word `struct` on a line that only declares one: "NAME { FIELDS };". */
int dft_weave_parse_struct(struct dft_weave_text *text);
/* What follows the word `enum`: "NAME { WORD = NUMBER, WORD };". */
int dft_weave_parse_enum(struct dft_weave_text *text);

#endif
