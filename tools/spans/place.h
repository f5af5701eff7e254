/* SPDX-License-Identifier: MIT */
/* Where a log lies: in the folder of which run, and of which executor. */
#ifndef DFT_SPANS_PLACE_H
#define DFT_SPANS_PLACE_H

struct dft_log_place {
    char *path;        /* of the file, absolute */
    char *rundir;      /* the folder above it that has a parsl.log; NULL: there is none */
    char *run;         /* its run id; a partial log that tells none: its path. "": there is no rundir */
    char *label;       /* of the executor: the folder below rundir; "": none */
    char *htex;        /* what the logs of one High Throughput Executor have in common */
    char *folder;      /* name of the folder that the file lies in */
    char *name;        /* of the file */
    int has_functions; /* an executor of the run has folders of Work Queue's tasks */
};

/* Returns 0 or -errno. The caller calls fini in either case. */
int dft_log_place_init(struct dft_log_place *place, const char *path);
void dft_log_place_fini(struct dft_log_place *place);
/* Is there such a file or folder of an executor of the run? */
int dft_log_place_has(const struct dft_log_place *place, const char *label, int length, const char *name);

#endif
