/* SPDX-License-Identifier: MIT */
/* The verbs of dftmerge spans. */
#ifndef DFT_SPANS_VERBS_H
#define DFT_SPANS_VERBS_H

#include "command/command.h"

extern const struct dft_command dft_spans_import, dft_spans_types, dft_spans_sequences, dft_spans_between,
    dft_spans_states, dft_spans_rate, dft_spans_graph, dft_spans_plot;

#endif
