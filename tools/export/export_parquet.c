/* SPDX-License-Identifier: MIT */
/* `--format parquet`: a directory of a directory a table, each with parts that threads and ranks
 * write by themselves: DIR/TABLE/part-RANK-NUMBER.parquet. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/outfile.h"
#include "command/part_files.h"
#include "export/export_parquet.h"
#include "mpi/comm.h"
#include "parquet/parquet.h"
#include "intake/source_exchange.h"
#include "intake/source_interrupt.h"
#include "object/source_notes.h"
#include "tables/tables.h"

#define PART_ROWS  (1u << 20)            /* of a part: what readers skip */
#define ROWS_BYTES ((uint64_t)400 << 20) /* batches of all threads together */
#define ROW_BYTES  200u                  /* of a batch, for each row */
#define ROWS_MIN   16384u

/* A part that a thread is writing. */
struct part {
    struct dft_parquet *file; /* NULL: none */
    uint64_t rows;
};

struct writing {
    struct dft_export *export;
    enum dft_table_number number;
    char *directory;
    int is_made;        /* here; so it is taken away when nothing is written */
    struct part *parts; /* by worker */
    unsigned nparts;
    uint32_t named;       /* parts of this rank that have got a name */
    pthread_mutex_t lock; /* of `named`, and of opening */
    const _Atomic int *stop;
};

/* --- parts ------------------------------------------------------------------------------------ */

static char *part_path(const struct writing *writing, uint32_t number)
{
    char name[64];

    snprintf(name, sizeof name, "part-%u-%u.parquet", dft_comm_rank(), number);
    return dft_outfile_inside(writing->directory, name);
}

static int open_part(struct writing *writing, struct part *part)
{
    const struct dft_table_shape *table = dft_tables_at(writing->number);
    char *path;
    int rc;

    pthread_mutex_lock(&writing->lock);
    path = part_path(writing, writing->named);
    rc = path ? dft_parquet_open(&part->file, path, table, UINT64_MAX) : -ENOMEM;
    writing->named += !rc;
    pthread_mutex_unlock(&writing->lock);
    free(path);
    part->rows = 0;
    return rc;
}

static int close_part(struct part *part, int rc)
{
    struct dft_parquet *file = part->file;

    part->file = NULL;
    return dft_parquet_close(file, rc);
}

/* A batch of events is a part. Batches of other tables may be small, so a part takes several. */
static int take_batch(void *context, unsigned worker, const struct dft_table_batch *batch)
{
    struct writing *writing = context;
    struct part *part = &writing->parts[worker];
    int rc = atomic_load(writing->stop) ? -ECANCELED : part->file ? 0 : open_part(writing, part);

    if (rc)
        return rc;
    rc = dft_parquet_group(part->file, batch);
    part->rows += batch->count;
    return rc || writing->number == DFT_TABLE_EVENTS || part->rows >= PART_ROWS ? close_part(part, rc) : 0;
}

/* --- a table ---------------------------------------------------------------------------------- */

/* As many rows as fit into memory for all threads. */
static uint32_t rows_of_batch(unsigned threads)
{
    uint64_t rows = ROWS_BYTES / ROW_BYTES / threads;

    return rows > PART_ROWS ? PART_ROWS : rows < ROWS_MIN ? ROWS_MIN : (uint32_t)rows;
}

/* So that readers find the schema of a table without rows. */
static int put_empty(struct writing *writing)
{
    uint64_t parts = writing->named;
    int rc = 0;

    dft_comm_sum(&parts, 1);
    if (!parts && !dft_comm_rank())
        rc = open_part(writing, &writing->parts[0]);
    if (!rc)
        rc = close_part(&writing->parts[0], 0);
    return dft_comm_agree(rc);
}

static int write_table(struct writing *writing)
{
    struct dft_source *source = writing->export->source;
    const struct dft_table_request request = {.table = writing->number,
                                              .columns = UINT64_MAX,
                                              .filter = writing->export->filter,
                                              .rows = rows_of_batch(writing->nparts),
                                              .bytes = ROWS_BYTES / writing->nparts,
                                              .parts = writing->number == DFT_TABLE_EVENTS,
                                              .stop = writing->stop};
    int rc;

    /* rank 0 has the notes of all ranks then */
    rc = writing->number == DFT_TABLE_NOTES ? dft_exchange_notes(source) : 0;
    if (!rc)
        rc = dft_tables_read(source, &request, take_batch, writing);
    for (unsigned i = 0; i < writing->nparts; i++) {
        int error = close_part(&writing->parts[i], rc);

        rc = rc ? rc : error;
    }
    rc = dft_comm_agree(rc == -ECANCELED ? -EINTR : rc); /* DFT_EXPORT_SAID is -ECANCELED */
    return rc ? rc : put_empty(writing);
}

/* --- all tables ------------------------------------------------------------------------------- */

static int begin(struct writing *writing, struct dft_export *export, enum dft_table_number number,
                 const char *directory, const _Atomic int *stop)
{
    *writing = (struct writing){.export = export, .number = number, .lock = PTHREAD_MUTEX_INITIALIZER, .stop = stop};
    writing->nparts = dft_source_threads(export->source);
    writing->parts = calloc(writing->nparts, sizeof *writing->parts);
    writing->directory = dft_outfile_inside(directory, dft_tables_at(number)->name);
    return writing->parts && writing->directory ? 0 : -ENOMEM;
}

/* Makes the directory. Refuses one that has parts already: readers would count both. */
static int make_directory(struct writing *writing)
{
    char *none[] = {NULL};
    struct stat st;

    if (!lstat(writing->directory, &st) && S_ISLNK(st.st_mode)) {
        dft_outfile_say(writing->directory, -ELOOP);
        return DFT_EXPORT_SAID;
    }
    writing->is_made = access(writing->directory, F_OK) != 0;
    return dft_part_directory(writing->export->source, writing->directory, ".parquet", none, 0) ? DFT_EXPORT_SAID : 0;
}

/* Takes away what this export has written: half of the tables would look like all. */
static void take_away(struct writing *writings)
{
    for (unsigned i = 0; i < DFT_TABLES; i++) {
        for (uint32_t n = 0; n < writings[i].named; n++) {
            char *path = part_path(&writings[i], n);

            if (path)
                unlink(path);
            free(path);
        }
    }
    dft_comm_agree(0); /* no rank has parts any more */
    for (unsigned i = 0; i < DFT_TABLES; i++)
        if (writings[i].is_made)
            rmdir(writings[i].directory);
}

static void note_aggregates(struct dft_source *source)
{
    if (dft_source_kept(source) != DFT_KEPT_ALL)
        dft_source_note(source, 0, "%s events were kept only as aggregates: the table rows has them, events does not",
                        dft_source_kept(source) == DFT_KEPT_NONE ? "all" : "some");
}

static int write_tables(struct writing *writings, struct dft_export *export, const char *directory,
                        const _Atomic int *stop)
{
    int rc = 0;

    for (unsigned i = 0; i < DFT_TABLES && !rc; i++)
        rc = begin(&writings[i], export, (enum dft_table_number)i, directory, stop);
    rc = dft_comm_agree(rc);
    for (unsigned i = 0; i < DFT_TABLES && !rc; i++)
        rc = dft_comm_agree(dft_comm_rank() ? 0 : make_directory(&writings[i]));
    if (!rc)
        note_aggregates(export->source);
    for (unsigned i = 0; i < DFT_TABLES && !rc; i++)
        rc = write_table(&writings[i]);
    return rc;
}

static int write_parquet(struct dft_export *export, const char *directory)
{
    struct writing writings[DFT_TABLES] = {0};
    int rc = write_tables(writings, export, directory, dft_source_interruptible(export->source));

    if (rc)
        take_away(writings);
    dft_source_uninterruptible(export->source);
    if (rc == -EINTR && !dft_comm_rank())
        fprintf(stderr, "dftmerge: %s: ended by a signal; nothing was written\n", directory);
    else if (rc && rc != DFT_EXPORT_SAID && !dft_comm_rank())
        dft_outfile_say(directory, rc);
    for (unsigned i = 0; i < DFT_TABLES; i++) {
        free(writings[i].directory);
        free(writings[i].parts);
    }
    return rc;
}

const struct dft_exporter dft_export_parquet = {"parquet", "tables as a directory of Parquet files", NULL,
                                                .write_files = write_parquet, .takes_rows = 1};
