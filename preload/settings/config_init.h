/* SPDX-License-Identifier: MIT */
/* Reads the options from the environment and the file of settings. Constructor only. */
#ifndef DFT_CONFIG_INIT_H
#define DFT_CONFIG_INIT_H

/* Reads the environment and copies its texts. Values that cannot be understood get their defaults,
 * and are reported later (settings.h). So are unknown names. */
void dft_config_init(char *const *environment);

/* Notes that a value of one of our settings cannot be used; `name` begins with DFTRACER_. */
void dft_config_doubt(char *const *environment, const char *name, const char *reason);

#endif
