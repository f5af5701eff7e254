/* SPDX-License-Identifier: MIT */
/* Reports settings that have no effect as they are set. One process of a job prints one line for
 * each (store/first.h). Each process lists them in its PROCESS block. Constructor only. */
#ifndef DFT_SETTINGS_H
#define DFT_SETTINGS_H

#include <stddef.h>
#include <string.h>

/* `variable` is NAME=value as in the environment. The text stays valid until all settings are
 * reported. */

/* Notes that a setting has no effect, and why. when_off: this setting stops all tracing, so it is
 * reported even then. */
void dft_settings_doubt(const char *variable, const char *reason, int when_off);

/* Notes that a part of the value has no effect. `reason` names the part, and stays valid. */
void dft_settings_doubt_part(const char *variable, const char *reason);

/* Is this a setting of DFTracer's own that means nothing here? `name` is without DFTRACER_. */
int dft_settings_is_accepted(const char *name, size_t length);

/* Notes that no setting of this name exists. */
void dft_settings_unknown(const char *variable);

/* Is this one of our settings with a mistake in its first letters (DFTRACE_ENABLE)? The name does
 * not begin with DFTRACER_. */
int dft_settings_resembles(const char *variable);

/* Tracing is explicitly off, so nothing is reported. */
void dft_settings_forget(void);

/* Is there anything to report? */
int dft_settings_any(void);
/* Reports the settings. `tells`: does this process report this setting? (store/first.h) */
void dft_settings_tell(int (*tells)(const char *variable));

/* The text after each such setting in PROCESS. */
#define DFT_SETTINGS_NO_EFFECT " (no effect)\n"

/* The i-th noted setting in printable form: cut, without control characters. "" after the last one.
 * The text is valid until the next call. */
const char *dft_settings_shown(unsigned i);
/* The length of NAME=, which is all that PROCESS has of it when texts are left out. */
static inline size_t dft_settings_name_length(const char *variable)
{
    size_t length = strcspn(variable, "=");

    return variable[length] ? length + 1 : length;
}

#endif
