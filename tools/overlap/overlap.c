/* SPDX-License-Identifier: MIT */
/* dftmerge overlap: how much of the I/O goes on while something computes. The command. */
#include "analysis/overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest_word.h"
#include "command/command.h"
#include "job/job.h"
#include "job/job_state.h"
#include "mpi/comm.h"
#include "overlap/overlap_output.h"

#define TOP_DEFAULT 20u

static const char *const keys[] = {"rank", "process", "epoch", "step"};

static const char *key_word(size_t i)
{
    return i < 4 ? keys[i] : NULL;
}

/* Returns the key, or -1 after an error. */
static int parse_by(const char *by)
{
    const char *nearest;

    if (!by)
        return DFT_OVERLAP_BY_RANK;
    for (int i = 0; i < 4; i++)
        if (!strcmp(keys[i], by))
            return i;
    nearest = dft_nearest_word(by, strlen(by), keys, 4);
    fprintf(stderr, "dftmerge overlap: --by %s: there is no such key.", by);
    if (nearest)
        fprintf(stderr, " Did you mean %s?", nearest);
    fputs(" There are rank, process, epoch, step\n", stderr);
    return -1;
}

/* Returns the number of lines, or 0 after an error. */
static uint64_t parse_top(const char *top)
{
    if (!top)
        return TOP_DEFAULT;
    if (*top >= '1' && *top <= '9' && strspn(top, "0123456789") == strlen(top) && strlen(top) < 19)
        return strtoull(top, NULL, 10);
    fprintf(stderr, "dftmerge overlap: --top %s: not a number of lines, as in 40\n", top);
    return 0;
}

static int answer(const struct dft_options *options, const struct dft_overlap_request *request, int by, uint64_t top)
{
    struct dft_overlap overlap;
    int rc = dft_overlap_make(request, &overlap), any = !rc && overlap.nprocesses;

    if (!rc)
        rc = dft_job_note_state(request->source);
    if (!any && !rc)
        dft_command_nothing(options, request->source);
    if (!rc && !dft_comm_rank() && options->json)
        dft_overlap_json(stdout, &overlap, request->source, DFT_OVERLAP_SCOPES);
    if (!rc && any && !dft_comm_rank() && !options->json) {
        dft_command_print_newest(options, request->source);
        rc = dft_overlap_text(&overlap, request->source, (enum dft_overlap_by)by, top);
    }
    dft_overlap_fini(&overlap);
    if (rc)
        fprintf(stderr, "dftmerge overlap: %s\n", strerror(-rc));
    return rc;
}

static int run(int argc, char **argv)
{
    struct dft_overlap_request request = {.patterns = dft_region_usual};
    const char **lists = request.patterns.lists, *by = NULL, *top = NULL;
    struct dft_options options;
    int aggregates = 0, key, code, rc;
    uint64_t lines;
    const struct dft_option own[] = {
        {"by", 'b', "KEY", &by, NULL, "A line for each rank (default), process, epoch or step", .word = key_word},
        {"top", 0, "N", &top, NULL, "At most N lines (default: 20)"},
        {"compute", 0, "PATTERNS", &lists[DFT_REGION_COMPUTE], NULL, "Regions that compute: category:name or name"},
        {"data", 0, "PATTERNS", &lists[DFT_REGION_DATA], NULL, "Regions in which a trainer waits for data"},
        {"item", 0, "PATTERNS", &lists[DFT_REGION_ITEM], NULL, "Regions in which a worker loads an item"},
        {"epoch", 0, "PATTERNS", &lists[DFT_REGION_EPOCH], NULL, "Regions that are an epoch"},
        {"step", 0, "PATTERNS", &lists[DFT_REGION_STEP], NULL, "Regions that are a step"},
        {"aggregates", 0, NULL, NULL, &aggregates, "Estimate from aggregates, though events are there: faster"},
        {0},
    };

    if (dft_options_parse(&options, &dft_command_overlap, own, argc, argv, &code))
        return code;
    key = parse_by(by);
    lines = parse_top(top);
    if (key < 0 || !lines) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    options.only_queries = 1;
    dft_command_take_newest(&options);
    if (dft_command_begin(&options, &request.source, &code))
        return code;
    request.filter = &options.filter;
    request.from = aggregates ? DFT_OVERLAP_ROWS : DFT_OVERLAP_BEST;
    rc = answer(&options, &request, key, lines);
    return dft_command_end(&options, request.source, rc ? DFT_EXIT_BAD : DFT_EXIT_OK);
}

const struct dft_command dft_command_overlap = {
    .name = "overlap",
    .arguments = "PATH...",
    .brief = "I/O hidden behind computing, and I/O in its way",
    .details =
        "Of each rank: time that computes, time in I/O, I/O while the rank computes (hidden), I/O while nothing of "
        "it does (exposed), and neither (idle). Each is a union of intervals: nothing counts twice. Processes that "
        "a rank started, such as loader workers, belong to it. Compute is regions: category COMPUTE or "
        "ai_framework, names compute, forward, backward, kernels of GPUs, or as --compute says. Without such "
        "regions it is the time outside I/O and waits. PATTERNS have commas between them, * and ? fit any text, ! "
        "takes away. From events all numbers are exact; where only aggregates were kept, they are estimates, "
        "marked with \"about\".",
    .example = "dftmerge overlap --by epoch --compute 'train:*,forward' traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_FILTER | DFT_TAKES_ALIGN | DFT_TAKES_CLASSES | DFT_TAKES_RANKS,
    .run = run,
};
