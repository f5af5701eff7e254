/* SPDX-License-Identifier: MIT */
/* Owns settings that make sense by themselves, but not here, and combinations that do not. */
#include <string.h>

#include "settings/config_inside.h"
#include "settings/config_init.h"
#include "settings/configuration.h"
#include "settings/rules_file.h"

#define PREFIX DFT_CONFIG_PREFIX

static const char *keep_pair(const char *name, const char *value)
{
    char pair[512];
    size_t n = strlen(name), length = strnlen(value, sizeof pair - n - 1);

    memcpy(pair, name, n);
    memcpy(pair + n, value, length);
    pair[n + length] = 0;
    return dft_config_keep(pair);
}

/* Rules come from a file of rules, else from the file of settings. */
static void settle_rules(char *const *environment)
{
    const char *file = dft_config_find_own(environment, PREFIX "AGGREGATION_FILE");
    int found = 0;

    if (dft_config.aggregation_type == DFT_AGGREGATION_FULL) {
        if (*dft_config.aggregation_file)
            dft_config_doubt(environment, PREFIX "AGGREGATION_FILE", "rules need DFTRACER_AGGREGATION_TYPE=SELECTIVE");
        return;
    }
    if (dft_config_given.enable_aggregation && !dft_config.enable_aggregation) {
        dft_config_doubt(environment, PREFIX "AGGREGATION_TYPE",
                         "aggregates alone are off: DFTRACER_ENABLE_AGGREGATION=0");
    } else if (*dft_config.aggregation_file) {
        found = dft_rules_read(file ? file - strlen(PREFIX "AGGREGATION_FILE=")
                                    : keep_pair(PREFIX "AGGREGATION_FILE=", dft_config.aggregation_file)) == 0;
    } else {
        found = dft_configuration_rules();
        if (!found)
            dft_config_doubt(environment, PREFIX "AGGREGATION_TYPE",
                             "there are no rules: set DFTRACER_AGGREGATION_FILE; all events are kept");
    }
    dft_config.enable_aggregation = 0;
    if (found <= 0)
        dft_config.aggregation_type = DFT_AGGREGATION_FULL;
}

static void settle_limits(char *const *environment)
{
    static const char no_events[] = "there are no events to stop: DFTRACER_ENABLE_AGGREGATION=1";
    uint64_t *percent = &dft_config.max_overhead_percent, *bytes = &dft_config.max_trace_bytes;

    if (dft_config_given.max_overhead_percent && (*percent == 0 || *percent > 100)) {
        dft_config_doubt(environment, PREFIX "MAX_OVERHEAD_PERCENT", "it is outside 1 ... 100; there is no limit");
        *percent = 0;
    }
    if (dft_config_given.max_trace_bytes && *bytes < DFT_TRACE_BYTES_LEAST) {
        dft_config_doubt(environment, PREFIX "MAX_TRACE_BYTES", "it is below 65536; there is no limit");
        *bytes = 0;
    }
    if (!dft_config.enable_aggregation)
        return;
    if (*percent)
        dft_config_doubt(environment, PREFIX "MAX_OVERHEAD_PERCENT", no_events);
    if (*bytes)
        dft_config_doubt(environment, PREFIX "MAX_TRACE_BYTES", no_events);
    *percent = *bytes = 0;
}

void dft_config_settle(char *const *environment)
{
    if (dft_config.trace_interval_ms == 0 || dft_config.trace_interval_ms > 3600000) {
        dft_config_doubt(environment, PREFIX "TRACE_INTERVAL_MS", "it is outside 1 ... 3600000; the default is used");
        dft_config.trace_interval_ms = 1000;
    }
    if (dft_config_given.mode && (dft_config.mode & 0600) != 0600) {
        dft_config_doubt(environment, PREFIX "MODE",
                         "the owner must be able to read and write (0600); the umask rules");
        dft_config.mode = 0;
    }
    if (dft_config.enable)
        settle_rules(environment);
    settle_limits(environment);
}
