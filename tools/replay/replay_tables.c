/* SPDX-License-Identifier: MIT */
/* Follows the descriptors of the recorded processes. */
#include "replay/replay_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "replay/replay_hidden.h"

/* --- handles ---------------------------------------------------------------------------------- */

struct dft_replay_handle *dft_replay_handle_create(struct dft_replay_file *file)
{
    struct dft_replay_handle *handle = calloc(1, sizeof *handle);

    if (!handle)
        return NULL;
    handle->file = file;
    handle->fd = -1;
    atomic_store_explicit(&handle->refs, 1, memory_order_relaxed);
    return handle;
}

void dft_replay_handle_put(struct dft_replay_handle *handle)
{
    if (!handle || atomic_fetch_sub_explicit(&handle->refs, 1, memory_order_acq_rel) > 1)
        return;
    if (handle->fd >= 0)
        dft_replay_hidden_close(handle->fd, handle->stream, handle->dir);
    free(handle);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void drop(struct dft_replay_tables *tables, struct dft_replay_handle *handle)
{
    if (!handle)
        return;
    handle->tables--;
    if (!handle->tables && handle->held)
        tables->forget(tables->context, handle);
    dft_replay_handle_put(handle);
}

int dft_replay_tables_put(struct dft_replay_tables *tables, uint32_t process, uint64_t fd,
                          struct dft_replay_handle *handle)
{
    uint64_t *slot = dft_map_put(&tables->processes[process].fds, fd);
    struct dft_replay_handle *before;

    if (!slot)
        return -ENOMEM;
    before = (struct dft_replay_handle *)(uintptr_t)*slot;
    *slot = (uintptr_t)handle;
    if (handle) {
        dft_replay_handle_get(handle);
        handle->tables++;
    }
    drop(tables, before);
    return 0;
}

/* --- descriptors that calls are about to return ------------------------------------------------ */

int dft_replay_tables_put_later(struct dft_replay_tables *tables, uint32_t process, uint64_t fd,
                                struct dft_replay_handle *handle, uint64_t end_ns)
{
    struct dft_replay_process *of = &tables->processes[process];

    if (DFT_ARRAY_PUSH(of->pending, of->pending_capacity, of->npending,
                       (struct dft_replay_pending){end_ns, fd, handle}))
        return -ENOMEM;
    dft_replay_handle_get(handle);
    if (of->npending == 1 || end_ns < of->first_end_ns)
        of->first_end_ns = end_ns;
    return 0;
}

/* The call has returned. */
static int settle_one(struct dft_replay_tables *tables, uint32_t process, size_t place)
{
    struct dft_replay_process *of = &tables->processes[process];
    struct dft_replay_pending settled = of->pending[place];
    int rc;

    memmove(&of->pending[place], &of->pending[place + 1], (of->npending - place - 1) * sizeof *of->pending);
    of->npending--;
    rc = dft_replay_tables_put(tables, process, settled.fd, settled.handle);
    dft_replay_handle_put(settled.handle);
    return rc;
}

/* All calls that have returned before this time, in the order in which they did. */
static int settle(struct dft_replay_tables *tables, uint32_t process, uint64_t now_ns)
{
    struct dft_replay_process *of = &tables->processes[process];
    int rc = 0;

    while (!rc && of->npending && of->first_end_ns <= now_ns) {
        size_t first = 0;

        for (size_t i = 1; i < of->npending; i++)
            if (of->pending[i].end_ns < of->pending[first].end_ns)
                first = i;
        of->first_end_ns = of->pending[first].end_ns;
        if (of->first_end_ns <= now_ns)
            rc = settle_one(tables, process, first);
    }
    return rc;
}

struct dft_replay_handle *dft_replay_tables_find(struct dft_replay_tables *tables, uint32_t process, uint64_t fd,
                                                 const struct dft_replay_file *file)
{
    struct dft_replay_process *of = &tables->processes[process];
    const uint64_t *slot = dft_map_find(&of->fds, fd);
    struct dft_replay_handle *handle = slot ? (struct dft_replay_handle *)(uintptr_t)*slot : NULL;

    if (handle && handle->file == file)
        return handle;
    for (size_t i = of->npending; i-- > 0;) { /* times may be coarse */
        handle = of->pending[i].handle;
        if (of->pending[i].fd == fd && handle->file == file)
            return settle_one(tables, process, i) ? NULL : handle;
    }
    return NULL;
}

/* --- processes -------------------------------------------------------------------------------- */

static int inherit(struct dft_replay_tables *tables, uint32_t parent, uint32_t child)
{
    const struct dft_map *fds = &tables->processes[parent].fds;
    int is_exec = tables->images[parent].exit_kind == DFT_ENDING_EXEC &&
                  tables->images[parent].process.pid == tables->images[child].process.pid;
    int rc = 0;

    tables->processes[child].copied = 1;
    for (size_t i = 0; !rc && i < fds->capacity; i++) {
        struct dft_replay_handle *handle = (struct dft_replay_handle *)(uintptr_t)fds->slots[i].value;

        if (fds->slots[i].key && handle && !(is_exec && handle->cloexec))
            rc = dft_replay_tables_put(tables, child, fds->slots[i].key, handle);
    }
    return rc;
}

static void end_process(struct dft_replay_tables *tables, uint32_t number)
{
    struct dft_replay_process *of = &tables->processes[number];
    struct dft_map *fds = &of->fds;

    while (of->npending)
        dft_replay_handle_put(of->pending[--of->npending].handle);
    free(of->pending);
    of->pending = NULL;
    of->pending_capacity = 0;
    for (size_t i = 0; i < fds->capacity; i++)
        if (fds->slots[i].key)
            drop(tables, (struct dft_replay_handle *)(uintptr_t)fds->slots[i].value);
    dft_map_fini(fds);
}

static void end_those_before(struct dft_replay_tables *tables, uint64_t start_ns)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < tables->nactive; i++) {
        uint32_t number = tables->active[i];

        if (tables->images[number].end_ns < start_ns)
            end_process(tables, number);
        else
            tables->active[kept++] = number;
    }
    tables->nactive = kept;
}

int dft_replay_tables_enter(struct dft_replay_tables *tables, uint32_t process, uint64_t start_ns)
{
    struct dft_replay_process *entered = &tables->processes[process];
    uint32_t parent = tables->tree.parent[process];
    int rc = 0;

    if (entered->begun)
        return settle(tables, process, start_ns);
    entered->begun = 1;
    if (!entered->copied && parent != DFT_PS_ROOT && parent != process)
        rc = inherit(tables, parent, process);
    end_those_before(tables, start_ns);
    tables->active[tables->nactive++] = process;
    return rc;
}

static uint64_t child_key(uint32_t parent, uint64_t pid)
{
    return dft_map_join(pid, parent);
}

int dft_replay_tables_fork(struct dft_replay_tables *tables, uint32_t process, int64_t pid)
{
    const uint64_t *child = pid > 0 ? dft_map_find(&tables->children, child_key(process, (uint64_t)pid)) : NULL;

    if (!child || tables->processes[*child - 1].begun || tables->processes[*child - 1].copied)
        return 0;
    return inherit(tables, process, (uint32_t)*child - 1);
}

int dft_replay_tables_init(struct dft_replay_tables *tables, const struct dft_source *source,
                           const struct dft_filter *filter)
{
    int rc = dft_ps_tree_make(&tables->tree, source, filter);

    tables->images = dft_source_processes(source, &tables->count);
    tables->processes = calloc(tables->count + 1, sizeof *tables->processes);
    tables->active = calloc(tables->count + 1, sizeof *tables->active);
    if (rc || !tables->processes || !tables->active)
        return -ENOMEM;
    for (uint32_t i = 0; i < tables->count; i++) {
        uint64_t *child =
            dft_map_put(&tables->children, child_key(tables->tree.parent[i], tables->images[i].process.pid));

        if (!child)
            return -ENOMEM;
        *child = i + 1;
    }
    return 0;
}

void dft_replay_tables_fini(struct dft_replay_tables *tables)
{
    for (uint32_t i = 0; tables->processes && i < tables->count; i++)
        end_process(tables, i);
    free(tables->processes);
    free(tables->active);
    dft_map_fini(&tables->children);
    dft_ps_tree_free(&tables->tree);
    memset(tables, 0, sizeof *tables);
}
