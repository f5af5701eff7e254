/* SPDX-License-Identifier: MIT */
/* Processes that ran while they were imported. */
#include "spans/trace_again.h"

#include <errno.h>
#include <stdio.h>

#include "database/database.h"

#define KIND "running process"

/* What lies in a process is reached over subspans, but neither by flows nor through other processes. */
static const char forget[] =
    "create temp table if not exists forgotten (uuid text primary key);"
    "delete from temp.forgotten;"
    "with recursive below(uuid) as (values ('%1$s') union"
    " select s.subspan_uuid from main.subspan s join below b on s.superspan_uuid = b.uuid"
    " join main.span on span.uuid = s.subspan_uuid where s.note is not 'flow' and span.type <> 'dftrace.process')"
    " insert into temp.forgotten select uuid from below;"
    "delete from main.event where span_uuid in (select uuid from temp.forgotten);"
    "delete from main.metric where span_uuid in (select uuid from temp.forgotten);"
    "delete from temp.forgotten where uuid = '%1$s';"
    "delete from main.subspan where superspan_uuid in (select uuid from temp.forgotten)"
    " or subspan_uuid in (select uuid from temp.forgotten);"
    "delete from main.span where uuid in (select uuid from temp.forgotten);"
    "delete from main.identity where kind = '" KIND "' and span_uuid = '%1$s';";

/* Was the process marked? */
static int is_marked(struct dft_span_store *store, const struct dft_uuid *process)
{
    sqlite3_stmt *statement;
    int rc = dft_database_prepare(store->db, &statement,
                                  "select 1 from main.identity where kind = '" KIND "' and run = '' and id = ?",
                                  "looking for running processes");

    if (!rc) {
        sqlite3_bind_text(statement, 1, process->text, DFT_UUID_LENGTH, SQLITE_STATIC);
        rc = sqlite3_step(statement) == SQLITE_ROW;
    } else {
        rc = -EIO;
    }
    sqlite3_finalize(statement);
    return rc;
}

int dft_trace_forget_running(struct dft_span_store *store, const struct dft_uuid *process)
{
    char sql[sizeof forget + 4 * DFT_UUID_LENGTH];
    int rc = is_marked(store, process);

    if (rc <= 0)
        return rc;
    snprintf(sql, sizeof sql, forget, process->text);
    if (!dft_database_run(store->db, sql, "forgetting what a running process had done"))
        return 1;
    store->is_said = 1;
    return dft_database_interrupted() ? -EINTR : -EIO;
}

int dft_trace_mark_running(struct dft_span_store *store, const struct dft_uuid *process)
{
    return dft_span_identify(store, process, KIND, dft_text_from(""), dft_text_from(process->text));
}
