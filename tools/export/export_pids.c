/* SPDX-License-Identifier: MIT */
/* Process ids for viewers. Pids are unique only within a host and a pid namespace. */
#include "export/export_pids.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_hosts(struct dft_text a, struct dft_text b)
{
    uint32_t shorter = a.length < b.length ? a.length : b.length;
    int order = shorter ? memcmp(a.bytes, b.bytes, shorter) : 0;

    return order ? order : compare(a.length, b.length);
}

/* qsort passes no context; this command sorts in one thread */
static const struct dft_pids *sorting;

static int by_process(const void *a, const void *b)
{
    const struct dft_source_process *x = &sorting->processes[*(const uint32_t *)a];
    const struct dft_source_process *y = &sorting->processes[*(const uint32_t *)b];
    int order = compare(x->process.pid, y->process.pid);

    if (!order)
        order = compare_hosts(x->process.host, y->process.host);
    if (!order)
        order = compare(x->process.start_ns, y->process.start_ns);
    return order ? order : compare(x->key, y->key);
}

static int same_process(const struct dft_source_process *a, const struct dft_source_process *b)
{
    return a->process.pid == b->process.pid && compare_hosts(a->process.host, b->process.host) == 0;
}

static int by_shown(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = compare(sorting->shown[x], sorting->shown[y]);

    return order ? order : by_process(a, b);
}

int dft_pids_make(struct dft_pids *pids, const struct dft_source *source, const struct dft_filter *filter)
{
    uint32_t next = 1;

    *pids = (struct dft_pids){.source = source, .filter = filter};
    pids->processes = dft_source_processes(source, &pids->count);
    pids->shown = calloc(pids->count + 1u, sizeof(*pids->shown));
    pids->order = calloc(pids->count + 1u, sizeof(*pids->order));
    if (!pids->shown || !pids->order)
        return -ENOMEM;
    for (uint32_t i = 0; i < pids->count; i++) {
        pids->order[i] = i;
        if (pids->processes[i].process.pid >= next)
            next = pids->processes[i].process.pid + 1;
    }
    sorting = pids;
    qsort(pids->order, pids->count, sizeof(*pids->order), by_process);
    for (uint32_t i = 0; i < pids->count; i++) {
        const struct dft_source_process *p = &pids->processes[pids->order[i]];
        const struct dft_source_process *before = i ? &pids->processes[pids->order[i - 1]] : NULL;

        if (before && same_process(p, before))
            pids->shown[pids->order[i]] = pids->shown[pids->order[i - 1]];
        else if (!p->process.pid || (before && before->process.pid == p->process.pid))
            pids->shown[pids->order[i]] = next++;
        else
            pids->shown[pids->order[i]] = p->process.pid;
    }
    qsort(pids->order, pids->count, sizeof(*pids->order), by_shown);
    return 0;
}

void dft_pids_free(struct dft_pids *pids)
{
    free(pids->shown);
    free(pids->order);
}

/* --- names and threads ------------------------------------------------------------------------ */

/* Threads that have events, by shown number: (shown << 32 | tid), sorted, each thread once. */
static int by_number(const void *a, const void *b)
{
    return compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int collect_threads(const struct dft_pids *pids, uint64_t **threads, size_t *count)
{
    size_t nblocks, n = 0, unique = 0;
    const struct dft_block *blocks = dft_source_blocks(pids->source, &nblocks);

    *threads = calloc(nblocks + 1, sizeof(**threads));
    if (!*threads)
        return -ENOMEM;
    for (size_t i = 0; i < nblocks; i++) {
        uint64_t one = (uint64_t)pids->shown[blocks[i].process] << 32 | blocks[i].tid;

        if (blocks[i].type == DFT_BLOCK_EVENTS && blocks[i].count && (!n || (*threads)[n - 1] != one))
            (*threads)[n++] = one;
    }
    qsort(*threads, n, sizeof(**threads), by_number);
    for (size_t i = 0; i < n; i++)
        if (!i || (*threads)[i] != (*threads)[i - 1])
            (*threads)[unique++] = (*threads)[i];
    *count = unique;
    return 0;
}

static int several_hosts(const struct dft_pids *pids)
{
    for (uint32_t i = 1; i < pids->count; i++)
        if (compare_hosts(pids->processes[i].process.host, pids->processes[0].process.host) != 0)
            return 1;
    return 0;
}

static struct dft_text program(const struct dft_process *process)
{
    struct dft_text exe = process->exe;
    const char *slash = exe.length ? memrchr(exe.bytes, '/', exe.length) : NULL;

    if (slash) {
        exe.length -= (uint32_t)(slash + 1 - exe.bytes);
        exe.bytes = slash + 1;
    }
    return exe;
}

/* Describes a process, such as "sh > cat, rank 3, loader, host n017". The images order[from .. to) are of
 * one process. */
static char *describe(const struct dft_pids *pids, uint32_t from, uint32_t to, int hosts)
{
    const struct dft_process *process = NULL;
    struct dft_text before = {0};
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return NULL;
    for (uint32_t i = from; i < to; i++) {
        struct dft_text name;

        process = &pids->processes[pids->order[i]].process;
        name = program(process);
        if (i > from && compare_hosts(name, before) == 0)
            continue;
        fprintf(out, "%s%.*s", i > from ? " > " : "", (int)name.length, name.length ? name.bytes : "");
        before = name;
    }
    if (process->rank >= 0)
        fprintf(out, ", rank %d", process->rank);
    if (process->role.length)
        fprintf(out, ", %.*s", (int)process->role.length, process->role.bytes);
    if (hosts)
        fprintf(out, ", host %.*s", (int)process->host.length, process->host.length ? process->host.bytes : "");
    return fclose(out) == 0 ? text : NULL;
}

static int passes(const struct dft_pids *pids, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (dft_filter_process(pids->filter, &pids->processes[pids->order[i]]))
            return 1;
    return 0;
}

int dft_pids_visit(const struct dft_pids *pids, void (*emit)(void *context, const struct dft_shown *shown),
                   void *context)
{
    int hosts = several_hosts(pids), first = 1;
    uint64_t *threads = NULL;
    size_t nthreads, thread = 0;
    int error = collect_threads(pids, &threads, &nthreads);

    for (uint32_t from = 0, to; !error && from < pids->count; from = to) {
        uint32_t shown = pids->shown[pids->order[from]];
        char *name;

        for (to = from + 1; to < pids->count && pids->shown[pids->order[to]] == shown; to++)
            ;
        if (!passes(pids, from, to))
            continue;
        name = describe(pids, from, to, hosts);
        if (!name) {
            error = -ENOMEM;
            break;
        }
        emit(context,
             &(struct dft_shown){
                 .first = first, .pid = shown, .name = name, .rank = pids->processes[pids->order[from]].process.rank});
        first = 0;
        while (thread < nthreads && threads[thread] >> 32 < shown)
            thread++;
        for (; thread < nthreads && threads[thread] >> 32 == shown; thread++)
            emit(context,
                 &(struct dft_shown){.is_thread = 1, .pid = shown, .tid = (uint32_t)threads[thread], .rank = -1});
        free(name);
    }
    free(threads);
    return error;
}
