/* SPDX-License-Identifier: MIT */
/* Reads the trace in order of time, and fills the queues of the threads.
 *
 * A thread makes its calls in their order. Across threads a call waits for these earlier calls:
 *   - that which opened its descriptor; a close waits for all calls on the descriptor,
 *   - those that made, removed, renamed or cut its file or the folder of the file,
 *   - a call that does so, for all calls on the file,
 *   - a read behind the end that the file had at the start, for the writes to the file,
 *   - the first call of a thread, for all calls of its process so far; the first one of a process, for those of its
 *     parent; the first one after a wait for a child, for those of the child.
 * What it waits for was passed to the threads before. */
#include "replay/replay_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "format/event.h"
#include "format/hash.h"
#include "format/ops.h"
#include "replay/replay_wait.h"
#include "views/source_order.h"

struct run {
    struct dft_replay_plan *plan;
    struct dft_replay_threads *threads;
    const struct dft_names *names;
    struct dft_replay_progress *processes; /* by number */
    struct dft_map images;                 /* of host and pid: number of the last image with calls + 1 */
    struct dft_map waits;                  /* of a thread: pid of a child that it has waited for; 0: none */
};

/* --- what a call waits for -------------------------------------------------------------------- */

static void need(struct dft_replay_call_at *call, const _Atomic uint32_t *counter, uint32_t value)
{
    if (!dft_replay_reached(counter, value) && call->nneeds < DFT_REPLAY_NEEDS_MAX)
        call->needs[call->nneeds++] = (struct dft_replay_need){counter, value};
}

static void need_order(struct dft_replay_call_at *call, struct dft_replay_file *file, enum dft_replay_order order)
{
    need(call, &file->done[order], file->given[order]);
}

static int reads_what_was_written(const struct dft_replay_call_at *call)
{
    if (dft_op_class(call->op) != DFT_CLASS_READ)
        return 0;
    return call->offset < 0 || (uint64_t)call->offset + call->bytes > call->file->start_size;
}

/* All uses of a file are counted, so a change needs this one counter. */
static void set_needs(struct dft_replay_call_at *call, int is_close)
{
    struct dft_replay_file *file = call->file, *folder = call->path ? file->parent : NULL;
    struct dft_replay_handle *handle = call->handle;

    if (handle && !call->lazy)
        need(call, &handle->ready, 1);
    if (handle && is_close)
        need(call, &handle->done, handle->given);
    need_order(call, file, call->changes ? DFT_ORDER_USES : DFT_ORDER_CHANGES);
    if (folder)
        need_order(call, folder, DFT_ORDER_CHANGES);
    if (reads_what_was_written(call))
        need_order(call, file, DFT_ORDER_WRITES);
    if (call->file2)
        need_order(call, call->file2, DFT_ORDER_USES);
    if (call->file2 && call->file2->parent)
        need_order(call, call->file2->parent, DFT_ORDER_CHANGES);
}

/* What later calls wait for; finish() in replay_threads.c raises the same counters. */
static void count_given(struct dft_replay_call_at *call)
{
    call->process->given++;
    if (call->handle)
        call->handle->given++;
    if (call->changes)
        call->file->given[DFT_ORDER_CHANGES]++;
    if (dft_op_class(call->op) == DFT_CLASS_WRITE)
        call->file->given[DFT_ORDER_WRITES]++;
    call->file->given[DFT_ORDER_USES]++;
    if (call->file2) {
        call->file2->given[DFT_ORDER_CHANGES]++;
        call->file2->given[DFT_ORDER_USES]++;
    }
    if (call->path && call->file->parent)
        call->file->parent->given[DFT_ORDER_USES]++;
}

static void give(struct dft_replay_call_at *call)
{
    set_needs(call, dft_op_effect(call->op) == DFT_EFFECT_CLOSES);
    count_given(call);
    dft_replay_give(call);
}

static void need_process(struct dft_replay_call_at *call, const struct dft_replay_progress *process)
{
    need(call, &process->done, process->given);
}

/* A pid on its host. */
static uint64_t image_key(const struct dft_source_process *process, uint64_t pid)
{
    return dft_map_join(pid, dft_name_id(process->process.host.bytes, process->process.host.length));
}

static int note_wait(struct run *run, const struct dft_event_at *at)
{
    uint64_t *wait = dft_map_put(&run->waits, dft_replay_thread_key(at));

    if (!wait)
        return -ENOMEM;
    *wait = (uint64_t)at->event->result;
    return 0;
}

/* What went before a call in other threads and processes. is_first: it is the first one of its thread. */
static int need_others(struct run *run, struct dft_replay_call_at *call, const struct dft_event_at *at, int is_first)
{
    uint32_t parent = run->plan->resolver.tables.tree.parent[at->process->number];
    uint64_t *wait = run->waits.count ? dft_map_find(&run->waits, dft_replay_thread_key(at)) : NULL, *image;

    if (is_first)
        need_process(call, call->process);
    if (!call->process->given) {
        if (parent != DFT_PS_ROOT)
            need_process(call, &run->processes[parent]);
        image = dft_map_put(&run->images, image_key(at->process, at->process->process.pid));
        if (!image)
            return -ENOMEM;
        *image = at->process->number + 1;
    }
    if (!wait || !*wait)
        return 0;
    image = dft_map_find(&run->images, image_key(at->process, *wait));
    if (image)
        need_process(call, &run->processes[*image - 1]);
    *wait = 0;
    return 0;
}

/* --- from an event to a call ------------------------------------------------------------------ */

static const char *recorded_mode(uint32_t flags)
{
    int plus = (flags & O_ACCMODE) == O_RDWR;

    if (flags & O_APPEND)
        return plus ? "a+" : "a";
    if (flags & O_TRUNC)
        return flags & O_EXCL ? plus ? "w+x" : "wx" : plus ? "w+" : "w";
    return plus ? "r+" : "r";
}

/* The mode of fopen. In older traces it follows from what the stream was used for, and whether the file is there. */
static const char *stream_mode(const struct run *run, const struct dft_replay_take *take)
{
    unsigned told = take->made && take->made->number ? run->plan->streams[take->made->number - 1] : DFT_STREAM_READ;
    int reads = told & DFT_STREAM_READ, exists = take->file->exists || !take->made;

    if (dft_replay_knows_mode(take->at->event))
        return recorded_mode(take->at->event->flags);
    if (!(told & DFT_STREAM_WRITTEN))
        return exists ? "r" : reads ? "w+" : "w";
    if (told & DFT_STREAM_APPENDS)
        return reads ? "a+" : "a";
    if (!exists || ((told & DFT_STREAM_WRITE_FIRST) && !(told & DFT_STREAM_INSIDE)))
        return reads ? "w+" : "w";
    return "r+";
}

/* Does the call make, remove, rename or cut its file? */
static int is_change(const struct dft_replay_call_at *call, const struct dft_replay_take *take)
{
    uint32_t flags = call->call == DFT_REPLAY_creat ? O_CREAT | O_TRUNC : call->flags;

    switch (call->op) {
    case DFT_OP_OPEN:
        return ((flags & O_CREAT) && !take->file->exists) || ((flags & O_TRUNC) && take->file->given[DFT_ORDER_WRITES]);
    case DFT_OP_FOPEN:
        return !dft_replay_on_descriptor(call->call) &&
               ((call->stream_mode[0] != 'r' && !take->file->exists) ||
                (call->stream_mode[0] == 'w' && take->file->given[DFT_ORDER_WRITES]));
    case DFT_OP_TRUNCATE:
    case DFT_OP_UNLINK:
    case DFT_OP_MKDIR:
    case DFT_OP_RENAME:
        return call->succeeded;
    default:
        return 0;
    }
}

/* The root's path, and the normal path below it. Returns the end. */
static char *put_path(const struct run *run, char **place, char *to, struct dft_text text)
{
    const struct dft_replay_root *root = run->threads->root;
    char path[DFT_REPLAY_PATH_MAX];
    size_t length = dft_replay_path(path, text);

    *place = to;
    memcpy(to, root->path, root->length);
    memcpy(to + root->length, path, length + 1);
    return to + root->length + length + 1;
}

static void fill(struct dft_replay_call_at *call, const struct dft_replay_take *take)
{
    const struct dft_event *event = take->at->event;

    call->call = take->call;
    call->op = take->at->op;
    call->io = take->at->io;
    call->file = take->file;
    call->file2 = take->file2;
    call->lazy = take->lazy;
    call->shared = take->shared;
    call->seeks = take->seeks;
    call->size = dft_op_is_data(take->at->op) ? dft_replay_asked(take) : event->size;
    call->bytes = dft_event_bytes(event, take->at->op);
    call->result = event->result;
    call->offset = dft_event_has_offset(event) ? event->offset : -1;
    call->calls = event->calls;
    call->unit = event->unit;
    call->flags = event->flags;
    call->mode = event->mode;
    call->succeeded = (uint8_t)dft_replay_succeeded(event);
}

/* NULL: no memory. */
static struct dft_replay_call_at *make(struct run *run, struct dft_replay_take *take)
{
    const struct dft_event *event = take->at->event;
    int has_path = !dft_replay_on_descriptor(take->call) || take->lazy;
    struct dft_text path = {0}, path2 = {0};
    struct dft_replay_call_at *call;
    size_t texts = 0;
    char *end;

    if (has_path)
        path = dft_names_text(run->names, event->file);
    if (take->file2)
        path2 = dft_names_text(run->names, event->file2);
    if (has_path)
        texts = path.length + path2.length + 2 * (run->threads->root->length + 3);
    call = calloc(1, sizeof *call + texts);
    if (!call)
        return NULL;
    fill(call, take);
    call->after_ns = event->start_ns - run->plan->first_ns;
    call->handle = take->handle;
    call->made = take->made;
    take->handle = take->made = NULL;
    end = (char *)(call + 1);
    if (has_path)
        end = put_path(run, &call->path, end, path);
    if (take->file2)
        put_path(run, &call->path2, end, path2);
    return call;
}

/* --- seeks in streams ------------------------------------------------------------------------- */

/* Where a seek led to is not recorded. The next call on the stream tells. */
static void give_held(struct dft_replay_handle *handle, const struct dft_event_at *next)
{
    struct dft_replay_call_at *held = handle->held;

    handle->held = NULL;
    if (next && next->op == DFT_OP_FTELL && next->event->result >= 0)
        held->offset = next->event->result;
    else if (next && dft_op_is_data(next->op) && dft_event_has_offset(next->event))
        held->offset = next->event->offset;
    give(held);
}

static void forget(void *context, struct dft_replay_handle *handle)
{
    (void)context;
    give_held(handle, NULL);
}

/* --- the pass --------------------------------------------------------------------------------- */

static int give_take(struct run *run, struct dft_replay_take *take)
{
    uint64_t key = dft_replay_thread_key(take->at);
    const uint64_t *calls = dft_map_find(&run->plan->threads, key);
    int is_first = !dft_map_find(&run->threads->by_key, key), rc;
    struct dft_replay_thread *thread = dft_replay_thread_of(run->threads, key, calls ? *calls : 1);
    struct dft_replay_call_at *call;
    const char *mode;

    if (!thread)
        return errno == ENOMEM ? -ENOMEM : -EAGAIN;
    if (take->handle && take->handle->held)
        give_held(take->handle, take->at);
    mode = take->call == DFT_REPLAY_fopen ? stream_mode(run, take) : "";
    call = make(run, take);
    if (!call)
        return -ENOMEM;
    call->thread = thread;
    call->stream_mode = mode;
    call->process = &run->processes[take->at->process->number];
    call->changes = (uint8_t)is_change(call, take);
    rc = need_others(run, call, take->at, is_first);
    dft_replay_plan_exist(take);
    if (call->op == DFT_OP_FSEEK && call->handle && call->handle->tables)
        call->handle->held = call;
    else
        give(call);
    return rc;
}

static int run_event(void *context, const struct dft_event_at *at)
{
    struct run *run = context;
    struct dft_replay_take take;
    int waits = at->op == DFT_OP_WAIT && at->event->result > 0, rc = waits ? note_wait(run, at) : 0;

    if (!rc)
        rc = dft_replay_is_stopped() ? -ECANCELED : dft_replay_resolve(&run->plan->resolver, at, &take);

    if (rc <= 0)
        return rc;
    rc = give_take(run, &take);
    dft_replay_take_fini(&take);
    return rc;
}

int dft_replay_run(struct dft_replay_plan *plan, struct dft_replay_threads *threads, struct dft_source *source,
                   const struct dft_filter *filter)
{
    struct run run = {.plan = plan, .threads = threads, .names = dft_source_names_table(source)};
    int rc = dft_replay_resolver_restart(&plan->resolver, source, filter);

    plan->resolver.tables.forget = forget;
    run.processes = calloc(plan->resolver.tables.count + 1, sizeof *run.processes);
    if (!run.processes)
        rc = -ENOMEM;
    if (!rc)
        rc = dft_source_ordered(source, filter, run_event, &run);
    dft_replay_tables_fini(&plan->resolver.tables);
    dft_replay_threads_end(threads);
    free(run.processes);
    dft_map_fini(&run.images);
    dft_map_fini(&run.waits);
    return rc ? rc : dft_replay_is_stopped() ? -ECANCELED : 0;
}
