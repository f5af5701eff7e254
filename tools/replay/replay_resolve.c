/* SPDX-License-Identifier: MIT */
/* Resolves events to calls, files and handles. */
#include "replay/replay_resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/names.h"
#include "format/event.h"
#include "format/ops.h"

int dft_replay_resolver_init(struct dft_replay_resolver *resolver, struct dft_source *source,
                             const struct dft_filter *filter)
{
    int rc = dft_replay_calls_make(&resolver->calls);

    resolver->names = dft_source_names_table(source);
    return rc ? rc : dft_replay_tables_init(&resolver->tables, source, filter);
}

int dft_replay_resolver_restart(struct dft_replay_resolver *resolver, struct dft_source *source,
                                const struct dft_filter *filter)
{
    dft_replay_tables_fini(&resolver->tables);
    dft_replay_files_restart(&resolver->files);
    resolver->lefts = NULL;
    resolver->streams = 0;
    return dft_replay_tables_init(&resolver->tables, source, filter);
}

void dft_replay_resolver_fini(struct dft_replay_resolver *resolver)
{
    dft_replay_tables_fini(&resolver->tables);
    dft_replay_files_fini(&resolver->files);
    dft_map_fini(&resolver->calls);
}

void dft_replay_take_fini(struct dft_replay_take *take)
{
    dft_replay_handle_put(take->handle);
    dft_replay_handle_put(take->made);
    take->handle = take->made = NULL;
}

static int leave(struct dft_replay_resolver *resolver, const struct dft_event_at *at, enum dft_replay_reason reason)
{
    return resolver->lefts ? dft_replay_left_add(resolver->lefts, reason, at->call) : 0;
}

/* Events that are no calls on files are left without a word, those of processes with one. */
static int is_call(const struct dft_event_at *at)
{
    return dft_op_class(at->op) != DFT_CLASS_MARK && dft_op_group(at->op) != DFT_GROUP_REGIONS;
}

static int take_process(struct dft_replay_resolver *resolver, const struct dft_event_at *at)
{
    int rc = 0;

    if (at->op == DFT_OP_FORK || at->op == DFT_OP_SPAWN)
        rc = dft_replay_tables_fork(&resolver->tables, at->process->number, at->event->result);
    return rc ? rc : leave(resolver, at, DFT_LEFT_PROCESS);
}

/* Accepts only those calls of fcntl that copy a descriptor or query it: other arguments are not recorded. A transfer
 * with explicit offsets moves none of a descriptor: its halves go where it was. */
static void find_call(const struct dft_replay_resolver *resolver, struct dft_replay_take *take)
{
    const struct dft_event_at *at = take->at;
    uint32_t command = at->event->flags;
    int stands_in;

    take->call = dft_replay_call_of(&resolver->calls, at->call, at->op, &stands_in);
    take->stands_in = (uint8_t)stands_in;
    if (stands_in && dft_event_has_offset(at->event))
        take->call = at->op == DFT_OP_READ ? DFT_REPLAY_pread : DFT_REPLAY_pwrite;
    if (take->call == DFT_REPLAY_fcntl && command != F_DUPFD && command != F_DUPFD_CLOEXEC && command != F_GETFD &&
        command != F_GETFL && command != F_SETFD)
        take->call = DFT_REPLAY_NONE;
}

static int is_copy(const struct dft_replay_take *take)
{
    uint32_t command = take->at->event->flags;

    return take->call == DFT_REPLAY_dup || take->call == DFT_REPLAY_dup2 || take->call == DFT_REPLAY_dup3 ||
           (take->call == DFT_REPLAY_fcntl && (command == F_DUPFD || command == F_DUPFD_CLOEXEC));
}

/* A descriptor stands for a new handle now. */
static int make(struct dft_replay_resolver *resolver, struct dft_replay_take *take, uint64_t fd)
{
    const struct dft_event_at *at = take->at;

    take->made = dft_replay_handle_create(take->file);
    if (!take->made)
        return -ENOMEM;
    take->made->cloexec = (at->op == DFT_OP_OPEN || at->op == DFT_OP_FOPEN) && (at->event->flags & O_CLOEXEC);
    take->made->appends = take->handle ? take->handle->appends : (at->event->flags & O_APPEND) != 0;
    take->made->astray = take->handle && take->handle->astray;
    if (take->call == DFT_REPLAY_fopen)
        take->made->number = ++resolver->streams;
    return dft_replay_tables_put_later(&resolver->tables, at->process->number, fd, take->made,
                                       at->event->start_ns + at->event->dur_ns);
}

static int take_open(struct dft_replay_resolver *resolver, struct dft_replay_take *take)
{
    const struct dft_event *event = take->at->event;

    if (!dft_replay_succeeded(event))
        return 1;
    return make(resolver, take, dft_replay_fd_key(event->result, event->file)) ? -ENOMEM : 1;
}

/* The handle of a descriptor. One that stands for another file, or for none, was opened in a way that is not in the
 * trace. */
static int find(struct dft_replay_resolver *resolver, struct dft_replay_take *take, uint64_t fd)
{
    uint32_t process = take->at->process->number;
    struct dft_replay_handle *handle = dft_replay_tables_find(&resolver->tables, process, fd, take->file);

    if (handle) {
        take->handle = dft_replay_handle_get(handle);
        return 0;
    }
    take->lazy = 1;
    take->handle = dft_replay_handle_create(take->file);
    return take->handle ? dft_replay_tables_put(&resolver->tables, process, fd, take->handle) : -ENOMEM;
}

/* Whether a transfer moved the place of the descriptor is not recorded. The next call that moves data from there on
 * tells. */
static void find_place(struct dft_replay_take *take)
{
    const struct dft_event_at *at = take->at;

    if (take->stands_in && !dft_replay_moves_place(take)) {
        take->handle->astray = 1;
    } else if (take->handle->astray && dft_op_effect(at->op) == DFT_EFFECT_MOVES && dft_event_has_offset(at->event)) {
        take->seeks = 1;
        take->handle->astray = 0;
    }
}

static int take_descriptor(struct dft_replay_resolver *resolver, struct dft_replay_take *take)
{
    const struct dft_event_at *at = take->at;
    const struct dft_event *event = at->event;
    uint64_t fd = dft_replay_fd_key(event->fd, event->file);
    int closes = dft_op_effect(at->op) == DFT_EFFECT_CLOSES && dft_replay_succeeded(event);
    int rc = find(resolver, take, fd);

    if (!rc)
        find_place(take);
    if (!rc && closes) {
        take->shared = take->handle->tables > 1;
        rc = dft_replay_tables_put(&resolver->tables, at->process->number, fd, NULL);
    }
    if (!rc && is_copy(take) && event->result >= 0 && event->result != event->fd)
        rc = make(resolver, take, dft_replay_fd_key(event->result, 0));
    return rc ? rc : 1;
}

static struct dft_replay_file *file_of(struct dft_replay_resolver *resolver, uint64_t name)
{
    return dft_replay_file_of(&resolver->files, name, dft_names_text(resolver->names, name));
}

int dft_replay_resolve(struct dft_replay_resolver *resolver, const struct dft_event_at *at,
                       struct dft_replay_take *take)
{
    const struct dft_event *event = at->event;
    enum dft_replay_reason reason = DFT_LEFT_NOT;
    int rc;

    *take = (struct dft_replay_take){.at = at};
    find_call(resolver, take);
    if (!is_call(at))
        return 0;
    rc = dft_replay_tables_enter(&resolver->tables, at->process->number, event->start_ns);
    if (rc)
        return rc;
    if (dft_op_group(at->op) == DFT_GROUP_PROCESS)
        return take_process(resolver, at);
    if (event->file && !(take->file = file_of(resolver, event->file)))
        return -ENOMEM;
    if (event->file2 && !dft_replay_on_descriptor(take->call) && !(take->file2 = file_of(resolver, event->file2)))
        return -ENOMEM;
    if (event->phase != DFT_PHASE_COMPLETE || (event->bits & DFT_BIT_OPEN))
        reason = DFT_LEFT_OPEN;
    else if (!take->file)
        reason = DFT_LEFT_NO_FILE;
    else if (take->file->left)
        reason = (enum dft_replay_reason)take->file->left;
    else if (take->call == DFT_REPLAY_NONE)
        reason = DFT_LEFT_CALL;
    else if (take->file2 && take->file2->left)
        reason = (enum dft_replay_reason)take->file2->left;
    if (reason)
        return leave(resolver, at, reason);
    if (dft_replay_on_descriptor(take->call))
        return take_descriptor(resolver, take);
    return dft_op_effect(at->op) == DFT_EFFECT_OPENS ? take_open(resolver, take) : 1;
}
