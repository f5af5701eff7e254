/* SPDX-License-Identifier: MIT */
/* Which questions a rollup answers, and where the rollup comes from. */

/* Does it tell apart all that the question does? */
#include "query/rollup.h"

#include "dftracer/imported_index.h"
#include "mpi/comm.h"
#include "query/execution.h"
#include "query/rollup_file.h"
#include "query/rollup_make.h"

static int answers(const struct dft_execution *execution)
{
    const struct dft_filter *filter = execution->filter;
    const unsigned reported = 1u << DFT_BY_CAT | 1u << DFT_BY_NAME | 1u << DFT_BY_REGION | DFT_BY_FILES |
                              1u << DFT_BY_OP | 1u << DFT_BY_CLASS;

    return !execution->query.events && !(execution->has & ~reported) && !dft_filter_has_processes(filter) &&
           !dft_filter_has_facets(filter) && !dft_filter_has(filter, DFT_FILTER_SLOWER) && !filter->from_ns &&
           filter->to_ns == UINT64_MAX;
}

/* Reads it, or makes it. Collective. */
static int find(struct dft_source *source, struct dft_rollup *rollup)
{
    struct dft_index_key key;
    int has_one = dft_rollup_key(source, &key); /* rank 0 may know more than others of where blocks are */
    int rc = !dft_comm_rank() && has_one ? dft_rollup_read(source, &key, rollup) : 0;
    int makes = !rc && has_one;

    dft_comm_broadcast(&makes, sizeof makes);
    rc = dft_comm_agree(rc < 0 ? rc : 0);
    if (!rc && makes)
        rc = dft_rollup_make(source, &key, rollup);
    rollup->is_there = rollup->bytes != NULL;
    dft_comm_broadcast(&rollup->is_there, sizeof rollup->is_there);
    rollup->is_known = !rc;
    return rc;
}

/* Reads it, if it is there. Rows of each trace would answer, too, but it has fewer. */
static int look(struct dft_source *source, struct dft_rollup *rollup)
{
    struct dft_index_key key;
    int rc = 0;

    if (dft_comm_size() == 1 && dft_rollup_key(source, &key))
        rc = dft_rollup_read(source, &key, rollup);
    rollup->is_known = rc == 1;
    rollup->is_there = rollup->bytes != NULL;
    return rc < 0 ? rc : 0;
}

int dft_rollup_may_be(const struct dft_source *source)
{
    struct dft_index_key key;

    return dft_rollup_key(source, &key);
}

int dft_rollup_begin(struct dft_execution *execution)
{
    struct dft_rollup *rollup = &execution->source->rollup;
    int by_file = DFT_HAS_FILES(execution) || dft_filter_has_files(execution->filter), rc = 0;

    /* rows of each trace know the processes and the sizes, which must not depend on earlier queries */
    if (!answers(execution) || (execution->query.members && !by_file))
        return 0;
    if (!rollup->is_known)
        rc = by_file ? find(execution->source, rollup) : look(execution->source, rollup);
    execution->rollup = rollup->is_there ? rollup : NULL;
    return rc;
}
