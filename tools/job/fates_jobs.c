/* SPDX-License-Identifier: MIT */
/* Which of several jobs ended badly. */
#include "job/fates_jobs.h"

#include <stdlib.h>

#define NAMED 5u

static int say_jobs(FILE *out, const struct dft_fates *fates, const struct dft_source *source)
{
    uint32_t n, nruns, njobs, there = 0, bad = 0, said = 0;
    const struct dft_source_process *processes = dft_source_processes(source, &n);
    const struct dft_source_job *runs = dft_source_runs(source, &nruns, NULL);
    uint8_t *of = calloc(nruns + 1u, 1); /* by run: 1 where it is there, 3 with an accident */

    dft_source_jobs(source, &njobs);
    for (uint32_t i = 0; of && i < n; i++)
        if (dft_source_run_name(source, &processes[i]))
            of[processes[i].run] |= DFT_FATE_IS_BAD(fates->of[i]) ? 3 : 1;
    for (uint32_t r = 1; of && r <= nruns; r++) {
        there += of[r] & 1u;
        bad += of[r] >> 1;
    }
    if (there > 1 && bad) {
        fprintf(out, "%u of %u %s (", bad, there, njobs > 1 ? "jobs" : "runs");
        for (uint32_t r = 1; r <= nruns && said < NAMED; r++)
            if (of[r] >> 1)
                fprintf(out, "%s%s", said++ ? ", " : "", runs[r - 1].name);
        if (bad > said)
            fprintf(out, ", %u more", bad - said);
        fputs("): ", out);
    }
    free(of);
    return there > 1 && bad;
}

/* The exit status of all that are an accident; 0: they differ. */
static int common_status(const struct dft_fates *fates, const struct dft_source_process *processes, uint32_t n)
{
    int status = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (!DFT_FATE_IS_BAD(fates->of[i]))
            continue;
        if (fates->of[i] != DFT_FATE_FAILED || (status && status != processes[i].end.status))
            return 0;
        status = processes[i].end.status;
    }
    return status;
}

int dft_fates_say_jobs(FILE *out, const struct dft_fates *fates, const struct dft_source *source, int *status)
{
    uint32_t n;
    const struct dft_source_process *processes = dft_source_processes(source, &n);

    if (!say_jobs(out, fates, source))
        return 0;
    *status = common_status(fates, processes, n);
    return 1;
}
