/* SPDX-License-Identifier: MIT */
/* The wrappers of names and what stands with them: one for each row of this part of calls.def. */
#include "wrap/wrap.h"

VERSION(dft_wrap_glob_older, glob64, DFT_FIRST_GLIBC)
#define DFT_PART DFT_PART_NAMES
#include <dftrace/calls.def>
