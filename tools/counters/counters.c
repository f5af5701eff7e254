/* SPDX-License-Identifier: MIT */
/* `dftmerge counters`: what was sampled over time, of processes and of nodes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "counters/counter_groups.h"
#include "intake/source_names.h"
#include "object/source_notes.h"

static const char *by_word(size_t i)
{
    return i < DFT_COUNTER_BYS ? dft_counter_by_name((enum dft_counter_by)i) : NULL;
}

static int parse_by(struct dft_counter_groups *groups, const char *by)
{
    const char *wrong;

    if (!dft_counter_groups_parse(groups, by, &wrong))
        return 0;
    fprintf(stderr, "dftmerge counters: --by %.*s: no such key. There are process, rank, host\n",
            (int)strcspn(wrong, ","), wrong);
    return -EINVAL;
}

static int print(const struct dft_options *options, const struct dft_counter_groups *groups, struct dft_source *source)
{
    if (!options->json && !options->csv)
        return groups->count ? dft_counters_text(groups) : 0;
    dft_counters_json(groups, source, options->csv);
    return 0;
}

static int answer(const struct dft_options *options, struct dft_counter_groups *groups, struct dft_source *source)
{
    struct dft_counter_facts facts;
    int rc = dft_filter_has_calls(&options->filter) ? dft_source_names(source, NULL, 0) : 0;

    if (!rc)
        rc = dft_source_counters(source, &options->filter, NULL, &facts);
    if (!rc)
        rc = dft_source_counter_events(source, &options->filter, &facts);
    if (rc)
        return rc;
    if (!facts.count && !dft_source_has_counters(source))
        dft_source_note(source, DFT_BAD_OTHER,
                        "no counter was sampled; processes sample their own unless DFTRACER_SYSTEM_METRICS is 0");
    else if (!facts.count)
        dft_command_nothing(options, source);
    rc = dft_counter_groups_make(groups, source, &facts);
    if (!rc)
        rc = print(options, groups, source);
    dft_counter_groups_fini(groups);
    dft_counter_facts_fini(&facts);
    return rc;
}

static int run(int argc, char **argv)
{
    struct dft_counter_groups groups = {0};
    struct dft_options options;
    struct dft_source *source;
    const char *by = NULL;
    const struct dft_option own[] = {{"by", 'b', "KEYS", &by, NULL,
                                      "A line for each process, rank or host, or several of these with commas",
                                      .word = by_word},
                                     {0}};
    int code;

    if (dft_options_parse(&options, &dft_command_counters, own, argc, argv, &code))
        return code;
    if (parse_by(&groups, by)) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    options.only_queries = 1;
    if (dft_command_begin(&options, &source, &code))
        return code;
    return dft_command_end(&options, source, answer(&options, &groups, source) ? DFT_EXIT_BAD : DFT_EXIT_OK);
}

const struct dft_command dft_command_counters = {
    .name = "counters",
    .arguments = "PATH...",
    .brief = "Samples over time: processors, memory, faults, the node",
    .details =
        "One line for each counter. A level (memory) has its mean, a total (bytes read) its growth a second; for "
        "times that is the share of one processor. Of several processes, first and last are sums, min and max "
        "those of one sample. docs/commands/dftmerge-counters.md lists the counters.",
    .example = "dftmerge counters --by rank --name rss_bytes traces/",
    .takes = DFT_TAKES_JSON | DFT_TAKES_CSV | DFT_TAKES_PART | DFT_TAKES_NAMES,
    .run = run,
};
