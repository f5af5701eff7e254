/* SPDX-License-Identifier: MIT */
/* Records of processes without names. */
#ifndef DFT_ANONYMIZE_RECORDS_H
#define DFT_ANONYMIZE_RECORDS_H

#include "anonymize/anonymizer.h"

/* The record of a process without names. Its texts lie in `memory`, which the caller frees. */
int dft_anonymizer_process(struct dft_anonymizer *anonymizer, const struct dft_process *process,
                           struct dft_process *other, char **memory);
/* The names of functions in an END; the name and the rules of a GROUP. */
int dft_anonymizer_lines(struct dft_anonymizer *anonymizer, struct dft_text lines);

#endif
