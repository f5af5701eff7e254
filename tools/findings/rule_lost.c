/* SPDX-License-Identifier: MIT */
/* What is missing: always said, and first. */
#include <errno.h>
#include <stdlib.h>

#include "findings/facts.h"

static int say_losses(const struct dft_findings_request *request, char **evidence)
{
    size_t length;
    FILE *out = open_memstream(evidence, &length);

    if (!out)
        return -ENOMEM;
    dft_job_losses(out, request->job, request->source);
    if (!fclose(out))
        return 0;
    free(*evidence);
    *evidence = NULL;
    return -ENOMEM;
}

int dft_rule_lost(struct dft_rules *rules)
{
    const struct dft_findings_request *request = rules->facts->request;
    const struct dft_job *job = request->job;
    struct dft_finding *finding;
    int rc;

    if (!dft_job_is_lossy(job, request->source) && !job->nmissing)
        return dft_rules_good(rules, "lost 0");
    rc = dft_rules_add(rules, DFT_FINDING_LOST, 0, 0, &finding);
    if (rc <= 0)
        return rc;
    finding->sure = DFT_SURE_HIGH;
    rc = dft_finding_say(&finding->title, "not all of the job is here");
    if (!rc && dft_job_is_lossy(job, request->source))
        rc = say_losses(request, &finding->evidence);
    if (!rc && job->nmissing)
        rc = dft_finding_say(&finding->evidence, "%s%u of %u ranks have no trace here", finding->evidence ? "; " : "",
                             job->nmissing, job->world_size);
    return rc ? rc : dft_finding_say(&finding->why_sure, "this is counted");
}
