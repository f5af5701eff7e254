/* SPDX-License-Identifier: MIT */
/* Plans a replay. Each call tells something about the state of its files before the trace: a file that was opened
 * without O_CREAT was there, bytes that were read and never written were there. */
#include "replay/replay_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "format/event.h"
#include "format/ops.h"
#include "replay/replay_space.h"
#include "intake/source_names.h"
#include "views/source_order.h"

/* --- what was there ---------------------------------------------------------------------------- */

/* The folders of a path that some call has reached were there, unless the trace made them. */
static void touch(struct dft_replay_file *file)
{
    if (file->touched)
        return;
    file->touched = 1;
    for (struct dft_replay_file *folder = file->parent; folder; folder = folder->parent) {
        if (folder->start == DFT_START_ABSENT || folder->start == DFT_START_FOLDER)
            break;
        folder->start = DFT_START_FOLDER;
        folder->exists = 1;
    }
}

/* What the trace has made before was not there for that. */
static void was_there(struct dft_replay_file *file, enum dft_replay_start as)
{
    if ((file->start == DFT_START_UNKNOWN && !file->exists) ||
        (as == DFT_START_FOLDER && file->start == DFT_START_FILE && !file->start_size))
        file->start = (uint8_t)as;
    file->exists = 1;
}

static void was_absent(struct dft_replay_file *file)
{
    if (file->start != DFT_START_UNKNOWN || file->exists)
        return;
    file->start = DFT_START_ABSENT;
    file->fresh = 1;
}

/* A file that was opened or made, one does not know which, is written from its beginning on: most likely made. */
static void was_likely_absent(struct dft_replay_file *file)
{
    if (file->start == DFT_START_UNKNOWN)
        file->start = DFT_START_ABSENT;
}

static void resize(struct dft_replay_file *file, uint64_t size)
{
    file->size = size;
    file->most = size > file->most ? size : file->most;
}

/* The bytes before `end` can be read: what was not written since was there. */
static void has_bytes(struct dft_replay_file *file, uint64_t end)
{
    if (end <= file->size || end > INT64_MAX || file->start == DFT_START_FOLDER)
        return;
    if (!file->fresh) {
        file->start = DFT_START_FILE;
        file->start_size = end;
    }
    resize(file, end);
}

static void emptied(struct dft_replay_file *file, uint64_t size)
{
    resize(file, size);
    file->fresh = 1;
}

/* --- calls on paths --------------------------------------------------------------------------- */

static void plan_open(const struct dft_replay_take *take)
{
    struct dft_replay_file *file = take->file;
    uint32_t flags = take->call == DFT_REPLAY_creat ? O_CREAT | O_TRUNC : take->at->event->flags;

    if (!(flags & O_CREAT))
        was_there(file, flags & O_DIRECTORY ? DFT_START_FOLDER : DFT_START_FILE);
    else if (flags & (O_EXCL | O_TRUNC))
        was_absent(file);
    if ((flags & O_TRUNC) || (flags & O_EXCL))
        emptied(file, 0);
}

static void plan_rename(const struct dft_replay_take *take)
{
    was_there(take->file, DFT_START_FILE);
    if (!take->file2)
        return;
    was_absent(take->file2);
    touch(take->file2);
    emptied(take->file2, take->file->size);
    emptied(take->file, 0);
}

static void plan_path(const struct dft_replay_take *take)
{
    struct dft_replay_file *file = take->file;

    switch (take->at->op) {
    case DFT_OP_OPEN:
    case DFT_OP_FOPEN: /* without flags it is "r", but in older traces */
        plan_open(take);
        break;
    case DFT_OP_OPENDIR:
        was_there(file, DFT_START_FOLDER);
        break;
    case DFT_OP_MKDIR:
        was_absent(file);
        break;
    case DFT_OP_RENAME:
        plan_rename(take);
        break;
    case DFT_OP_TRUNCATE:
        was_there(file, DFT_START_FILE);
        emptied(file, take->at->event->offset > 0 ? (uint64_t)take->at->event->offset : 0);
        break;
    case DFT_OP_UNLINK:
        was_there(file, take->call == DFT_REPLAY_rmdir || (take->at->event->flags & AT_REMOVEDIR) ? DFT_START_FOLDER
                                                                                                  : DFT_START_FILE);
        emptied(file, 0);
        break;
    default:
        was_there(file, DFT_START_FILE);
    }
    touch(file);
}

/* Why it failed is not in all traces. */
static void plan_failure(const struct dft_replay_take *take)
{
    int is_mkdir = take->at->op == DFT_OP_MKDIR, error = take->at->event->err;

    if (error == DFT_ERRNO_UNKNOWN)
        error = is_mkdir ? EEXIST : ENOENT;
    if (error == ENOENT && take->at->op != DFT_OP_RENAME)
        was_absent(take->file);
    if (error != EEXIST && error != EISDIR)
        return;
    was_there(take->file, is_mkdir || error == EISDIR ? DFT_START_FOLDER : DFT_START_FILE);
    touch(take->file);
}

void dft_replay_plan_exist(const struct dft_replay_take *take)
{
    if (!dft_replay_succeeded(take->at->event))
        return;
    if (take->at->op == DFT_OP_UNLINK || take->at->op == DFT_OP_RENAME)
        take->file->exists = 0;
    else if (!dft_replay_on_descriptor(take->call))
        take->file->exists = 1;
    if (take->at->op == DFT_OP_RENAME && take->file2)
        take->file2->exists = 1;
}

/* --- calls on descriptors --------------------------------------------------------------------- */

/* Where the call moves data: as recorded, else at the end that it adds to, or where the last one ended. */
static uint64_t place_of(const struct dft_replay_plan *plan, const struct dft_replay_take *take)
{
    const struct dft_replay_handle *handle = take->handle;
    int appends = handle->appends || (handle->number && (plan->streams[handle->number - 1] & DFT_STREAM_APPENDS));

    if (dft_event_has_offset(take->at->event))
        return (uint64_t)take->at->event->offset;
    return appends && dft_op_class(take->at->op) == DFT_CLASS_WRITE ? take->file->size : handle->place;
}

/* A call that writes, whether it succeeded or not. A burst of characters may be recorded without bytes. */
static void plan_space(const struct dft_replay_plan *plan, const struct dft_replay_take *take)
{
    const struct dft_event *event = take->at->event;
    uint64_t from = place_of(plan, take), bytes = dft_event_bytes(event, take->at->op);
    uint64_t asked = dft_replay_asked(take);

    bytes = bytes > asked ? bytes : asked;
    if (take->at->op == DFT_OP_FPUTS && event->calls > bytes)
        bytes = event->calls;
    dft_replay_take_space(take->file, from, bytes, from != take->handle->place);
}

/* The first call that moves data on a stream tells how it was opened. */
static void plan_stream(struct dft_replay_plan *plan, const struct dft_replay_take *take, int writes)
{
    const struct dft_replay_handle *handle = take->handle;
    uint8_t *stream = &plan->streams[handle->number - 1];

    if (*stream & DFT_STREAM_KNOWN)
        return;
    if (!*stream && writes) {
        *stream |= DFT_STREAM_WRITE_FIRST;
        if (!dft_event_has_offset(take->at->event))
            *stream |= DFT_STREAM_APPENDS;
        else if (take->at->event->offset)
            *stream |= DFT_STREAM_INSIDE;
        else
            emptied(take->file, 0);
    } else if (!*stream && take->file->start == DFT_START_UNKNOWN) {
        take->file->start = DFT_START_FILE;
    }
    *stream |= writes ? DFT_STREAM_WRITTEN : DFT_STREAM_READ;
}

static void plan_data(struct dft_replay_plan *plan, const struct dft_replay_take *take)
{
    int writes = dft_op_class(take->at->op) == DFT_CLASS_WRITE;
    uint64_t bytes = dft_event_bytes(take->at->event, take->at->op), from;
    struct dft_replay_file *file = take->file;

    if (take->handle->number)
        plan_stream(plan, take, writes);
    from = place_of(plan, take);
    if (writes)
        plan_space(plan, take);
    else
        has_bytes(file, bytes ? dft_replay_plus(from, bytes) : 0);
    if (writes && !from)
        was_likely_absent(file);
    if (writes && dft_replay_plus(from, bytes) > file->size)
        resize(file, dft_replay_plus(from, bytes));
    if (dft_replay_moves_place(take))
        take->handle->place = dft_replay_plus(from, bytes);
}

static void plan_allocation(struct dft_replay_file *file, const struct dft_event *event)
{
    uint64_t from = (uint64_t)event->offset;

    if (event->flags & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE))
        return;
    dft_replay_take_space(file, from, event->size, 1);
    if (!(event->flags & FALLOC_FL_KEEP_SIZE) && dft_replay_plus(from, event->size) > file->size)
        resize(file, dft_replay_plus(from, event->size));
}

static void plan_descriptor(struct dft_replay_plan *plan, const struct dft_replay_take *take)
{
    const struct dft_event *event = take->at->event;
    struct dft_replay_file *file = take->file;

    if (take->lazy)
        was_there(file, dft_op_effect(take->at->op) == DFT_EFFECT_CLOSES && take->at->op == DFT_OP_CLOSEDIR
                            ? DFT_START_FOLDER
                            : DFT_START_FILE);
    if (!dft_replay_succeeded(event)) {
        if (dft_op_class(take->at->op) == DFT_CLASS_WRITE)
            plan_space(plan, take);
        return;
    }
    touch(file);
    if (dft_op_is_data(take->at->op)) {
        plan_data(plan, take);
    } else if (take->at->op == DFT_OP_SEEK) {
        take->handle->place = event->result > 0 ? (uint64_t)event->result : 0;
        if (event->flags == SEEK_END)
            has_bytes(file, take->handle->place);
    } else if (take->at->op == DFT_OP_FSEEK) {
        take->handle->at_end = event->flags == SEEK_END;
    } else if (take->at->op == DFT_OP_FTELL) {
        if (take->handle->at_end && event->result > 0)
            has_bytes(file, (uint64_t)event->result);
    } else if (take->at->op == DFT_OP_TRUNCATE) {
        emptied(file, event->offset > 0 ? (uint64_t)event->offset : 0);
    } else if (take->at->op == DFT_OP_ALLOCATE && event->offset >= 0) {
        plan_allocation(file, event);
    } else if (take->at->op == DFT_OP_READDIR || take->at->op == DFT_OP_OPENDIR) {
        was_there(file, DFT_START_FOLDER);
    }
}

/* --- all calls -------------------------------------------------------------------------------- */

static int count(struct dft_replay_plan *plan, const struct dft_event_at *at, enum dft_replay_call call)
{
    const struct dft_event *event = at->event;
    uint64_t *thread = dft_map_put(&plan->threads, dft_replay_thread_key(at));

    if (!thread)
        return -ENOMEM;
    ++*thread;
    plan->resolver.tables.processes[at->process->number].repeated = 1;
    plan->kinds[call] += event->calls;
    if (!plan->events++)
        plan->first_ns = event->start_ns;
    if (event->start_ns + event->dur_ns > plan->last_ns)
        plan->last_ns = event->start_ns + event->dur_ns;
    dft_tally_add(&plan->recorded.by_io[at->io < DFT_IO_COUNT ? at->io : DFT_IO_META], event->calls,
                  dft_event_bytes(event, at->op), event->dur_ns);
    return 0;
}

/* A mapping is not repeated, and yet tells how large the file was. */
static int plan_left(struct dft_replay_plan *plan, const struct dft_event_at *at)
{
    const uint64_t *known = at->op == DFT_OP_MAP && at->event->file && dft_event_has_offset(at->event)
                                ? dft_map_find(&plan->resolver.files.by_name, at->event->file)
                                : NULL;
    struct dft_replay_file *file = known ? (struct dft_replay_file *)(uintptr_t)*known : NULL;

    if (file && !file->left && dft_replay_succeeded(at->event))
        has_bytes(file, (uint64_t)at->event->offset + at->event->size);
    return 0;
}

static int plan_event(void *context, const struct dft_event_at *at)
{
    struct dft_replay_plan *plan = context;
    struct dft_replay_take take;
    int rc = dft_replay_resolve(&plan->resolver, at, &take);

    if (rc <= 0)
        return rc ? rc : plan_left(plan, at);
    rc = count(plan, at, take.call);
    if (!rc && DFT_ARRAY_RESERVE(plan->streams, plan->streams_capacity, plan->resolver.streams + 1))
        rc = -ENOMEM;
    if (!rc) {
        if (take.made && take.made->number)
            plan->streams[take.made->number - 1] = dft_replay_knows_mode(at->event) ? DFT_STREAM_KNOWN : 0;
        if (dft_replay_on_descriptor(take.call))
            plan_descriptor(plan, &take);
        else if (dft_replay_succeeded(at->event))
            plan_path(&take);
        else
            plan_failure(&take);
        dft_replay_plan_exist(&take);
    }
    dft_replay_take_fini(&take);
    return rc;
}

static void sum_up(struct dft_replay_plan *plan)
{
    for (uint32_t i = 0; i < plan->resolver.tables.count; i++)
        plan->processes += plan->resolver.tables.processes[i].repeated;
    for (size_t i = 0; i < plan->resolver.files.count; i++) {
        struct dft_replay_file *file = dft_replay_file_at(&plan->resolver.files, i);

        if (file->left)
            continue;
        if (file->start == DFT_START_UNKNOWN)
            file->start = DFT_START_ABSENT;
        if (file->start != DFT_START_FILE)
            file->start_size = 0;
        plan->files += file->start == DFT_START_FILE;
        plan->folders += file->start == DFT_START_FOLDER && file->parent;
        plan->start_bytes = dft_replay_plus(plan->start_bytes, file->start_size);
        plan->need_bytes = dft_replay_plus(plan->need_bytes, dft_replay_space(file));
        plan->need_inodes += file->start != DFT_START_ABSENT || file->touched;
    }
}

int dft_replay_plan_make(struct dft_replay_plan *plan, struct dft_source *source, const struct dft_filter *filter)
{
    int rc = dft_replay_resolver_init(&plan->resolver, source, filter);

    plan->resolver.lefts = &plan->lefts;
    if (!rc)
        rc = dft_source_names_locate(source);
    if (!rc)
        rc = dft_source_ordered(source, filter, plan_event, plan);
    if (!rc)
        sum_up(plan);
    dft_replay_left_sort(&plan->lefts);
    return rc;
}

void dft_replay_plan_fini(struct dft_replay_plan *plan)
{
    dft_replay_resolver_fini(&plan->resolver);
    dft_replay_left_fini(&plan->lefts);
    dft_map_fini(&plan->threads);
    free(plan->streams);
    memset(plan, 0, sizeof *plan);
}
