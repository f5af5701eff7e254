/* SPDX-License-Identifier: MIT */
/* Standard error that disturbs no terminal, whatever names are in messages. */
#ifndef DFT_GUARD_H
#define DFT_GUARD_H

/* From here on what goes to stderr is escaped as dft_text_escape does, but for ends of lines and
 * tabs. What shall move the cursor of a terminal goes to STDERR_FILENO itself. Call it before other
 * threads exist. Without memory stderr stays as it is. */
void dft_guard_messages(void);

#endif
