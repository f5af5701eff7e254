/* SPDX-License-Identifier: MIT */
/* What the options of a filter say: numbers, patterns and times; and what contradicts what. */
#include "format/ops.h"
#include "views/filter.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "views/filter_words.h"

#define LIST_MAX 65536

static const char *const names[DFT_FILTER_OPTIONS] = {
    [DFT_FILTER_FROM] = "from",   [DFT_FILTER_TO] = "to",
    [DFT_FILTER_LAST] = "last",   [DFT_FILTER_SLOWER] = "slower-than",
    [DFT_FILTER_RANK] = "rank",   [DFT_FILTER_PID] = "pid",
    [DFT_FILTER_HOST] = "host",   [DFT_FILTER_PROGRAM] = "program",
    [DFT_FILTER_ROLE] = "role",   [DFT_FILTER_CAT] = "cat",
    [DFT_FILTER_NAME] = "name",   [DFT_FILTER_REGION] = "region",
    [DFT_FILTER_FILE] = "file",   [DFT_FILTER_DIR] = "dir",
    [DFT_FILTER_EXT] = "ext",     [DFT_FILTER_MOUNT] = "mount",
    [DFT_FILTER_OP] = "op",       [DFT_FILTER_CLASS] = "class",
    [DFT_FILTER_SIZE] = "size",   [DFT_FILTER_ACCESS] = "access",
    [DFT_FILTER_ERRNO] = "errno", [DFT_FILTER_ERRORS] = "errors",
};

const char *dft_filter_name(enum dft_filter_option option)
{
    return names[option];
}

int dft_filter_deny(char *why, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(why, DFT_FILTER_WHY, format, list);
    va_end(list);
    return -EINVAL;
}

/* --- numbers and patterns --------------------------------------------------------------------- */

int dft_filter_number(const char **text, uint64_t *value)
{
    char *end;

    if (**text < '0' || **text > '9')
        return -EINVAL;
    errno = 0;
    *value = strtoull(*text, &end, 10);
    *text = end;
    return errno ? -EINVAL : 0;
}

int dft_filter_add_range(struct dft_filter_values *values, uint64_t low, uint64_t high)
{
    struct dft_filter_range *bigger;

    if (values->count == LIST_MAX)
        return -EINVAL;
    bigger = reallocarray(values->ranges, values->count + 1, sizeof *bigger);
    if (!bigger)
        return -ENOMEM;
    values->ranges = bigger;
    bigger[values->count++] = (struct dft_filter_range){low, high};
    return 0;
}

int dft_filter_add_ranges(struct dft_filter_values *values, const char *text)
{
    int rc;

    do {
        uint64_t low, high;

        if (dft_filter_number(&text, &low))
            return -EINVAL;
        high = low;
        if (*text == '-') {
            text++;
            if (dft_filter_number(&text, &high) || high < low)
                return -EINVAL;
        }
        rc = dft_filter_add_range(values, low, high);
        if (rc)
            return rc;
    } while (*text++ == ',');
    return text[-1] ? -EINVAL : 0;
}

/* The end of the first pattern. A backslash takes its meaning from a comma. */
static char *find_comma(char *text)
{
    while (*text && *text != ',')
        text += 1 + (*text == '\\' && text[1]);
    return *text ? text : NULL;
}

static int add_patterns(struct dft_filter_values *values, char *text)
{
    for (;;) {
        char *comma = find_comma(text);
        const char **bigger = reallocarray(values->patterns, values->count + 1, sizeof *bigger);

        if (!bigger)
            return -ENOMEM;
        values->patterns = bigger;
        if (comma)
            *comma = 0;
        if (!text[*text == '!'] || values->count == LIST_MAX)
            return -EINVAL;
        bigger[values->count++] = text;
        if (!comma)
            return 0;
        text = comma + 1;
    }
}

/* --- times ------------------------------------------------------------------------------------ */

/* The ns of a unit; 0: there is no such unit. */
static uint64_t unit_of(const char *text)
{
    static const struct {
        const char *word;
        uint64_t ns;
    } units[] = {{"", 1000000000}, {"s", 1000000000},    {"ms", 1000000},      {"us", 1000},
                 {"ns", 1},        {"min", 60000000000}, {"h", 3600000000000}, {"\xc2\xb5s", 1000}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(text, units[i].word))
            return units[i].ns;
    return 0;
}

int dft_filter_seconds(int64_t *ns, const char *text)
{
    uint64_t integer = 0, part = 0, unit;
    int negative = *text == '-', digits = 0, has_integer;
    __int128 all;

    text += negative;
    has_integer = *text != '.';
    if (has_integer && dft_filter_number(&text, &integer))
        return -EINVAL;
    if (*text == '.') {
        for (text++; *text >= '0' && *text <= '9'; text++, digits++) {
            if (digits == 9)
                return -EINVAL;
            part = part * 10 + (uint64_t)(*text - '0');
        }
        for (int i = digits; i < 9; i++)
            part *= 10;
    }
    unit = unit_of(text + (*text == ' '));
    all = (__int128)integer * unit + (__int128)part * unit / 1000000000;
    if (!unit || (!has_integer && !digits) || all > INT64_MAX - 1000000000)
        return -EINVAL;
    *ns = negative ? -(int64_t)all : (int64_t)all;
    return 0;
}

static int set_time(struct dft_filter_values *values, enum dft_filter_option option, const char *text)
{
    if (dft_filter_seconds(&values->ns, text))
        return -EINVAL;
    if (values->ns < 0 && option != DFT_FILTER_FROM && option != DFT_FILTER_TO)
        return -EINVAL;
    values->count = 1;
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

int dft_filter_read(struct dft_filter_values *values, enum dft_filter_option option, char *text,
                    char why[DFT_FILTER_WHY])
{
    int rc;

    *why = 0;
    if (option == DFT_FILTER_ERRORS) {
        values->count = 1;
        return 0;
    }
    if (option <= DFT_FILTER_SLOWER) {
        rc = set_time(values, option, text);
        return rc ? dft_filter_deny(why, "not a time, as in 1.5 (seconds), 200ms, 30us or 2min") : 0;
    }
    if (option <= DFT_FILTER_PID) {
        rc = dft_filter_add_ranges(values, text);
        return rc == -EINVAL ? dft_filter_deny(why, "not a list of numbers, as in 0,4-7") : rc;
    }
    if (option <= DFT_FILTER_MOUNT) {
        rc = add_patterns(values, text);
        return rc == -EINVAL ? dft_filter_deny(why, "a list of names or patterns, none of them empty, is wanted") : rc;
    }
    return option == DFT_FILTER_SIZE ? dft_filter_add_sizes(values, text, why)
                                     : dft_filter_add_words(values, option, text, why);
}

int dft_filter_set(struct dft_filter *filter, enum dft_filter_option option, char *text, char why[DFT_FILTER_WHY])
{
    return dft_filter_read(&filter->values[option], option, text, why);
}

/* No queried operation moves bytes. */
static int moves_nothing(const struct dft_filter_values *ops)
{
    for (unsigned op = 0; op < DFT_OP_COUNT; op++)
        if (ops->mask >> op & 1 && dft_op_is_data((uint8_t)op))
            return 0;
    return ops->count != 0;
}

/* Are calls without an error queried, or those with one? */
static void look_at_errors(const struct dft_filter_values *errors, int *success, int *failure)
{
    *success = *failure = 0;
    for (size_t i = 0; i < errors->count; i++) {
        *success |= !errors->ranges[i].low;
        *failure |= errors->ranges[i].high != 0;
    }
}

const char *dft_filter_contradiction(const struct dft_filter *filter)
{
    const struct dft_filter_values *values = filter->values;
    int success, failure, fails = values[DFT_FILTER_ERRORS].count != 0;
    const uint64_t no_size = UINT64_C(1) << DFT_SIZE_CLASS_NONE, no_access = UINT64_C(1) << DFT_ACCESS_NONE;

    if (values[DFT_FILTER_LAST].count && (values[DFT_FILTER_FROM].count || values[DFT_FILTER_TO].count))
        return "--last says by itself which part of the time is meant: leave it out, or --from and --to";
    if (values[DFT_FILTER_FROM].count && values[DFT_FILTER_TO].count &&
        (values[DFT_FILTER_FROM].ns < 0) == (values[DFT_FILTER_TO].ns < 0) &&
        values[DFT_FILTER_TO].ns < values[DFT_FILTER_FROM].ns)
        return "--to lies before --from: both count from the start of the first process, negative ones from the end";
    look_at_errors(&values[DFT_FILTER_ERRNO], &success, &failure);
    if (fails && success && !failure)
        return "--errors asks for calls that failed, --errno 0 for others";
    fails |= failure && !success;
    if (values[DFT_FILTER_ACCESS].count && !(values[DFT_FILTER_ACCESS].mask & no_access) && fails)
        return "--access: calls that failed have no access pattern (but none): leave out --errors and --errno";
    if (values[DFT_FILTER_ACCESS].count && !(values[DFT_FILTER_ACCESS].mask & no_access) &&
        moves_nothing(&values[DFT_FILTER_OP]))
        return "--access is of calls that move bytes, and none of --op does";
    if (values[DFT_FILTER_SIZE].count && !(values[DFT_FILTER_SIZE].mask & no_size) &&
        moves_nothing(&values[DFT_FILTER_OP]))
        return "--size is of calls that move bytes, and none of --op does";
    return NULL;
}
