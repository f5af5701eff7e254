/* SPDX-License-Identifier: MIT */
/* The I/O of each process that `dftmerge ps` shows: time and bytes of the calls that pass the
 * filter. */
#include <errno.h>
#include <stdlib.h>

#include "query/answer_pages.h"
#include "query/query.h"
#include "small/ps_inside.h"

static int take(void *context, const struct dft_answer *answer)
{
    struct ps *ps = context;

    for (uint32_t i = 0; i < answer->count; i++) {
        const struct dft_group *group = &answer->groups[i];
        struct ps_io *io = &ps->io[answer->process_group[group->key.process_group - 1]->number];
        uint8_t class = group->key.class;

        io->time_ns += dft_is_io(class) ? group->metrics.dur_sum : 0;
        io->read += class == DFT_IO_READ || class == DFT_IO_STARTUP ? group->metrics.bytes : 0;
        io->written += class == DFT_IO_WRITE ? group->metrics.bytes : 0;
    }
    return 0;
}

int dft_ps_io_count(struct ps *ps, const struct dft_filter *filter)
{
    const struct dft_query query = {.by = {DFT_BY_PROCESS, DFT_BY_CLASS}, .nby = 2};
    struct dft_answer answer;
    int rc;

    ps->io = calloc(ps->tree.count + 1u, sizeof *ps->io);
    if (!ps->io)
        return -ENOMEM;
    rc = dft_query_each(ps->source, filter, &query, take, ps, &answer);
    if (!rc)
        dft_answer_fini(&answer);
    return rc;
}
