/* SPDX-License-Identifier: MIT */
/* Programs that start others: shells, and the launchers of parallel jobs. */
#ifndef DFT_LAUNCHERS_H
#define DFT_LAUNCHERS_H

#include "format/text.h"

/* Is the executable, by its name, one that starts others? */
int dft_is_launcher(struct dft_text exe);

#endif
