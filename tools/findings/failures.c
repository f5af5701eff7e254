/* SPDX-License-Identifier: MIT */
/* Separates failures from expected answers, and looks for failed calls that are done again. */
#include "findings/failures.h"

#include <errno.h>
#include <fcntl.h>

#include "findings/facts.h"
#include "format/event.h"
#include "format/ops.h"
#include "mpi/comm.h"
#include "views/source_unordered.h"

#define KEPT   (1u << 20) /* failed calls that are kept by call and place */
#define SECTOR 512

/* --- which failures matter -------------------------------------------------------------------- */

static int is_answer(uint16_t err)
{
    return err == ENOENT || err == EAGAIN || err == EINTR || err == EOPNOTSUPP || err == ENOSYS || err == EXDEV;
}

/* There is no room, or the device or its server has failed. */
static int is_of_storage(uint16_t err)
{
    return err == ENOSPC || err == EDQUOT || err == EIO || err == EFBIG || err == ESTALE;
}

static int is_open(uint8_t op)
{
    return op == DFT_OP_OPEN || op == DFT_OP_FOPEN || op == DFT_OP_OPENDIR;
}

static int is_forbidden(uint16_t err)
{
    return err == EACCES || err == EPERM || err == EROFS;
}

/* Not those of owners and modes: copies keep them where they may. */
static int changes_names(uint8_t op)
{
    return op == DFT_OP_UNLINK || op == DFT_OP_MKDIR || op == DFT_OP_RENAME || op == DFT_OP_TRUNCATE;
}

/* Servers may take bytes when the file is closed, and growth needs room. */
static int completes_writes(uint8_t op)
{
    return op == DFT_OP_CLOSE || op == DFT_OP_FCLOSE || op == DFT_OP_TRUNCATE || op == DFT_OP_ALLOCATE;
}

enum dft_failing dft_failure_of(uint8_t op, uint8_t class, uint16_t err)
{
    if (!err || is_answer(err))
        return DFT_FAILING_KINDS;
    if (class == DFT_IO_SYNC) /* what has nothing to make durable says so */
        return err == EINVAL || err == EROFS ? DFT_FAILING_KINDS : DFT_FAILING_WRITES;
    if (class == DFT_IO_WRITE)
        return DFT_FAILING_WRITES;
    if (class == DFT_IO_READ)
        return DFT_FAILING_READS;
    if (class != DFT_IO_META)
        return DFT_FAILING_KINDS;
    if (is_open(op)) /* is this one a directory, is it there already, does somebody read the FIFO? */
        return err == ENOTDIR || err == EEXIST || err == ENXIO ? DFT_FAILING_KINDS : DFT_FAILING_OPENS;
    if (is_of_storage(err))
        return completes_writes(op) ? DFT_FAILING_WRITES : DFT_FAILING_OTHERS;
    return is_forbidden(err) && changes_names(op) ? DFT_FAILING_OTHERS : DFT_FAILING_KINDS;
}

/* A call for which programs have another way, where it cannot be done. */
static int is_transfer(const struct dft_answer *answer, const struct dft_group *group)
{
    return dft_facts_is_call(answer, group, "copy_file_range") || dft_facts_is_call(answer, group, "sendfile") ||
           dft_facts_is_call(answer, group, "splice");
}

enum dft_failing dft_failure_of_group(const struct dft_answer *answer, const struct dft_group *group)
{
    uint16_t err = dft_facets_err(group->key.facets);
    enum dft_failing kind = dft_failure_of(group->key.op, group->key.class, err);

    return kind == DFT_FAILING_KINDS || is_of_storage(err) || !is_transfer(answer, group) ? kind : DFT_FAILING_KINDS;
}

enum dft_failing dft_failure_tried(const struct dft_group *group, enum dft_failing failing)
{
    enum dft_failing tried = dft_failure_of(group->key.op, group->key.class, EIO);

    if (failing != DFT_FAILING_KINDS)
        return failing;
    return tried == DFT_FAILING_WRITES && group->key.class == DFT_IO_META ? DFT_FAILING_OTHERS : tried;
}

/* --- what events tell ------------------------------------------------------------------------- */

struct look {
    struct dft_failures *failures;
    struct dft_map failed; /* call of a process, with file and place -> how often it has failed since it succeeded */
    struct dft_map direct; /* file -> 1: it was opened to go past the page cache */
};

static uint64_t key_of(const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;
    uint64_t call = dft_map_join(dft_map_join(at->process->key, event->file), at->call);

    return dft_map_join(dft_map_join(call, (uint64_t)event->offset), event->size);
}

static int is_direct(const struct look *look, const struct dft_event_at *at)
{
    const struct dft_event *event = at->event;

    return event->err == EINVAL && dft_op_is_data(at->op) &&
           (event->size % SECTOR || (dft_event_has_offset(event) && event->offset % SECTOR) ||
            dft_map_find(&look->direct, event->file));
}

/* Blocks come in the order of files, which is that of time within a thread. */
static int take(void *context, const struct dft_event_at *at)
{
    struct look *look = context;
    const struct dft_event *event = at->event;
    enum dft_failing kind = dft_failure_of(at->op, at->io, event->err);
    uint64_t *times;

    if (event->phase != DFT_PHASE_COMPLETE || (event->err && kind == DFT_FAILING_KINDS))
        return 0;
    if (!event->err && at->op == DFT_OP_OPEN && event->flags & O_DIRECT && event->file) {
        times = dft_map_put(&look->direct, event->file);
        if (!times)
            return -ENOMEM;
        *times = 1;
    }
    if (!event->err) {
        times = dft_map_find(&look->failed, key_of(at));
        kind = times ? dft_failure_of(at->op, at->io, EIO) : DFT_FAILING_KINDS;
        if (kind < DFT_FAILING_KINDS) {
            look->failures->again[kind] += *times;
            *times = 0;
        }
        return 0;
    }
    look->failures->direct[kind] += (uint64_t)is_direct(look, at);
    times = look->failed.count < KEPT ? dft_map_put(&look->failed, key_of(at)) : NULL;
    if (!times)
        return look->failed.count < KEPT ? -ENOMEM : 0;
    ++*times;
    return 0;
}

/* Has any kind failures worth a finding? */
static int is_worth_it(const struct dft_facts *facts)
{
    const struct dft_answer *calls = &facts->answers[DFT_FACT_CALLS];
    uint64_t time_ns[DFT_FAILING_KINDS + 1] = {0}, writes = 0;
    int is_worth = 0;

    for (uint32_t i = 0; i < calls->count; i++) {
        enum dft_failing kind = dft_failure_of_group(calls, &calls->groups[i]);

        time_ns[kind] += calls->groups[i].metrics.dur_sum;
        writes += kind == DFT_FAILING_WRITES;
    }
    for (unsigned kind = 0; kind < DFT_FAILING_KINDS; kind++)
        is_worth |= time_ns[kind] && dft_facts_matters(facts, time_ns[kind]);
    is_worth |= writes != 0;
    dft_comm_broadcast(&is_worth, sizeof is_worth);
    return is_worth;
}

int dft_failures_collect(struct dft_facts *facts)
{
    const struct dft_findings_request *request = facts->request;
    struct look look = {.failures = &facts->failures};
    int rc = 0;

    if (!facts->has_file_ops || !is_worth_it(facts))
        return 0;
    if (!dft_comm_rank())
        rc = dft_source_unordered(request->source, request->filter, take, &look);
    facts->failures.are_known = 1;
    dft_map_fini(&look.failed);
    dft_map_fini(&look.direct);
    return dft_comm_agree(rc);
}
