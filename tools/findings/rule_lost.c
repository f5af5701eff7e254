/* SPDX-License-Identifier: MIT */
/* What is missing: always said, and first. */
#include <stdlib.h>

#include "findings/facts.h"
#include "findings/rules.h"
#include "job/job_losses.h"
#include "job/job_state.h"

/* Pauses that are too short to matter are named among what is good. */
static int say_good(struct dft_rules *rules)
{
    const struct dft_findings_request *request = rules->facts->request;
    char *text = NULL, *unrecorded = NULL;
    int rc = dft_job_incomplete(&unrecorded, request->job, request->source);

    if (!rc)
        rc = dft_finding_say(&text, "lost 0%s%s", *unrecorded ? ", " : "", unrecorded);
    if (!rc)
        rc = dft_rules_good(rules, text);
    free(unrecorded);
    free(text);
    return rc;
}

int dft_rule_lost(struct dft_rules *rules)
{
    const struct dft_findings_request *request = rules->facts->request;
    const struct dft_job *job = request->job;
    uint64_t least = dft_job_lived_ns(job) / 1000 * dft_limit(rules, DFT_LIMIT_ANY_SHARE);
    int lossy = dft_job_is_lossy(job, request->source);
    struct dft_finding *finding;
    int rc;

    if (!lossy && !job->nmissing && !job->paused_longer && job->kept_ns[DFT_KEEP_NOTHING] <= least)
        return say_good(rules);
    rc = dft_rules_add(rules, DFT_FINDING_LOST, 0, 0, &finding);
    if (rc <= 0)
        return rc;
    finding->sure = DFT_SURE_HIGH;
    rc = dft_finding_say(&finding->title, "not all of the job is here");
    if (!rc)
        rc = dft_job_incomplete(&finding->evidence, job, request->source);
    if (!rc && job->nmissing)
        rc = dft_finding_say(&finding->evidence, "%s%u of %u ranks have no trace here", *finding->evidence ? "; " : "",
                             job->nmissing, job->world_size);
    return rc ? rc : dft_finding_say(&finding->why_sure, "this is counted");
}
