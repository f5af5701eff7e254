/* SPDX-License-Identifier: MIT */
/* What is told of settings that have no effect as they are given: one line each, by one process of a job (store/first.h), and
 * in its PROCESS block. Constructor only. */
#ifndef DFT_SETTINGS_H
#define DFT_SETTINGS_H

#include <stddef.h>

/* `variable` is NAME=value, as in the environment, and stays there until all is told. */

/* It has no effect, and this is why. when_off: nothing is traced because of it, so it is told even then. */
void dft_settings_doubt(const char *variable, const char *why, int when_off);

/* A part of its value has no effect. `why` names the part, and lives on. */
void dft_settings_doubt_part(const char *variable, const char *why);

/* The name of the list with the fewest mistakes in it. */
const char *dft_settings_nearest(const char *const *names, size_t count, const char *name, size_t length);

/* Is it one of DFTracer's own that mean nothing here? `name` is without DFTRACER_. */
int dft_settings_is_accepted(const char *name, size_t length);

/* There is no setting of this name. */
void dft_settings_unknown(const char *variable);

/* Is it a setting of ours with a mistake in its first letters (DFTRACE_ENABLE)? It does not begin with DFTRACER_. */
int dft_settings_resembles(const char *variable);

/* It is said that nothing is traced, so nothing is told. */
void dft_settings_forget(void);

/* Is there anything to tell? */
int dft_settings_any(void);
/* `tells`: is this the process that tells of a setting? (store/first.h) */
void dft_settings_tell(int (*tells)(const char *variable));

/* What PROCESS has behind each of them. */
#define DFT_SETTINGS_NO_EFFECT " (no effect)\n"

/* Number `i` of what has been noted, fit to be shown: cut, without control characters. "" behind the last one. The text
 * is there until the next call. */
const char *dft_settings_shown(unsigned i);

#endif
