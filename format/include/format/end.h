/* SPDX-License-Identifier: MIT */
/* Texts of how a process ended and why events were not kept. */
#ifndef DFT_END_H
#define DFT_END_H

#include "format/format.h"

/* "ring full", "exit" ...; never NULL, "unknown" for other values. */
const char *dft_drop_text(enum dft_drop drop);
const char *dft_ending_text(enum dft_ending ending);
/* The text for a number of them: "regions ended that had not begun". */
const char *dft_misuse_text(enum dft_misuse misuse);

#endif
