/* SPDX-License-Identifier: MIT */
/* DFTRACER_AGGREGATION_FILE: two lists of rules in YAML. Constructor only. */
#ifndef DFT_RULES_FILE_H
#define DFT_RULES_FILE_H

#include "settings/yaml.h"

/* Reads the file that `variable` (NAME=path) names. Returns 0, or -1: what is wrong is noted
 * (settings.h), and there are no rules. */
int dft_rules_read(const char *variable);

/* The same of lists in a file of settings; 0: the list is not there. */
int dft_rules_take(const char *variable, const struct dft_yaml *yaml, dft_yaml_node inclusion, dft_yaml_node exclusion);

#endif
