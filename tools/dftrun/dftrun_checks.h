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

/* Makes the folder. Returns 0 or -errno. */
int dft_trial_begin(struct dft_trial *trial);
/* Runs `cat` under the library, with the user's variables or with none of ours. Returns 0 or -errno. */
int dft_trial_run(struct dft_trial *trial, const struct dft_run *run, int with_settings);
/* Puts the version of the C library that the memory map names, as "2.36", or "" where that is not
 * known. */
void dft_trial_libc(const struct dft_trial *trial, char *version, size_t capacity);
/* Does the memory map lack the library? No where there is no map. */
int dft_trial_is_without(const struct dft_trial *trial);
/* Removes the folder and frees the texts. */
void dft_trial_end(struct dft_trial *trial);

/* --- what is looked at ------------------------------------------------------------------------ */

/* Returns whether nothing is wrong with the library. */
int dft_doctor_library(struct dft_checks *checks, const struct dft_run *run, int error);
void dft_doctor_preloads(struct dft_checks *checks, const struct dft_run *run);
/* `trial` is of a run with the user's variables. */
void dft_doctor_settings(struct dft_checks *checks, const struct dft_trial *trial);
void dft_doctor_folder(struct dft_checks *checks, const struct dft_run *run);
void dft_doctor_limits(struct dft_checks *checks);
/* Looks at COMMAND without running it. Returns whether it can be run. */
int dft_doctor_command(struct dft_checks *checks, const struct dft_run *run);
/* Does this program run others on another machine, in a container, or later? Says what it does, and
 * what to do. */
int dft_doctor_is_elsewhere(const char *program, const char **found, const char **advice);
/* Runs COMMAND, and looks at what it left. */
void dft_doctor_run(struct dft_checks *checks, const struct dft_run *run);

#endif
