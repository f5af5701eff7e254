/* SPDX-License-Identifier: MIT */
/* Reads a table: the texts that it needs, then the reader of its kind. */
#include <errno.h>
#include <pthread.h>

#include "intake/source_names.h"
#include "tables/columns.h"
#include "tables/event_columns.h"
#include "tables/reading.h"
#include "tables/tables.h"

/* Are texts needed that not every block has? */
static int needs_names(const struct dft_table_request *request)
{
    return request->order == DFT_ORDER_NAME || request->table == DFT_TABLE_ROWS ||
           request->table == DFT_TABLE_COUNTERS || request->table == DFT_TABLE_FILES ||
           (request->table == DFT_TABLE_EVENTS && request->columns & DFT_EVENTS_NAMED) ||
           dft_filter_has_names(request->filter) || dft_filter_has_files(request->filter);
}

/* The first of several readings does it for all. Filters by file need all texts at once. */
static int find_names(struct dft_source *source, const struct dft_filter *filter)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int rc;

    pthread_mutex_lock(&lock);
    rc = dft_filter_has_files(filter) ? dft_source_names(source, NULL, 0) : dft_source_names_locate(source);
    pthread_mutex_unlock(&lock);
    return rc;
}

int dft_tables_read(struct dft_source *source, const struct dft_table_request *request, dft_table_take *take,
                    void *context)
{
    static int (*const readers[DFT_TABLES])(struct dft_reading *) = {
        [DFT_TABLE_EVENTS] = dft_read_events,   [DFT_TABLE_ROWS] = dft_read_rows,
        [DFT_TABLE_FILES] = dft_read_files,     [DFT_TABLE_PROCESSES] = dft_read_processes,
        [DFT_TABLE_REGIONS] = dft_read_regions, [DFT_TABLE_COUNTERS] = dft_read_counters,
        [DFT_TABLE_JOBS] = dft_read_jobs,       [DFT_TABLE_NOTES] = dft_read_notes,
    };
    struct dft_reading reading = {.source = source,
                                  .request = request,
                                  .filter = request->filter,
                                  .picks = dft_filter_has_any(request->filter),
                                  .rows = request->rows ? request->rows : DFT_BATCH_ROWS,
                                  .take = take,
                                  .context = context};
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    int rc = needs_names(request) ? find_names(source, request->filter) : 0;

    if (rc)
        return rc;
    if (request->order == DFT_ORDER_NAME)
        return dft_read_events_by_name(&reading);
    if (1 << request->table & (1 << DFT_TABLE_EVENTS | 1 << DFT_TABLE_ROWS | 1 << DFT_TABLE_COUNTERS))
        return readers[request->table](&reading);
    pthread_mutex_lock(&turn);
    rc = readers[request->table](&reading);
    pthread_mutex_unlock(&turn);
    return rc;
}
