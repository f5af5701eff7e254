/* SPDX-License-Identifier: MIT */
/* Names and colours of several things in one picture. */
#ifndef DFT_SPANS_LABELS_H
#define DFT_SPANS_LABELS_H

#include <stddef.h>

/* Those of Okabe and Ito, and grey. */
#define DFT_SPANS_COLOURS 8u
extern const char *const dft_spans_colours[DFT_SPANS_COLOURS];

/* A name, escaped, and cut where it is longer than so many columns (5 at least). The caller frees
 * it; NULL: no memory. */
char *dft_spans_label(const char *name, size_t columns);

#endif
