/* SPDX-License-Identifier: MIT */
/* The parts of dftrun: it inspects the program and the folder, runs the program, and has options
 * that connect these. */
#ifndef DFT_DFTRUN_H
#define DFT_DFTRUN_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/program.h"

enum { DFTRUN_USAGE = 2, DFTRUN_OWN = 125 }; /* exit codes */

/* How a program ended, in the terms of a shell's exit status. */
struct dft_outcome {
    int status; /* exit code; 127: not found, 126: found, but cannot be run */
    int signal; /* the signal that killed it, or 0 */
    int error;  /* why it could not be run, or 0 */
    int waited; /* what waitpid said of it */
    pid_t pid;
    uint64_t waited_ns; /* Unix ns, then */
};

/* --- ranks ------------------------------------------------------------------------------------ */

/* What the launcher says of this process. */
struct dft_launch {
    int rank;       /* -1: no rank of a job */
    int size;       /* of the job; 0: not known */
    int local_size; /* ranks of this node; 0: not known */
    char id[256];   /* the same for all ranks of this launch, and for no others; empty: not known */
};

struct dft_ranks {
    int file;        /* what the ranks of this node share, or -1 */
    int nested;      /* a dftrun around this one is the rank */
    const char *why; /* why the last rank would not be known */
    char path[64];   /* of the file */
};

enum dft_ends {
    DFT_ENDS_BEFORE,  /* another rank ends later, or speaks */
    DFT_ENDS_LAST,    /* all ranks have ended; this is said to one rank alone */
    DFT_ENDS_UNKNOWN, /* nobody can know; this is said to one rank alone */
};

/* --- one run ---------------------------------------------------------------------------------- */

struct dft_run {
    /* options; NULL: not specified */
    const char *directory, *data_dir, *stack, *by, *top, *json, *report, *stage, *container;
    int aggregate, no_page, quiet, node, doctor, gpu;
    int every; /* one rank in so many keeps events; 0: all */
    char **command;

    char home[PATH_MAX];        /* where dftrun lies */
    char library[PATH_MAX];     /* libdftrace.so */
    char place[PATH_MAX];       /* the absolute directory of the traces */
    char prefix[PATH_MAX];      /* absolute; trace files are <prefix>-... */
    char stage_place[PATH_MAX]; /* the absolute stage; empty: none */
    struct dft_program program;
    struct dft_launch launch;
    struct dft_ranks ranks;
};

/* Why something is so, and what to do. */
struct dft_reason {
    char why[512];
    const char *remedy;
    int in_script; /* it stands in a script, which perhaps never comes there */
};

#endif
