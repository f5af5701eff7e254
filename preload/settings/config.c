/* SPDX-License-Identifier: MIT */
/* Owns the options: their values, how each type is read, and copies of texts that stay. */
#include "settings/config.h"

#include <string.h>

#include "settings/config_inside.h"
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
