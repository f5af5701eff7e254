/* SPDX-License-Identifier: MIT */
/* The wrappers of data, descriptors and mappings: one for each row of this part of calls.def. */
#include "wrap/wrap.h"

#define DFT_PART DFT_PART_DATA
#include <dftrace/calls.def>
