/* SPDX-License-Identifier: MIT */
/* What was lost of a job, for people. */
#include "job/job_losses.h"
#include "base/write_text.h"

int dft_job_is_lossy(const struct dft_job *job, struct dft_source *source)
{
    for (unsigned reason = 0; reason <= DFT_DROP_LAST; reason++)
        if (job->dropped[reason])
            return 1;
    return job->args_cut || job->damaged || job->missing || job->endless || dft_job_unread(job, source);
}

int dft_job_dropped(FILE *out, const struct dft_job *job)
{
    char text[DFT_TEXT_ROOM];
    int any = 0;

    for (unsigned reason = 0; reason <= DFT_DROP_LAST; reason++) {
        if (!job->dropped[reason])
            continue;
        fprintf(out, "%s%s events (%s)", any ? ", " : "", dft_text_count(text, job->dropped[reason]),
                dft_drop_text((enum dft_drop)reason));
        any = 1;
    }
    return any;
}

void dft_job_json_dropped(struct dft_json *json, const struct dft_job *job)
{
    dft_json_object(json, "dropped");
    for (unsigned reason = 0; reason <= DFT_DROP_LAST; reason++)
        if (job->dropped[reason])
            dft_json_uint(json, dft_drop_text((enum dft_drop)reason), job->dropped[reason]);
    dft_json_end_object(json);
}

void dft_job_losses(FILE *out, const struct dft_job *job, struct dft_source *source)
{
    uint64_t unread = dft_job_unread(job, source) - (job->rewritten != 0); /* of which one note tells */
    char text[DFT_TEXT_ROOM];
    const char *comma = dft_job_dropped(out, job) ? ", " : "";

    if (job->args_cut) {
        fprintf(out, "%s%s arguments (cut or left out)", comma, dft_text_count(text, job->args_cut));
        comma = ", ";
    }
    if (job->missing) {
        fprintf(out, "%s%s events (written, and missing here)", comma, dft_text_count(text, job->missing));
        comma = ", ";
    }
    if (job->damaged) {
        fprintf(out, "%swhat stood in %s unreadable blocks", comma, dft_text_count(text, job->damaged));
        comma = ", ";
    }
    if (job->endless) {
        fprintf(out, "%swhat %u processes without an end (killed, or still running elsewhere) had not written", comma,
                job->endless);
        comma = ", ";
    }
    if (job->rewritten) {
        fprintf(out, "%sperhaps traces of programs that had ended before %u trace%s removed (and written again whole)",
                comma, job->rewritten, job->rewritten == 1 ? " was" : "s were");
        comma = ", ";
    }
    if (unread)
        fprintf(out, "%swhat could not be read (%s note%s what)", comma, dft_text_count(text, unread),
                unread == 1 ? " says" : "s say");
}
