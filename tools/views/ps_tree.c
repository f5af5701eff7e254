/* SPDX-License-Identifier: MIT */
/* Processes as a tree.
 *
 * Bad input can make a cycle of parents. A process that no root leads to is printed as a root.
 * Children stand in order of start, then of number. */
#include "views/ps_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "object/source_number.h"

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static uint64_t start_of(const struct dft_source_process *process)
{
    uint64_t start, end;

    dft_process_lifetime(process, &start, &end);
    return start;
}

static const struct dft_ps_tree *sorting; /* qsort passes no context; this command has one thread */

static int by_pid(const void *a, const void *b)
{
    const struct dft_source_process *x = &sorting->processes[*(const uint32_t *)a];
    const struct dft_source_process *y = &sorting->processes[*(const uint32_t *)b];
    int order = compare(x->process.pid, y->process.pid);

    if (!order)
        order = compare(start_of(x), start_of(y));
    return order ? order : compare(x->number, y->number);
}

static int by_start(const void *a, const void *b)
{
    const struct dft_source_process *x = &sorting->processes[*(const uint32_t *)a];
    const struct dft_source_process *y = &sorting->processes[*(const uint32_t *)b];
    int order = compare(start_of(x), start_of(y));

    return order ? order : compare(x->number, y->number);
}

/* Finds the last image with this pid on the child's host that began before the child. An image with
 * the child's own pid must have ended by exec, because pids are used again. `pids` is sorted by
 * pid, then start. */
static uint32_t find_pid(const struct dft_ps_tree *tree, const uint32_t *pids, uint32_t pid, uint32_t child)
{
    const struct dft_source_process *of = &tree->processes[child];
    uint32_t low = 0, high = tree->count, found = DFT_PS_ROOT;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (tree->processes[pids[middle]].process.pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < tree->count && tree->processes[pids[low]].process.pid == pid; low++) {
        const struct dft_source_process *p = &tree->processes[pids[low]];

        if (pids[low] != child && dft_text_same(p->process.host, of->process.host) && start_of(p) < start_of(of) &&
            (pid != of->process.pid || p->exit_kind == DFT_ENDING_EXEC))
            found = pids[low];
    }
    return found;
}

static int find_parents(struct dft_ps_tree *tree, const struct dft_source *source)
{
    uint32_t *pids = calloc(tree->count, sizeof(*pids));

    if (!pids)
        return -ENOMEM;
    for (uint32_t i = 0; i < tree->count; i++)
        pids[i] = i;
    sorting = tree;
    qsort(pids, tree->count, sizeof(*pids), by_pid);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct dft_process *process = &tree->processes[i].process;
        const struct dft_source_process *parent = dft_process_find(source, process->parent_key);

        tree->parent[i] = parent ? parent->number : DFT_PS_ROOT;
        if (tree->parent[i] == DFT_PS_ROOT && process->pid)
            tree->parent[i] = find_pid(tree, pids, process->pid, i);
        if (tree->parent[i] == DFT_PS_ROOT && process->ppid)
            tree->parent[i] = find_pid(tree, pids, process->ppid, i);
        if (tree->parent[i] == i)
            tree->parent[i] = DFT_PS_ROOT;
    }
    free(pids);
    return 0;
}

/* Lists children by start. Then goes depth first with a stack of our own, because a chain of forks
 * can be long. */
static int make_order(struct dft_ps_tree *tree)
{
    uint32_t n = tree->count, used = 0, top = 0, *memory = calloc(n, 5 * sizeof(*memory));
    uint32_t *sorted = memory, *first = memory + n, *next = memory + 2 * (size_t)n, *stack = memory + 3 * (size_t)n;
    uint32_t *seen = memory + 4 * (size_t)n;

    if (!memory)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = i;
        first[i] = DFT_PS_ROOT;
    }
    sorting = tree;
    qsort(sorted, n, sizeof(*sorted), by_start);
    /* Children are pushed in front, in ascending order. The last child thus comes first in its
     * list, and leaves the stack last. */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t child = sorted[i], parent = tree->parent[child];

        if (parent != DFT_PS_ROOT) {
            next[child] = first[parent];
            first[parent] = child;
        }
    }
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n; i++) {
            if (seen[sorted[i]] || (pass == 0 && tree->parent[sorted[i]] != DFT_PS_ROOT))
                continue;
            stack[top++] = sorted[i];
            seen[sorted[i]] = 1; /* 1 + depth */
            while (top) {
                uint32_t one = stack[--top];

                tree->order[used] = one;
                tree->depth[used++] = seen[one] - 1;
                for (uint32_t child = first[one]; child != DFT_PS_ROOT; child = next[child])
                    if (!seen[child]) {
                        seen[child] = seen[one] + 1;
                        stack[top++] = child;
                    }
            }
        }
    free(memory);
    return 0;
}

static void keep(struct dft_ps_tree *tree, const struct dft_filter *filter)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (dft_filter_process(filter, &tree->processes[tree->order[i]])) {
            tree->order[tree->shown] = tree->order[i];
            tree->depth[tree->shown++] = tree->depth[i];
        }
}

int dft_ps_tree_make(struct dft_ps_tree *tree, const struct dft_source *source, const struct dft_filter *filter)
{
    int error = 0;

    *tree = (struct dft_ps_tree){0};
    tree->processes = dft_source_processes(source, &tree->count);
    if (!tree->count)
        return 0;
    tree->parent = calloc(tree->count, sizeof(*tree->parent));
    tree->order = calloc(tree->count, sizeof(*tree->order));
    tree->depth = calloc(tree->count, sizeof(*tree->depth));
    if (!tree->parent || !tree->order || !tree->depth)
        return -ENOMEM;
    error = find_parents(tree, source);
    if (!error)
        error = make_order(tree);
    if (!error)
        keep(tree, filter);
    return error;
}

void dft_ps_tree_free(struct dft_ps_tree *tree)
{
    free(tree->parent);
    free(tree->order);
    free(tree->depth);
    *tree = (struct dft_ps_tree){0};
}
