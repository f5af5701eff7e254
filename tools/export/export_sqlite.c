/* SPDX-License-Identifier: MIT */
/* `--format sqlite`: the tables of the traces, with views and indices, as one database. */
#include "export/export_sqlite.h"

#include <stdio.h>
#include <string.h>

#ifdef DFT_HAVE_SQLITE
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/outfile.h"
#include "database/database.h"
#include "tables/tables.h"
#include "tables/views.h"

/* The rows of one table, on their way into the database. */
struct filling {
    sqlite3_stmt *insert;
    const struct dft_table_shape *table;
    pthread_mutex_t lock; /* several threads read, and one at a time writes */
    int error;            /* the first one: then nothing more is written */
};

static int bind(sqlite3_stmt *insert, int at, const struct dft_cells *cells, uint32_t row)
{
    if (cells->integers && cells->integers[row] != DFT_CELL_NULL)
        return sqlite3_bind_int64(insert, at, cells->integers[row]);
    if (cells->reals && !isnan(cells->reals[row]))
        return sqlite3_bind_double(insert, at, cells->reals[row]);
    if (cells->codes && cells->codes[row] != DFT_CODE_NULL) {
        struct dft_text text = cells->texts[cells->codes[row]];

        return sqlite3_bind_text(insert, at, text.length ? text.bytes : "", (int)text.length, SQLITE_STATIC);
    }
    return sqlite3_bind_null(insert, at);
}

static int insert_rows(void *context, unsigned worker, const struct dft_table_batch *batch)
{
    struct filling *filling = context;
    int error;

    (void)worker;
    pthread_mutex_lock(&filling->lock);
    error = filling->error;
    for (uint32_t row = 0; row < batch->count && !error; row++) {
        for (unsigned c = 0; c < filling->table->ncolumns && !error; c++)
            error = bind(filling->insert, (int)c + 1, &batch->cells[c], row);
        error = error ? error : dft_database_step(filling->insert, filling->table->name);
        error = error ? error : dft_database_interrupted();
    }
    filling->error = error;
    pthread_mutex_unlock(&filling->lock);
    return error ? DFT_EXPORT_SAID : 0;
}

/* "insert into "events" values (?,?, ...)" */
static char *insert_text(const struct dft_table_shape *table)
{
    char *text = sqlite3_mprintf("insert into \"%w\" values (?", table->name);

    for (unsigned i = 1; i < table->ncolumns && text; i++)
        text = sqlite3_mprintf("%z,?", text);
    return text ? sqlite3_mprintf("%z)", text) : NULL;
}

static int create_table(sqlite3 *db, const struct dft_table_shape *table)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int rc = -ENOMEM;

    if (out) {
        fprintf(out, "create table \"%s\"", table->name);
        dft_views_columns(out, table);
    }
    if (out && !fclose(out))
        rc = dft_database_run(db, text, table->name) ? DFT_EXPORT_SAID : 0;
    free(text);
    return rc;
}

static int write_table(struct dft_export *export, sqlite3 *db, enum dft_table_number number)
{
    struct filling filling = {.table = dft_tables_at(number), .lock = PTHREAD_MUTEX_INITIALIZER};
    const struct dft_table_request request = {.table = number, .columns = UINT64_MAX, .filter = export->filter};
    char *text = insert_text(filling.table);
    int rc = text ? create_table(db, filling.table) : -ENOMEM;

    if (!rc && dft_database_prepare(db, &filling.insert, text, filling.table->name))
        rc = DFT_EXPORT_SAID;
    if (!rc)
        rc = dft_tables_read(export->source, &request, insert_rows, &filling);
    sqlite3_finalize(filling.insert);
    sqlite3_free(text);
    return rc;
}

/* What joins and usual conditions look up. */
static const char indices[] = "create index processes_process on processes(process);"
                              "create index files_file on files(file);"
                              "create index rows_process on rows(process);"
                              "create index rows_name on rows(name);"
                              "create index events_time on events(time);"
                              "create index events_process on events(process);"
                              "create index events_file on events(file);";

static int write_views(sqlite3 *db)
{
    unsigned count;
    const struct dft_view *views = dft_views(&count);
    int error = 0;

    for (unsigned i = 0; i < count && !error; i++) {
        char *text = sqlite3_mprintf("create view \"%w\" as %s", views[i].name, views[i].sql);

        if (!text)
            return -ENOMEM;
        error = dft_database_run(db, text, views[i].name);
        sqlite3_free(text);
    }
    return error ? DFT_EXPORT_SAID : 0;
}

/* The file has a temporary name, and is thrown away when something goes wrong. So nothing needs to
 * reach the disk at once. */
static int fill(struct dft_export *export, sqlite3 *db)
{
    int rc = 0;

    if (dft_database_run(db, "pragma journal_mode=memory; pragma synchronous=off; pragma cache_size=-65536; begin",
                         "opening"))
        return DFT_EXPORT_SAID;
    for (unsigned i = 0; i < DFT_TABLES && !rc; i++)
        rc = write_table(export, db, (enum dft_table_number)i);
    if (!rc && dft_database_run(db, indices, "making indices"))
        rc = DFT_EXPORT_SAID;
    if (!rc)
        rc = write_views(db);
    if (!rc && dft_database_run(db, "commit", "ending"))
        rc = DFT_EXPORT_SAID;
    return rc;
}

/* While these signals wait, none of them leaves a file behind. */
static void block_signals(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(how, &set, NULL);
}

static int deny(void)
{
    fputs("dftmerge: export: a database is a file, regular and not compressed: -o traces.db\n", stderr);
    return DFT_EXPORT_SAID;
}

/* Signals wait while a file is opened, and a pipe would wait for its reader. */
static int is_special(const struct dft_export *export, const char *path)
{
    struct stat st;

    return !export->is_inside && !stat(path, &st) && !S_ISREG(st.st_mode);
}

/* Opens the file, and fills it; signals end that. */
static int fill_file(struct dft_export *export, sqlite3 **db, const struct dft_outfile *out)
{
    int rc;

    if (!out->whole.temporary)
        return deny();
    if (dft_database_open(db, out->whole.temporary, DFT_DATABASE_WRITE))
        return DFT_EXPORT_SAID;
    dft_database_interruptible(*db);
    block_signals(SIG_UNBLOCK);
    rc = fill(export, *db);
    block_signals(SIG_BLOCK);
    dft_database_interruptible(NULL);
    return rc;
}

static int write_database(struct dft_export *export, const char *path)
{
    struct dft_outfile out;
    sqlite3 *db = NULL;
    size_t length = strlen(path);
    int rc;

    if (!strcmp(path, "-") || is_special(export, path) || (length > 3 && !strcmp(path + length - 3, ".gz")))
        return deny();
    block_signals(SIG_BLOCK);
    rc = dft_export_open(export, &out, path);
    if (!rc)
        rc = fill_file(export, &db, &out);
    if (rc && dft_database_interrupted())
        fputs("dftmerge: export: ended by a signal; nothing was written\n", stderr);
    if (sqlite3_close(db) && !rc)
        rc = -EIO;
    rc = dft_outfile_close(&out, rc, 0);
    block_signals(SIG_UNBLOCK);
    return rc;
}
#else
static int write_database(struct dft_export *export, const char *path)
{
    (void)export;
    (void)path;
    fputs("dftmerge: export: this dftmerge was built without SQLite; install it (libsqlite3-dev) and build again, or "
          "take --format csv\n",
          stderr);
    return DFT_EXPORT_SAID;
}
#endif

const struct dft_exporter dft_export_sqlite = {
    "sqlite", "a database of SQLite", "traces.db", .write_text = write_database, .alone = 1, .takes_rows = 1};
