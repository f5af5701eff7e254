/* SPDX-License-Identifier: MIT */
/* A command that is several, each with a verb: dftmerge spans, dftmerge debug. */
#ifndef DFT_VERBS_H
#define DFT_VERBS_H

#include "command/command.h"

/* Does what argv says: a verb behind the command's name, or behind options; help, and help of a verb. Returns the exit
 * code. A word that is no verb is answered on standard error with the verbs there are. */
int dft_verbs_run(const struct dft_command *command, int argc, char **argv);

#endif
