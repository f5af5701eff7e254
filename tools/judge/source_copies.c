/* SPDX-License-Identifier: MIT */
/* Copies: a process that two files of DFTracer hold. Our own files carry a key, so a process that
 * is there twice counts once. Files of DFTracer carry no key. A copy of such a file, or a trace
 * beside its compressed form, therefore counts as another process. A note says so. Copies are no
 * reason to see another job. */
#include "judge/source_copies.h"

#include "object/source_inside.h"
#include "object/source_notes.h"
#include "dftracer/pfw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare(const struct dft_source_process *a, const struct dft_source_process *b)
{
    const struct dft_process *p = &a->process, *q = &b->process;
    uint32_t n = p->host.length < q->host.length ? p->host.length : q->host.length;
    int order = compare_numbers(p->pid, q->pid);

    order = order ? order : compare_numbers(p->start_ns, q->start_ns);
    order = order ? order : compare_numbers((uint32_t)p->rank, (uint32_t)q->rank);
    order = order || !n ? order : memcmp(p->host.bytes, q->host.bytes, n);
    return order ? order : compare_numbers(p->host.length, q->host.length);
}

/* Old dialects have pid 0 for all processes. The ends must then be equal, too, once they are
 * known. */
int dft_source_is_copy(const struct dft_source *source, const struct dft_source_process *a,
                       const struct dft_source_process *b)
{
    return a->file != b->file && dft_pfw_is_name(source->files[a->file].path) &&
           dft_pfw_is_name(source->files[b->file].path) && a->process.start_ns && !compare(a, b) &&
           (a->process.pid || (a->end_ns && a->end_ns == b->end_ns));
}

static int by_all(const void *left, const void *right)
{
    const struct dft_source_process *const *a = left, *const *b = right;
    int order = compare(*a, *b);

    order = order ? order : compare_numbers((*a)->end_ns, (*b)->end_ns);
    return order ? order : compare_numbers((*a)->file, (*b)->file);
}

int dft_source_note_copies(struct dft_source *source)
{
    const struct dft_source_process **list = malloc((source->nprocesses + 1u) * sizeof *list), *first = NULL,
                                    *second = NULL;
    uint32_t copies = 0;

    if (!list)
        return -ENOMEM;
    for (uint32_t p = 0; p < source->nprocesses; p++)
        list[p] = &source->processes[p];
    qsort(list, source->nprocesses, sizeof *list, by_all);
    for (uint32_t p = 1; p < source->nprocesses; p++) {
        if (!dft_source_is_copy(source, list[p - 1], list[p]))
            continue;
        copies++;
        if (!first || list[p - 1]->file < first->file) {
            first = list[p - 1];
            second = list[p];
        }
    }
    if (copies)
        dft_source_note(
            source, 0,
            "%u process%s stand%s in two files, as %s and %s do (the same pid, host and start): copies, or a trace "
            "beside its compressed form? Both are counted",
            copies, copies == 1 ? "" : "es", copies == 1 ? "s" : "", source->files[first->file].path,
            source->files[second->file].path);
    free(list);
    return 0;
}
