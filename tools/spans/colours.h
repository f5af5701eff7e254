/* SPDX-License-Identifier: MIT */
/* Colours for several things in one picture: those of Okabe and Ito, and grey. */
#ifndef DFT_SPANS_COLOURS_H
#define DFT_SPANS_COLOURS_H

#define DFT_SPANS_COLOURS 8u
static const char *const dft_spans_colours[DFT_SPANS_COLOURS] = {"#0072b2", "#e69f00", "#009e73", "#56b4e9",
                                                                 "#d55e00", "#cc79a7", "#f0e442", "#999999"};

#endif
