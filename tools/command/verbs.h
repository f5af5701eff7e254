/* SPDX-License-Identifier: MIT */
/* A command that is several, each with a verb: dftmerge spans, dftmerge debug. */
#ifndef DFT_VERBS_H
#define DFT_VERBS_H

#include <stddef.h>

#include "command/command.h"

struct dft_verbs {
    const struct dft_command *command;    /* whose name, arguments, brief, details and example --help shows */
    const struct dft_command *const *all; /* named "COMMAND VERB" */
    size_t count;                         /* at most DFT_VERBS_MAX */
};
#define DFT_VERBS_MAX 16

/* Does what argv says: a verb behind the command's name, or behind options; help, and help of a verb. Returns the exit
 * code. A word that is no verb is answered on standard error with the verbs there are. */
int dft_verbs_run(const struct dft_verbs *verbs, int argc, char **argv);

#endif
