/* SPDX-License-Identifier: MIT */
/* Ids of names. */
#ifndef DFT_FORMAT_HASH_H
#define DFT_FORMAT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The id of a name: a hash of its text. */
uint64_t dft_name_id(const void *bytes, size_t length);

#endif
