/* dftmerge ranks: the command. */
#include "ranks.h"

static int run(int argc, char **argv)
{
    struct dft_options options;
    int code;

    if (dft_options_parse(&options, &dft_command_ranks, NULL, argc, argv, &code))
        return code;
    code = dft_ranks_telemetry(&options);
    dft_options_fini(&options);
    return code;
}

const struct dft_command dft_command_ranks = {
    .name = "ranks",
    .arguments = "PATH...",
    .brief = "which rank's memory grew first",
    .details =
        "PATH is a file of telemetry (samples of memory over time, JSON or JSON lines, schema version 2 or before),\n"
        "or a directory, in which *.json, *.jsonl and *.ndjson are read. --json: the summary of stormlog.",
    .example = "dftmerge ranks --json telemetry/",
    .takes = DFT_TAKES_JSON,
    .run = run,
};
