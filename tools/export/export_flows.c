/* SPDX-License-Identifier: MIT */
/* Finds the process that a call started. */
#include "export/export_flows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/order.h"
#include "format/event.h"
#include "format/ops.h"

static int by_parent(const void *left, const void *right, void *context)
{
    const struct dft_ps_tree *tree = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    DFT_ORDER(tree->parent[a], tree->parent[b]);
    DFT_ORDER(tree->processes[a].process.start_ns, tree->processes[b].process.start_ns);
    DFT_ORDER(a, b);
    return 0;
}

int dft_flows_make(struct dft_flows *flows, const struct dft_source *source, const struct dft_filter *filter)
{
    struct dft_ps_tree *tree = &flows->tree;
    int rc;

    *flows = (struct dft_flows){.filter = filter};
    rc = dft_ps_tree_make(tree, source, filter);
    if (!rc)
        flows->children = calloc(tree->count + 1u, sizeof *flows->children);
    if (!rc && !flows->children)
        rc = -ENOMEM;
    for (uint32_t i = 0; !rc && i < tree->count; i++) { /* an image that its own process execs was not started */
        uint32_t parent = tree->parent[i];

        if (parent != DFT_PS_ROOT && tree->processes[parent].process.pid != tree->processes[i].process.pid)
            flows->children[flows->count++] = i;
    }
    if (!rc && flows->count)
        qsort_r(flows->children, flows->count, sizeof *flows->children, by_parent, tree);
    return rc;
}

void dft_flows_free(struct dft_flows *flows)
{
    dft_ps_tree_free(&flows->tree);
    free(flows->children);
}

/* The position of the first child of a process. */
static uint32_t first_child(const struct dft_flows *flows, uint32_t parent)
{
    uint32_t low = 0, high = flows->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (flows->tree.parent[flows->children[middle]] < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct dft_source_process *dft_flows_child(const struct dft_flows *flows, const struct dft_event_at *at)
{
    uint64_t start = at->event->start_ns, end = start + at->event->dur_ns;
    const struct dft_source_process *during = NULL;

    if ((at->op != DFT_OP_FORK && at->op != DFT_OP_SPAWN) || at->event->err)
        return NULL;
    for (uint32_t i = first_child(flows, at->process->number); i < flows->count; i++) {
        const struct dft_source_process *child = &flows->tree.processes[flows->children[i]];

        if (flows->tree.parent[flows->children[i]] != at->process->number)
            break;
        if (!dft_filter_process(flows->filter, child))
            continue;
        if (at->event->result == (int64_t)child->process.pid && child->process.start_ns >= start)
            return child;
        if (!during && at->op == DFT_OP_SPAWN && child->process.start_ns >= start && child->process.start_ns <= end)
            during = child;
    }
    return during;
}
