/* SPDX-License-Identifier: MIT */
/* Checksums of headers and payloads. */
#ifndef DFT_CRC32C_H
#define DFT_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC32C of bytes, continuing from crc (0 at first). */
uint32_t dft_crc32c(uint32_t crc, const void *bytes, size_t length);
/* The same without instructions of the processor, for the test of both. */
uint32_t dft_crc32c_by_table(uint32_t crc, const void *bytes, size_t length);
/* Says whether the processor has the instruction. Without this the first sum asks the processor
 * itself, which costs microseconds in a virtual machine. */
void dft_crc32c_use(int instruction);

#endif
