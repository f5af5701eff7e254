/* SPDX-License-Identifier: MIT */
/* The libraries that are loaded, as weaving knows them. Everything here happens during a scan
 * (weave_patch.c), one at a time, while the loader keeps libraries from going away. */
#ifndef DFT_WEAVE_LOADED_H
#define DFT_WEAVE_LOADED_H

#include "loader/library.h"

/* A library that is loaded. */
struct dft_weave_object {
    struct dft_library library;
    const char *path;
    uintptr_t from, to;         /* where it lies */
    uintptr_t relro, relro_end; /* of that, what is read-only by now */
    const ElfW(Phdr) * segments;
    int nsegments;
    uint32_t complete;       /* number of the scan since which it is known to be relocated; 0: not yet */
    uint32_t given;          /* number of the last scan that it was a dlopen's in */
    uint32_t seen;           /* number of the scan that last met it */
    uint32_t patched;        /* number of the scan that last looked at its slots */
    unsigned long long adds; /* libraries ever loaded when it was last a dlopen's */
    struct dft_weave_object *next;
};

extern struct dft_weave_object *dft_weave_objects; /* in the order of loading; those not seen by this scan are gone */

extern unsigned long long dft_weave_adds; /* libraries ever loaded, at the last scan */

/* For dl_iterate_phdr: meets one library; `scan` points to the number of the scan, a uint32_t. */
int dft_weave_meet(struct dl_phdr_info *info, size_t size, void *scan);
/* Of those that were met: at the first scan all are complete, later what belongs to the handle of a
 * dlopen that has returned. */
void dft_weave_note_complete(const struct link_map *loaded, uint32_t scan);
/* Has the loader, which has loaded so many, put something where this handle says since it was last
 * looked at? */
int dft_weave_is_news(const struct link_map *handle, unsigned long long adds);
/* Those that were not met. */
void dft_weave_forget_objects(uint32_t scan);

/* The start of the page that an address lies in. */
uintptr_t dft_weave_page(uintptr_t address);
/* Does this lie where the library has data? The code of one that was not made for being moved holds
 * addresses too. */
int dft_weave_may_write(const struct dft_weave_object *object, const void *at);

/* The last part of a path. */
const char *dft_weave_file_name(const char *path);

#endif
