/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: who died first, of what, and after which call. */
#include "ranks/ranks_died.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/names.h"
#include "base/write_json.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "format/event.h"
#include "mpi/comm.h"
#include "ranks/ranks_tables.h"
#include "ranks/ranks_text.h"
#include "intake/source_names.h"
#include "intake/source_visit.h"

static int is_of_first(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    const struct dft_ranks_job *job = context;

    return block->type == DFT_BLOCK_EVENTS && process->number + 1 == job->died.fates.first &&
           (block->first > block->last ? block->state == DFT_BLOCK_USED : (block->use & DFT_IN_EVENTS) != 0);
}

/* What goes on is later than what has ended; of two that go on the one that began last is the inner one. */
static int is_later(const struct dft_last_call *one, const struct dft_last_call *other)
{
    if (one->goes_on != other->goes_on)
        return one->goes_on;
    return one->at_ns > other->at_ns || (one->at_ns == other->at_ns && one->call > other->call);
}

static int take_events(void *context, unsigned worker, const struct dft_source_process *process,
                       const struct dft_block *block, struct dft_batch *batch)
{
    struct dft_ranks_job *job = context;
    struct dft_last_call latest = {0};
    uint8_t goes_on = block->first > block->last;

    (void)worker;
    (void)process;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct dft_event *event = &batch->events[i];
        const struct dft_call *call = &batch->calls[event->call];
        const struct dft_last_call last = {.call = call->id,
                                           .file = event->file,
                                           .at_ns = event->start_ns + (goes_on ? 0 : event->dur_ns),
                                           .goes_on = goes_on};

        if (call->op != DFT_OP_REGION && is_later(&last, &latest))
            latest = last;
    }
    pthread_mutex_lock(&job->locks[0]);
    if (is_later(&latest, &job->died.last))
        job->died.last = latest;
    pthread_mutex_unlock(&job->locks[0]);
    return 0;
}

static int take_last(void *context, unsigned rank, const void *bytes, size_t length)
{
    struct dft_ranks_job *job = context;
    struct dft_last_call last;

    (void)rank;
    if (length != sizeof last)
        return 0;
    memcpy(&last, bytes, sizeof last);
    if (is_later(&last, &job->died.last))
        job->died.last = last;
    return 0;
}

int dft_ranks_died(struct dft_ranks_job *job)
{
    struct dft_last_call own;
    int rc = dft_comm_agree(dft_fates_find(&job->died.fates, job->source, job->filter));

    if (rc || !job->died.fates.first)
        return rc;
    rc = dft_source_visit(job->source,
                          &(struct dft_visit){.context = job, .select = is_of_first, .events = take_events});
    own = job->died.last;
    return rc ? rc : dft_comm_exchange(&own, sizeof own, take_last, job);
}

/* "; it was in write of out/state.5 since +12.3 s", "; its last call was write of out/state.5, until +12.3 s" */
static void put_last(FILE *out, const struct dft_ranks_job *job)
{
    const struct dft_last_call *last = &job->died.last;
    const struct dft_source_process *first;
    char since[DFT_TEXT_ROOM], text[18];
    struct dft_text file;
    uint32_t count;

    if (!last->call)
        return;
    fputs("; ", out);
    if (job->died.fates.bad > 1 && job->died.fates.undated) { /* some may have died before */
        first = &dft_source_processes(job->source, &count)[job->died.fates.first - 1];
        if (first->process.rank >= 0)
            fprintf(out, "rank %" PRId32, first->process.rank);
        else
            fprintf(out, "pid %" PRIu32, first->process.pid);
        fputs(dft_fates_knows_end(first) ? ": " : " fell silent first: ", out);
    }
    fputs(last->goes_on ? "it was in " : "its last call was ", out);
    dft_ranks_put_call(out, job, last->call);
    if (last->file) {
        file = dft_names_show(dft_source_names_table(job->source), last->file, text);
        fputs(" of ", out);
        dft_text_escape(out, file.bytes, file.length);
    }
    fprintf(out, "%s %s", last->goes_on ? " since" : ", until",
            dft_ranks_since(since, job, dft_ranks_aligned(job, job->died.fates.first - 1, last->at_ns)));
}

int dft_ranks_put_died(const struct dft_ranks_job *job)
{
    struct dft_sentence sentence;
    FILE *out;

    if (!job->died.fates.bad)
        return 0;
    out = dft_sentence_begin(&sentence);
    if (out) {
        fputs("ended badly: ", out);
        dft_fates_say(out, &job->died.fates, job->source);
        put_last(out, job);
    }
    return dft_sentence_end(&sentence, out, "", 0);
}

void dft_ranks_json_died(struct dft_json *json, const struct dft_ranks_job *job)
{
    const struct dft_last_call *last = &job->died.last;
    const struct dft_names *names = dft_source_names_table(job->source);
    struct dft_text category, name, file;
    char text[18];

    dft_fates_json(json, &job->died.fates, job->source);
    if (!last->call) {
        dft_json_null(json, "last_call");
        return;
    }
    dft_json_object(json, "last_call");
    dft_names_call(names, last->call, &category, &name, text);
    dft_json_text(json, "name", name.bytes, name.length);
    if (last->file) {
        file = dft_names_show(names, last->file, text);
        dft_json_text(json, "file", file.bytes, file.length);
    } else {
        dft_json_null(json, "file");
    }
    dft_json_bool(json, "goes_on", last->goes_on);
    dft_json_uint(json, "ts", last->at_ns);
    dft_json_end_object(json);
}
