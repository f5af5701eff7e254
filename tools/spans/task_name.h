/* SPDX-License-Identifier: MIT */
/* How a traced process says which task of a workflow it is: a word parsl:RUN:TASK or
 * parsl:RUN:TASK:TRY, as its run id (DFTRACER_RUN_ID) or somewhere in its command line. */
#ifndef DFT_SPANS_TASK_NAME_H
#define DFT_SPANS_TASK_NAME_H

#include "format/text.h"

struct dft_task_name {
    struct dft_text run, task;
    struct dft_text try; /* "TASK/TRY" of the text with : in place of /; length 0: none */
};

/* Returns 0 where the text names no task. */
int dft_task_name_find(struct dft_text text, struct dft_task_name *name);

#endif
