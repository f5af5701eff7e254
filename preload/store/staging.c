/* SPDX-License-Identifier: MIT */
/* Owns the staging of whole blocks. Gathers blocks, writes them to the file, and counts their
 * events as written or lost. */
#include "store/staging.h"

#include <errno.h>
#include <string.h>

#include "os/onstack.h"
#include "os/self.h"
#include "store/tracefile.h"

static enum dft_drop drop_reason(int error)
{
    switch (-error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return DFT_DROP_NO_SPACE;
    case EMFILE:
    case ENFILE:
    case EBADF:
        return DFT_DROP_NO_NUMBER;
    default:
        return DFT_DROP_WRITE_FAILED;
    }
}

/* Writes whole blocks with `events` events to the file. `others`: the events of children among
 * them, which are not the process's own. */
static void write_out(struct dft_context *context, const void *blocks, size_t length, uint32_t events, uint32_t others)
{
    int result = dft_tracefile_write(blocks, length);

    if (result)
        context->failed = 1;
    if (!result || !context->keeps)
        atomic_fetch_add(result ? &dft_live->dropped[drop_reason(result)] : &dft_live->events,
                         result ? events : events - others);
}

void dft_staging_flush(struct dft_context *context)
{
    if (context->staged)
        write_out(context, context->staging, context->staged, context->counted, context->others);
    context->staged = context->counted = context->others = 0;
}

void dft_staging_put(struct dft_context *context, const void *block, long length, uint32_t events)
{
    uint32_t others;

    if (length < 0) {
        atomic_fetch_add(&dft_live->dropped[DFT_DROP_TOO_LONG], events);
        return;
    }
    others = ((const struct dft_block_header *)block)->key == dft_key ? 0 : events;
    if ((size_t)length > DFT_STAGING_BYTES - context->staged)
        dft_staging_flush(context);
    if ((size_t)length <= DFT_STAGING_BYTES) {
        memcpy(context->staging + context->staged, block, (size_t)length);
        context->staged += (uint32_t)length;
        context->counted += events;
        context->others += others;
    } else {
        write_out(context, block, (size_t)length, events, others);
    }
}

/* --- blocks for other modules ----------------------------------------------------------------- */

struct blocks_job {
    struct dft_context *context;
    const struct dft_staging_block *blocks;
    uint32_t count;
};

static void write_blocks(void *argument)
{
    struct blocks_job *job = argument;

    job->context->failed = job->context->keeps = 0;
    for (uint32_t i = 0; i < job->count; i++) {
        const void *block;
        long length = job->blocks[i].encode(job->context->encoder, job->blocks[i].what, &block);

        dft_staging_put(job->context, block, length, 0);
    }
    dft_staging_flush(job->context);
}

int dft_staging_write(const struct dft_staging_block *blocks, uint32_t count)
{
    struct blocks_job job = {.context = dft_context_acquire(), .blocks = blocks, .count = count};
    int failed;

    if (!job.context)
        return -ENOMEM;
    dft_on_stack(job.context->stack_top, write_blocks, &job);
    failed = job.context->failed;
    dft_context_release(job.context);
    return failed ? -EIO : 0;
}
