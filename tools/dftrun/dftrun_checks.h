/* SPDX-License-Identifier: MIT */
/* What the doctor has looked at: a list of checks, printed for people and as JSON. */
#ifndef DFT_DFTRUN_CHECKS_H
#define DFT_DFTRUN_CHECKS_H

#include <stddef.h>

#include "dftrun/dftrun.h"

enum dft_check_kind { DFT_CHECK_OK, DFT_CHECK_NOTE, DFT_CHECK_WRONG };

struct dft_check {
    enum dft_check_kind kind;
    const char *topic;
    char *found, *advice; /* from malloc; advice is NULL where there is nothing to do */
};

struct dft_checks {
    struct dft_check *list;
    size_t count;
    char *verdict; /* from malloc; NULL: the first check that is wrong is the verdict */
    int no_memory;
};

/* Adds a check. `topic` is a constant. `advice` is copied, and NULL where nothing is to be done. */
void dft_checks_add(struct dft_checks *checks, enum dft_check_kind kind, const char *topic, const char *advice,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Says what is wrong with the run as a whole. The first verdict stays. */
void dft_checks_judge(struct dft_checks *checks, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How many checks are of this kind? */
size_t dft_checks_number(const struct dft_checks *checks, enum dft_check_kind kind);
/* Prints the verdict and the list on standard output. Returns 0 or -errno. */
int dft_checks_print(const struct dft_checks *checks);
/* Writes the same as JSON. Returns 0 or -errno. */
int dft_checks_write(const struct dft_checks *checks, const char *path);
void dft_checks_fini(struct dft_checks *checks);

/* --- a trial ---------------------------------------------------------------------------------- */

/* What a program did that ran in a folder of its own, with the library in it. */
struct dft_trial {
    char folder[1024];      /* temporary and absolute; empty: it could not be made */
    char prefix[1024 + 16]; /* of the traces: folder/traces/run */
    char *output;           /* of the program: its memory map; "" where there is no /proc */
    char *messages;         /* of the loader and the library */
    int traced;             /* a trace with something in it was written */
    int error;              /* why the trial could not be made */
};

#endif
