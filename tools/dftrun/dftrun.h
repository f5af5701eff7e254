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

/* Makes the directories that this file lies in. Returns 0 or -errno. */
int dft_folder_make(const char *file);
/* Makes one directory. Returns 0 or -errno. */
int dft_folder_make_one(const char *path, mode_t mode);
/* The path as it is from the working directory. Returns 0 or -errno. */
int dft_folder_absolute(char absolute[PATH_MAX], const char *path);
/* The same of all directories in a value of DFTRACER_DATA_DIR. The caller frees the result. NULL: no memory. */
char *dft_folder_data_dirs(const char *list);
/* Can files that begin with this absolute prefix be created, and can they hold anything? Leaves
 * nothing behind. Returns 0 or -errno. */
int dft_folder_try(const char *prefix);

/* Opens a file of dftrun's own, to read and to write; O_CREAT in `flags` makes it. -EPERM: what has the name
 * is another user's, or no plain file. Returns the descriptor or -errno. */
int dft_own_open(int directory, const char *name, int flags);
/* Removes the name, if it leads to this open file. */
void dft_own_remove(int directory, const char *name, int fd);
/* Opens a directory that this user alone can change. Returns the descriptor or -errno. */
int dft_own_directory(const char *path);
/* Does the path lead to this open directory? */
int dft_own_is_directory(const char *path, int fd);
/* Can this user and root alone replace what lies in the directory? */
int dft_own_is_trusted(const char *directory);
/* The mode of traces (DFTRACER_MODE); 0: the umask rules. */
mode_t dft_own_mode(void);

/* How a program ended, in the terms of a shell's exit status. */
struct dft_outcome {
    int status; /* exit code; 127: not found, 126: found, but cannot be run */
    int signal; /* the signal that killed it, or 0 */
    int error;  /* why it could not be run, or 0 */
    int waited; /* what waitpid said of it */
    pid_t pid;
    uint64_t waited_ns; /* Unix ns, then */
};

/* Runs argv and waits for its end. The child calls `prepare` with `context` to set its environment
 * (0 or -errno). SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on when another
 * process sends them to us alone. Signals of the terminal reach the program without us. Returns 0
 * or -errno. */
int dft_child_run(char *const argv[], int (*prepare)(const void *context), const void *context,
                  struct dft_outcome *outcome);

/* Ends this process in the way the program ended. */
void dft_child_follow(const struct dft_outcome *outcome) __attribute__((noreturn));

/* --- ranks ------------------------------------------------------------------------------------ */

/* What the launcher says of this process. */
struct dft_launch {
    int rank;       /* -1: no rank of a job */
    int size;       /* of the job; 0: not known */
    int local_size; /* ranks of this node; 0: not known */
    char id[256];   /* the same for all ranks of this launch, and for no others; empty: not known */
};

void dft_launch_find(struct dft_launch *launch);
/* The value of a variable, or NULL when it is empty. */
const char *dft_run_variable(const char *name);

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

/* Begins before the program, and after all processes that outlive it have been forked. */
void dft_ranks_begin(struct dft_ranks *ranks, const struct dft_launch *launch);
/* Where all ranks write into one directory, one of them is told that it is the last. */
enum dft_ends dft_ranks_end(struct dft_ranks *ranks, const struct dft_launch *launch, const char *directory);

/* --- one run ---------------------------------------------------------------------------------- */

struct dft_run {
    /* options; NULL: not given */
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

/* Returns 0 or an exit code, after it has said why. */
int dft_run_parse(struct dft_run *run, int argc, char **argv);

/* Runs dftmerge with its output in `out`, and its messages in `err`. Returns its exit code, or
 * -errno. */
int dft_dftmerge_run(const struct dft_run *run, const char *const *arguments, int out, int err);
/* Makes the glob of files that begin with this prefix, and escapes what has a meaning in a glob.
 * Returns 0 or -ENAMETOOLONG. */
int dft_dftmerge_glob(const char *prefix, char *glob, size_t capacity);

/* Finds where the processes of the run stage their traces (DFTRACER_STAGE_DIR). Returns 0 or
 * -errno. */
int dft_stage_find(struct dft_run *run);
/* The last part of the prefix, with which names of files of the run begin, and then "-". */
const char *dft_run_name(const struct dft_run *run);
/* Is it the name of a file of the run? */
int dft_run_has(const struct dft_run *run, const char *name);
/* Once the program has ended: moves what its processes have left in the stage to the other traces. */
void dft_stage_collect(const struct dft_run *run);

/* Writes how the program ended, where it has left a live file, and so could not say it itself. */
void dft_ended_write(const struct dft_run *run, const struct dft_outcome *outcome);

/* Puts the library before what LD_PRELOAD has, and leaves other copies of the library out. Returns 0 or -errno. */
int dft_preload_set(const struct dft_run *run);
/* Says which copies are left out. */
void dft_preload_say(const struct dft_run *run);
/* Is this entry of LD_PRELOAD such a copy? */
int dft_preload_is_other_copy(const struct dft_run *run, const char *entry);
/* Is the variable set to a word for yes? */
int dft_run_is_on(const char *name);

/* Looks for everything that keeps calls from being recorded, and prints what it found. `error`: why
 * there is no library, or 0. Returns the exit code: 1 when something is wrong. */
int dft_doctor(struct dft_run *run, int error);
/* What --container takes, by number, then NULL. */
const char *dft_container_word(size_t i);
/* Prints what makes a container be traced. Returns the exit code. */
int dft_container_print(const struct dft_run *run);

/* Is the library of --gpu here, and the place of CUDA's driver for it free? Returns 0 or an exit code, after it has
 * said why. */
int dft_gpu_check(const struct dft_run *run);
/* Lets CUDA's driver load it: sets a variable. Returns 0 or -errno. */
int dft_gpu_set(const struct dft_run *run);

/* Are --by and --top what dftmerge takes? Returns 0 or an exit code; `loud`: and says why. */
int dft_page_check(const struct dft_run *run, int loud);
/* Can the files of --json and --report be written? Returns 0, or -errno and *which file. */
int dft_page_try_files(const struct dft_run *run, const char **which);
/* Prints the page and writes these files, or says why there are none. */
void dft_page_print(const struct dft_run *run, const struct dft_outcome *outcome);
/* Says how to get the page of a job whose last rank is not known. */
void dft_page_point(const struct dft_run *run);

/* Why something is so, and what to do. */
struct dft_reason {
    char why[512];
    const char *remedy;
    int in_script; /* it stands in a script, which perhaps never comes there */
};

/* Does COMMAND, or its script, take LD_PRELOAD away from what it runs? */
int dft_reason_cleaned(const struct dft_run *run, struct dft_reason *reason);
/* Is there a program behind COMMAND ("timeout 5 ./app") that cannot be traced? */
int dft_reason_wrapped(const struct dft_run *run, struct dft_reason *reason);
/* What to do when COMMAND cannot be run; NULL: not known. */
const char *dft_reason_exec(const char *command, int error);
/* The text of the script that COMMAND is, or the words of COMMAND; *where: which. From malloc; NULL:
 * no memory. */
char *dft_reason_lines(const struct dft_run *run, const char **where);
/* The first command of these lines that takes LD_PRELOAD away, or NULL. Changes the lines. */
const char *dft_reason_find_cleaning(char *lines);
/* Is the word in a list that ends with NULL? */
int dft_reason_is_one_of(const char *word, const char *const *words);
/* The last component of a path. */
const char *dft_reason_base(const char *path);

/* Says why nothing was recorded. */
void dft_reason_print(const struct dft_run *run, const struct dft_outcome *outcome);
/* Says why programs of this run were not traced, where that is known. */
void dft_reason_note(const struct dft_run *run);

#endif
