/* SPDX-License-Identifier: MIT */
/* Which process of a job tells of a setting: of many that all find the same. */
#ifndef DFT_FIRST_H
#define DFT_FIRST_H

/* Is this process the first of its tree that finds this setting (NAME=value), and of rank 0, or of none? The parent
 * tells, where it is traced and was started with the same; so did an earlier image of this process, where its trace
 * says so. What cannot be found out (no /proc, another user's parent) counts as not told. Constructor, and before main;
 * after dft_config_init and dft_tracename_init. */
int dft_first_tells(const char *variable);
/* The same of a setting that has an effect, though not as a whole; `name` is without DFTRACER_. */
int dft_first_tells_of(const char *name, const char *value);

/* Has either been asked? Then PROCESS is stored as it is. */
int dft_first_was_asked(void);

#endif
