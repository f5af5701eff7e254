/* Where igzip (ISA-L) comes from: programs are linked with it; a traced process maps it when it first needs it. */
#ifndef DFT_IGZIP_H
#define DFT_IGZIP_H

#include <stddef.h>

struct isal_zstream;

struct dft_igzip {
    void (*init)(struct isal_zstream *stream);
    int (*stateless)(struct isal_zstream *stream);
};

/* For a block of `length` bytes. NULL: it is not there, or not worth its while; then zlib serves. Any thread. */
const struct dft_igzip *dft_igzip_get(size_t length);

#endif
