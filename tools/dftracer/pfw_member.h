/* SPDX-License-Identifier: MIT */
/* Gzip members that fit into memory: each is inflated at once, which takes half of the time that a
 * stream takes. */
#ifndef DFT_PFW_MEMBER_H
#define DFT_PFW_MEMBER_H

#include <stddef.h>
#include <stdint.h>

#define DFT_MEMBER_TEXT_MAX  ((size_t)64 << 20)
#define DFT_MEMBER_INPUT_MAX ((size_t)8 << 20)

struct dft_member {
    struct dft_inflate *inflate;
    char *text;
    size_t at, end, capacity; /* of the text; what is before `at` was returned */
};

void dft_member_fini(struct dft_member *member);

/* Inflates the member at the beginning of the input. at_end: the input holds all of the file's
 * rest. Returns 0 with the member's size in *used, or -EBADMSG (damaged, or longer than the input),
 * -ENOSPC (too long a text), or -ENOMEM: then the caller inflates the member as a stream. */
int dft_member_inflate(struct dft_member *member, const uint8_t *input, size_t length, int at_end, size_t *used);

/* Copies out the next part of the text. Returns its size. */
size_t dft_member_copy(struct dft_member *member, char *to, size_t capacity);

#endif
