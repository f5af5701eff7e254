/* SPDX-License-Identifier: MIT */
/* Lines for the user, as DFTRACER_LOG_LEVEL permits. */
#ifndef DFT_MESSAGE_H
#define DFT_MESSAGE_H

#include "settings/config.h"

/* Prints one line on descriptor 2, when the level permits. Allocates nothing. The arguments after
 * `text` are further texts, ended by NULL. */
void dft_message(enum dft_log_level level, const char *text, ...) __attribute__((sentinel));

/* Is descriptor 2 still the file that the program inherited? A file that the program opened
 * itself never receives a byte of ours. */
int dft_messages_can_be_seen(void);

/* Descriptor 2 is now as the program inherited it. Constructor only. */
void dft_messages_begin(void);

#endif
