/* SPDX-License-Identifier: MIT */
/* Finds the inputs of an import, and sees from the first bytes of a file what kind it may be of. */
#ifndef DFT_SPANS_INPUTS_H
#define DFT_SPANS_INPUTS_H

#include <stddef.h>
#include <sys/stat.h>

enum dft_span_input_kind {
    DFT_INPUT_NONE, /* nothing that an importer reads, or empty */
    DFT_INPUT_DATABASE,
    DFT_INPUT_TRACE,
    DFT_INPUT_PICKLE,
    DFT_INPUT_JSON,
    DFT_INPUT_TEXT,
    DFT_INPUT_UNREADABLE /* errno says why */
};

struct dft_span_input {
    char *path;
    int is_named; /* by the user; else it was found in a folder */
};

struct dft_span_inputs {
    struct dft_span_input *list;
    size_t count, capacity;
    int is_bad; /* something named is not there, or a folder cannot be read; stderr says so */
};

/* Finds the files of all paths, those of folders in order of their names. `own`: the database, which
 * is no input. Returns 0 or -ENOMEM; the caller calls fini in either case. */
int dft_span_inputs_find(struct dft_span_inputs *inputs, char *const *paths, int count, const struct stat *own);
void dft_span_inputs_fini(struct dft_span_inputs *inputs);

enum dft_span_input_kind dft_span_input_look(const char *path);

#endif
