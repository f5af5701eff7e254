/* SPDX-License-Identifier: MIT */
/* Finds the separate debug file of a module. */
#ifndef DFT_DEBUG_FILE_H
#define DFT_DEBUG_FILE_H

#ifdef DFT_HAVE_LIBDW
#include <elfutils/libdwfl.h>

int dft_debug_is_elf(int fd);
/* A find_debuginfo of libdwfl. It looks where dwfl_standard_find_debuginfo does: DFTMERGE_DEBUG_DIR first, then beside
 * the module, in .debug and in /usr/lib/debug, and asks debuginfod at last. But it opens regular files alone: libdwfl
 * waits for a FIFO. */
int dft_debug_find(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, const char *file,
                   const char *link, GElf_Word crc, char **found);
/* The debuginfo_path of a session that uses it: libdwfl itself finds nothing there. */
char **dft_debug_nowhere(void);
#endif

#endif
