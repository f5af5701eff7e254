/* SPDX-License-Identifier: MIT */
/* A call that does not end: a process waits in it, or waited in it when it was killed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "findings/facts.h"
#include "findings/rules.h"
#include "job/job_state.h"

static int say(struct dft_finding *finding, const struct dft_findings_request *request, const struct dft_flight *flight,
               const char *title)
{
    char *name = NULL, *state = NULL, capacity[18];
    size_t length;
    FILE *out = open_memstream(&name, &length);
    int rc = -ENOMEM;

    if (!out)
        return rc;
    dft_flight_name(out, flight, request->source);
    if (!fclose(out))
        rc = dft_finding_say(&finding->title, "%s %s", title, name);
    free(name);
    out = rc ? NULL : open_memstream(&state, &length);
    if (!out)
        return -ENOMEM;
    dft_job_in_flight(out, request->job, request->source);
    if (!fclose(out))
        rc = dft_finding_say(&finding->evidence, "%s", state);
    free(state);
    if (!rc && flight->file) {
        struct dft_text file = dft_names_show(dft_source_names_table(request->source), flight->file, capacity);

        rc = dft_finding_say(&finding->where, "%.*s", (int)file.length, file.bytes);
    }
    return rc ? rc : dft_finding_say(&finding->why_sure, "the live file of the process says it");
}

int dft_rule_in_flight(struct dft_rules *rules)
{
    const struct dft_findings_request *request = rules->facts->request;
    const struct dft_job_flying now = dft_job_flying(request->job, request->source, 1),
                                before = dft_job_flying(request->job, request->source, 0);
    int hangs =
        now.longest && dft_job_flown_ns(now.longest, request->source) >= dft_limit(rules, DFT_LIMIT_IN_FLIGHT_TIME);
    struct dft_finding *finding;
    int rc;

    if (!hangs && !before.longest)
        return 0;
    rc = dft_rules_add(rules, DFT_FINDING_IN_FLIGHT, hangs ? now.time_ns : 0, hangs ? rules->facts->total_ns : 0,
                       &finding);
    if (rc <= 0)
        return rc;
    finding->sure = DFT_SURE_HIGH;
    finding->calls = hangs ? now.calls : before.calls;
    if (!hangs) { /* nothing is there any more whose stacks could be seen */
        free(finding->advice);
        finding->advice = strdup("See who should have answered it.");
        if (!finding->advice)
            return -ENOMEM;
    }
    return say(finding, request, hangs ? now.longest : before.longest, hangs ? "waits in" : "ended in");
}
