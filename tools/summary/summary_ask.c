/* SPDX-License-Identifier: MIT */
/* What all forms of the summary share: how it asks, what it says of losses and of what answered. */
#include "summary/summary.h"

#include <stdio.h>

#include "format/end.h"
#include "base/write_text.h"
#include "mpi/comm.h"

const char *dft_answer_source_name(enum dft_answer_source source)
{
    static const char *const names[] = {
        [DFT_ANSWER_BUCKETS] = "buckets", [DFT_ANSWER_FILES] = "files", [DFT_ANSWER_EVENTS] = "events"};

    return names[source];
}

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

int dft_summary_is_lossy(const struct dft_summary *summary)
{
    return dft_job_is_lossy(&summary->job, summary->source);
}

/* `what` begins the sentence when something was. */
void dft_summary_losses(FILE *out, const struct dft_summary *summary, const char *what)
{
    int paused = dft_job_unrecorded(out, "", &summary->job);

    if (paused)
        fputs("; ", out);
    if (!dft_summary_is_lossy(summary)) {
        fprintf(out, "nothing%s%s", paused ? " else" : "", *what ? " lost" : "");
        return;
    }
    fputs(what, out);
    dft_job_losses(out, &summary->job, summary->source);
}

void dft_summary_source(FILE *out, const struct dft_answer *answer)
{
    static const char *const names[] = {
        [DFT_ANSWER_BUCKETS] = "buckets", [DFT_ANSWER_FILES] = "file aggregates", [DFT_ANSWER_EVENTS] = "events"};
    uint64_t rows = answer->placed_rows, all = rows + answer->placed_events;
    char capacity[DFT_TEXT_ROOM];

    if (answer->source == DFT_ANSWER_BUCKETS || !rows || !answer->placed_events)
        fprintf(out, "from %s",
                names[rows && answer->source == DFT_ANSWER_EVENTS ? DFT_ANSWER_BUCKETS : answer->source]);
    else
        fprintf(out, "from events, and for %s of the calls from %s", dft_text_share(capacity, rows, all),
                names[answer->source == DFT_ANSWER_FILES ? DFT_ANSWER_FILES : DFT_ANSWER_BUCKETS]);
}

void dft_summary_kept(FILE *out, const struct dft_summary *summary)
{
    const uint64_t *kept = summary->job.kept_ns;
    char capacity[DFT_TEXT_ROOM];
    uint64_t time_ns = dft_job_lived_ns(&summary->job);

    if (kept[DFT_KEEP_SELECTED])
        fprintf(out, "all events were kept for %s of the time, selected ones for %s; ",
                dft_text_share(capacity, kept[DFT_KEEP_EVENTS], time_ns),
                dft_text_share((char[DFT_TEXT_ROOM]){0}, kept[DFT_KEEP_SELECTED], time_ns));
    else if (summary->job.ranks_with_events && summary->job.ranks_with_events < summary->job.ranks)
        fprintf(out, "events of %u of %u ranks; ", summary->job.ranks_with_events, summary->job.ranks);
    else if (kept[DFT_KEEP_EVENTS] && kept[DFT_KEEP_EVENTS] + kept[DFT_KEEP_NOTHING] < time_ns)
        fprintf(out, "events were kept for %s of the time; ", dft_text_share(capacity, kept[DFT_KEEP_EVENTS], time_ns));
}
