/* SPDX-License-Identifier: MIT */
/* A run of a page; see report_side.h. */
#include "report/report_side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/part_files.h"
#include "report/report_make.h"

int dft_report_side_make(struct dft_report_side *side, const char *command, const char *name, uint64_t at,
                         const char *path, int *code)
{
    struct dft_options *options = &side->options;
    int rc;

    options->only_queries = 1;
    dft_command_take_newest(options);
    if (dft_command_begin(options, &side->source, code)) {
        side->source = NULL; /* it was closed */
        return 1;
    }
    side->report = (struct dft_report){
        .source = side->source, .options = options, .name = name, .spans = side->spans, .limits = side->limits};
    rc = path && dft_is_input(side->source, path) ? -EEXIST : dft_report_make(&side->report, at, &side->head);
    if (rc == -EEXIST)
        fprintf(stderr, "dftmerge %s: -o %s is one of the traces: choose another file\n", command, path);
    else if (rc)
        fprintf(stderr, "dftmerge %s: %s\n", command, strerror(-rc));
    *code = rc ? DFT_EXIT_BAD : DFT_EXIT_OK;
    return rc != 0;
}

int dft_report_side_end(struct dft_report_side *side, int code)
{
    dft_report_fini(&side->report);
    free(side->head);
    return side->source ? dft_command_end(&side->options, side->source, code) : code;
}
