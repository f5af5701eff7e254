/* SPDX-License-Identifier: MIT */
/* The functions that are woven. Changed during a scan alone (weave_patch.c); looked up by any
 * thread at any time. */
#ifndef DFT_WEAVE_TARGET_H
#define DFT_WEAVE_TARGET_H

#include "weave/weave_inside.h"

extern uint32_t dft_weave_newest; /* number of the last scan that found a new one */
extern int dft_weave_is_short;    /* the scan needed more than were made ahead */

/* What stands in for the loader's functions: found by their names at the first scan, which sets
 * `real`. */
struct dft_weave_loader {
    const char *name;
    void *code;
    void **real;
};
#define DFT_WEAVE_LOADER 3u
void dft_weave_stand_in(const struct dft_weave_loader *functions);

/* Before a scan: makes targets ahead. Returns 0 when there are none. Allocates. */
int dft_weave_make_spares(void);

/* At the first scan: the loader's own functions, in all versions. */
void dft_weave_find_loader(uint32_t scan);
/* The functions of rules in the libraries that this scan has met; the other targets are gone. */
void dft_weave_find_targets(uint32_t scan);

/* NULL: what lies at this address is not woven. */
struct dft_weave_target *dft_weave_find_target(const void *real);
/* Is a function of this name woven in some library? */
int dft_weave_is_wanted(const char *name);

#endif
