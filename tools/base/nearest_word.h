/* SPDX-License-Identifier: MIT */
/* The known word that a misspelt one was likely meant to be. */
#ifndef DFT_NEAREST_WORD_H
#define DFT_NEAREST_WORD_H

#include <stddef.h>

/* Returns the word with the fewest letters to add, leave out, replace or swap, in any case of
 * letters, the first of several. NULL
 * where that is more than a third of the longer word's letters, or more than 3. `words` may hold
 * NULL. */
const char *dft_nearest_word(const char *word, size_t length, const char *const *words, size_t count);

#endif
