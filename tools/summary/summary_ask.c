/* SPDX-License-Identifier: MIT */
/* What all forms of the summary share: how it asks. */
#include "summary/summary.h"

#include "mpi/comm.h"

int dft_summary_ask(struct dft_summary *summary, const struct dft_query *query, const char *sort, uint64_t top,
                    uint64_t at_once, struct dft_answer *answer)
{
    const struct dft_order order = {.column = sort, .top = top, .at_once = at_once};

    return dft_query_sorted(summary->source, &summary->options->filter, query, &order, answer);
}

int dft_summary_nothing(const struct dft_summary *summary, const struct dft_answer *answer)
{
    int any = answer->found || answer->events; /* bytes alone, of calls that are counted elsewhere, are something */

    dft_comm_broadcast(&any, sizeof any);
    if (!any)
        dft_command_nothing(summary->options, summary->source);
    return !any && dft_filter_has_any(&summary->options->filter);
}

int dft_summary_findings(struct dft_summary *summary, const struct dft_query_request *more, unsigned count,
                         struct dft_findings *findings)
{
    return dft_findings_make(&(struct dft_findings_request){.source = summary->source,
                                                            .filter = &summary->options->filter,
                                                            .job = &summary->job,
                                                            .limits = &summary->limits,
                                                            .thorough = summary->all,
                                                            .more = more,
                                                            .nmore = count},
                             findings);
}
