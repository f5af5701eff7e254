/* SPDX-License-Identifier: MIT */
/* The DFTMERGE_* variables. Only tests set the numbers: no answer depends on them, but which
 * findings the page has (DFTMERGE_PAGE_EVENTS). */
#include "base/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MIB       (UINT64_C(1) << 20)
#define HIGH      (UINT64_C(1) << 48)
#define DEBUG_DIR "DFTMERGE_DEBUG_DIR"

static struct setting {
    const char *name, *meaning;
    uint64_t usual, low, high;
} settings[DFT_SETTINGS] = {
    [DFT_SETTING_COMMON_BYTES] = {"DFTMERGE_COMMON_BYTES", "bytes of blocks that ranks give to all others", 64 * MIB, 0,
                                  HIGH},
    [DFT_SETTING_GROUP_BYTES] = {"DFTMERGE_GROUP_BYTES", "bytes for groups in memory; more go into a file in TMPDIR",
                                 96 * MIB, 0, HIGH},
    [DFT_SETTING_NAMES_BYTES] = {"DFTMERGE_NAMES_BYTES", "bytes for the texts of names", 96 * MIB, 0, HIGH},
    [DFT_SETTING_PAGE_EVENTS] = {"DFTMERGE_PAGE_EVENTS",
                                 "events a thread that the page reads for findings by file: some 2 s of processor time",
                                 3500000, 0, HIGH},
    [DFT_SETTING_WINDOW_EVENTS] = {"DFTMERGE_WINDOW_EVENTS", "events of one window of time", UINT64_C(1) << 19, 1,
                                   HIGH},
};

/* Returns 0 when the text is no number within the bounds. */
static int parse(const struct setting *setting, const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *value >= setting->low && *value <= setting->high;
}

uint64_t dft_setting_or(enum dft_setting setting, uint64_t usual)
{
    const char *text = getenv(settings[setting].name);
    uint64_t value;

    return text && parse(&settings[setting], text, &value) ? value : usual;
}

uint64_t dft_setting(enum dft_setting setting)
{
    return dft_setting_or(setting, settings[setting].usual);
}

void dft_setting_default(enum dft_setting setting, uint64_t usual)
{
    settings[setting].usual = usual;
}

int dft_settings_check(void)
{
    const char *directory = getenv(DEBUG_DIR);
    struct stat st;
    int rc = 0, error;

    for (unsigned i = 0; i < DFT_SETTINGS; i++) {
        const struct setting *setting = &settings[i];
        const char *text = getenv(setting->name);
        uint64_t value;

        if (!text || parse(setting, text, &value))
            continue;
        fprintf(stderr, "dftmerge: %s=%s: takes a number from %llu to %llu (%s); without it: %llu\n", setting->name,
                text, (unsigned long long)setting->low, (unsigned long long)setting->high, setting->meaning,
                (unsigned long long)setting->usual);
        rc = -EINVAL;
    }
    error = !directory ? 0 : stat(directory, &st) ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    if (error) {
        fprintf(stderr,
                "dftmerge: " DEBUG_DIR "=%s: takes a folder with debug files (FOLDER/.build-id/ab/cdef.debug): %s\n",
                directory, strerror(error));
        rc = -EINVAL;
    }
    return rc;
}
