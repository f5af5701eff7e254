/* SPDX-License-Identifier: MIT */
/* The table of findings.def: words, values, and how a user's file changes them. */
#include "findings/limits.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest_word.h"
#include "base/table_file.h"

enum unit { UNIT_BYTES, UNIT_NS, UNIT_COUNT, UNIT_SHARE, UNIT_TIMES, UNIT_PATTERNS };

static const struct {
    const char *word, *advice;
} kinds[DFT_FINDINGS] = {
#define DFT_FINDING(code, name, advice) {name, advice},
#define DFT_LIMIT(code, limit, name, unit, value, reason)
#include "findings/findings.def"
#undef DFT_FINDING
#undef DFT_LIMIT
};

static const struct {
    enum dft_finding_code code;
    const char *word; /* behind that of its finding and a dot */
    enum unit unit;
    uint64_t value;
    const char *reason;
} rows[DFT_LIMITS] = {
#define DFT_FINDING(code, name, advice)
#define DFT_LIMIT(code, limit, name, unit, value, reason) {DFT_FINDING_##code, name, UNIT_##unit, value, reason},
#include "findings/findings.def"
#undef DFT_FINDING
#undef DFT_LIMIT
};

/* What may stand behind a number, and what it is worth. The first one of a unit is for output. */
static const struct {
    enum unit unit;
    const char *word;
    double factor;
} suffixes[] = {
    {UNIT_BYTES, "B", 1},
    {UNIT_BYTES, "KiB", 1024.0},
    {UNIT_BYTES, "MiB", 1048576.0},
    {UNIT_BYTES, "GiB", 1073741824.0},
    {UNIT_NS, "ns", 1},
    {UNIT_NS, "us", 1e3},
    {UNIT_NS, "ms", 1e6},
    {UNIT_NS, "s", 1e9},
    {UNIT_NS, "min", 60e9},
    {UNIT_COUNT, "", 1},
    {UNIT_SHARE, "%", 10},
    {UNIT_TIMES, "", 1000},
};
#define SUFFIXES (sizeof suffixes / sizeof *suffixes)

const char *dft_finding_word(enum dft_finding_code code)
{
    return kinds[code].word;
}

const char *dft_finding_advice(enum dft_finding_code code)
{
    return kinds[code].advice;
}

void dft_limits_init(struct dft_limits *limits)
{
    for (unsigned i = 0; i < DFT_LIMITS; i++)
        limits->values[i] = rows[i].value;
    limits->off = 0;
    memset(limits->patterns, 0, sizeof limits->patterns);
}

struct dft_region_patterns dft_limits_patterns(const struct dft_limits *limits)
{
    struct dft_region_patterns patterns = dft_region_usual;

    for (unsigned kind = 0; kind < DFT_REGION_KINDS; kind++)
        if (*limits->patterns[kind])
            patterns.lists[kind] = limits->patterns[kind];
    return patterns;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
    struct dft_table_file file;
    struct dft_limits limits;
    unsigned set[DFT_LIMITS + DFT_FINDINGS]; /* in which line; 0: not yet */
};

static int fail(const struct reading *reading, const char *word, const char *why, const char *nearest)
{
    return dft_table_file_fail(&reading->file, word, why, nearest);
}

static int fail_word(const struct reading *reading, const char *word)
{
    char names[DFT_LIMITS][64];
    const char *words[DFT_LIMITS + DFT_FINDINGS], *nearest;

    for (unsigned i = 0; i < DFT_LIMITS; i++) {
        snprintf(names[i], sizeof names[i], "%s.%s", kinds[rows[i].code].word, rows[i].word);
        words[i] = names[i];
    }
    for (unsigned i = 0; i < DFT_FINDINGS; i++)
        words[DFT_LIMITS + i] = kinds[i].word;
    nearest = dft_nearest_word(word, strlen(word), words, DFT_LIMITS + DFT_FINDINGS);
    if (nearest && !strcmp(nearest, word))
        return fail(reading, word, ": it has limits, and is no finding that can be off.", NULL);
    return fail(reading, word, ": there is no such limit (`dftmerge findings --list` has all).", nearest);
}

static int set_patterns(struct reading *reading, uint64_t kind, const char *text)
{
    if (!*text || strlen(text) >= DFT_PATTERNS_BYTES)
        return -EINVAL;
    strcpy(reading->limits.patterns[kind], text);
    return 0;
}

/* "64 KiB" of a unit. Returns 0, or -EINVAL: it is none. */
static int parse_value(enum unit unit, const char *text, uint64_t *value)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || !isdigit((unsigned char)*text) || text[strspn(text, "0")] == 'x' || !isfinite(number))
        return -EINVAL;
    while (isspace((unsigned char)*end))
        end++;
    for (size_t i = 0; i < SUFFIXES; i++) {
        if (suffixes[i].unit != unit || strcmp(suffixes[i].word, end))
            continue;
        number *= suffixes[i].factor;
        if (number > (unit == UNIT_SHARE ? 1000 : 9e15) || (unit == UNIT_COUNT && number != floor(number)))
            return -EINVAL;
        *value = (uint64_t)llround(number);
        return 0;
    }
    return -EINVAL;
}

/* A name that stands there twice is likely a mistake: which one is meant? */
static int set_once(struct reading *reading, unsigned at, const char *word)
{
    char why[64];

    snprintf(why, sizeof why, " is already in line %u.", reading->set[at]);
    if (reading->set[at])
        return fail(reading, word, why, NULL);
    reading->set[at] = reading->file.line;
    return 0;
}

static int set_limit(struct reading *reading, const char *word, const char *text)
{
    static const char *const wanted[] = {
        [UNIT_BYTES] = " is no number of bytes, as in 64 KiB.",
        [UNIT_NS] = " is no duration, as in 2 ms.",
        [UNIT_COUNT] = " is no number, as in 20.",
        [UNIT_SHARE] = " is no share, as in 1 %.",
        [UNIT_TIMES] = " is no factor, as in 1.5.",
        [UNIT_PATTERNS] = " is no list of patterns, as in compute:*,forward (at most 399 bytes).",
    };

    for (unsigned i = 0; i < DFT_LIMITS; i++) {
        size_t n = strlen(kinds[rows[i].code].word);

        if (strncmp(word, kinds[rows[i].code].word, n) || word[n] != '.' || strcmp(word + n + 1, rows[i].word))
            continue;
        if (rows[i].unit == UNIT_PATTERNS ? set_patterns(reading, rows[i].value, text)
                                          : parse_value(rows[i].unit, text, &reading->limits.values[i]))
            return fail(reading, *text ? text : "nothing", wanted[rows[i].unit], NULL);
        return set_once(reading, i, word);
    }
    return fail_word(reading, word);
}

static int set(struct reading *reading, const char *word, const char *text)
{
    for (unsigned i = 0; i < DFT_FINDINGS; i++) {
        if (strcmp(kinds[i].word, word) || !*kinds[i].advice)
            continue;
        if (i == DFT_FINDING_LOST)
            return fail(reading, word, ": what was lost is always said.", NULL);
        if (strcmp(text, "on") && strcmp(text, "off"))
            return fail(reading, text, ": a finding is on or off.", NULL);
        reading->limits.off &= ~(UINT64_C(1) << i);
        reading->limits.off |= (uint64_t)!strcmp(text, "off") << i;
        return set_once(reading, DFT_LIMITS + i, word);
    }
    return set_limit(reading, word, text);
}

static int parse_line(void *context, char *line)
{
    struct reading *reading = context;
    char *equals, *word;

    line[strcspn(line, "#")] = 0;
    word = dft_trimmed(line);
    if (!*word)
        return 0;
    equals = strchr(word, '=');
    if (!equals)
        return fail(reading, word, ": a line is `name = value`.", NULL);
    *equals = 0;
    return set(reading, dft_trimmed(word), dft_trimmed(equals + 1));
}

int dft_limits_read(struct dft_limits *limits, const char *path, char *error, size_t size)
{
    struct reading reading = {.file = {.path = path, .error = error, .size = size}, .limits = *limits};
    int rc = dft_table_file_read(&reading.file, parse_line, &reading);

    if (!rc)
        *limits = reading.limits;
    return rc;
}

int dft_limits_choose(struct dft_limits *limits, const char *command, const char *rules, int no_risk)
{
    char error[512];

    dft_limits_init(limits);
    if (rules && dft_limits_read(limits, rules, error, sizeof error)) {
        fprintf(stderr, "dftmerge %s: --rules: %s\n", command, error);
        return -EINVAL;
    }
    limits->off |= (uint64_t)(no_risk != 0) << DFT_FINDING_RISK;
    return 0;
}

/* --- printing --------------------------------------------------------------------------------- */

/* In the largest unit that needs no fraction. */
static void print_value(FILE *out, enum unit unit, uint64_t value)
{
    size_t best = SUFFIXES;

    for (size_t i = 0; i < SUFFIXES; i++)
        if (suffixes[i].unit == unit && (best == SUFFIXES || (value && fmod((double)value, suffixes[i].factor) == 0)))
            best = i;
    fprintf(out, "%.10g%s%s", (double)value / suffixes[best].factor, *suffixes[best].word ? " " : "",
            suffixes[best].word);
}

void dft_limits_print(FILE *out, const struct dft_limits *limits)
{
    fputs("# Limits of findings. `--rules FILE` reads this form; a line `NAME = off` leaves a finding out.\n", out);
    for (unsigned code = 0; code < DFT_FINDINGS; code++) {
        if (*kinds[code].advice)
            fprintf(out, "\n# %s%s: %s\n", kinds[code].word, limits->off >> code & 1 ? " (off)" : "",
                    kinds[code].advice);
        else
            fputc('\n', out);
        if (limits->off >> code & 1)
            fprintf(out, "%s = off\n", kinds[code].word);
        for (unsigned i = 0; i < DFT_LIMITS; i++) {
            if (rows[i].code != code)
                continue;
            fprintf(out, "%s.%s = ", kinds[code].word, rows[i].word);
            if (rows[i].unit == UNIT_PATTERNS)
                fputs(dft_limits_patterns(limits).lists[rows[i].value], out);
            else
                print_value(out, rows[i].unit, limits->values[i]);
            fprintf(out, " # %s\n", rows[i].reason);
        }
    }
}
