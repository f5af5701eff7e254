/* SPDX-License-Identifier: MIT */
/* Owns the enums of weave files: arguments of such a type are recorded as words. */
#include <errno.h>
#include <string.h>

#include "weave/weave_prototype.h"

struct dft_weave_named *dft_weave_enums;

const char *dft_weave_find_word(const struct dft_weave_word *words, int64_t value)
{
    for (; words; words = words->next)
        if ((int32_t)value == words->value)
            return words->word;
    return NULL;
}

/* A whole number that fits an int. */
static int parse_value(struct dft_weave_text *text, int64_t *value)
{
    const char *from;
    int is_negative = dft_weave_take(text, '-');

    dft_weave_skip_blanks(text);
    from = text->at;
    for (*value = 0; *text->at >= '0' && *text->at <= '9' && text->at - from < 11; text->at++)
        *value = *value * 10 + (*text->at - '0');
    *value = is_negative ? -*value : *value;
    if (text->at == from || strcspn(text->at, " \t,}") || *value < INT32_MIN || *value > UINT32_MAX)
        return dft_weave_fail(text, "a value of an enum must be a number of 32 bits, not", from,
                              strcspn(from, " \t,}"));
    return 0;
}

/* "WORD" or "WORD = NUMBER". A word may have hyphens. */
static int parse_word(struct dft_weave_text *text, struct dft_weave_word *word, int64_t *value)
{
    size_t length;

    dft_weave_skip_blanks(text);
    length = strcspn(text->at, " \t,=}");
    if (!length)
        return dft_weave_fail(text, "a word of an enum is missing", text->at, *text->at ? 1 : 0);
    word->word = dft_weave_keep_word(text->at, length);
    text->at += length;
    if (dft_weave_take(text, '=') && parse_value(text, value))
        return -EINVAL;
    word->value = (int32_t)*value;
    ++*value;
    return 0;
}

int dft_weave_parse_enum(struct dft_weave_text *text)
{
    size_t length = dft_weave_next_word(text);
    struct dft_weave_type type = {.kind = DFT_WEAVE_I32};
    const struct dft_weave_word **last = &type.words;
    const char *name = text->at;
    int64_t value = 0;

    text->at += length;
    if (!length || !dft_weave_take(text, '{'))
        return dft_weave_fail(text, "enum NAME { WORD = NUMBER, WORD }; is meant", name, length);
    do {
        struct dft_weave_word *word = dft_weave_reserve(sizeof *word);

        if (!word)
            return -ENOMEM;
        if (parse_word(text, word, &value))
            return -EINVAL;
        *last = word;
        last = &word->next;
    } while (dft_weave_take(text, ','));
    if (!dft_weave_take(text, '}'))
        return dft_weave_fail(text, "the words of an enum must end with }", text->at, strcspn(text->at, " \t,}"));
    dft_weave_take(text, ';');
    dft_weave_skip_blanks(text);
    if (*text->at && *text->at != '#')
        return dft_weave_fail(text, "an enum has a line of its own", text->at, strlen(text->at));
    return dft_weave_name_type(&dft_weave_enums, name, length, &type);
}
