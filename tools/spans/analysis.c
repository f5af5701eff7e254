/* SPDX-License-Identifier: MIT */
/* What all analyses of spans begin and end with. */
#include "spans/analysis.h"

#include <errno.h>

#include "base/outfile.h"
#include "spans/page.h"

static int prepare(struct dft_spans_analysis *analysis, unsigned takes)
{
    const struct dft_spans_asked *asked = &analysis->asked;
    struct dft_spans_model *model = &analysis->model;

    if (dft_spans_model_read(model, asked->file))
        return DFT_EXIT_BAD;
    if (!asked->options.source.quiet)
        dft_spans_model_note(model);
    if (!(takes & DFT_SPANS_TAKES_ROOT))
        return 0;
    if (!model->nspans) {
        fprintf(stderr, "dftmerge spans: %s has no spans; `dftmerge spans import` adds some\n", asked->file);
        return DFT_EXIT_BAD;
    }
    analysis->type = dft_spans_model_type(model, "--root", asked->root ? asked->root : DFT_SPANS_ROOT);
    if (analysis->type == DFT_SPANS_NONE)
        return DFT_EXIT_BAD;
    return dft_spans_walk_init(&analysis->walk, model, analysis->type);
}

int dft_spans_analysis_begin(struct dft_spans_analysis *analysis, const struct dft_command *verb, unsigned takes,
                             int argc, char **argv, int *code)
{
    int rc;

    *analysis = (struct dft_spans_analysis){0};
    if (dft_spans_asked_parse(&analysis->asked, verb, takes, argc, argv, code))
        return 1;
    rc = prepare(analysis, takes);
    if (rc)
        *code = dft_spans_analysis_end(analysis, rc);
    return rc != 0;
}

int dft_spans_analysis_end(struct dft_spans_analysis *analysis, int rc)
{
    if (rc == -ENOMEM)
        fputs("dftmerge spans: no memory\n", stderr);
    dft_spans_walk_fini(&analysis->walk);
    dft_spans_model_fini(&analysis->model);
    return dft_spans_asked_end(&analysis->asked, rc < 0 ? DFT_EXIT_BAD : rc);
}

int dft_spans_draw(const struct dft_spans_asked *asked, int (*draw)(void *context, FILE *out), void *context)
{
    struct dft_outfile file;
    int rc;

    if (dft_spans_is_same_file(asked->file, asked->output)) {
        fprintf(stderr, "dftmerge spans: -o %s is the database: choose another file\n", asked->output);
        return DFT_EXIT_BAD;
    }
    rc = dft_outfile_open(&file, asked->output);
    if (!rc) {
        rc = draw(context, file.stream);
        if (rc == -ENOMEM) {
            dft_outfile_abort(&file);
            return rc;
        }
        rc = dft_outfile_close(&file, rc, 0);
    }
    if (rc)
        dft_outfile_say(asked->output, rc);
    return rc ? DFT_EXIT_BAD : 0;
}
