/* SPDX-License-Identifier: MIT */
/* Words of filters: operations, classes, errors, accesses, and sizes. */
#include "views/filter_words.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/facet_words.h"
#include "base/nearest_word.h"
#include "format/event.h"

#define ERRNO_MAX 4095u

/* --- words ------------------------------------------------------------------------------------ */

size_t dft_filter_words(enum dft_filter_option option, const char *words[DFT_FILTER_WORDS_MAX])
{
    size_t count = option == DFT_FILTER_OP       ? DFT_OP_COUNT
                   : option == DFT_FILTER_CLASS  ? DFT_IO_COUNT
                   : option == DFT_FILTER_ERRNO  ? ERRNO_MAX + 1
                   : option == DFT_FILTER_ACCESS ? DFT_ACCESS_COUNT
                                                 : 0;

    for (size_t i = 0; i < count; i++) {
        words[i] = NULL;
        if (option == DFT_FILTER_OP)
            words[i] = dft_op_class((uint8_t)i) == DFT_CLASS_MARK ? NULL : dft_op_word((uint8_t)i);
        else if (option == DFT_FILTER_CLASS)
            words[i] = dft_io_word((uint8_t)i);
        else if (option == DFT_FILTER_ACCESS)
            words[i] = i ? dft_access_word((uint8_t)i) : "none";
        else if (i)
            words[i] = dft_errno_word((uint16_t)i);
    }
    return count;
}

static int say_words(enum dft_filter_option option, const char *word, const char *const *words, size_t count, char *why)
{
    const char *nearest = dft_nearest_word(word, strlen(word), words, count);
    char *at = why;

    at += snprintf(at, DFT_FILTER_WHY, "there is no %s '%.40s'.",
                   option == DFT_FILTER_ERRNO ? "error" : dft_filter_name(option), word);
    if (nearest)
        at += snprintf(at, (size_t)(why + DFT_FILTER_WHY - at), " Did you mean %s?", nearest);
    if (option == DFT_FILTER_OP || option == DFT_FILTER_ERRNO) {
        snprintf(at, (size_t)(why + DFT_FILTER_WHY - at), " `dftmerge summary --by %s` has those that occur",
                 dft_filter_name(option));
        return -EINVAL;
    }
    for (size_t i = 0; i < count; i++)
        at += snprintf(at, (size_t)(why + DFT_FILTER_WHY - at), "%s%s", i ? ", " : " There are ", words[i]);
    return -EINVAL;
}

/* The page and findings have longer words for two classes. */
static const char *class_word(enum dft_filter_option option, const char *word)
{
    if (option != DFT_FILTER_CLASS)
        return word;
    return !strcasecmp(word, "metadata") ? "meta" : !strcasecmp(word, "start-up") ? "startup" : word;
}

static int add_number(struct dft_filter_values *values, enum dft_filter_option option, size_t number)
{
    if (option == DFT_FILTER_ERRNO)
        return dft_filter_add_range(values, number, number);
    values->mask |= UINT64_C(1) << number;
    values->count = 1;
    return 0;
}

int dft_filter_add_words(struct dft_filter_values *values, enum dft_filter_option option, char *text, char *why)
{
    const char *words[DFT_FILTER_WORDS_MAX];
    size_t count = dft_filter_words(option, words);
    int rc = 0;

    for (char *word = text, *next; !rc && word; word = next) {
        const char *known;
        size_t number = 0;

        next = strchr(word, ',');
        if (next)
            *next++ = 0;
        known = class_word(option, word);
        while (number < count && (!words[number] || strcasecmp(words[number], known) != 0))
            number++;
        if (number < count)
            rc = add_number(values, option, number);
        else if (option == DFT_FILTER_ERRNO && !strcasecmp(word, "unknown"))
            rc = dft_filter_add_range(values, DFT_ERRNO_UNKNOWN, DFT_ERRNO_UNKNOWN);
        else if (option == DFT_FILTER_ERRNO && isdigit((unsigned char)*word) && !dft_filter_add_ranges(values, word))
            continue;
        else
            rc = say_words(option, word, words, count, why);
    }
    return rc;
}

/* --- sizes ------------------------------------------------------------------------------------ */

/* "4K", "4 KiB", "64 B". */
static int parse_size(const char **text, uint64_t *bytes)
{
    static const char letters[] = "KMG";
    const char *at, *letter;

    if (dft_filter_number(text, bytes))
        return -EINVAL;
    at = *text + (**text == ' ');
    letter = *at ? strchr(letters, toupper((unsigned char)*at)) : NULL;
    if (letter) {
        unsigned shift = 10 * (unsigned)(letter - letters + 1);

        if (*bytes > UINT64_MAX >> shift)
            return -EINVAL;
        *bytes <<= shift;
        at++;
        at += *at == 'i';
    }
    at += *at == 'B';
    *text = letter || at[-1] == 'B' ? at : *text;
    return 0;
}

int dft_filter_bytes(uint64_t *bytes, const char *text)
{
    return parse_size(&text, bytes) || *text ? -EINVAL : 0;
}

/* A number that begins a size class. */
static int is_edge(uint64_t bytes)
{
    return bytes == UINT64_MAX || bytes == dft_size_class_low(dft_size_class(bytes));
}

static int add_size(struct dft_filter_values *values, const char *text)
{
    uint64_t low = 0, high = 0;
    int is_range = *text == '-';

    if (!is_range && parse_size(&text, &low))
        return -EINVAL;
    if (!is_range && !*text) {
        values->mask |= UINT64_C(1) << dft_size_class(low);
        return 0;
    }
    if (!strcmp(text, " or more") || !strcmp(text, "-"))
        high = UINT64_MAX;
    else if (*text++ != '-' || parse_size(&text, &high) || *text)
        return -EINVAL;
    if (low >= high || !is_edge(low) || !is_edge(high))
        return -EINVAL;
    for (uint8_t class = 1; class < DFT_SIZE_CLASSES; class ++)
        if (dft_size_class_low(class) >= low && dft_size_class_low((uint8_t)(class + 1)) <= high)
            values->mask |= UINT64_C(1) << class;
    return 0;
}

int dft_filter_add_sizes(struct dft_filter_values *values, char *text, char *why)
{
    values->count = 1;
    for (char *word = text, *next; word; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = 0;
        if (!strcmp(word, "none"))
            values->mask |= UINT64_C(1) << DFT_SIZE_CLASS_NONE;
        else if (add_size(values, word))
            return dft_filter_deny(
                why,
                "'%.40s' is no size, as in 100, 4K, 4K-64K, -4K (below) or 1M- (from there on). Ranges "
                "begin and end at 0, 1, 2, 64, 1K, 4K, 16K, 64K, 256K, 1M, 4M, 16M, 64M, 256M or 1G",
                word);
    }
    return 0;
}
