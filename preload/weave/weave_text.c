/* SPDX-License-Identifier: MIT */
/* Words and signs of a line of a weave file. */
#include "weave/weave_text.h"

#include <errno.h>
#include <string.h>

#include "settings/config.h"

int dft_weave_fail(struct dft_weave_text *text, const char *wrong, const char *word, size_t length)
{
    if (text->wrong)
        return -EINVAL;
    text->wrong = wrong;
    length = length < sizeof text->word - 1 ? length : sizeof text->word - 1;
    memcpy(text->word, word, length);
    text->word[length] = 0;
    return -EINVAL;
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

void dft_weave_skip_blanks(struct dft_weave_text *text)
{
    while (*text->at == ' ' || *text->at == '\t')
        text->at++;
}

/* Length of the word that comes next; 0: something else does. */
size_t dft_weave_next_word(struct dft_weave_text *text)
{
    size_t n = 0;

    dft_weave_skip_blanks(text);
    while (is_letter(text->at[n]))
        n++;
    return n;
}

int dft_weave_is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(at, word, length);
}

int dft_weave_take(struct dft_weave_text *text, char c)
{
    dft_weave_skip_blanks(text);
    if (*text->at != c)
        return 0;
    text->at++;
    return 1;
}

int dft_weave_take_word(struct dft_weave_text *text, const char *word)
{
    size_t n = dft_weave_next_word(text);

    if (!n || !dft_weave_is_word(text->at, n, word))
        return 0;
    text->at += n;
    return 1;
}

const char *dft_weave_keep_word(const char *at, size_t length)
{
    char word[1024];

    length = length < sizeof word - 1 ? length : sizeof word - 1;
    memcpy(word, at, length);
    word[length] = 0;
    return dft_config_keep(word);
}

/* Behind the parenthesis that closes the one just taken. */
int dft_weave_skip_parentheses(struct dft_weave_text *text)
{
    for (int depth = 1; depth; text->at++) {
        if (!*text->at)
            return dft_weave_fail(text, "a parenthesis is not closed", "", 0);
        depth += (*text->at == '(') - (*text->at == ')');
    }
    return 0;
}
