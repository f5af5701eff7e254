/* SPDX-License-Identifier: MIT */
/* What the files of the settings (config*.c) share. Constructor only. */
#ifndef DFT_CONFIG_INSIDE_H
#define DFT_CONFIG_INSIDE_H

#include "settings/config.h"

#define DFT_CONFIG_PREFIX         "DFTRACER_"
#define DFT_CONFIG_NOT_UNDERSTOOD "the value is not understood; the default is used"

/* Which options were set. */
extern struct dft_config_given {
#define DFT_OPTION(field, name, type, initial, help) char field;
#include <dftrace/config.def>
#undef DFT_OPTION
} dft_config_given;

/* The value of the first of these variables that is set and not empty, or NULL. */
const char *dft_config_find(char *const *environment, const char *const *names, size_t count);
/* The same of one variable. */
const char *dft_config_find_own(char *const *environment, const char *name);
/* Returns 1, or 0: this is no number. */
int dft_config_number(const char *value, uint64_t *number);

/* config_job.c, config_settle.c */
void dft_config_find_job(char *const *environment);
void dft_config_settle(char *const *environment);

#endif
