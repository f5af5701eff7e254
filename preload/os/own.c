/* SPDX-License-Identifier: MIT */
/* Owns the table of the C library's functions that this library calls. */
#include "os/own.h"

struct dft_own_calls dft_own;
