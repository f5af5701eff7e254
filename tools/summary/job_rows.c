/* SPDX-License-Identifier: MIT */
/* Owns what a row of a job says, and how many jobs are read for it. */
#include "summary/job_rows.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/glob.h"
#include "base/write_text.h"
#include "mpi/comm.h"
#include "judge/source.h"
#include "object/source_node.h"

#define ROWS     40u
#define READ_MAX (UINT64_C(256) << 20) /* bytes of traces that are read for rows, the newest first */

/* --- one job ---------------------------------------------------------------------------------- */

/* Rank 0 alone, which writes it, asks who that is. */
static char *owner_of(const char *path)
{
    const struct passwd *user;
    struct stat st;
    char number[DFT_TEXT_ROOM];

    if (dft_comm_rank() || stat(path, &st))
        return NULL;
    user = getpwuid(st.st_uid);
    snprintf(number, sizeof number, "%u", (unsigned)st.st_uid);
    return user ? dft_text_escaped(user->pw_name, strlen(user->pw_name)) : strdup(number);
}

/* What a process became by execs: its last image. Processes are in order of start. */
static const struct dft_source_process *last_image(const struct dft_source *source,
                                                   const struct dft_source_process *process)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);

    for (uint32_t i = process->number + 1; i < count && process->exit_kind == DFT_ENDING_EXEC; i++)
        if (processes[i].process.pid == process->process.pid)
            process = &processes[i];
    return process;
}

/* Processes that stand for a machine do nothing. */
static void take_processes(struct dft_job_row *row, const struct dft_source *source, const struct dft_job *job)
{
    uint32_t count, files;
    const struct dft_source_process *processes = dft_source_processes(source, &count), *first = NULL;
    struct dft_text program;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t start, end;

        if (dft_process_is_node(&processes[i]))
            continue;
        dft_process_lifetime(&processes[i], &start, &end);
        row->lives_ns += end > start ? end - start : 0;
        if (!first && processes[i].process.rank >= 0)
            first = &processes[i];
    }
    if (!first && job->first)
        first = &processes[job->first->number];
    if (!first)
        return;
    first = last_image(source, first);
    program = dft_filter_trait(&first->process, DFT_FILTER_PROGRAM);
    row->program = dft_text_escaped(program.bytes, program.length);
    row->user = owner_of(dft_source_files(source, &files)[first->file].path);
}

/* The first accident, else how the first process ended. */
static char *ended_of(const struct dft_source *source, const struct dft_job *job)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    const struct dft_source_process *of = job->fates.first ? &processes[job->fates.first - 1] : job->first;
    char text[DFT_ENDED_ROOM], *ended = NULL;

    if (!of)
        return NULL;
    if (!job->fates.first && job->running)
        return strdup("running");
    dft_process_ended(text, last_image(source, of));
    if (!job->fates.first || of->process.rank < 0)
        return strdup(text);
    return asprintf(&ended, "rank %d %s", of->process.rank, text) < 0 ? NULL : ended;
}

static int take_findings(struct dft_job_row *row, struct dft_source *source, const struct dft_job *job,
                         const struct dft_limits *limits)
{
    struct dft_findings findings;
    struct dft_filter all;
    struct dft_answer io = {0};
    const struct dft_query_request more = {.query = {.by = {DFT_BY_CLASS}, .nby = 1, .classes = DFT_CLASSES_IO},
                                           .answer = &io};
    int rc;

    dft_filter_init(&all);
    rc = dft_findings_make(
        &(struct dft_findings_request){
            .source = source, .filter = &all, .job = job, .limits = limits, .more = &more, .nmore = 1},
        &findings);
    if (!rc) {
        row->io_ns = io.all.time_ns;
        if (findings.count) {
            row->finding = strdup(findings.list[0].title);
            row->finding_ns = dft_finding_cost_ns(&findings.list[0]);
            row->finding_of_ns = findings.list[0].job_ns ? findings.list[0].job_ns : findings.list[0].of_ns;
        }
        dft_findings_fini(&findings);
    }
    dft_answer_fini(&io);
    dft_filter_fini(&all);
    return rc;
}

static int read_row(struct dft_job_row *row, const struct dft_summary *summary,
                    const struct dft_source_options *options)
{
    struct dft_source *source;
    struct dft_job job;
    uint32_t jobs;
    const struct dft_source_job *named;
    int rc = dft_source_open(&source, options);

    if (rc)
        return rc;
    rc = dft_job_collect(&job, source);
    if (!rc) {
        take_processes(row, source, &job);
        row->ranks = job.ranks;
        row->ended = ended_of(source, &job);
        named = dft_source_jobs(source, &jobs);
        row->job = jobs == 1 ? strdup(named[0].name) : NULL;
        rc = take_findings(row, source, &job, &summary->limits);
    }
    row->was_read = !rc;
    dft_job_fini(&job);
    dft_source_close(source);
    return rc;
}

/* --- which of them ---------------------------------------------------------------------------- */

/* How often the files of a source have to do with a run, or with any. */
struct claims {
    const struct dft_source *source; /* of all runs */
    uint8_t *any, *own;              /* by file */
};

static void claim(const struct claims *claims, uint32_t file, int is_own)
{
    claims->any[file] = 1;
    claims->own[file] |= (uint8_t)is_own;
}

/* A file with nothing but the end of a process belongs to no run: it is read for each. */
static void find_files(const struct claims *claims, uint32_t run)
{
    uint32_t nfiles, count;
    const struct dft_source_process *processes = dft_source_processes(claims->source, &count);
    size_t nblocks;
    const struct dft_block *blocks = dft_source_blocks(claims->source, &nblocks);

    dft_source_files(claims->source, &nfiles);
    memset(claims->own, 0, nfiles);
    for (uint32_t i = 0; i < count; i++) {
        claim(claims, processes[i].file, processes[i].run == run + 1);
        if (processes[i].live_file)
            claim(claims, processes[i].live_file - 1, processes[i].run == run + 1);
    }
    for (size_t i = 0; i < nblocks; i++)
        claim(claims, blocks[i].file, processes[blocks[i].process].run == run + 1);
    for (uint32_t f = 0; f < nfiles; f++)
        claims->own[f] |= !claims->any[f];
}

/* Opens the files of a run alone. Jobs are distinguished by all files. */
static int read_one(struct dft_job_row *row, const struct dft_summary *summary, const struct claims *claims,
                    uint64_t *left)
{
    struct dft_source_options options = summary->options->source;
    int is_run = claims->any != NULL;
    uint32_t nfiles;
    const struct dft_source_file *files = dft_source_files(claims->source, &nfiles);
    char **paths = malloc((nfiles + 1u) * sizeof *paths), *pattern = dft_glob_of_name(row->launch->name);
    uint64_t bytes = 0;
    int rc = dft_comm_agree(paths && pattern ? 0 : -ENOMEM), npaths = 0;

    if (!rc && is_run)
        find_files(claims, row->launch->number);
    for (uint32_t f = 0; !rc && f < nfiles; f++) {
        if (is_run && !claims->own[f])
            continue;
        bytes += files[f].bytes;
        paths[npaths++] = (char *)(uintptr_t)files[f].path;
    }
    options.newest = options.note_newest = 0;
    options.quiet = 1;
    options.runs = is_run ? pattern : NULL;
    options.jobs = is_run ? NULL : pattern;
    options.paths = paths;
    options.npaths = npaths;
    if (!rc && bytes <= *left)
        rc = read_row(row, summary, &options);
    *left = bytes < *left ? *left - bytes : 0;
    free(pattern);
    free(paths);
    return rc;
}

/* Where the newest run alone is in the source of the page, all are opened once more. */
static int read_rows(struct dft_job_rows *rows, const struct dft_summary *summary, int are_runs)
{
    struct dft_source_options options = summary->options->source;
    struct dft_source *source = NULL;
    struct claims claims = {.source = summary->source};
    uint64_t left = READ_MAX;
    uint32_t nfiles;
    int rc = 0;

    options.newest = options.note_newest = 0;
    options.quiet = 1;
    if (are_runs && summary->options->source.newest) {
        rc = dft_source_open(&source, &options);
        if (rc)
            return rc;
        claims.source = source;
    }
    if (are_runs) {
        dft_source_files(claims.source, &nfiles);
        claims.any = calloc(nfiles + 1u, 1);
        claims.own = calloc(nfiles + 1u, 1);
        rc = dft_comm_agree(claims.any && claims.own ? 0 : -ENOMEM);
    }
    for (uint32_t i = 0; !rc && left && i < rows->count; i++)
        rc = read_one(&rows->list[i], summary, &claims, &left);
    free(claims.any);
    free(claims.own);
    dft_source_close(source);
    return rc;
}

/* Does --job take each of them, and no other with it? */
static int have_jobs(const struct dft_job_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        if (!rows->list[i].job)
            return 0;
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(rows->list[i].job, rows->list[k].job))
                return 0;
    }
    return 1;
}

int dft_job_rows_make(struct dft_job_rows *rows, struct dft_summary *summary)
{
    const struct dft_options *options = summary->options;
    uint32_t nruns, njobs, named = 0;
    const struct dft_source_job *runs = dft_source_runs(summary->source, &nruns, NULL);
    const struct dft_source_job *jobs = dft_source_jobs(summary->source, &njobs), *all;
    uint32_t count;
    int rc;

    *rows = (struct dft_job_rows){0};
    for (uint32_t i = 0; i < nruns; i++)
        named += runs[i].id.length != 0;
    if ((named < 2 && njobs < 2) || summary->by || options->source.runs || options->source.jobs ||
        dft_filter_has_any(&options->filter))
        return 0;
    all = named > 1 ? runs : jobs;
    count = named > 1 ? nruns : njobs;
    rows->count = count < ROWS ? count : ROWS;
    rows->older = count - rows->count;
    rows->is_one_shown = named > 1 && options->source.newest;
    rows->list = calloc(rows->count, sizeof *rows->list);
    rc = dft_comm_agree(rows->list ? 0 : -ENOMEM);
    for (uint32_t i = 0; !rc && i < rows->count; i++)
        rows->list[i].launch = &all[count - 1 - i];
    if (!rc)
        rc = read_rows(rows, summary, named > 1);
    rows->are_jobs = !rc && (named < 2 || have_jobs(rows));
    return rc;
}

void dft_job_rows_free(struct dft_job_rows *rows)
{
    for (uint32_t i = 0; rows->list && i < rows->count; i++) {
        free(rows->list[i].job);
        free(rows->list[i].user);
        free(rows->list[i].program);
        free(rows->list[i].ended);
        free(rows->list[i].finding);
    }
    free(rows->list);
    *rows = (struct dft_job_rows){0};
}
