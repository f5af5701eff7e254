/* Deflate in memory that the caller provides: nothing is allocated. */
#ifndef DFT_DEFLATE_H
#define DFT_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

/* What a compressor needs; touched only as far as the input asks for. */
#define DFT_DEFLATE_BYTES (384u << 10)

/* Writes a raw deflate stream of `length` bytes to `out`. Returns its size, or 0: it would not be smaller than `room`
 * bytes. The last `symbols` bytes are known to hold no repetitions (symbols of split columns): zlib saves itself the
 * search for them. small_stack: zlib (under 1 KiB of stack), else igzip where there is one (16 KiB). workspace:
 * DFT_DEFLATE_BYTES, aligned to 64. */
size_t dft_deflate(void *workspace, int small_stack, const void *bytes, size_t length, size_t symbols, void *out,
                   size_t room);

#endif
