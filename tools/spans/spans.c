/* SPDX-License-Identifier: MIT */
/* dftmerge spans: performance data of workflows in a database of SQLite. The command and its verbs. */
#include "command/verbs.h"
#include "spans/verbs.h"

static const struct dft_command *const verbs[] = {
    &dft_spans_import,  &dft_spans_types,  &dft_spans_sequences,
    &dft_spans_between, &dft_spans_states, &dft_spans_rate,
    &dft_spans_graph,   &dft_spans_plot,   NULL,
};

static int run(int argc, char **argv)
{
    return dft_verbs_run(&dft_command_spans, argc, argv);
}

const struct dft_command dft_command_spans = {
    .name = "spans",
    .arguments = "VERB FILE.db [OPTION...]",
    .brief = "Workflows: tasks and their events in SQL",
    .details = "FILE.db is a database of SQLite with the tables span, event, subspan and facet. `dftmerge spans VERB "
               "--help` describes one verb.",
    .example = "dftmerge spans sequences workflow.db --root parsl.monitoring.task",
    .takes = DFT_TAKES_NONE,
    .verbs = verbs,
    .run = run,
};
