/* SPDX-License-Identifier: MIT */
/* The DFTMERGE_* variables: one table with their names, defaults and bounds. */
#ifndef DFT_SETTINGS_H
#define DFT_SETTINGS_H

#include <stdint.h>

/* Where dftrun puts traces by default, and dftmerge looks for them. */
#define DFT_TRACES_USUAL "traces"

enum dft_setting {
    DFT_SETTING_COMMON_BYTES,
    DFT_SETTING_GROUP_BYTES,
    DFT_SETTING_NAMES_BYTES,
    DFT_SETTING_PAGE_EVENTS,
    DFT_SETTING_WINDOW_EVENTS,
    DFT_SETTINGS
};

/* The number in the variable, or its default. */
uint64_t dft_setting(enum dft_setting setting);
/* Changes the default of a variable, for a command with a bound for its memory. Before other threads exist. */
void dft_setting_default(enum dft_setting setting, uint64_t usual);
/* The number in the variable, or another default. */
uint64_t dft_setting_or(enum dft_setting setting, uint64_t usual);
/* Says which variables have an impossible value, and which values are possible. Returns 0 or
 * -EINVAL. */
int dft_settings_check(void);

#endif
