/* SPDX-License-Identifier: MIT */
/* Owns the order in which the environment and the file of settings are read, once. */
#include "settings/config_init.h"

#include <string.h>

#include "os/secure.h"
#include "settings/config_inside.h"
#include "settings/configuration.h"
#include "settings/message.h"
#include "settings/settings.h"

#define PREFIX         DFT_CONFIG_PREFIX
#define NOT_UNDERSTOOD DFT_CONFIG_NOT_UNDERSTOOD

/* Most variables of an environment differ in the first letter. */
static int begins(const char *text, const char *with)
{
    return *text == *with && strncmp(text, with, strlen(with)) == 0;
}

static void set_option(const char *variable, const char *value)
{
    const char *name = variable + strlen(PREFIX);
    size_t length = (size_t)(value - name) - 1;

    switch (dft_config_set(name, length, value)) {
    case DFT_CONFIG_SET:
        return;
    case DFT_CONFIG_UNCLEAR:
        dft_settings_doubt(variable, NOT_UNDERSTOOD, begins(name, "ENABLE="));
        return;
    default:
        if (dft_settings_is_accepted(name, length))
            dft_message(DFT_LOG_INFO, variable, " has no effect here", NULL);
        else if (!begins(name, "FOLLOWED=")) /* env_propagation.h */
            dft_settings_unknown(variable);
    }
}

void dft_config_doubt(char *const *environment, const char *name, const char *reason)
{
    const char *value = dft_config_find_own(environment, name);

    if (value)
        dft_settings_doubt(value - strlen(name) - 1, reason, 0);
    else
        dft_configuration_doubt(name + strlen(PREFIX), reason);
}

/* Is tracing explicitly switched off? */
static int is_off(void)
{
    return !dft_config.enable && dft_config_enabled_by &&
           dft_config_is_true(strchr(dft_config_enabled_by, '=') + 1) >= 0;
}

static int configuration_is_given;

/* A variable without a value counts as not set. */
static void read_environment(char *const *environment, int log_level)
{
    for (char *const *e = environment; *e; e++) {
        int is_ours = begins(*e, PREFIX), is_level = is_ours && begins(*e, PREFIX "LOG_LEVEL=");
        const char *equals;

        configuration_is_given |=
            is_ours && begins(*e, PREFIX "CONFIGURATION=") && (*e)[strlen(PREFIX "CONFIGURATION=")];
        if (is_level != log_level || !(is_ours || dft_settings_resembles(*e)))
            continue;
        equals = strchr(*e, '=');
        if (!equals || !equals[1])
            continue;
        /* Without a variable of ours, the kernel is not queried about descriptor 2. */
        dft_messages_begin();
        if (is_ours)
            set_option(*e, equals + 1);
        else
            dft_settings_unknown(*e);
        if (begins(*e, PREFIX "ENABLE="))
            dft_config_enabled_by = *e;
    }
}

/* The file of settings, unless tracing is explicitly off. */
static void read_configuration(char *const *environment)
{
    const char *path, *enable;

    if (!configuration_is_given)
        return;
    path = dft_config_find_own(environment, PREFIX "CONFIGURATION");
    enable = dft_config_find_own(environment, PREFIX "ENABLE");
    if (!enable || dft_config_is_true(enable) != 0)
        dft_configuration_read(path - strlen(PREFIX "CONFIGURATION="));
}

void dft_config_init(char *const *environment)
{
    if (!environment)
        return;
    read_environment(environment, 1);
    read_configuration(environment);
    read_environment(environment, 0);
    dft_config_settle(environment);
    dft_configuration_done();
    if (is_off())
        dft_settings_forget();
    if (dft_is_secure() && *dft_config.log_file != '/') /* the user has chosen the working directory */
        dft_config.enable = 0;
    if (!dft_config.enable && !dft_settings_any())
        return;
    dft_config_find_job(environment);
    for (char *const *e = environment; *e; e++)
        if (begins(*e, "LD_PRELOAD=") && strstr(*e, "libdftrace"))
            dft_config_preloaded = 1;
}
