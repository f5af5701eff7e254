/* SPDX-License-Identifier: MIT */
/* Jobs of a source: their order and names, the notes about them, and the choice of --job. */
#include "judge/source_job_names.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "object/source_inside.h"
#include "base/write_text.h"
#include "object/source_notes.h"
#include "object/source_number.h"

#define SHOWN_MAX 8

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_time(const void *left, const void *right)
{
    const struct dft_source_job *a = left, *b = right;
    int order = compare_numbers(a->start_ns, b->start_ns);

    order = order ? order : compare_numbers(a->id_hash, b->id_hash);
    return order ? order : compare_numbers(a->number, b->number);
}

/* Names a job "4711". Names several jobs of one id "4711/1" and "4711/2", and jobs without an id
 * "unnamed". */
static int name_one(struct dft_source *source, uint32_t number)
{
    struct dft_source_job *job = &source->jobs[number];
    struct dft_text id = job->id.length ? job->id : (struct dft_text){"unnamed", 7};
    char *text = dft_text_escaped(id.bytes, id.length);
    uint32_t same = 0, before = 0;
    int n = -1;

    for (uint32_t j = 0; j < source->njobs; j++) {
        int is_same = source->jobs[j].id_hash == job->id_hash;

        same += (uint32_t)is_same;
        before += (uint32_t)(is_same && j < number);
    }
    if (text && same > 1)
        n = asprintf(&job->name, "%s/%u", text, before + 1);
    else if (text)
        n = asprintf(&job->name, "%s", text);
    free(text);
    if (n < 0)
        job->name = NULL;
    return n < 0 ? -ENOMEM : 0;
}

int dft_source_name_jobs(struct dft_source *source, const uint32_t *job_of)
{
    uint32_t *place = calloc(source->njobs + 1u, sizeof *place);
    int rc = place ? 0 : -ENOMEM;

    qsort(source->jobs, source->njobs, sizeof *source->jobs, by_time);
    for (uint32_t j = 0; !rc && j < source->njobs; j++)
        place[source->jobs[j].number + 1] = j + 1;
    for (uint32_t p = 0; !rc && p < source->nprocesses; p++) {
        source->processes[p].job = place[job_of[p]];
        if (job_of[p])
            source->jobs[place[job_of[p]] - 1].processes++;
    }
    for (uint32_t j = 0; !rc && j < source->njobs; j++) {
        source->jobs[j].number = j;
        rc = name_one(source, j);
    }
    free(place);
    return rc;
}

/* --- when they were --------------------------------------------------------------------------- */

void dft_source_job_widen(struct dft_source_job *job, uint64_t start_ns, uint64_t end_ns)
{
    if (!job->start_ns || (start_ns && start_ns < job->start_ns))
        job->start_ns = start_ns;
    if (end_ns > job->end_ns)
        job->end_ns = end_ns;
}

/* --- what is reported of them ----------------------------------------------------------------- */

static void print_job(FILE *out, const struct dft_source_job *job)
{
    time_t seconds = (time_t)(job->start_ns / 1000000000);
    char when[64];
    struct tm tm;

    fprintf(out, "%s (", job->name);
    if (job->ranks && job->world_size)
        fprintf(out, "%u of %u ranks", job->ranks, job->world_size);
    else if (job->ranks)
        fprintf(out, "%u rank%s", job->ranks, job->ranks == 1 ? "" : "s");
    else
        fprintf(out, "%u process%s", job->processes, job->processes == 1 ? "" : "es");
    if (job->start_ns && gmtime_r(&seconds, &tm) && strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm))
        fprintf(out, ", from %s", when);
    putc(')', out);
}

char *dft_source_list_jobs(const struct dft_source_job *jobs, uint32_t count)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    for (uint32_t j = 0; j < count && j < SHOWN_MAX; j++) {
        fputs(j ? ", " : "", out);
        print_job(out, &jobs[j]);
    }
    if (count > SHOWN_MAX)
        fprintf(out, " and %u more", count - SHOWN_MAX);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* --- --job ------------------------------------------------------------------------------------ */

/* Does a name fit one of the patterns between commas, either whole or in front of its '/'? Returns
 * -ENOMEM without memory. */
int dft_source_name_fits(const char *patterns, const char *name)
{
    char *copy = strdup(patterns), *head = strdup(name), *slash, *save = NULL;
    int found = 0;

    if (!copy || !head) {
        found = -ENOMEM;
    } else {
        slash = strrchr(head, '/');
        if (slash)
            *slash = 0;
        for (char *one = strtok_r(copy, ",", &save); one && !found; one = strtok_r(NULL, ",", &save))
            found = !fnmatch(one, name, 0) || !fnmatch(one, head, 0);
    }
    free(copy);
    free(head);
    return found;
}

/* Keeps only the processes with keep[], and their blocks. Gives both new numbers. */
int dft_source_keep_processes(struct dft_source *source, const uint8_t *keep)
{
    uint32_t *number = calloc(source->nprocesses + 1u, sizeof *number), n = 0;
    size_t blocks = 0;

    if (!number)
        return -ENOMEM;
    for (uint32_t p = 0; p < source->nprocesses; p++) {
        number[p] = n;
        if (!keep[p])
            continue;
        source->processes[n] = source->processes[p];
        source->processes[n].number = n;
        n++;
    }
    for (size_t i = 0; i < source->nblocks; i++) {
        struct dft_block *block = &source->blocks[i];

        if (!keep[block->process])
            continue;
        source->blocks[blocks] = *block;
        source->blocks[blocks++].process = number[block->process];
    }
    source->nprocesses = n;
    source->nblocks = blocks;
    dft_source_list_keys(source);
    free(number);
    return 0;
}

/* Keeps only the jobs with chosen[number + 1], with their names. */
static int keep_jobs(struct dft_source *source, const uint8_t *chosen)
{
    uint32_t n = 0, *place = calloc(source->njobs + 1u, sizeof *place);

    if (!place)
        return -ENOMEM;

    for (uint32_t j = 0; j < source->njobs; j++) {
        if (!chosen[j + 1]) {
            free(source->jobs[j].name);
            continue;
        }
        source->jobs[n] = source->jobs[j];
        source->jobs[n].number = n;
        place[j + 1] = ++n;
    }
    source->njobs = n;
    for (uint32_t p = 0; p < source->nprocesses; p++)
        source->processes[p].job = place[source->processes[p].job];
    free(place);
    return 0;
}

int dft_source_choose_jobs(struct dft_source *source, const char *patterns)
{
    uint8_t *chosen = calloc(source->njobs + 1u, 1), *keep = calloc(source->nprocesses + 1u, 1);
    int rc = chosen && keep ? 0 : -ENOMEM, any = 0;

    for (uint32_t j = 0; !rc && j < source->njobs; j++) {
        int found = dft_source_name_fits(patterns, source->jobs[j].name);

        rc = found < 0 ? found : 0;
        chosen[j + 1] = found > 0;
        any |= found > 0;
    }
    for (uint32_t p = 0; !rc && p < source->nprocesses; p++)
        keep[p] = chosen[source->processes[p].job];
    if (!rc && !any && source->nprocesses) {
        char *list = dft_source_list_jobs(source->jobs, source->njobs);

        dft_source_note(source, DFT_BAD_OTHER, "no job %s is here; %s%s", patterns,
                        source->njobs ? "there are " : "none has a name", list ? list : "");
        free(list);
    }
    if (!rc)
        rc = dft_source_keep_processes(source, keep);
    if (!rc)
        rc = keep_jobs(source, chosen);
    free(chosen);
    free(keep);
    return rc;
}

void dft_source_note_jobs(struct dft_source *source)
{
    uint32_t alone = 0;
    char *list;

    for (uint32_t p = 0; p < source->nprocesses; p++)
        alone += !source->processes[p].job;
    if (source->njobs < 2)
        return;
    list = dft_source_list_jobs(source->jobs, source->njobs);
    if (list && alone)
        dft_source_note(source, 0, "%u jobs are together here: %s, and %u process%s of none; --job NAME takes one",
                        source->njobs, list, alone, alone == 1 ? "" : "es");
    else if (list)
        dft_source_note(source, 0, "%u jobs are together here: %s; --job NAME takes one", source->njobs, list);
    free(list);
}
