/* SPDX-License-Identifier: MIT */
/* The ways to compute CRC32C, for their test; others call dft_crc32c (codec.h). */
#ifndef DFT_CRC32C_H
#define DFT_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t dft_crc32c_by_table(uint32_t crc, const void *bytes, size_t length);

#endif
