/* SPDX-License-Identifier: MIT */
/* Owns how processes ended that could not say it themselves. The kernel ends a process by SIGKILL, or by a signal
 * without a handler, and the process does nothing any more. Its parent learns of it, and its wait is an event with the
 * status. Where dftrun is the parent, it writes the status into a file beside the traces.
 *
 * A pid is used again, but not before its parent has waited. So of all waits of the parent for this pid the first one
 * counts that returned after the process began. */
#include "judge/source_waits.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/map.h"
#include "format/event.h"
#include "format/hash.h"
#include "format/ops.h"
#include "mpi/comm.h"
#include "object/source_inside.h"
#include "intake/source_visit.h"

struct wait {
    uint64_t end_ns;
    uint32_t process, by; /* numbers: who ended, and who waited */
    int32_t status;
};

struct waits {
    const struct dft_source *source;
    struct dft_map parents; /* of silent processes, by place: the start of the first of these, + 1 */
    struct dft_map silent;  /* by place: number of the first one + 1 */
    uint32_t *next;         /* by number: the next silent one at this place + 1; 0: none */
    uint64_t status_key;
    struct wait *list;
    size_t count, capacity;
    pthread_mutex_t lock;
};

/* A pid, as the kernel hands it out: on this host since its start, in this PID namespace. */
static uint64_t place_of(const struct dft_source_process *process, uint32_t pid)
{
    const struct dft_process *of = &process->process;
    uint64_t host =
        dft_map_join(dft_name_id(of->host.bytes, of->host.length), dft_name_id(of->boot_id.bytes, of->boot_id.length));

    return dft_map_join(dft_map_join(host, of->pid_namespace), pid);
}

static int has_no_end(const struct dft_source_process *process)
{
    return process->exit_kind == DFT_ENDING_KILLED || (process->exit_kind == DFT_ENDING_UNKNOWN && process->unseen);
}

/* Else it was stopped, or goes on. */
static int is_end(int32_t status)
{
    return WIFEXITED(status) || WIFSIGNALED(status);
}

/* Is it still unknown how it ended, or who waited for it? */
static int is_silent(const struct dft_source_process *process)
{
    return !process->waited && process->process.ppid &&
           (process->exit_kind == DFT_ENDING_SIGNAL || has_no_end(process));
}

static int add_silent(struct waits *waits, const struct dft_source_process *process)
{
    uint64_t start, end, *parent = dft_map_put(&waits->parents, place_of(process, process->process.ppid));
    uint64_t *own = dft_map_put(&waits->silent, place_of(process, process->process.pid));

    if (!parent || !own)
        return -ENOMEM;
    dft_process_lifetime(process, &start, &end);
    if (!*parent || *parent > start + 1)
        *parent = start + 1;
    waits->next[process->number] = (uint32_t)*own;
    *own = process->number + 1u;
    return 1;
}

/* Returns how many there are, or -ENOMEM. */
static int find_silent(struct waits *waits)
{
    const struct dft_source *source = waits->source;
    int found = 0;

    waits->next = calloc(source->nprocesses + 1u, sizeof *waits->next);
    if (!waits->next)
        return -ENOMEM;
    for (uint32_t p = 0; p < source->nprocesses; p++) {
        int rc = is_silent(&source->processes[p]) ? add_silent(waits, &source->processes[p]) : 0;

        if (rc < 0)
            return rc;
        found += rc;
    }
    return found;
}

/* --- the waits -------------------------------------------------------------------------------- */

/* Events of parents, from the start of the first of their silent children on. */
static int may_wait(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct waits *waits = context;
    const uint64_t *from = block->type == DFT_BLOCK_EVENTS && (block->use & DFT_IN_EVENTS)
                               ? dft_map_find(&waits->parents, place_of(process, process->process.pid))
                               : NULL;

    return from && (!block->end || block->end + 1 >= *from);
}

/* One that began before the wait returned, and is a child of who waited. */
static int add_wait(struct waits *waits, const struct dft_source_process *by, uint32_t pid, uint64_t end_ns, int status)
{
    const struct dft_source *source = waits->source;
    const uint64_t *first = dft_map_find(&waits->silent, place_of(by, pid));
    int rc = 0;

    if (!first || !is_end(status))
        return 0;
    pthread_mutex_lock(&waits->lock);
    for (uint32_t at = (uint32_t)*first; at && !rc; at = waits->next[at - 1]) {
        uint64_t start, end;

        dft_process_lifetime(&source->processes[at - 1], &start, &end);
        if (source->processes[at - 1].process.ppid == by->process.pid && start <= end_ns)
            rc = DFT_ARRAY_PUSH(waits->list, waits->capacity, waits->count,
                                (struct wait){end_ns, at - 1, by->number, status});
    }
    pthread_mutex_unlock(&waits->lock);
    return rc;
}

static int take_events(void *context, unsigned worker, const struct dft_source_process *process,
                       const struct dft_block *block, struct dft_batch *batch)
{
    struct waits *waits = context;
    int rc = 0;

    (void)worker;
    (void)block;
    for (uint32_t a = 0; a < batch->nargs && !rc; a++) {
        const struct dft_event *event = &batch->events[batch->args[a].event];

        if (batch->args[a].key == waits->status_key && batch->calls[event->call].op == DFT_OP_WAIT && event->result > 0)
            rc = add_wait(waits, process, (uint32_t)event->result, event->start_ns + event->dur_ns,
                          (int)batch->args[a].i);
    }
    return rc;
}

/* --- what they say ---------------------------------------------------------------------------- */

/* The first of several waits tells: later ones are for other processes with this pid. by: number of who waited, + 1. */
static void take(struct dft_source_process *process, int32_t status, uint64_t end_ns, uint32_t by)
{
    if (!is_end(status) || (process->waited && process->waited_ns <= end_ns))
        return;
    process->waited = (uint32_t)status + 1;
    process->waited_ns = end_ns;
    process->waited_by = by;
}

void dft_source_take_waited(struct dft_source_process *process, const struct dft_source_end *end)
{
    take(process, end->status, end->time_ns, 0);
}

static int take_waits(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_source *source = context;
    const char *at = bytes;

    (void)rank;
    for (size_t i = 0; i < length / sizeof(struct wait); i++) {
        struct wait wait;

        memcpy(&wait, at + i * sizeof wait, sizeof wait);
        take(&source->processes[wait.process], wait.status, wait.end_ns, wait.by + 1);
    }
    return 0;
}

/* What was waited for is over, wherever it ran. */
static void tell(struct dft_source_process *process)
{
    int status = (int)(process->waited - 1);

    if (!has_no_end(process))
        return;
    process->exit_kind = WIFEXITED(status) ? DFT_ENDING__EXIT : DFT_ENDING_KILLED;
    process->end.status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    process->unseen = 0;
}

int dft_source_find_waits(struct dft_source *source)
{
    struct waits waits = {
        .source = source, .status_key = dft_name_id("\0status", 7), .lock = PTHREAD_MUTEX_INITIALIZER};
    int found = dft_comm_agree(find_silent(&waits)), rc = found < 0 ? found : 0;

    if (found > 0)
        rc =
            dft_source_visit(source, &(struct dft_visit){.context = &waits, .select = may_wait, .events = take_events});
    if (found > 0 && !rc)
        rc = dft_comm_exchange(waits.list, waits.count * sizeof *waits.list, take_waits, source);
    for (uint32_t p = 0; p < source->nprocesses && !rc; p++)
        if (source->processes[p].waited)
            tell(&source->processes[p]);
    free(waits.list);
    free(waits.next);
    dft_map_fini(&waits.parents);
    dft_map_fini(&waits.silent);
    return rc;
}
