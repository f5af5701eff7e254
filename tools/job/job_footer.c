/* SPDX-License-Identifier: MIT */
/* What stands below a table: how much of the time events were kept, and what was lost. */
#include "job/job_footer.h"

#include "base/write_text.h"
#include "job/job_losses.h"
#include "job/job_state.h"

void dft_job_print_losses(FILE *out, const struct dft_job *job, struct dft_source *source, const char *what)
{
    int paused = dft_job_unrecorded(out, "", job);

    if (paused)
        fputs("; ", out);
    if (!dft_job_is_lossy(job, source)) {
        fprintf(out, "nothing%s%s", paused ? " else" : "", *what ? " lost" : "");
        return;
    }
    fputs(what, out);
    dft_job_losses(out, job, source);
}

void dft_job_print_kept(FILE *out, const struct dft_job *job)
{
    const uint64_t *kept = job->kept_ns;
    char text[DFT_TEXT_ROOM];
    uint64_t time_ns = dft_job_lived_ns(job);

    if (kept[DFT_KEEP_SELECTED])
        fprintf(out, "all events were kept for %s of the time, selected ones for %s; ",
                dft_text_share(text, kept[DFT_KEEP_EVENTS], time_ns),
                dft_text_share((char[DFT_TEXT_ROOM]){0}, kept[DFT_KEEP_SELECTED], time_ns));
    else if (job->ranks_with_events && job->ranks_with_events < job->ranks)
        fprintf(out, "events of %u of %u ranks; ", job->ranks_with_events, job->ranks);
    else if (kept[DFT_KEEP_EVENTS] && kept[DFT_KEEP_EVENTS] + kept[DFT_KEEP_NOTHING] < time_ns)
        fprintf(out, "events were kept for %s of the time; ", dft_text_share(text, kept[DFT_KEEP_EVENTS], time_ns));
}
