/* SPDX-License-Identifier: MIT */
/* Owns relative names of files in settings. */
#include "settings/config_place.h"

#include <string.h>

#include "os/bulk.h"
#include "settings/config_inside.h"
#include "settings/settings.h"
#include "os/sys.h"

#define PREFIX    DFT_CONFIG_PREFIX
#define ROOM      8192u
#define NAME_ROOM 32u /* before it, for NAME= */

static char made[NAME_ROOM + ROOM] DFT_BULK;

/* --- entries of DATA_DIR ---------------------------------------------------------------------- */

static int is_word(const struct dft_data_entry *entry, const char *word)
{
    return entry->length == strlen(word) && !memcmp(entry->text, word, entry->length);
}

const char *dft_data_entry_read(const char *at, struct dft_data_entry *entry)
{
    const char *end = strchr(at, ':');
    size_t length = end ? (size_t)(end - at) : strlen(at);

    *entry = (struct dft_data_entry){.text = at + (*at == '!'), .length = length - (*at == '!'), .traced = *at != '!'};
    if (end && entry->traced && is_word(entry, "pipe"))
        entry->kind = DFT_DATA_PIPES;
    else if (end && entry->traced && is_word(entry, "socket"))
        entry->kind = DFT_DATA_SOCKETS;
    else if (is_word(entry, "all") || is_word(entry, "/"))
        entry->kind = DFT_DATA_ALL;
    return at + length + (end != NULL);
}

/* --- making names ----------------------------------------------------------------------------- */

/* The working directory with a slash, into the room. Returns its length, 0: it has no name. */
static size_t put_here(char *to, size_t room)
{
    long n = DFT_SYS(getcwd, to, room, 0, 0, 0, 0);

    if (n < 2 || *to != '/')
        return 0;
    if (n > 2)
        to[n - 1] = '/';
    return (size_t)n - (n == 2);
}

/* Appends one name, absolute. Returns the new length, or 0. */
static size_t put_name(char *to, size_t used, const char *name, size_t length)
{
    while (length >= 2 && name[0] == '.' && name[1] == '/')
        name += 2, length -= 2;
    if (*name != '/') {
        size_t here = put_here(to + used, ROOM - used);

        if (!here)
            return 0;
        used += here;
    }
    if (used + length + 2 > ROOM)
        return 0;
    memcpy(to + used, name, length);
    to[used + length] = 0;
    return used + length;
}

const char *dft_config_absolute(const char *path)
{
    return *path && *path != '/' && put_name(made + NAME_ROOM, 0, path, strlen(path))
               ? dft_config_keep(made + NAME_ROOM)
               : path;
}

static int is_relative(const struct dft_data_entry *entry)
{
    return entry->kind == DFT_DATA_PATH && entry->length && *entry->text != '/';
}

const char *dft_config_absolute_dirs(const char *list)
{
    char *to = made + NAME_ROOM;
    struct dft_data_entry entry;
    size_t used = 0;
    int changes = 0;

    for (const char *at = list, *next; *at; at = next) {
        next = dft_data_entry_read(at, &entry);
        if (is_relative(&entry)) {
            to[used] = '!';
            used = put_name(to, used + !entry.traced, entry.text, entry.length);
            changes = 1;
        } else {
            const size_t length = entry.length + !entry.traced;

            if (used + length + 2 > ROOM)
                return list;
            memcpy(to + used, at, length);
            used += length;
        }
        if (!used && entry.length)
            return list;
        if (next[-1] == ':')
            to[used++] = ':';
        if (used + 2 > ROOM)
            return list;
        to[used] = 0;
    }
    return changes ? dft_config_keep(to) : list;
}

/* --- what programs that are run need ---------------------------------------------------------- */

static const char *handed_on[8];
static size_t nhanded_on;

static const char *pair_of(const char *name, const char *value)
{
    const size_t n = strlen(name), length = strlen(value);

    if (n + 1 + length >= sizeof made)
        return NULL;
    memmove(made + n + 1, value, length + 1);
    memcpy(made, name, n);
    made[n] = '=';
    return dft_config_keep(made);
}

/* The setting `name` has this value now. */
static void hand_on(char **environment, const char *name, const char *value)
{
    const size_t n = strlen(name);
    const char *pair = pair_of(name, value);
    int is_there = 0;

    for (char **e = environment; pair && *e; e++)
        if (!strncmp(*e, name, n) && (*e)[n] == '=' && (*e)[n + 1]) {
            *e = (char *)(uintptr_t)pair;
            is_there = 1;
        }
    if (pair && !is_there && nhanded_on < sizeof handed_on / sizeof *handed_on)
        handed_on[nhanded_on++] = pair;
}

const char *dft_config_handed_on(size_t i)
{
    return i < nhanded_on ? handed_on[i] : NULL;
}

void dft_config_place(char **environment)
{
    static const struct {
        const char *name, **value;
        const char *(*absolute)(const char *value);
    } settings[] = {
        {PREFIX "LOG_FILE", &dft_config.log_file, dft_config_absolute},
        {PREFIX "DATA_DIR", &dft_config.data_dir, dft_config_absolute_dirs},
        {PREFIX "LIVE_DIR", &dft_config.live_dir, dft_config_absolute},
        {PREFIX "STAGE_DIR", &dft_config.stage_dir, dft_config_absolute},
        {PREFIX "AGGREGATION_FILE", &dft_config.aggregation_file, dft_config_absolute},
        {PREFIX "CONFIGURATION", &dft_config.configuration, dft_config_absolute},
    };

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *absolute = settings[i].absolute(*settings[i].value);
        int is_file =
            settings[i].value == &dft_config.aggregation_file || settings[i].value == &dft_config.configuration;

        /* an error of a file is printed once for each text of the setting */
        if (absolute == *settings[i].value || (is_file && dft_settings_any()))
            continue;
        *settings[i].value = absolute;
        hand_on(environment, settings[i].name, absolute);
    }
}
