/* SPDX-License-Identifier: MIT */
/* The real functions behind the wrappers. */
#ifndef DFT_RESOLVE_H
#define DFT_RESOLVE_H

#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <gshadow.h>
#include <link.h>
#include <mntent.h>
#include <mqueue.h>
#include <signal.h>
#include <pty.h>
#include <pwd.h>
#include <shadow.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <utime.h>
#include <wchar.h>
#include <sys/wait.h>
#include <wordexp.h>

#include "os/hidden.h"

/* libaio's */
struct io_context;
struct io_event;
struct iocb;

/* One pointer for each function of calls.def (aliases share the pointer). A pointer is NULL until
 * its function is found. The pointer of a versioned function stays NULL where its library is not
 * loaded. */
struct dft_reals {
#define DFT_CALL(category, op, type, name, prototype, ...) type(*name) prototype;
#define DFT_MODE                                           DFT_CALL
#define DFT_CUSTOM                                         DFT_CALL
#define DFT_ENTRY                                          DFT_CALL
#define DFT_FORMAT(category, op, name, prototype, ...)     int(*name) prototype;
#define DFT_FORMAT_ENTRY                                   DFT_FORMAT
#define DFT_ALIAS(...)
#define DFT_CUSTOM_ALIAS(...)
#define DFT_RECLASSIFIED(...)
#define DFT_GATE(type, name, prototype, ...)                             type(*name) prototype;
#define DFT_VERSIONED(category, op, type, name, version, prototype, ...) type(*name) prototype;
#define DFT_EVENT(...)
#define DFT_OLDER(event, op, type, name, version, newer, prototype, ...) type(*name) prototype;
#define DFT_CUSTOM_OLDER                                                 DFT_OLDER
#include <dftrace/calls.def>
};
extern struct dft_reals dft_real DFT_HIDDEN;

/* Called by the constructor. Finds the functions whose pointers are used as they are. The other
 * functions are found at their first call: each search costs a tenth of a microsecond, and most
 * processes call few. Where libraries may be unloaded (we were not loaded with the program), the
 * constructor finds all functions. */
void dft_resolve(void);
/* After dft_resolve(): is our constructor certainly the first of all? */
int dft_resolve_is_first(void);

/* The dynamic section of the last library that the program was started with. NULL: not known. */
const ElfW(Dyn) * dft_resolve_last(void);

/* Finds the function of the i-th pointer. Finds all functions before the constructor has run. Where
 * no library behind ours has the function, its pointer gets a function that answers ENOSYS. Takes
 * no lock and calls no function of the loader: the list of libraries that it walks does not
 * change. */
void dft_resolve_one(size_t i);

/* The real function, at any time. Best before the first reading of the clock, because the first use
 * searches. */
#define DFT_REAL(name)                                                                                                 \
    (__builtin_expect(dft_real.name != NULL, 1)                                                                        \
         ? dft_real.name                                                                                               \
         : (dft_resolve_one(offsetof(struct dft_reals, name) / sizeof(void *)), dft_real.name))

/* Is this our dynamic section? */
int dft_resolve_is_ours(const void *dynamic);

/* The path that this library was loaded from. NULL: the library is part of the program. Constructor
 * only. */
const char *dft_resolve_own_path(void);

/* Is this one of the functions that we wrap, or another function that we export? Constructor only,
 * and before main. */
int dft_resolve_is_wrapped(const char *name);

/* Our function of this name, or NULL. *next: the function that it calls. `version` NULL: the default one. Any time. */
void *dft_resolve_wrapper(const char *name, const char *version, void **next);

/* Any other symbol of the libraries behind ours. NULL when there is none. Constructor only. */
void *dft_resolve_symbol(const char *name);

#endif
