/* SPDX-License-Identifier: MIT */
/* The wrappers of formatted text: one for each row of this part of calls.def. */
#include "wrap/wrap.h"

#define DFT_PART DFT_PART_FORMATS
#include <dftrace/calls.def>
