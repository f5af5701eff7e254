/* SPDX-License-Identifier: MIT */
/* Variables that every call reads: the compiler knows that they are in this library. */
#ifndef DFT_HIDDEN_H
#define DFT_HIDDEN_H

#define DFT_HIDDEN __attribute__((visibility("hidden")))

#endif
