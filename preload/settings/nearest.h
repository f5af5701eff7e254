/* SPDX-License-Identifier: MIT */
/* The nearest known word to one that is not known. */
#ifndef DFT_NEAREST_H
#define DFT_NEAREST_H

#include <stddef.h>

#define DFT_NEAREST_MAX 64u /* longer words are compared up to this length */

/* Looks for a word with fewer differences than *apart from `name`. *nearest: NULL so far, or the
 * nearest one of an earlier list. */
void dft_nearest_look(const char *const *names, size_t count, const char *name, size_t length, const char **nearest,
                      unsigned *apart);

/* The word of the list with the fewest differences. */
const char *dft_nearest_of(const char *const *names, size_t count, const char *name, size_t length);

#endif
