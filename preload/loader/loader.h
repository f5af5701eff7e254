/* SPDX-License-Identifier: MIT */
/* The loader's list of libraries, read without the loader. */
#ifndef DFT_LOADER_H
#define DFT_LOADER_H

#include <link.h>

#include "os/hidden.h"

/* The first library of the list: the program. NULL: the loader shows no list. */
const struct link_map *dft_loader_libraries(void);

/* Does the file name of the library, from its last slash on, begin so? */
int dft_loader_is_called(const struct link_map *map, const char *with);

/* What becomes of a call that came by with_caller.inc: where it is passed on to; NULL: what it returns. */
struct dft_loader_answer {
    void *pass_to;
    void *result;
};

#endif
