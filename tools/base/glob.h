/* SPDX-License-Identifier: MIT */
/* Patterns (globs) that fit one name alone. */
#ifndef DFT_GLOB_H
#define DFT_GLOB_H

#include <stddef.h>

/* Writes `length` bytes with a backslash before each that has a meaning in a pattern: at most twice as many, and no
 * zero behind them. Returns how many. */
size_t dft_glob_escape(char *to, const char *bytes, size_t length);
/* The pattern for --run and --job that fits this name: commas, which lie between patterns there, become ?. The caller
 * frees it; NULL: no memory. */
char *dft_glob_of_name(const char *name);

#endif
