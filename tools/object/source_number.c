/* SPDX-License-Identifier: MIT */
/* Processes in the order of what they are, so that equal runs have equal answers. */
#include "object/source_number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "object/source_inside.h"

struct numbering {
    const struct dft_source_process *processes;
    const uint64_t *start_ns, *end_ns;
};

static int compare_texts(struct dft_text a, struct dft_text b)
{
    uint32_t n = a.length < b.length ? a.length : b.length;
    int order = n ? memcmp(a.bytes, b.bytes, n) : 0;

    return order ? order : (a.length > b.length) - (a.length < b.length);
}

/* The host comes last: where a program ran changes nothing of what it did. */
static int by_content(const void *left, const void *right, void *context)
{
    const struct numbering *numbering = context;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
    const struct dft_process *a = &numbering->processes[i].process, *b = &numbering->processes[j].process;
    int order;

    DFT_ORDER(numbering->start_ns[i], numbering->start_ns[j]);
    DFT_ORDER(a->pid, b->pid);
    DFT_ORDER((uint32_t)a->rank, (uint32_t)b->rank); /* none comes last */
    DFT_ORDER(numbering->end_ns[i], numbering->end_ns[j]);
    order = compare_texts(a->exe, b->exe);
    order = order ? order : compare_texts(a->command, b->command);
    order = order ? order : compare_texts(a->role, b->role);
    order = order ? order : compare_texts(a->host, b->host);
    if (order)
        return order;
    DFT_ORDER(a->key, b->key);
    return 0;
}

/* Puts the processes into this order, and tells the blocks. `order`: numbers of before; becomes numbers of now. */
static int put_in_order(struct dft_source *source, const uint32_t *order, uint32_t *now)
{
    struct dft_source_process *processes = malloc((source->nprocesses + 1u) * sizeof *processes);

    if (!processes)
        return -ENOMEM;
    for (uint32_t i = 0; i < source->nprocesses; i++) {
        processes[i] = source->processes[order[i]];
        processes[i].number = i;
        now[order[i]] = i;
    }
    free(source->processes);
    source->processes = processes;
    for (size_t i = 0; i < source->nblocks; i++)
        source->blocks[i].process = now[source->blocks[i].process];
    return 0;
}

static int by_key(const void *left, const void *right, void *context)
{
    const struct dft_source_process *processes = context;

    DFT_ORDER(processes[*(const uint32_t *)left].key, processes[*(const uint32_t *)right].key);
    return 0;
}

void dft_source_list_keys(struct dft_source *source)
{
    for (uint32_t i = 0; i < source->nprocesses; i++)
        source->by_key[i] = i;
    source->by_key[source->nprocesses] = 0; /* what a search beyond the last key finds */
    qsort_r(source->by_key, source->nprocesses, sizeof *source->by_key, by_key, source->processes);
}

int dft_source_number(struct dft_source *source)
{
    size_t n = source->nprocesses + 1u;
    uint64_t *start_ns = calloc(n, sizeof *start_ns), *end_ns = calloc(n, sizeof *end_ns);
    uint32_t *order = calloc(n, sizeof *order), *now = calloc(n, sizeof *now);
    struct numbering numbering = {source->processes, start_ns, end_ns};
    int rc = start_ns && end_ns && order && now ? 0 : -ENOMEM;

    if (!rc) {
        dft_source_find_lives(source, start_ns, end_ns);
        for (uint32_t i = 0; i < source->nprocesses; i++)
            order[i] = i;
        qsort_r(order, source->nprocesses, sizeof *order, by_content, &numbering);
        rc = put_in_order(source, order, now);
    }
    if (!rc)
        dft_source_list_keys(source);
    free(start_ns);
    free(end_ns);
    free(order);
    free(now);
    return rc;
}

struct dft_source_process *dft_process_of(const struct dft_source *source, uint64_t key)
{
    size_t low = 0, high = source->nprocesses;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (source->processes[source->by_key[middle]].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return &source->processes[source->by_key[low]];
}

const struct dft_source_process *dft_process_find(const struct dft_source *source, uint64_t key)
{
    const struct dft_source_process *found = key && source->nprocesses ? dft_process_of(source, key) : NULL;

    return found && found->key == key ? found : NULL;
}
