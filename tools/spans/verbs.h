/* SPDX-License-Identifier: MIT */
/* The verbs of dftmerge spans. */
#ifndef DFT_SPANS_VERBS_H
#define DFT_SPANS_VERBS_H

struct dft_spans_verb {
    const char *name, *arguments, *brief, *details, *example; /* as in struct dft_command; details may be NULL */
    int (*run)(int argc, char **argv);                        /* argv[0] is the verb; returns the exit code */
};
extern const struct dft_spans_verb dft_spans_import, dft_spans_types, dft_spans_sequences, dft_spans_between,
    dft_spans_states, dft_spans_rate, dft_spans_graph, dft_spans_plot;

#endif
