/* SPDX-License-Identifier: MIT */
/* DFTRACER_CONFIGURATION: a YAML file of settings, with DFTracer's keys. Constructor only. */
#ifndef DFT_CONFIGURATION_H
#define DFT_CONFIGURATION_H

/* Reads the file that `variable` (DFTRACER_CONFIGURATION=path, of the environment) names, and sets
 * what it says. A file that cannot be read sets nothing. What is wrong with it is noted
 * (settings.h). */
void dft_configuration_read(const char *variable);

/* Notes that a value of the file cannot be used; `name` is without DFTRACER_. Returns 0: no file sets
 * this. */
int dft_configuration_doubt(const char *name, const char *reason);

/* Compiles the rules in the file. Returns 1, or 0: there are none, or -1: they are wrong, and that is
 * noted. */
int dft_configuration_rules(void);
/* The file is not needed any more. */
void dft_configuration_done(void);

#endif
