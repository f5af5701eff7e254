/* SPDX-License-Identifier: MIT */
/* Finds the file that processes wait for most, and in its events who held the lock in the longest wait: the thread
 * that had got it before, and was the last to give it back while the wait went on. */
#include "findings/lock_waits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/array.h"
#include "findings/facts.h"
#include "findings/facts_ask.h"
#include "format/event.h"
#include "format/ops.h"
#include "mpi/comm.h"
#include "views/source_unordered.h"

#define OP(op) (UINT64_C(1) << (op))

uint64_t dft_facts_lock_ns(const struct dft_facts *facts, uint64_t *calls)
{
    const struct dft_answer *answer = &facts->answers[DFT_FACT_CALLS];
    uint64_t time_ns = 0;

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];

        if (group->key.op != DFT_OP_LOCK)
            continue;
        time_ns += group->metrics.dur_sum;
        if (calls)
            *calls += group->metrics.count;
    }
    return time_ns;
}

static int is_worth_it(const struct dft_facts *facts)
{
    uint64_t time_ns = dft_facts_lock_ns(facts, NULL);
    int is_worth = time_ns && dft_facts_matters(facts, time_ns);

    dft_comm_broadcast(&is_worth, sizeof is_worth);
    return is_worth;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Rows of files have classes alone, and what is read or written at the other end of a pipe is a wait, too. */
static int is_of_locks(const struct dft_group *group)
{
    return group->key.file && group->metrics.count && !group->metrics.data;
}

static int find_file(const struct dft_answer *answer, struct dft_lock_waits *waits)
{
    struct dft_map times = {0};
    int rc = 0;

    for (uint32_t i = 0; i < answer->count && !rc; i++) {
        const struct dft_group *group = &answer->groups[i];
        uint64_t *time_ns = is_of_locks(group) ? dft_map_put(&times, group->key.file) : NULL;

        if (!time_ns) {
            rc = is_of_locks(group) ? -ENOMEM : 0;
            continue;
        }
        *time_ns += group->metrics.dur_sum;
        if (*time_ns > waits->time_ns || (*time_ns == waits->time_ns && group->key.file < waits->file)) {
            waits->time_ns = *time_ns;
            waits->file = group->key.file;
        }
    }
    waits->files = times.count;
    dft_map_fini(&times);
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_metrics *metrics = &answer->groups[i].metrics;

        if (answer->groups[i].key.file != waits->file || !is_of_locks(&answer->groups[i]))
            continue;
        waits->processes++;
        waits->calls += metrics->count;
        waits->longest_ns = metrics->dur_max > waits->longest_ns ? metrics->dur_max : waits->longest_ns;
    }
    return rc;
}

/* --- who held it ------------------------------------------------------------------------------ */

/* A thread, seen from the end of the longest wait. */
struct user {
    const struct dft_source_process *process;
    uint64_t got_ns, gave_ns; /* got the lock before that, the last time; gave it back while the wait went on */
};

struct users {
    struct dft_lock_waits *waits;
    uint64_t waiter; /* the thread that waits */
    struct dft_map numbers;
    struct user *list;
    size_t count, capacity;
};

enum deed { NOTHING, GETS, GIVES };

/* Commands of fcntl, of which the mode says what is done: F_UNLCK, or another kind of lock. A flock that does not wait
 * has one of these numbers, and no mode. */
static int is_by_kind(uint32_t flags)
{
    return flags == F_SETLK || flags == F_SETLKW || flags == F_OFD_SETLK || flags == F_OFD_SETLKW;
}

static enum deed deed_of(const struct dft_event_at *at)
{
    const uint32_t flags = at->event->flags;

    if (at->event->err || at->event->phase != DFT_PHASE_COMPLETE)
        return NOTHING;
    if (at->op == DFT_OP_CLOSE || at->op == DFT_OP_FCLOSE)
        return GIVES;
    if ((at->op == DFT_OP_LOCK || at->op == DFT_OP_CONTROL) && is_by_kind(flags))
        return at->event->mode == F_UNLCK ? GIVES : GETS;
    if (at->op != DFT_OP_LOCK || flags == F_TEST)
        return NOTHING;
    return flags == F_ULOCK || (flags & ~(uint32_t)LOCK_NB) == LOCK_UN ? GIVES : GETS;
}

static uint64_t thread_of(const struct dft_event_at *at)
{
    return dft_map_join(at->process->key, at->tid);
}

static int take_longest(void *context, const struct dft_event_at *at)
{
    struct users *users = context;
    struct dft_lock_waits *waits = users->waits;
    const struct dft_event *event = at->event;

    if (at->op != DFT_OP_LOCK || event->file != waits->file || deed_of(at) != GETS ||
        (waits->waiter && event->dur_ns <= waits->end_ns - waits->start_ns))
        return 0;
    waits->waiter = at->process;
    waits->start_ns = event->start_ns;
    waits->end_ns = event->start_ns + event->dur_ns;
    users->waiter = thread_of(at);
    return 0;
}

static int take_deed(void *context, const struct dft_event_at *at)
{
    struct users *users = context;
    const struct dft_lock_waits *waits = users->waits;
    const struct dft_event *event = at->event;
    enum deed deed = event->file == waits->file ? deed_of(at) : NOTHING;
    uint64_t end_ns = event->start_ns + event->dur_ns, *number;
    struct user *user;

    if (deed == NOTHING || thread_of(at) == users->waiter || event->start_ns > waits->end_ns)
        return 0;
    number = dft_map_put(&users->numbers, thread_of(at));
    if (!number)
        return -ENOMEM;
    if (!*number) {
        if (DFT_ARRAY_PUSH(users->list, users->capacity, users->count, (struct user){.process = at->process}))
            return -ENOMEM;
        *number = users->count;
    }
    user = &users->list[*number - 1];
    if (deed == GETS && end_ns <= waits->end_ns && end_ns > user->got_ns)
        user->got_ns = end_ns;
    if (deed == GIVES && event->start_ns >= waits->start_ns && event->start_ns > user->gave_ns)
        user->gave_ns = event->start_ns;
    return 0;
}

/* The end of a process gives back what it has. Hosts have clocks of their own. */
static void find_holder(const struct users *users, struct dft_lock_waits *waits)
{
    const struct dft_text host = waits->waiter->process.host;
    uint64_t gave_ns = 0;

    for (size_t i = 0; i < users->count; i++) {
        const struct user *user = &users->list[i];
        const struct dft_source_process *process = user->process;
        uint64_t end_ns = process->end_ns >= waits->start_ns && process->end_ns <= waits->end_ns ? process->end_ns : 0,
                 own_ns = user->gave_ns ? user->gave_ns : end_ns;

        if (!user->got_ns || own_ns < user->got_ns || own_ns <= gave_ns ||
            process->process.host.length != host.length ||
            memcmp(process->process.host.bytes, host.bytes, host.length) != 0)
            continue;
        gave_ns = own_ns;
        waits->holder = process;
        waits->held_ns = own_ns - user->got_ns;
    }
}

static int look_at_events(const struct dft_facts *facts, struct dft_lock_waits *waits)
{
    struct users users = {.waits = waits};
    int rc = dft_source_unordered(facts->request->source, facts->request->filter, take_longest, &users);

    if (!rc && waits->waiter)
        rc = dft_source_unordered(facts->request->source, facts->request->filter, take_deed, &users);
    if (!rc && waits->waiter)
        find_holder(&users, waits);
    dft_map_fini(&users.numbers);
    free(users.list);
    return rc;
}

int dft_lock_waits_collect(struct dft_facts *facts)
{
    struct dft_facts_questions questions = {.count = 0};
    int rc;

    if (!is_worth_it(facts))
        return 0;
    dft_facts_put(facts, &questions, DFT_FACT_LOCKS,
                  (struct dft_query){.by = {DFT_BY_FILE, DFT_BY_PROCESS},
                                     .nby = 2,
                                     .ops = facts->has_file_ops ? OP(DFT_OP_LOCK) : 0,
                                     .classes = facts->has_file_ops ? 0 : 1u << DFT_IO_WAIT});
    rc = dft_facts_ask(facts, &questions, facts->request->filter);
    if (!rc && !dft_comm_rank())
        rc = find_file(&facts->answers[DFT_FACT_LOCKS], &facts->locks);
    if (!rc && !dft_comm_rank() && facts->has_file_ops && facts->locks.file)
        rc = look_at_events(facts, &facts->locks);
    return dft_comm_agree(rc);
}
