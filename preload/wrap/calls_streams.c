/* SPDX-License-Identifier: MIT */
/* The wrappers of streams: one for each row of this part of calls.def. */
#include "wrap/wrap.h"

#define DFT_PART DFT_PART_STREAMS
#include <dftrace/calls.def>
