/* SPDX-License-Identifier: MIT */
/* Finds the line of an address, and the functions that the compiler put in line there. */
#ifndef DFT_SCOPES_H
#define DFT_SCOPES_H

#ifdef DFT_HAVE_LIBDW
#include <elfutils/libdwfl.h>

#define DFT_SCOPES_MAX 64u /* inside each other */

struct dft_scope {
    const char *name; /* mangled, where the compiler says it. NULL: not known, or it has a symbol. libdw's */
    const char *file; /* where it is; NULL: not known. libdw's */
    int line;
};

/* Fills `list` (DFT_SCOPES_MAX) for an address as libdwfl has it: functions in line from the innermost on, and last the
 * one that has a symbol. Returns how many there are; 0: the debug information does not know the address. A unit of it
 * is read once, with the first address in it. One thread at a time. */
unsigned dft_scopes_at(Dwfl_Module *debug, Dwarf_Addr address, struct dft_scope *list);
#endif

#endif
