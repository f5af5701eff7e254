/* SPDX-License-Identifier: MIT */
/* dftmerge spans import: fills a database from logs, databases and traces. The verb. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/write_text.h"
#include "command/command.h"
#include "database/database.h"
#include "spans/importing.h"
#include "spans/inputs.h"
#include "spans/log_time.h"
#include "spans/rules.h"
#include "spans/schema.h"
#include "spans/verbs.h"

#define BROKEN_NAMED 10u /* lines of an input */

#define KINDS                                                                                                          \
    "known are: monitoring.db, parsl.log and HTEX logs of Parsl, transaction_log and function logs of Work Queue, "    \
    "lines of METRIC, JSON (events and binds, or a record with span_type and span_id a line), traces (.dft, "          \
    ".dft.live, .pfw), and what --rules choose"
#define PICKLE                                                                                                         \
    "a pickle is not read, for unpickling runs code. Write its two lists as JSON: {\"events\": [[time, event, span "   \
    "type, span id]], \"binds\": [[super type, super id, sub type, sub id]]}"

struct asked {
    struct dft_span_import import;
    struct dft_options options;
    const char *database;
    int is_new;    /* the database was not there before, and is this import's alone */
    int is_failed; /* an input could not be used */
    uint64_t used; /* inputs */
};

/* --- messages to users ------------------------------------------------------------------------ */

void dft_span_broken(struct dft_span_import *import, const char *where, const char *why)
{
    if (import->broken++ < BROKEN_NAMED && !import->quiet)
        fprintf(stderr, "dftmerge spans import: %s:%s%s%" PRIu64 ": skipped: %s\n", import->path, where,
                *where ? ":" : "", import->line, why);
}

int dft_span_unreadable(const struct dft_span_import *import, const char *why)
{
    fprintf(stderr, "dftmerge spans import: %s: cannot be read, and nothing of it is kept: %s\n", import->path, why);
    return -EBADMSG;
}

static void print_rows(const struct dft_span_store *store, enum dft_span_table table, const char *name)
{
    if (store->fresh[table] || store->known[table])
        printf(", %" PRIu64 " %s", store->fresh[table], name);
    if (store->known[table])
        printf(" (and %" PRIu64 " there already)", store->known[table]);
}

static void print_rows_all(const struct dft_span_store *store)
{
    print_rows(store, DFT_SPAN_SPANS, "spans");
    print_rows(store, DFT_SPAN_EVENTS, "events");
    print_rows(store, DFT_SPAN_SUBSPANS, "subspans");
    print_rows(store, DFT_SPAN_FACETS, "facets");
    print_rows(store, DFT_SPAN_METRICS, "metrics");
    print_rows(store, DFT_SPAN_RECORDS, "records");
}

static void print_input(const struct dft_span_import *import)
{
    dft_text_escape(stdout, import->path, strlen(import->path));
    printf(": %s", import->found);
    print_rows_all(&import->store);
    if (import->broken)
        printf(", %" PRIu64 " skipped because they make no sense", import->broken);
    if (import->nulls)
        printf(", %" PRIu64 " skipped because they are null", import->nulls);
    if (import->passed_over)
        printf(", %" PRIu64 " lines of other kinds", import->passed_over);
    putchar('\n');
}

static void say(struct asked *asked, const char *path, const char *why)
{
    fprintf(stderr, "dftmerge spans import: %s: %s\n", path, why);
    asked->is_failed = 1;
}

/* --- inputs ----------------------------------------------------------------------------------- */

static void begin_input(struct asked *asked, const char *path)
{
    struct dft_span_import *import = &asked->import;

    dft_span_store_begin(&import->store);
    import->path = path;
    import->line = import->broken = import->nulls = import->passed_over = 0;
    *import->found = '\0';
}

static int run_sql(struct asked *asked, const char *sql)
{
    int rc = dft_database_run(asked->import.store.db, sql, "importing");

    asked->import.store.is_said |= rc != 0;
    return !rc ? 0 : (rc & 0xff) == SQLITE_INTERRUPT ? -EINTR : -EIO;
}

static int import_as(struct dft_span_import *import, enum dft_span_input_kind kind)
{
    int rc;

    if (kind == DFT_INPUT_DATABASE)
        return dft_span_import_monitoring(import);
    rc = kind == DFT_INPUT_JSON ? dft_span_import_json(import) : -ENOENT;
    return rc == -ENOENT ? dft_span_import_log(import) : rc;
}

/* Nothing of the input could be used. */
static int is_broken(const struct dft_span_import *import)
{
    uint64_t used = 0;

    for (int table = 0; table < DFT_SPAN_TABLES; table++)
        used += import->store.fresh[table] + import->store.known[table];
    return import->broken && !used;
}

/* One input, of which all or nothing is kept. */
static int import_file(struct asked *asked, const struct dft_span_input *input, enum dft_span_input_kind kind)
{
    int rc, ended;

    begin_input(asked, input->path);
    rc = run_sql(asked, "savepoint input");
    if (!rc)
        rc = import_as(&asked->import, kind);
    if (rc == -ENOENT && input->is_named)
        say(asked, input->path, "of no kind that is known; " KINDS);
    if (dft_span_is_fatal(rc))
        return rc;
    ended = run_sql(asked, rc ? "rollback to input; release input" : "release input");
    asked->is_failed |= rc == -EBADMSG || (!rc && is_broken(&asked->import));
    if (rc || ended)
        return ended;
    asked->used++;
    print_input(&asked->import);
    return 0;
}

static int ends_with(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');

    return !strcmp(slash ? slash + 1 : path, name);
}

/* Traces are read together, behind all other inputs. */
static int import_traces(struct asked *asked, char **traces, int count)
{
    char text[64];
    int rc, ended;

    if (!count)
        return 0;
    snprintf(text, sizeof text, "%d traces", count);
    begin_input(asked, count == 1 ? traces[0] : text);
    rc = run_sql(asked, "savepoint input");
    if (!rc)
        rc = dft_span_import_traces(&asked->import, traces, count, asked->options.source.threads);
    if (dft_span_is_fatal(rc))
        return rc;
    ended = run_sql(asked, rc ? "rollback to input; release input" : "release input");
    asked->is_failed |= rc != 0 || asked->import.broken;
    if (rc || ended)
        return ended;
    asked->used++;
    print_input(&asked->import);
    return 0;
}

static int import_inputs(struct asked *asked, const struct dft_span_inputs *inputs)
{
    char **traces = calloc(inputs->count + 1, sizeof *traces);
    int ntraces = 0, rc = traces ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < inputs->count; i++) {
        const struct dft_span_input *input = &inputs->list[i];
        enum dft_span_input_kind kind = dft_span_input_look(input->path);

        if (dft_database_interrupted())
            rc = -EINTR;
        else if (kind == DFT_INPUT_UNREADABLE)
            say(asked, input->path, strerror(errno));
        else if (kind == DFT_INPUT_TRACE)
            traces[ntraces++] = input->path;
        else if (kind == DFT_INPUT_PICKLE && (input->is_named || ends_with(input->path, "parsl_tracing.pickle")))
            say(asked, input->path, PICKLE);
        else if (kind == DFT_INPUT_NONE && input->is_named)
            say(asked, input->path, "of no kind that is known; " KINDS);
        else if (kind != DFT_INPUT_NONE && kind != DFT_INPUT_PICKLE)
            rc = import_file(asked, input, kind);
    }
    if (!rc)
        rc = import_traces(asked, traces, ntraces);
    free(traces);
    return rc;
}

static int join(struct asked *asked)
{
    int rc;

    begin_input(asked, "");
    rc = dft_span_join(&asked->import);
    if (!rc && (asked->import.store.fresh[DFT_SPAN_FACETS] || asked->import.store.fresh[DFT_SPAN_SUBSPANS])) {
        printf("joined");
        print_rows_all(&asked->import.store);
        putchar('\n');
    }
    return rc;
}

/* --- the import ------------------------------------------------------------------------------- */

static int import_all(struct asked *asked)
{
    struct dft_span_inputs inputs = {0};
    struct stat own;
    int rc = stat(asked->database, &own) ? -errno : 0;

    if (!rc)
        rc = dft_span_inputs_find(&inputs, asked->options.source.paths, asked->options.source.npaths, &own);
    asked->is_failed |= inputs.is_bad;
    if (!rc)
        rc = import_inputs(asked, &inputs);
    if (!rc && !asked->used && !asked->is_failed)
        say(asked, "nothing to import", "no file is of a kind that is known; " KINDS);
    if (!rc && asked->used)
        rc = join(asked);
    dft_span_inputs_fini(&inputs);
    return rc;
}

/* Ends the transaction. A file that this import has made goes while no other one can write to it. */
static void undo(const struct asked *asked, sqlite3 *db)
{
    if (asked->is_new)
        unlink(asked->database);
    sqlite3_exec(db, "rollback", NULL, NULL, NULL);
}

static int fill(struct asked *asked, sqlite3 *db)
{
    int rc = dft_spans_schema_make(db) ? -EIO : 0, is_said = rc;

    if (!rc && dft_span_store_init(&asked->import.store, db))
        rc = is_said = -EIO;
    if (!rc)
        rc = import_all(asked);
    if (!rc && asked->used && dft_spans_schema_index(db))
        rc = is_said = -EIO;
    is_said |= asked->import.store.is_said;
    dft_span_store_fini(&asked->import.store);
    asked->import.store.db = db;
    asked->import.store.is_said = is_said != 0;
    return rc;
}

static int in_transaction(struct asked *asked)
{
    sqlite3 *db = asked->import.store.db;
    struct stat st;
    int rc = run_sql(asked, "pragma cache_size = -65536; begin immediate");

    if (rc)
        return rc;
    asked->is_new = asked->is_new && !stat(asked->database, &st) && !st.st_size; /* others may have filled it */
    rc = fill(asked, db);
    if (!rc && dft_database_interrupted())
        rc = -EINTR;
    if (!rc && asked->used)
        rc = run_sql(asked, "commit");
    if (rc || !asked->used)
        undo(asked, db);
    return rc;
}

static int import(struct asked *asked)
{
    sqlite3 *db = NULL;
    int rc;

    asked->is_new = access(asked->database, F_OK) != 0;
    if (dft_database_open(&db, asked->database, DFT_DATABASE_WRITE) || dft_spans_schema_check(db)) {
        sqlite3_close_v2(db);
        return DFT_EXIT_BAD;
    }
    asked->import.store.db = db;
    dft_database_interruptible(db);
    rc = in_transaction(asked);
    dft_database_interruptible(NULL);
    sqlite3_close_v2(db);
    if (rc == -EINTR && !asked->import.store.is_said)
        fputs("dftmerge spans import: ended by a signal; nothing of it was kept\n", stderr);
    else if (rc && !asked->import.store.is_said)
        fprintf(stderr, "dftmerge spans import: %s; nothing of it was kept\n", strerror(-rc));
    return rc || asked->is_failed ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

static int prepare(struct asked *asked, const char *zone, const char *rules, struct dft_span_rules *list)
{
    char error[512];

    if (zone && dft_log_time_zone(zone)) {
        fprintf(stderr,
                "dftmerge spans import: --timezone %s: there is no such zone; name it as Europe/Berlin, UTC or "
                "+02:00\n",
                zone);
        return DFT_EXIT_USAGE;
    }
    if (rules && dft_span_rules_read(list, rules, error, sizeof error)) {
        fprintf(stderr, "dftmerge spans import: --rules: %s\n", error);
        return DFT_EXIT_USAGE;
    }
    asked->import.rules = rules ? list : NULL;
    if (asked->options.source.npaths < 2) {
        fputs("dftmerge spans import: what is to be imported? `dftmerge spans import FILE.db PATH...`\n", stderr);
        return DFT_EXIT_USAGE;
    }
    asked->database = asked->options.source.paths[0];
    asked->options.source.paths++;
    asked->options.source.npaths--;
    return 0;
}

static int run(int argc, char **argv)
{
    struct asked asked = {0};
    struct dft_span_rules rules = {0};
    const char *zone = NULL, *rules_from = NULL;
    const struct dft_option own[] = {
        {"timezone", 0, "ZONE", &zone, NULL,
         "Of times without one (Europe/Berlin, UTC, +02:00); default: the local one"},
        {"rules", 0, "FILE", &rules_from, NULL, "Rules for logs of your own: span type, match=, id=, event=, time="},
        {"json-lines", 0, NULL, NULL, &asked.import.json_lines, "Keep each record of JSON lines in the table record"},
        {0},
    };
    int code;

    if (dft_options_parse(&asked.options, &dft_spans_import, own, argc, argv, &code))
        return code;
    asked.import.quiet = asked.options.source.quiet;
    dft_log_time_zone(NULL);
    code = prepare(&asked, zone, rules_from, &rules);
    if (!code)
        code = import(&asked);
    dft_span_rules_fini(&rules);
    dft_options_fini(&asked.options);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "dftmerge: standard output: %s\n", strerror(errno));
        code = code ? code : DFT_EXIT_BAD;
    }
    return code;
}

const struct dft_command dft_spans_import = {
    .name = "spans import",
    .arguments = "FILE.db PATH...",
    .brief = "Fills a database of spans from logs, monitoring databases and traces",
    .details =
        "PATH is a file or a folder (searched): monitoring.db, parsl.log and logs of the High Throughput Executor "
        "of Parsl; transaction_log of Work Queue; lines with METRIC; JSON; traces (.dft, .dft.live, .pfw). Each is "
        "known by its content. FILE.db is made where it is not there; what it has stays, and the same thing twice "
        "changes nothing. All is kept, or nothing where the import is ended.",
    .example = "dftmerge spans import run.db runinfo/ traces/",
    .takes = DFT_TAKES_NONE,
    .run = run,
};
