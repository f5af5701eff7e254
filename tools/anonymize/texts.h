/* SPDX-License-Identifier: MIT */
/* Texts of traces without what is private in them: paths, names of regions, texts of arguments. */
#ifndef DFT_ANONYMIZE_TEXTS_H
#define DFT_ANONYMIZE_TEXTS_H

#include "anonymize/public.h"
#include "anonymize/words.h"
#include "format/text.h"

struct dft_texts {
    struct dft_hashes words;
    struct dft_public public;
};

/* All append to `out`, which keeps the first error. */

/* A path, component by component. A result that no trace could hold becomes one component. */
void dft_texts_path(struct dft_texts *texts, struct dft_text path, struct dft_long_text *out);
/* One name: of a host, a job, a file without its extension. Its numbers stay a number. */
void dft_texts_name(struct dft_texts *texts, struct dft_text name, struct dft_long_text *out);
/* Words of people: public ones, short numbers and what stands between words are kept. */
void dft_texts_words(struct dft_texts *texts, struct dft_text phrase, struct dft_long_text *out);
/* Any text: numbers are kept, paths remain paths. */
void dft_texts_any(struct dft_texts *texts, struct dft_text any, struct dft_long_text *out);
/* A frame of a stack of Python: "file:line function". */
void dft_texts_frame(struct dft_texts *texts, struct dft_text frame, struct dft_long_text *out);
/* A frame of machine code: "/module[build id]+0xaddress", or a name. */
void dft_texts_address(struct dft_texts *texts, struct dft_text frame, struct dft_long_text *out);

#endif
