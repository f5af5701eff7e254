/* SPDX-License-Identifier: MIT */
/* A source without names: what ids, records and blocks of a trace become. */
#ifndef DFT_ANONYMIZER_H
#define DFT_ANONYMIZER_H

#include "anonymize/texts.h"
#include "format/rewrite.h"
#include "source/source_names.h"
#include "source/source_object.h"

struct dft_anonymizer {
    struct dft_texts texts;
    struct dft_source *source;
    struct dft_decoder *decoder;
    struct dft_encoder *encoder;
    struct dft_map ids;        /* old id -> new id */
    struct dft_map referred;   /* new ids of the file that is being written -> old ids */
    struct dft_long_text text; /* what functions below return */
    uint64_t unknown;          /* columns that were left out */
    uint64_t without_texts;    /* blocks whose texts of arguments did not fit */
    const char *reason;        /* why the last block was left out; NULL: it was not */
};

/* names.c: the id that stands for a name. A text that is not known is a number. */
int dft_anonymizer_id(struct dft_anonymizer *anonymizer, uint64_t id, uint64_t *other);
/* Notes that the file which is being written refers to a name. */
int dft_anonymizer_refer(struct dft_anonymizer *anonymizer, uint64_t id, uint64_t other);
/* Notes the frames of all stacks that were noted. */
int dft_anonymizer_refer_frames(struct dft_anonymizer *anonymizer);
/* The text of a name, in anonymizer->text. Returns 0 or -errno. */
int dft_anonymizer_name(struct dft_anonymizer *anonymizer, struct dft_text text);

/* records.c: the record of a process without names. Its texts lie in `memory`, which the caller frees. */
int dft_anonymizer_process(struct dft_anonymizer *anonymizer, const struct dft_process *process,
                           struct dft_process *other, char **memory);
/* The key of a process that stands for another; 0 stays. */
uint64_t dft_anonymizer_key(struct dft_anonymizer *anonymizer, uint64_t key);
/* The names of functions in an END; the name and the rules of a GROUP. */
int dft_anonymizer_lines(struct dft_anonymizer *anonymizer, struct dft_text lines);

/* blocks.c: rewrites one block. `put` takes the result. Types that hold nothing to give away are left
 * out: NAMES, PROCESS, ORIGIN, and what this version does not know. */
int dft_anonymizer_block(struct dft_anonymizer *anonymizer, const struct dft_block_header *header, const void *payload,
                         int (*put)(void *context, const void *block, size_t length), void *context);

#endif
