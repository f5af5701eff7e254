/* SPDX-License-Identifier: MIT */
/* SQLite as this room sees it: linked in (SQLITE_CORE), or the one that has loaded libdftsqlite.so. */
#ifndef DFT_VTAB_API_H
#define DFT_VTAB_API_H

#include <sqlite3ext.h>

#ifndef SQLITE_CORE
extern const sqlite3_api_routines *sqlite3_api;
#endif

/* Is the SQLite that runs new enough? A loaded module meets another one than it was built with. */
#define DFT_VTAB_SINCE(version) (SQLITE_VERSION_NUMBER >= (version) && sqlite3_libversion_number() >= (version))

#endif
