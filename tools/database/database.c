/* SPDX-License-Identifier: MIT */
/* Databases of SQLite. */
#include "database/database.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/signals.h"

#define STEPS 1000 /* of SQLite's machine, some 10 us, between two looks at whether a signal came */

/* What the handler of the signals looks at. */
static sqlite3 *_Atomic running;
static _Atomic int came;

static void on_signal(int number)
{
    sqlite3 *db = atomic_load(&running);

    atomic_store(&came, number);
    if (db)
        sqlite3_interrupt(db);
}

/* sqlite3_interrupt does nothing where no statement runs yet: a signal that came before is seen here. */
static int has_come(void *unused)
{
    (void)unused;
    return atomic_load(&came);
}

void dft_database_interruptible(sqlite3 *db)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    static struct sigaction before[sizeof numbers / sizeof *numbers];
    struct sigaction action = {.sa_handler = on_signal};
    sqlite3 *old = atomic_load(&running);
    int was = old != NULL;

    if (db)
        atomic_store(&came, 0);
    if (db || old)
        sqlite3_progress_handler(db ? db : old, db ? STEPS : 0, db ? has_come : NULL, NULL);
    atomic_store(&running, db);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && was != (db != NULL); i++)
        if (db)
            dft_signal_catch(numbers[i], &action, &before[i]);
        else
            sigaction(numbers[i], &before[i], NULL);
}

int dft_database_interrupted(void)
{
    return atomic_load(&came);
}

void dft_database_say(sqlite3 *db, const char *doing)
{
    const char *file = sqlite3_db_filename(db, "main");
    int error = sqlite3_extended_errcode(db), base = error & 0xff;

    fprintf(stderr, "dftmerge: %s%s%s: ", file && *file ? file : "", file && *file ? ": " : "", doing);
    if (base == SQLITE_INTERRUPT)
        fputs("ended by a signal; nothing of it was kept\n", stderr);
    else if (base == SQLITE_FULL || error == SQLITE_IOERR_WRITE)
        fprintf(stderr, "%s; make room on the disk, and run it again: nothing of it was kept\n", sqlite3_errmsg(db));
    else if (base == SQLITE_NOTADB)
        fputs("this is no database of SQLite; the file stays as it is\n", stderr);
    else if (base == SQLITE_CORRUPT)
        fputs("the database is damaged; sqlite3's .recover may save what is left in it\n", stderr);
    else if (base == SQLITE_BUSY || base == SQLITE_LOCKED)
        fputs("another program writes to the database; run it again when that has ended\n", stderr);
    else
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
}

/* SQLite would wait for ever for a pipe that nobody writes to. It also opens the journal beside the database, which
 * nobody named. Says so on stderr. */
static int is_special(const char *path)
{
    static const char *const ends[] = {"", "-journal", "-wal"};
    char *real = realpath(path, NULL), *name = NULL;
    struct stat st;
    int found = 0;

    for (size_t i = 0; i < sizeof ends / sizeof *ends && !found; i++) {
        if (asprintf(&name, "%s%s", real ? real : path, ends[i]) < 0)
            break;
        found = !(*ends[i] ? lstat : stat)(name, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
        if (found)
            fprintf(stderr, "dftmerge: %s: this is no regular file; %s\n", name,
                    *ends[i] ? "move it away, because the database's journal has that name"
                             : "name a database of SQLite");
        free(name);
    }
    free(real);
    return found;
}

int dft_database_open(sqlite3 **db, const char *path, enum dft_database_use use)
{
    int flags = use == DFT_DATABASE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int error;

    *db = NULL;
    if (use != DFT_DATABASE_MEMORY && is_special(path))
        return SQLITE_CANTOPEN;
    error = sqlite3_open_v2(use == DFT_DATABASE_MEMORY ? ":memory:" : path, db, flags, NULL);

    if (error && *db && sqlite3_system_errno(*db))
        fprintf(stderr, "dftmerge: %s: %s\n", path, strerror(sqlite3_system_errno(*db)));
    else if (error)
        fprintf(stderr, "dftmerge: %s: %s\n", path ? path : "SQLite", *db ? sqlite3_errmsg(*db) : strerror(ENOMEM));
    if (error)
        return error;
    sqlite3_extended_result_codes(*db, 1);
    sqlite3_busy_timeout(*db, 5000);
    /* the first statement reads the head of the file */
    return dft_database_run(*db, "select count(*) from sqlite_schema", "opening");
}

int dft_database_run(sqlite3 *db, const char *sql, const char *doing)
{
    int error = sqlite3_exec(db, sql, NULL, NULL, NULL);

    if (error)
        dft_database_say(db, doing);
    return error;
}

int dft_database_prepare(sqlite3 *db, sqlite3_stmt **statement, const char *sql, const char *doing)
{
    int error = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);

    if (error)
        dft_database_say(db, doing);
    return error;
}

int dft_database_step(sqlite3_stmt *statement, const char *doing)
{
    int error = sqlite3_step(statement);

    error = error == SQLITE_DONE || error == SQLITE_ROW ? 0 : error;
    if (error)
        dft_database_say(sqlite3_db_handle(statement), doing);
    sqlite3_reset(statement);
    return error;
}
