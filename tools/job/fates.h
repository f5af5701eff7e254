/* SPDX-License-Identifier: MIT */
/* How processes ended: which ends are an accident, and who died first. */
#ifndef DFT_JOB_FATES_H
#define DFT_JOB_FATES_H

#include <stdio.h>

#include "views/filter.h"
#include "object/object.h"

struct dft_json;

enum dft_fate {
    DFT_FATE_DONE,    /* it ended as programs do; by SIGPIPE, too: so writers of pipelines end */
    DFT_FATE_RUNNING, /* still, or nobody can say */
    DFT_FATE_STOPPED, /* its parent ended it, and went on */
    DFT_FATE_UNSEEN,  /* still running, or killed */
    DFT_FATE_FAILED,  /* the first process of the job, or of a rank, has an exit status that is not 0 */
    DFT_FATE_KILLED,
    DFT_FATES
};

#define DFT_FATE_IS_BAD(fate) ((fate) >= DFT_FATE_FAILED)

struct dft_fates {
    uint8_t *of;       /* enum dft_fate by number of process */
    uint32_t bad;      /* how many are an accident */
    uint32_t undated;  /* of how many of these it is not known when they ended */
    uint32_t first;    /* number of the accident that is the cause of the others, as far as times and signals tell, + 1;
                        * 0: there is none */
    uint32_t head;     /* number of the job's first process + 1, where it has an exit status that is not 0; else 0. Of
                        * several jobs: of the first that has one */
    uint64_t later_ns; /* the last of the others whose end is known ended so long after it; 0: not after it */
};

/* Finds the fates of the processes that pass the filter (NULL: of all). Returns 0 or -ENOMEM; free it in either
 * case. */
int dft_fates_find(struct dft_fates *fates, const struct dft_source *source, const struct dft_filter *filter);
void dft_fates_free(struct dft_fates *fates);
/* Is it known when it ended? Of a process that was killed only its parent can tell. */
int dft_fates_knows_end(const struct dft_source_process *process);
/* "exit 1, rank 5 died first (SIGSEGV), 15 processes by SIGTERM up to 60.0 ms later; 2 more were killed, when is not
 * known", "2 processes by SIGSEGV", "3 of 36 jobs (40034, 40035, 40036): exit 4"; nothing, and 0, where no end is an
 * accident. */
int dft_fates_say(FILE *out, const struct dft_fates *fates, const struct dft_source *source);
/* The same as a text of its own, which the caller frees; NULL: nothing. Returns 0 or -ENOMEM. */
int dft_fates_text(char **text, const struct dft_fates *fates, const struct dft_source *source);
/* The same as the member "ended", with the numbers in it. */
void dft_fates_json(struct dft_json *json, const struct dft_fates *fates, const struct dft_source *source);
/* The members "signal" and "waited_ns" of a process. */
void dft_fate_json(struct dft_json *json, const struct dft_source_process *process);

#endif
