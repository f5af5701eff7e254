/* SPDX-License-Identifier: MIT */
/* A source without names: what ids, records and blocks of a trace become. */
#ifndef DFT_ANONYMIZER_H
#define DFT_ANONYMIZER_H

#include "anonymize/texts.h"
#include "format/rewrite.h"
#include "intake/source_names.h"
#include "object/object.h"

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

#endif
