/* SPDX-License-Identifier: MIT */
/* How the program wants fatal signals to be. */
#ifndef DFT_DISPOSITIONS_H
#define DFT_DISPOSITIONS_H

#include <signal.h>

/* The first function restores the settings that the program believes in. The second watches the
 * signals again. They surround a mode without system calls, in which no handler could let the
 * process die. */
void dft_fatal_give_up(void);
void dft_fatal_regain(void);
/* Does the work of sigaction for a watched signal. */
int dft_fatal_action(int signal, const struct sigaction *action, struct sigaction *old);
/* The handler to show to the program in place of the handler that the real functions returned. */
void (*dft_fatal_shown(int signal, void (*handler)(int)))(int);

#endif
