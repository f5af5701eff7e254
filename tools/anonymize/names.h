/* SPDX-License-Identifier: MIT */
/* Ids and texts of names. */
#ifndef DFT_ANONYMIZE_NAMES_H
#define DFT_ANONYMIZE_NAMES_H

#include "anonymize/anonymizer.h"

/* The id that stands for a name. A text that is not known is a number. */
int dft_anonymizer_id(struct dft_anonymizer *anonymizer, uint64_t id, uint64_t *other);
/* Notes that the file which is being written refers to a name. */
int dft_anonymizer_refer(struct dft_anonymizer *anonymizer, uint64_t id, uint64_t other);
/* Notes the frames of all stacks that were noted. */
int dft_anonymizer_refer_frames(struct dft_anonymizer *anonymizer);
/* The text of a name, in anonymizer->text. Returns 0 or -errno. */
int dft_anonymizer_name(struct dft_anonymizer *anonymizer, struct dft_text text);

#endif
