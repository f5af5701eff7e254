/* SPDX-License-Identifier: MIT */
/* The source. Opening it finds and scans inputs, reads live files, and decides on coverage; see
 * source.h. */
#include "judge/source.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi/comm.h"
#include "intake/source_exchange.h"
#include "judge/source_copies.h"
#include "judge/source_cover.h"
#include "judge/source_ending.h"
#include "intake/source_find.h"
#include "intake/source_imported.h"
#include "object/source_inside.h"
#include "judge/source_job_names.h"
#include "judge/source_jobs.h"
#include "live/live.h"
#include "object/source_number.h"
#include "judge/source_parts.h"
#include "judge/source_process.h"
#include "judge/source_roles.h"
#include "judge/source_runs.h"
#include "judge/source_staged.h"
#include "judge/source_waits.h"

static int is_live_name(const char *path)
{
    size_t n = strlen(path);

    return n > 5 && !strcmp(path + n - 5, ".live");
}

static int make_files(struct dft_source *source, char *const *given, int count)
{
    char **paths;
    size_t found;
    int rc = dft_comm_rank() ? 0 : dft_find_inputs(source, given, count, &paths, &found);

    if (rc)
        return rc;
    if (dft_comm_rank()) {
        paths = NULL;
        found = 0;
    }
    source->files = calloc(found + 1, sizeof *source->files);
    if (!source->files || found > UINT32_MAX / 2) {
        for (size_t i = 0; i < found; i++)
            free(paths[i]);
        free(paths);
        return -ENOMEM;
    }
    source->nfiles = (uint32_t)found;
    for (size_t i = 0; i < found; i++) {
        source->files[i].path = paths[i];
        source->files[i].kind = is_live_name(paths[i]) ? DFT_FILE_LIVE : DFT_FILE_TRACE;
    }
    free(paths);
    return 0;
}

/* Reads what all files are made of, on the rank that has each, and makes processes and blocks of it. */
static int scan_all(struct dft_source *source)
{
    struct dft_scanned *scanned = calloc(source->nfiles + 1u, sizeof *scanned);
    int rc = dft_comm_agree(scanned ? dft_scan_files(source, scanned) : -ENOMEM);

    if (!rc)
        rc = dft_comm_agree(dft_imported_files(source, scanned));
    if (!rc)
        rc = dft_exchange_scanned(source, &scanned, 0);
    if (!rc && !dft_comm_rank())
        rc = dft_live_files(source, &scanned);
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_exchange_scanned(source, &scanned, 1);
    if (!rc)
        dft_scan_notes(source);
    if (!rc)
        rc = dft_source_collect(source, scanned);
    for (uint32_t f = 0; scanned && f < source->nfiles; f++)
        dft_scanned_fini(&scanned[f]);
    free(scanned);
    return rc;
}

static int number(struct dft_source *source, const struct dft_source_options *options)
{
    int rc = dft_live_processes(source);

    (void)options;
    if (!rc)
        rc = dft_source_number(source);
    if (!rc)
        dft_source_find_roles(source);
    return rc;
}

static int choose_runs(struct dft_source *source, const struct dft_source_options *options)
{
    int rc = dft_source_find_runs(source);

    if (!rc && (options->runs || options->newest))
        rc = dft_source_choose_runs(source, options->runs, options->newest);
    return rc;
}

static int choose_jobs(struct dft_source *source, const struct dft_source_options *options)
{
    int rc = dft_source_find_jobs(source);

    if (rc)
        return rc;
    if (!options->runs && !options->newest && !options->jobs)
        dft_source_note_runs(source);
    else if (options->note_newest)
        dft_source_note_newest(source);
    if (options->jobs)
        return dft_source_choose_jobs(source, options->jobs);
    dft_source_note_jobs(source);
    return 0;
}

/* Which blocks count, who waits for whom, and which traces are there twice. */
static int judge(struct dft_source *source, const struct dft_source_options *options)
{
    int rc = dft_source_cover(source);

    (void)options;
    if (!rc)
        rc = dft_source_find_waits(source);
    if (!rc)
        rc = dft_source_note_copies(source);
    return rc;
}

static int note_all(struct dft_source *source, const struct dft_source_options *options)
{
    (void)options;
    dft_live_notes(source);
    dft_groups_notes(source);
    dft_missing_notes(source);
    dft_staged_notes(source);
    return 0;
}

/* In this order: runs and jobs are chosen before blocks are judged. */
static int read_all(struct dft_source *source, const struct dft_source_options *options)
{
    static int (*const stages[])(struct dft_source * source, const struct dft_source_options *options) = {
        number, choose_runs, choose_jobs, judge, note_all};
    int rc = scan_all(source);

    for (size_t i = 0; !rc && i < sizeof stages / sizeof *stages; i++)
        rc = stages[i](source, options);
    rc = dft_comm_agree(rc);
    return rc ? rc : dft_exchange_notes(source);
}

/* Keeps the memory of a window of events for the next window. Otherwise the kernel would clear that
 * memory each time. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

int dft_source_open(struct dft_source **result, const struct dft_source_options *options)
{
    struct dft_source *source;
    int rc;

    keep_memory();
    source = dft_source_create(options);
    rc = dft_comm_agree(source ? make_files(source, options->paths, options->npaths) : -ENOMEM);

    *result = NULL;
    if (!rc)
        rc = dft_exchange_inputs(source);
    if (!rc)
        rc = read_all(source, options);
    if (rc) {
        dft_source_close(source);
        return rc;
    }
    *result = source;
    return 0;
}
