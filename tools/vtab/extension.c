/* SPDX-License-Identifier: MIT */
/* libdftsqlite.so: where SQLite enters when it loads the module. */
#include "vtab/api.h"
#include <stddef.h>

SQLITE_EXTENSION_INIT1

#include "vtab/vtab.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
EXPORTED int sqlite3_dftsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api)
    if (sqlite3_libversion_number() < 3026000) {
        *message = sqlite3_mprintf("libdftsqlite: this SQLite is %s; 3.26 or later is needed", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    return dft_vtab_register(db, NULL, NULL, NULL);
}

int sqlite3_dftsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    return sqlite3_extension_init(db, message, api);
}
