/* SPDX-License-Identifier: MIT */
/* Facts of the whole job: processes, ranks, wall time, what was lost. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "mpi/comm.h"
#include "object/source_node.h"
#include "format/notes.h"
#include "judge/source_ending.h"
#include "object/source_notes.h"

#define RANKS_MAX (1u << 24) /* a world size beyond it is not believed */

static int by_host_and_pid(const void *left, const void *right)
{
    const struct dft_source_process *a = *(const struct dft_source_process *const *)left;
    const struct dft_source_process *b = *(const struct dft_source_process *const *)right;
    struct dft_text x = a->process.host, y = b->process.host;
    uint32_t n = x.length < y.length ? x.length : y.length;
    int order = n ? memcmp(x.bytes, y.bytes, n) : 0;

    if (order || x.length != y.length)
        return order ? order : x.length < y.length ? -1 : 1;
    return a->process.pid < b->process.pid ? -1 : a->process.pid > b->process.pid;
}

static int same_host(const struct dft_source_process *a, const struct dft_source_process *b)
{
    return a->process.host.length == b->process.host.length &&
           (!a->process.host.length || !memcmp(a->process.host.bytes, b->process.host.bytes, a->process.host.length));
}

static int count_pids(struct dft_job *job, const struct dft_source_process *processes, uint32_t count)
{
    const struct dft_source_process **sorted = malloc((count + 1u) * sizeof *sorted);
    uint32_t n = 0;

    if (!sorted)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (!dft_process_is_node(&processes[i]))
            sorted[n++] = &processes[i];
    qsort(sorted, n, sizeof *sorted, by_host_and_pid);
    for (uint32_t i = 0; i < n; i++) {
        job->pids += !i || by_host_and_pid(&sorted[i - 1], &sorted[i]) != 0;
        job->hosts += !i || !same_host(sorted[i - 1], sorted[i]);
    }
    free(sorted);
    return 0;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* Adds the ranks of [from, to) to the list of those that are missing. */
static int add_missing(struct dft_job *job, uint32_t from, uint32_t to)
{
    uint32_t n = to - from, *bigger;

    if (n > DFT_MISSING_MAX - job->nmissing)
        n = DFT_MISSING_MAX - job->nmissing;
    if (!n)
        return 0;
    bigger = realloc(job->missing_ranks, (job->nmissing + n) * sizeof *bigger);
    if (!bigger)
        return -ENOMEM;
    job->missing_ranks = bigger;
    for (uint32_t i = 0; i < n; i++)
        bigger[job->nmissing++] = from + i;
    return 0;
}

/* Were events kept of some calls? */
static int keeps_events(const struct dft_source_process *process)
{
    uint64_t times[DFT_KEEP_COUNT + 1] = {0}, start, end;

    dft_process_lifetime(process, &start, &end);
    dft_kept_times(&process->process, start, end > start ? end : start + 1, times);
    return times[DFT_KEEP_EVENTS] || times[DFT_KEEP_SELECTED];
}

/* Gathers the ranks, as rank * 2 + (events were kept). Returns how many. */
static uint32_t gather_ranks(struct dft_job *job, uint32_t *ranks, const struct dft_source_process *processes,
                             uint32_t count)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct dft_process *process = &processes[i].process;

        if (process->world_size > job->world_size && process->world_size <= RANKS_MAX)
            job->world_size = process->world_size;
        if (process->rank < 0 || (uint32_t)process->rank >= RANKS_MAX)
            continue;
        ranks[n++] = (uint32_t)process->rank << 1 | (uint32_t)keeps_events(&processes[i]);
        if ((uint32_t)process->rank >= job->world_size)
            job->world_size = (uint32_t)process->rank + 1;
    }
    return n;
}

/* What is allocated depends on how many processes there are, not on what they say of the size of
 * their world. */
static int count_ranks(struct dft_job *job, const struct dft_source_process *processes, uint32_t count)
{
    uint32_t *ranks = malloc((count + 1u) * sizeof *ranks), n, next = 0;
    int rc = 0;

    if (!ranks)
        return -ENOMEM;
    n = gather_ranks(job, ranks, processes, count);
    if (n)
        qsort(ranks, n, sizeof *ranks, by_number);
    for (uint32_t i = 0; !rc && i < n; i++) {
        uint32_t rank = ranks[i] >> 1;

        if (i + 1 == n || ranks[i + 1] >> 1 != rank) /* the last entry of a rank says it */
            job->ranks_with_events += ranks[i] & 1;
        if (i && rank == ranks[i - 1] >> 1)
            continue;
        job->ranks++;
        rc = add_missing(job, next, rank);
        next = rank + 1;
    }
    if (!rc && n)
        rc = add_missing(job, next, job->world_size);
    free(ranks);
    return rc;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Threads are distinguished by the ids that their blocks carry. */
static int count_threads(struct dft_job *job, const struct dft_source *source,
                         const struct dft_source_process *processes, uint32_t count)
{
    size_t nblocks, n = 0;
    const struct dft_block *blocks = dft_source_blocks(source, &nblocks);
    uint64_t *threads = malloc((nblocks + 1) * sizeof *threads);
    size_t at = 0;

    job->threads_of = calloc(count + 1u, sizeof *job->threads_of);
    if (!threads || !job->threads_of) {
        free(threads);
        return -ENOMEM;
    }
    for (size_t i = 0; i < nblocks; i++)
        if (blocks[i].use && blocks[i].count)
            threads[n++] = (uint64_t)blocks[i].process << 32 | blocks[i].tid;
    qsort(threads, n, sizeof *threads, by_value);
    for (uint32_t p = 0; p < count; p++) {
        uint64_t start, end, own = 0;

        for (; at < n && threads[at] >> 32 == p; at++)
            own += !at || threads[at] != threads[at - 1];
        if (dft_process_is_node(&processes[p]))
            continue;
        own = own ? own : 1;
        job->threads_of[p] = own;
        dft_process_lifetime(&processes[p], &start, &end);
        job->threads += own;
        job->threads_ns += own * (end - start);
    }
    free(threads);
    return 0;
}

/* Pauses of threads take a share of their process's life: one in four threads, a quarter. */
static void add_pauses(struct dft_job *job, const struct dft_source_process *process)
{
    uint64_t start, end, own[DFT_KEEP_COUNT + 1] = {0}, part;
    int is_cut = process->exit_kind == DFT_ENDING_KILLED || process->exit_kind == DFT_ENDING_UNKNOWN;
    struct dft_kept_reader reader;
    struct dft_kept_span kept = {0};

    dft_process_lifetime(process, &start, &end);
    for (dft_kept_begin(&reader, &process->process, end); dft_kept_next(&reader, &kept);)
        if (kept.known && kept.keep == DFT_KEEP_NOTHING) {
            job->controlled += kept.why == DFT_KEEP_WHY_CONTROL;
            job->paused += kept.why != DFT_KEEP_WHY_CONTROL;
        }
    job->paused += process->end.pauses;
    is_cut &= !dft_process_is_node(process);
    job->endless_pauses += is_cut && kept.known && kept.keep == DFT_KEEP_NOTHING;
    job->paused_longer |= is_cut && ((kept.known && kept.keep == DFT_KEEP_NOTHING) || process->end.pauses);
    dft_kept_times(&process->process, start, end, own);
    part = process->end.paused_ns / (job->threads_of[process->number] ? job->threads_of[process->number] : 1);
    for (unsigned keep = 0; keep <= DFT_KEEP_COUNT; keep++) {
        uint64_t taken = keep == DFT_KEEP_NOTHING ? 0 : own[keep] < part ? own[keep] : part;

        part -= taken;
        job->kept_ns[keep] += own[keep] - taken;
        job->kept_ns[DFT_KEEP_NOTHING] += taken;
    }
}

static void add_process(struct dft_job *job, const struct dft_source_process *process)
{
    uint64_t missing = dft_source_missing(process);

    job->missing += missing;
    job->noted += missing != 0;
    for (unsigned reason = 0; reason <= DFT_DROP_LAST; reason++)
        job->dropped[reason] += process->end.dropped[reason];
    job->args_cut += process->end.misuse[DFT_MISUSE_ARG_CUT];
    job->overhead_ns += process->end.overhead_ns;
    job->killed += dft_process_is_killed(process) != 0;
    job->recovered += process->exit_kind == DFT_ENDING_RUNNING || process->unseen ? 0 : process->recovered;
    job->unseen += process->exit_kind == DFT_ENDING_UNKNOWN && process->unseen;
    job->running += process->exit_kind == DFT_ENDING_RUNNING;
    job->ioless += dft_source_has_line(process->process.notes, DFT_NOTES_LATE, strlen(DFT_NOTES_LATE)) != 0;
    job->rewritten += dft_source_was_rewritten(process) != 0;
    job->endless += process->known && !process->ended && !process->live_file;
    if (process->known && process->process.exe.length &&
        (!job->first || process->process.start_ns < job->first->process.start_ns))
        job->first = process;
}

static struct dft_text common_cwd(const struct dft_source_process *processes, uint32_t count)
{
    struct dft_text cwd = {0};

    for (uint32_t i = 0; i < count; i++) {
        struct dft_text own = processes[i].process.cwd;

        if (!processes[i].known || dft_process_is_node(&processes[i]))
            continue;
        if (cwd.bytes && (cwd.length != own.length || (own.length && memcmp(cwd.bytes, own.bytes, own.length))))
            return (struct dft_text){0};
        cwd = own;
    }
    return cwd.length > 1 ? cwd : (struct dft_text){0}; /* all paths are below / */
}

const char *dft_job_short_path(const struct dft_job *job, const char *path)
{
    struct dft_text cwd = job->cwd;

    if (!cwd.length || strncmp(path, cwd.bytes, cwd.length) != 0 || path[cwd.length] != '/')
        return path;
    return path[cwd.length + 1] ? path + cwd.length + 1 : ".";
}

int dft_job_collect(struct dft_job *job, struct dft_source *source)
{
    const struct dft_source_process *processes;
    const struct dft_source_file *files;
    uint32_t count, nfiles;
    uint64_t end;
    int rc;

    memset(job, 0, sizeof *job);
    pthread_mutex_init(&job->flights.lock, NULL);
    processes = dft_source_processes(source, &count);
    files = dft_source_files(source, &nfiles);
    dft_source_lives(source, &job->start_ns, &end);
    job->wall_ns = end - job->start_ns;
    for (uint32_t i = 0; i < count; i++) {
        job->processes += !dft_process_is_node(&processes[i]);
        add_process(job, &processes[i]);
    }
    for (uint32_t f = 0; f < nfiles; f++) {
        job->damaged += files[f].skipped.damaged;
        job->noted += files[f].skipped.damaged != 0;
    }
    job->cwd = common_cwd(processes, count);
    rc = count_pids(job, processes, count);
    if (!rc)
        rc = count_threads(job, source, processes, count);
    for (uint32_t i = 0; !rc && i < count; i++)
        add_pauses(job, &processes[i]);
    if (!rc)
        rc = count_ranks(job, processes, count);
    if (!rc)
        rc = dft_fates_find(&job->fates, source, NULL);
    rc = dft_comm_agree(rc);
    if (!rc)
        rc = dft_flights_fetch(&job->flights, source);
    if (rc)
        dft_job_fini(job);
    return rc;
}

uint64_t dft_job_unread(const struct dft_job *job, struct dft_source *source)
{
    uint64_t unread = dft_source_unread(source);

    return unread > job->noted ? unread - job->noted : 0;
}

void dft_job_fini(struct dft_job *job)
{
    free(job->missing_ranks);
    job->missing_ranks = NULL;
    free(job->threads_of);
    job->threads_of = NULL;
    dft_fates_free(&job->fates);
    dft_flights_free(&job->flights);
    job->flights.list = NULL;
    job->flights.count = 0;
}
