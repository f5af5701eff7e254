/* SPDX-License-Identifier: MIT */
/* The doctor looks at the variables: which are set, and what the library thinks of them. */
#include "dftrun/dftrun_doctor_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "dftrun/dftrun_folder.h"
#include "dftrun/dftrun_reason.h"
#include "dftrun/dftrun_trial.h"

#define PREFIX "DFTRACER_"

extern char **environ;

static const struct row {
    const char *name, *help;
} rows[] = {
#define DFT_OPTION(field, option, type, initial, text) {PREFIX #option, text},
#include <dftrace/config.def>
#undef DFT_OPTION
};

static const struct row *row_of(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

/* --- what the library says -------------------------------------------------------------------- */

/* What the library says of this variable: the text behind "dftrace: LEVEL: NAME=VALUE". NULL: it
 * says nothing. *level: the first letter of LEVEL. */
static const char *said_of(const char *messages, const char *name, char *level)
{
    static const char ours[] = "dftrace: ";

    for (const char *line = messages; (line = strstr(line, ours)); line++) {
        const char *at = strchr(line + strlen(ours), ':');

        *level = line[strlen(ours)];
        if (at && !strncmp(at + 2, name, strlen(name)) && at[2 + strlen(name)] == '=')
            return at + 3 + strlen(name);
    }
    return NULL;
}

/* The reason in "VALUE has no effect: REASON", or in "VALUE: REASON". */
static const char *reason_in(const char *said, const char *value)
{
    static const char none[] = " has no effect: ";
    const char *end = said + strcspn(said, "\n"), *at = memmem(said, (size_t)(end - said), none, strlen(none));
    size_t length = strlen(value) < 120 ? strlen(value) : 120;

    if (at)
        return at + strlen(none);
    return strncmp(said, value, length) || strncmp(said + length, ": ", 2) ? said : said + length + 2;
}

static void check_unclear(struct dft_checks *checks, const char *name, const char *value, const char *said)
{
    static const char nearest[] = "; the nearest name is ";
    const struct row *row = row_of(name);
    const char *reason = reason_in(said, value), *at = strstr(reason, nearest);
    int length = (int)strcspn(reason, "\n");
    char advice[1024];

    if (at && at < reason + length) {
        snprintf(advice, sizeof advice, "Did you mean %.*s? Correct the name, or unset it.",
                 (int)strcspn(at + strlen(nearest), ";\n"), at + strlen(nearest));
        length = (int)(at - reason); /* the advice names it */
    } else {                         /* the help may end in a link */
        snprintf(advice, sizeof advice, "Correct it, or unset it (docs/variables.md)%s%.*s", row ? ": " : ".",
                 row ? (int)(strcspn(row->help, "[") < 800 ? strcspn(row->help, "[") : 800) : 0, row ? row->help : "");
    }
    if (row)
        dft_checks_add(checks, DFT_CHECK_WRONG, row->name, advice, "%.200s: %.*s", value, length, reason);
    else
        dft_checks_add(checks, DFT_CHECK_WRONG, "variable", advice, "%s=%.200s: %.*s", name, value, length, reason);
}

/* --- what we know ourselves ------------------------------------------------------------------- */

static int is_off(const char *value)
{
    return !strcmp(value, "0") || !strcasecmp(value, "false") || !strcasecmp(value, "off") || !strcasecmp(value, "no");
}

static int check_enable(struct dft_checks *checks, const char *value)
{
    if (dft_run_is_on(PREFIX "ENABLE"))
        return 0;
    if (is_off(value))
        dft_checks_add(checks, DFT_CHECK_NOTE, PREFIX "ENABLE",
                       "dftrun sets it to 1. With LD_PRELOAD alone nothing is recorded: set it to 1 there.", "%s",
                       value);
    else
        dft_checks_add(checks, DFT_CHECK_WRONG, PREFIX "ENABLE",
                       "Set it to 1. dftrun does so; with LD_PRELOAD alone nothing is recorded.",
                       "%.100s: neither yes nor no", value);
    return 1;
}

/* A directory that is not there holds no file that would be traced. */
static int check_data_dir(struct dft_checks *checks, const char *value)
{
    char *list = strdup(value), *next = NULL;
    int wrong = 0;

    for (char *entry = list ? strtok_r(list, ":", &next) : NULL; entry && !wrong; entry = strtok_r(NULL, ":", &next)) {
        struct stat st;

        wrong = entry[0] == '/' && stat(entry, &st);
        if (wrong)
            dft_checks_add(checks, DFT_CHECK_NOTE, PREFIX "DATA_DIR",
                           "Only files below these directories are recorded. Correct the path, or unset it.",
                           "%.200s: %s: %s", value, entry, strerror(errno));
    }
    free(list);
    return wrong;
}

static int check_live_dir(struct dft_checks *checks, const char *value)
{
    char prefix[PATH_MAX];
    int error;

    snprintf(prefix, sizeof prefix, "%s/dftrun", value);
    error = dft_folder_try(prefix);
    if (error)
        dft_checks_add(checks, DFT_CHECK_WRONG, PREFIX "LIVE_DIR",
                       "Name a folder of this node that can be written, or unset it.", "%.200s: %s", value,
                       strerror(-error));
    return error != 0;
}

static int check_disable_io(struct dft_checks *checks, const char *value)
{
    if (!dft_run_is_on(PREFIX "DISABLE_IO"))
        return 0;
    dft_checks_add(checks, DFT_CHECK_WRONG, PREFIX "DISABLE_IO", "Unset it to record calls.",
                   "%.100s: annotations alone are recorded, and no calls", value);
    return 1;
}

static const struct {
    const char *name;
    int (*check)(struct dft_checks *checks, const char *value); /* returns whether it has added something */
} own[] = {
    {PREFIX "ENABLE", check_enable},
    {PREFIX "DATA_DIR", check_data_dir},
    {PREFIX "LIVE_DIR", check_live_dir},
    {PREFIX "DISABLE_IO", check_disable_io},
};

/* --- all variables ---------------------------------------------------------------------------- */

static void check_variable(struct dft_checks *checks, const struct dft_trial *trial, const char *name,
                           const char *value)
{
    char level = ' ';
    const char *said = trial->messages ? said_of(trial->messages, name, &level) : NULL;
    int done = 0;

    for (size_t i = 0; !done && i < sizeof own / sizeof *own; i++)
        done = !strcmp(own[i].name, name) && own[i].check(checks, value);
    if (done)
        return;
    if (said && level == 'i')
        dft_checks_add(checks, DFT_CHECK_NOTE, row_of(name) ? row_of(name)->name : "variable",
                       "It is a setting of DFTracer that means nothing here.", "%s=%.100s has no effect", name, value);
    else if (said)
        check_unclear(checks, name, value, said);
    else if (row_of(name))
        dft_checks_add(checks, DFT_CHECK_OK, row_of(name)->name, NULL, "%.200s", value);
    else if (!strncmp(name, PREFIX, strlen(PREFIX)))
        dft_checks_add(checks, DFT_CHECK_OK, "variable", NULL, "%s=%.200s", name, value);
}

/* What the loader could not preload. Paths are checked elsewhere. */
static void check_loader(struct dft_checks *checks, const char *messages)
{
    static const char object[] = "ERROR: ld.so: object '";

    for (const char *at = messages; (at = strstr(at, object)); at++) {
        const char *name = at + strlen(object), *why = strchr(name, '(');
        int length = (int)strcspn(name, "'\n");

        if (why && !memchr(name, '/', (size_t)length))
            dft_checks_add(checks, DFT_CHECK_WRONG, "LD_PRELOAD", "Give its path, or take it out of LD_PRELOAD.",
                           "%.*s: %.*s", length, name, (int)strcspn(why + 1, ")\n"), why + 1);
    }
}

void dft_doctor_settings(struct dft_checks *checks, const struct dft_trial *trial)
{
    size_t before = checks->count;

    if (trial->messages)
        check_loader(checks, trial->messages);
    for (char **e = environ; *e; e++) {
        char name[256];
        size_t length = strcspn(*e, "=");

        if (length < sizeof name && (*e)[length] && (*e)[length + 1]) {
            memcpy(name, *e, length);
            name[length] = '\0';
            check_variable(checks, trial, name, *e + length + 1);
        }
    }
    if (checks->count == before)
        dft_checks_add(checks, DFT_CHECK_OK, "variables", NULL, "none is set");
    if (!trial->error && dft_trial_is_without(trial))
        dft_checks_add(checks, DFT_CHECK_WRONG, "LD_PRELOAD",
                       "Take out of LD_PRELOAD and LD_LIBRARY_PATH what does not belong there.",
                       "with these variables the library does not get into `cat`");
}
