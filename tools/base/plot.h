/* SPDX-License-Identifier: MIT */
/* Bars and shades of one character, in Unicode, or in ASCII where the terminal knows no more. */
#ifndef DFT_PLOT_H
#define DFT_PLOT_H

#include <stdint.h>

#define DFT_PLOT_LEVELS 8u /* heights of a bar; 0: nothing */
#define DFT_PLOT_SHADES 5u /* shades of a heat map; 0: nothing */

/* Does the locale use UTF-8? As LC_ALL, LC_CTYPE and LANG say. */
int dft_plot_is_unicode(void);
/* The character of a height, at most DFT_PLOT_LEVELS. */
const char *dft_plot_bar(int unicode, unsigned level);
/* The character of a shade, at most DFT_PLOT_SHADES. */
const char *dft_plot_shade(int unicode, unsigned shade);
/* A bar of `cells` characters for `value` of `max`, into `text` (three bytes a cell, and one).
 * Returns `text`. */
const char *dft_plot_cells(char *text, int unicode, uint64_t value, uint64_t max, unsigned cells);
/* `value` of `max` in `levels` steps: 0 for 0 alone, `levels` for `max`. */
unsigned dft_plot_level(uint64_t value, uint64_t max, unsigned levels);

#endif
