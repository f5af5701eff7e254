/* SPDX-License-Identifier: MIT */
/* Runs: the processes that were started together, as far as they say so themselves.
 *
 * Only an identity that its processes carry tells a run apart. That is the identity of dftrun,
 * which children inherit, else the id of the launcher's job. Processes with neither form one run
 * without a name. So do processes of other tracers. This run is left out only where the user asks
 * for a run by name. */
#include "source/source_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "source/source_inside.h"
#include "base/write_text.h"
#include "source/source_job_names.h"
#include "source/source_notes.h"
#include "source/source_span.h"
#include "format/hash.h"

#define NO_ID 1u /* stands for a missing id among hashes */

static struct dft_text id_of(const struct dft_process *process)
{
    return process->run_id.length ? process->run_id : process->job_id;
}

/* Orders runs by start. The run without a name comes first. */
static int by_time(const void *left, const void *right)
{
    const struct dft_source_job *a = left, *b = right;

    if (!a->id.length != !b->id.length)
        return a->id.length ? 1 : -1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->id_hash < b->id_hash ? -1 : a->id_hash > b->id_hash;
}

static int number_runs(struct dft_source *source, const uint64_t *start_ns, const uint64_t *end_ns)
{
    struct dft_map map = {0}; /* hash of the id -> number + 1 */
    uint64_t *place = NULL;

    for (uint32_t p = 0; p < source->nprocesses; p++) {
        struct dft_text id = id_of(&source->processes[p].process);
        uint64_t hash = id.length ? dft_name_id(id.bytes, id.length) : 0;
        uint32_t number;

        place = dft_map_put(&map, hash ? hash : NO_ID);
        if (!place)
            break;
        if (!*place) {
            source->runs[source->nruns] = (struct dft_source_job){.id = id, .id_hash = hash, .number = source->nruns};
            *place = ++source->nruns;
        }
        number = (uint32_t)*place - 1;
        dft_source_job_widen(&source->runs[number], start_ns[p], end_ns[p]);
        source->runs[number].processes++;
        source->processes[p].run = number + 1;
    }
    dft_map_fini(&map);
    return place || !source->nprocesses ? 0 : -ENOMEM;
}

static int name_runs(struct dft_source *source)
{
    uint32_t *place = calloc(source->nruns + 1u, sizeof *place);
    int rc = place ? 0 : -ENOMEM;

    qsort(source->runs, source->nruns, sizeof *source->runs, by_time);
    for (uint32_t r = 0; !rc && r < source->nruns; r++) {
        struct dft_source_job *run = &source->runs[r];

        place[run->number] = r + 1;
        run->number = r;
        run->name = run->id.length ? dft_text_escaped(run->id.bytes, run->id.length) : strdup("unnamed");
        rc = run->name ? 0 : -ENOMEM;
    }
    for (uint32_t p = 0; !rc && p < source->nprocesses; p++)
        source->processes[p].run = place[source->processes[p].run - 1];
    free(place);
    return rc;
}

/* Counts groups of lives that no other life reaches. The groups follow each other in time. */
static uint32_t count_apart(const struct dft_source *source, struct dft_span *lives, const uint64_t *start_ns,
                            const uint64_t *end_ns)
{
    uint32_t n = 0, apart = 0;
    uint64_t end = 0;

    for (uint32_t p = 0; p < source->nprocesses; p++)
        if (!source->runs[source->processes[p].run - 1].id.length)
            lives[n++] = (struct dft_span){start_ns[p], end_ns[p]};
    qsort(lives, n, sizeof *lives, dft_span_by_first);
    for (uint32_t i = 0; i < n; i++) {
        apart += !i || lives[i].first > end;
        end = lives[i].last > end ? lives[i].last : end;
    }
    return apart;
}

int dft_source_find_runs(struct dft_source *source)
{
    size_t n = source->nprocesses + 1u;
    uint64_t *start_ns = calloc(n, sizeof *start_ns), *end_ns = calloc(n, sizeof *end_ns);
    struct dft_span *lives = calloc(n, sizeof *lives);
    int rc;

    source->runs = calloc(n, sizeof *source->runs);
    rc = source->runs && start_ns && end_ns && lives ? 0 : -ENOMEM;
    if (!rc) {
        dft_source_find_lives(source, start_ns, end_ns);
        rc = number_runs(source, start_ns, end_ns);
    }
    if (!rc)
        rc = name_runs(source);
    if (!rc)
        source->unnamed_apart = count_apart(source, lives, start_ns, end_ns);
    free(start_ns);
    free(end_ns);
    free(lives);
    return rc;
}

/* --- --run ------------------------------------------------------------------------------------ */

static void note_missing(struct dft_source *source, const char *patterns)
{
    char *list = dft_source_list_jobs(source->runs, source->nruns);

    dft_source_note(source, 1, "no run %s is here; there %s %s", patterns, source->nruns == 1 ? "is" : "are",
                    list ? list : "others");
    free(list);
}

/* Leaves out all runs but the last that began. The run without a name stays. */
static void leave_older(struct dft_source *source)
{
    for (uint32_t r = 0; r + 1 < source->nruns; r++)
        source->runs[r].left_out = source->runs[r].id.length != 0;
}

static int leave_others(struct dft_source *source, const char *patterns)
{
    int any = 0;

    for (uint32_t r = 0; r < source->nruns; r++) {
        int fits = dft_source_name_fits(patterns, source->runs[r].name);

        if (fits < 0)
            return fits;
        source->runs[r].left_out = !fits;
        any |= fits;
    }
    if (!any && source->nruns)
        note_missing(source, patterns);
    return 0;
}

int dft_source_choose_runs(struct dft_source *source, const char *patterns, int newest)
{
    uint8_t *keep = calloc(source->nprocesses + 1u, 1);
    int rc = keep ? 0 : -ENOMEM;

    if (!rc && patterns)
        rc = leave_others(source, patterns);
    else if (newest)
        leave_older(source);
    for (uint32_t p = 0; !rc && p < source->nprocesses; p++)
        keep[p] = !source->runs[source->processes[p].run - 1].left_out;
    if (!rc)
        rc = dft_source_keep_processes(source, keep);
    free(keep);
    return rc;
}

void dft_source_note_newest(struct dft_source *source)
{
    uint32_t named = source->nruns - (source->nruns && !source->runs[0].id.length);

    if (named > 1)
        dft_source_note(source, 0, "%s is the newest of %u runs here; run all takes all of them, run NAME another one",
                        source->runs[source->nruns - 1].name, named);
}

void dft_source_note_runs(struct dft_source *source)
{
    char *list;

    /* another note tells of jobs */
    if (source->nruns < 2u + !source->runs[0].id.length || source->njobs > 1)
        return;
    list = dft_source_list_jobs(source->runs, source->nruns);
    if (list)
        dft_source_note(source, 0, "%u runs are together here: %s; --run NAME takes one", source->nruns, list);
    free(list);
}
