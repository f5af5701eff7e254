/* SPDX-License-Identifier: MIT */
/* Prefix codes of the coded time columns: how they are made, and the bits that each symbol has. */
#ifndef DFT_CODE_H
#define DFT_CODE_H

#include <stdint.h>

#define DFT_CODE_SYMBOLS 48u /* so that a symbol and its low bits fit into one put of 56 bits */
#define DFT_CODE_LENGTH  8u  /* the longest: a reader has a table of 256 entries for each code */

/* Lengths of a code for n > 1 symbols that appear so often, 65,536 times together at most and two of
 * them at least; 0: the symbol does not appear. */
void dft_code_lengths(const uint16_t *counts, unsigned n, uint8_t *lengths);

/* The canonical code of these lengths, the first bit lowest. Returns 0, or -1: they are of no
 * complete code. */
int dft_code_bits(const uint8_t *lengths, unsigned n, uint8_t *bits);

#endif
