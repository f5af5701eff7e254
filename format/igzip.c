/* igzip for programs that are linked with it. libdftrace.so has a function of its own in place of this one. */
#include "format/igzip.h"

#include <isa-l/igzip_lib.h>

const struct dft_igzip *dft_igzip_get(size_t length)
{
    static const struct dft_igzip linked = {isal_deflate_stateless_init, isal_deflate_stateless};

    (void)length;
    return &linked;
}
