/* SPDX-License-Identifier: MIT */
/* dftmerge findings: what is wrong, what it costs, where, and what to do. The command. */
#include <stdio.h>
#include <string.h>

#include "base/write_json.h"
#include "command/command.h"
#include "findings/findings.h"
#include "job/job_state.h"
#include "mpi/comm.h"
#include "judge/source_ending.h"

/* --list needs no traces; so paths may be missing, but not without it. */
static int list(const struct dft_limits *limits)
{
    dft_limits_print(stdout, limits);
    return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

static int write_findings(const struct dft_options *options, struct dft_source *source, const struct dft_limits *limits)
{
    struct dft_job job;
    struct dft_findings findings;
    int rc = dft_job_collect(&job, source);

    if (rc)
        return rc;
    dft_job_filter_flights(&job, source, &options->filter);
    rc = dft_findings_make(
        &(struct dft_findings_request){
            .source = source, .filter = &options->filter, .job = &job, .limits = limits, .thorough = 1},
        &findings);
    if (!rc && findings.is_empty)
        dft_command_nothing(options, source);
    if (!rc && !dft_comm_rank() && options->json) {
        struct dft_json json;

        dft_json_init(&json, stdout, 1);
        dft_json_object(&json, NULL);
        dft_job_json_in_flight(&json, &job, source);
        dft_job_json_pauses(&json, &job);
        dft_findings_json(&json, &findings);
        dft_json_end_object(&json);
    } else if (!rc && !findings.is_empty && !dft_comm_rank()) {
        dft_command_print_newest(options, source);
        dft_findings_print(stdout, &findings, options->top, job.start_ns);
    }
    if (!rc)
        dft_findings_fini(&findings);
    dft_job_fini(&job);
    return rc;
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    struct dft_limits limits;
    struct dft_source *source;
    const char *rules = NULL;
    int is_list = 0, no_risk = 0, code, rc;
    const struct dft_option own[] = {
        {"rules", 0, "FILE", &rules, NULL, "Take limits from FILE: lines such as `small-reads.request = 64 KiB`"},
        {"no-risk", 0, NULL, NULL, &no_risk, "Leave out the risks: what would be slow on a parallel file system"},
        {"list", 0, NULL, NULL, &is_list, "Print all kinds of findings and their limits, with reasons", 1},
        {0},
    };

    if (dft_options_parse(&options, &dft_command_findings, own, argc, argv, &code))
        return code;
    if (dft_limits_choose(&limits, "findings", rules, no_risk)) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    if (is_list) {
        dft_options_fini(&options);
        return list(&limits);
    }
    options.only_queries = 1;
    dft_command_take_newest(&options);
    if (dft_command_begin(&options, &source, &code))
        return code;
    dft_source_note_outside(source);
    rc = write_findings(&options, source, &limits);
    if (rc)
        fprintf(stderr, "dftmerge findings: %s\n", strerror(-rc));
    return dft_command_end(&options, source, rc ? DFT_EXIT_BAD : DFT_EXIT_OK);
}

const struct dft_command dft_command_findings = {
    .name = "findings",
    .arguments = "PATH...",
    .brief = "What is wrong, what it costs, where, and what to do",
    .details = "Findings are numbered from 1, that which costs most first. A cost is measured time: of all processes "
               "together, or of the slowest rank. What costs less than 1 % is left out (--rules changes that).\n"
               "- sure: how likely it is that a change helps, and why.\n"
               "- when: persistent, growing, at the start, or a blip; times count from the start of the job.\n"
               "- Findings by file need events, or aggregates of files. Lines of code need DFTRACER_STACK.",
    .example = "dftmerge findings --rules my-limits.txt traces/",
    .lacks = "findings are about all calls of files, processes and times",
    .takes = DFT_TAKES_JSON | DFT_TAKES_PART | DFT_TAKES_FILES | DFT_TAKES_TOP | DFT_TAKES_CLASSES | DFT_TAKES_RANKS,
    .run = run,
};
