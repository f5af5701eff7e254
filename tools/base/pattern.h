/* SPDX-License-Identifier: MIT */
/* The pattern of a path: what the names of files with one purpose have in common when they are
 * numbered. */
#ifndef DFT_PATTERN_H
#define DFT_PATTERN_H

#include <stdint.h>

/* The rule in words, for --help. */
#define DFT_PATTERN_RULE "numbers, UUIDs, and runs of eight or more hexadecimal digits (a decimal one among them) are #"

/* Writes the pattern of `length` bytes into `pattern`, which has room for as many bytes. Returns
 * its length. The pattern of a pattern is the pattern itself. */
uint32_t dft_pattern_of(const char *path, uint32_t length, char *pattern);

/* Length of the number (or UUID, or hexadecimal number) that stands at `at` of a path and becomes
 * #; 0: none. */
uint32_t dft_pattern_number(const char *path, uint32_t length, uint32_t at);

#endif
