/* SPDX-License-Identifier: MIT */
/* Command lines as traces have them: each word ends with a NUL, the last one, too. */
#ifndef DFT_COMMAND_LINE_H
#define DFT_COMMAND_LINE_H

#include "format/text.h"

/* The words with blanks between them, without blanks at the end. A command may hold what disturbs a
 * terminal. The caller frees the text; NULL: no memory. */
char *dft_command_line(struct dft_text command);

#endif
