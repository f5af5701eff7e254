/* SPDX-License-Identifier: MIT */
/* Processes with several files. */
#include "object/source_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_host(const struct dft_source_process *a, const struct dft_source_process *b)
{
    const struct dft_text *x = &a->process.host, *y = &b->process.host;

    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return x->length ? memcmp(x->bytes, y->bytes, x->length) : 0;
}

static int by_pid_and_time(const void *left, const void *right, void *context)
{
    const struct dft_source_process *processes = context;
    const struct dft_source_process *a = &processes[*(const uint32_t *)left], *b = &processes[*(const uint32_t *)right];
    int order = by_host(a, b);

    if (order || a->process.pid != b->process.pid)
        return order ? order : a->process.pid < b->process.pid ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

int dft_source_images(const struct dft_source *source, uint32_t *images)
{
    uint32_t count, nfiles;
    const struct dft_source_process *processes = dft_source_processes(source, &count);
    const struct dft_source_file *files = dft_source_files(source, &nfiles);
    uint32_t *order = malloc((count + 1u) * sizeof *order);
    uint64_t end_ns = 0;

    if (!order)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        order[i] = images[i] = i;
    qsort_r(order, count, sizeof *order, by_pid_and_time, (void *)(uintptr_t)processes);
    for (uint32_t i = 0; i < count; i++) {
        const struct dft_source_process *p = &processes[order[i]], *before = i ? &processes[order[i - 1]] : p;

        if (i && !by_host(p, before) && p->process.pid == before->process.pid && p->start_ns <= end_ns &&
            p->file < nfiles && files[p->file].kind == DFT_FILE_IMPORTED && p->file != before->file)
            images[order[i]] = images[order[i - 1]];
        else
            end_ns = 0;
        end_ns = end_ns > p->end_ns ? end_ns : p->end_ns;
    }
    free(order);
    return 0;
}
