/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: which ranks are missing, slow or different, since when, and which was first. The
 * command; traces are answered by ranks_*.c, telemetry files by ranks_telemetry.c. */
#include "ranks/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"
#include "job/job_state.h"
#include "mpi/comm.h"
#include "ranks/ranks_filter.h"
#include "ranks/ranks_gather.h"
#include "ranks/ranks_hosts.h"
#include "ranks/ranks_job.h"
#include "ranks/ranks_json.h"
#include "ranks/ranks_text.h"
#include "intake/source_names.h"

static int all_are_telemetry(const struct dft_options *options)
{
    for (int i = 0; i < options->source.npaths; i++)
        if (!dft_is_telemetry_path(options->source.paths[i]))
            return 0;
    return 1;
}

static int set_clocks(struct dft_ranks_job *job, const char *align)
{
    uint32_t count;

    if (strcmp(align, "first"))
        return dft_command_clocks(align, &job->clocks, job->source);
    dft_source_processes(job->source, &count);
    job->clocks.kind = DFT_CLOCKS_FIRST;
    job->clocks.first_shift = calloc(count + 1u, sizeof *job->clocks.first_shift);
    return job->clocks.first_shift ? 0 : -ENOMEM;
}

/* The texts of calls that are shown, and of the file of the last one. */
static int fetch_names(struct dft_ranks_job *job)
{
    const struct dft_last_call *last = &job->died.last;
    uint64_t *ids = malloc((job->ncalls + 2u) * sizeof *ids);
    size_t count = 0;
    int rc = dft_comm_agree(ids ? 0 : -ENOMEM);

    for (; !rc && count < job->ncalls; count++)
        ids[count] = job->calls[count].call;
    if (!rc && last->call)
        ids[count++] = last->call;
    if (!rc && last->file)
        ids[count++] = last->file;
    if (!rc)
        rc = dft_source_names(job->source, ids, count);
    free(ids);
    return rc;
}

/* On the screen what is in flight now stands first; for programs it is a note. */
static int find_state(struct dft_ranks_job *job, const struct dft_options *options)
{
    int rc = dft_job_collect(&job->state, job->source);

    if (rc)
        return rc;
    dft_job_filter_flights(&job->state, job->source, job->filter);
    dft_job_note_unrecorded(&job->state, job->source);
    return options->json ? dft_job_note_in_flight(&job->state, job->source) : 0;
}

static int answer(struct dft_ranks_job *job, const struct dft_options *options, const char *align, uint64_t top)
{
    int rc = set_clocks(job, align);

    if (!rc)
        rc = dft_ranks_gather(job);
    if (!rc)
        rc = dft_ranks_filter_begin(job);
    if (!rc)
        rc = dft_ranks_count(job);
    if (!rc)
        rc = dft_ranks_judge(job);
    if (!rc)
        rc = dft_ranks_first(job);
    if (!rc)
        rc = dft_ranks_where(job);
    if (!rc)
        rc = dft_ranks_sampled(job);
    if (!rc)
        rc = dft_ranks_regions(job);
    if (!rc)
        rc = dft_ranks_died(job);
    if (!rc)
        rc = fetch_names(job);
    if (!rc)
        rc = dft_ranks_hosts(job);
    if (!rc)
        rc = find_state(job, options);
    if (!rc)
        dft_ranks_filter_note(job);
    if (!rc && !job->ncalls)
        dft_command_nothing(options, job->source);
    if (!rc)
        rc = options->json ? dft_ranks_json(job) : dft_ranks_text(job, top);
    return rc;
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    struct dft_ranks_job job = {0};
    const char *align = "clocks", *top = NULL, *phases = NULL;
    int telemetry = 0, code, rc;
    const struct dft_option own[] = {
        {"align", 0, "HOW", &align, NULL,
         "One of clocks (default), first (first events) and none, or an event that ends in all at once"},
        {"top", 0, "N", &top, NULL, "Only the first N lines of each table (default: 10)"},
        {"telemetry", 0, NULL, NULL, &telemetry, "The files named are telemetry, whatever their names"},
        {"phases", 0, "TRACE", &phases, NULL, "Of telemetry: traces of the same job, whose regions are its phases"},
        {0},
    };

    if (dft_options_parse(&options, &dft_command_ranks, own, argc, argv, &code))
        return code;
    if (top && (*top < '1' || *top > '9' || strspn(top, "0123456789") != strlen(top))) {
        fprintf(stderr, "dftmerge ranks: --top %s: not a number of lines\n", top);
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    if (telemetry || all_are_telemetry(&options)) {
        char *given = dft_filter_text(dft_filter_options(&options.filter));

        if (given && *given)
            fprintf(stderr, "dftmerge ranks: telemetry files are looked at whole, without%s\n", given);
        if (!given || *given)
            code = DFT_EXIT_USAGE;
        else
            code = dft_comm_alone("ranks of telemetry", options.source.quiet) ? dft_ranks_telemetry(&options, phases)
                                                                              : DFT_EXIT_OK;
        free(given);
        dft_options_fini(&options);
        return code;
    }
    if (phases) {
        fprintf(stderr, "dftmerge ranks: --phases goes with telemetry files; traces have their regions anyway\n");
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    if (dft_command_begin(&options, &job.source, &code))
        return code;
    job.filter = &options.filter;
    rc = answer(&job, &options, align, top ? strtoull(top, NULL, 10) : 0);
    if (rc == -ENOENT) {
        fprintf(stderr, "dftmerge ranks: there is nothing to look at\n");
        dft_command_nothing(&options, job.source);
    } else if (rc) {
        fprintf(stderr, "dftmerge ranks: %s\n", strerror(-rc));
    }
    dft_ranks_fini(&job);
    dft_clocks_fini(&job.clocks);
    return dft_command_end(&options, job.source, rc ? DFT_EXIT_BAD : DFT_EXIT_OK);
}

const struct dft_command dft_command_ranks = {
    .name = "ranks",
    .arguments = "PATH...",
    .brief = "Missing, slow and different ranks: since when, who first",
    .details =
        "Of traces: who slowed down first, how long before the others, in which call and under which directory; "
        "missing ranks, starts and ends, slow ranks, imbalance of each call. The hosts' clocks bring the times "
        "together. Of telemetry files (samples of memory, JSON: *.json, *.jsonl, *.ndjson): which rank's memory "
        "grew first. --json is the summary of stormlog. The first sample of each rank brings the times together.",
    .example = "dftmerge ranks --name 'open*,stat*' --from 60 traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_FILTER | DFT_TAKES_RANKS,
    .run = run,
};
