/* SPDX-License-Identifier: MIT */
/* Owns the options and the launcher's variables. Reads the environment once and copies the texts
 * that stay. */
#include "settings/config.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "settings/config_inside.h"
#include "settings/configuration.h"
#include "settings/settings.h"
#include "os/ourfile.h"
#include "os/secure.h"
#include "os/sys.h"

struct dft_config dft_config = {
#define DFT_OPTION(field, name, type, initial, help) .field = initial,
#include <dftrace/config.def>
#undef DFT_OPTION
};
struct dft_config_given dft_config_given;
int dft_config_preloaded;
const char *dft_config_enabled_by;

/* Copies of texts. Usual ones need no mapping of their own. */
static char first_texts[512];
static char *texts = first_texts;
static size_t texts_used, texts_capacity = sizeof first_texts;

static const char *keep_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy;

    if (n > texts_capacity - texts_used) {
        size_t capacity = n > 16384 ? n : 16384;

        texts = dft_sys_map(capacity);
        texts_capacity = texts ? capacity : 0;
        texts_used = 0;
        if (!texts)
            return "";
    }
    copy = memcpy(texts + texts_used, text, n);
    texts_used += n;
    return copy;
}

const char *dft_config_keep(const char *text)
{
    return keep_text(text);
}

static size_t put(char *text, size_t capacity, size_t used, const char *more)
{
    for (; *more && used < capacity; more++)
        text[used++] = *more;
    return used;
}

/* Descriptor 2 as the program was given it. A file that the program opens there later is its
 * own. */
static struct dft_ourfile messages;

/* A message may quote a file. Who runs a program with other rights must not read it by that. */
int dft_messages_can_be_seen(void)
{
    return !dft_is_secure() && dft_ourfile_has(&messages, 2);
}

void dft_message(enum dft_log_level level, const char *text, ...)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    char line[512] = "dftrace: ";
    size_t used = strlen(line);
    va_list list;

    if (level > dft_config.log_level || dft_config.log_level == DFT_LOG_OFF || !dft_messages_can_be_seen())
        return;
    used = put(line, sizeof line - 1, used, names[level]);
    used = put(line, sizeof line - 1, used, ": ");
    va_start(list, text);
    for (; text; text = va_arg(list, const char *))
        used = put(line, sizeof line - 1, used, text);
    va_end(list);
    line[used++] = '\n';
    dft_sys_write(2, line, used);
}

/* Most variables of an environment differ in the first letter. */
static int begins(const char *text, const char *with)
{
    return *text == *with && strncmp(text, with, strlen(with)) == 0;
}

static int equals_nocase(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a | 32) != (*b | 32))
            return 0;
    return *a == *b;
}

/* Position of a value in a list of words, or -1. */
static int find_word(const char *value, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (equals_nocase(value, words[i]))
            return i;
    return -1;
}

int dft_config_number(const char *value, uint64_t *number)
{
    uint64_t n = 0;

    if (!*value)
        return 0;
    for (; *value; value++) {
        if (*value < '0' || *value > '9' || n > (UINT64_MAX - 9) / 10)
            return 0;
        n = n * 10 + (uint64_t)(*value - '0');
    }
    *number = n;
    return 1;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__}), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* One parser for each type. Returns 1 when the value makes sense. */
static int parse_BOOL(const char *value, int *to)
{
    int word = find_word(value, WORDS("0", "1", "false", "true", "off", "on", "no", "yes"));

    if (word >= 0)
        *to = word & 1;
    return word >= 0;
}

static int parse_TEXT(const char *value, const char **to)
{
    *to = keep_text(value);
    return 1;
}

static int parse_UINT(const char *value, uint64_t *to)
{
    return dft_config_number(value, to);
}

/* An octal number, as of chmod. */
static int parse_MODE(const char *value, uint32_t *to)
{
    uint32_t n = 0;

    for (const char *at = value; *at; at++) {
        if (*at < '0' || *at > '7')
            return 0;
        n = n * 8 + (uint32_t)(*at - '0');
        if (n > 0777)
            return 0;
    }
    if (*value)
        *to = n;
    return *value != 0;
}

static int parse_TIME_METRIC(const char *value, enum dft_time_metric *to)
{
    int word = find_word(value, WORDS("NS", "US", "MS", "SEC", "REL"));

    if (word >= 0)
        *to = (enum dft_time_metric)word;
    return word >= 0;
}

static int parse_LOG_LEVEL(const char *value, enum dft_log_level *to)
{
    int word = find_word(value, WORDS("ERROR", "WARN", "INFO", "DEBUG", "OFF"));

    if (word >= 0)
        *to = (enum dft_log_level)word;
    return word >= 0;
}

static int parse_INIT(const char *value, enum dft_init_mode *to)
{
    int word = find_word(value, WORDS("AUTO", "PRELOAD", "FUNCTION"));

    if (word >= 0)
        *to = (enum dft_init_mode)word;
    return word >= 0;
}

static int parse_AGGREGATION(const char *value, enum dft_aggregation *to)
{
    int word = find_word(value, WORDS("FULL", "SELECTIVE"));

    if (word >= 0)
        *to = (enum dft_aggregation)word;
    return word >= 0;
}

static int parse_METRICS(const char *value, enum dft_metrics_mode *to)
{
    int word = find_word(value, WORDS("0", "1", "thread")), understood = word >= 0 || parse_BOOL(value, &word);

    if (understood)
        *to = (enum dft_metrics_mode)word;
    return understood;
}

#define PREFIX         DFT_CONFIG_PREFIX
#define NOT_UNDERSTOOD DFT_CONFIG_NOT_UNDERSTOOD

enum dft_config_set dft_config_set(const char *name, size_t length, const char *value)
{
#define DFT_OPTION(field, option, type, initial, help)                                                                 \
    if (length == sizeof #option - 1 && !memcmp(name, #option, length)) {                                              \
        if (!parse_##type(value, &dft_config.field))                                                                   \
            return DFT_CONFIG_UNCLEAR;                                                                                 \
        dft_config_given.field = 1;                                                                                    \
        return DFT_CONFIG_SET;                                                                                         \
    }
#include <dftrace/config.def>
#undef DFT_OPTION
    return DFT_CONFIG_UNKNOWN;
}

int dft_config_is_true(const char *value)
{
    int is_true;

    return parse_BOOL(value, &is_true) ? is_true : -1;
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

const char *dft_config_find(char *const *environment, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(names[i]);

        for (char *const *e = environment; *e; e++)
            if (**e == *names[i] && !strncmp(*e, names[i], n) && (*e)[n] == '=' && (*e)[n + 1])
                return *e + n + 1;
    }
    return NULL;
}

/* The value of one of our variables in the environment, or NULL. */
const char *dft_config_find_own(char *const *environment, const char *name)
{
    return dft_config_find(environment, &name, 1);
}

/* Notes that a value of one of our settings cannot be used. */
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
    return !dft_config.enable && dft_config_enabled_by && parse_BOOL(strchr(dft_config_enabled_by, '=') + 1, &(int){0});
}

static int configuration_is_given;

/* A variable without a value counts as not set. */
static void read_environment(char *const *environment, int log_level)
{
    for (char *const *e = environment; *e; e++) {
        int is_ours = begins(*e, PREFIX), is_level = is_ours && begins(*e, PREFIX "LOG_LEVEL=");
        const char *equals;
        struct stat st;

        configuration_is_given |=
            is_ours && begins(*e, PREFIX "CONFIGURATION=") && (*e)[strlen(PREFIX "CONFIGURATION=")];
        if (is_level != log_level || !(is_ours || dft_settings_resembles(*e)))
            continue;
        equals = strchr(*e, '=');
        if (!equals || !equals[1])
            continue;
        /* Without a variable of ours, the kernel is not asked about descriptor 2. */
        if (!messages.inode && DFT_SYS(fstat, 2, &st, 0, 0, 0, 0) == 0)
            messages = dft_ourfile_of(&st);
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
