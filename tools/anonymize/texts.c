/* SPDX-License-Identifier: MIT */
/* Words of people, texts of arguments and frames of stacks without what is private in them. */
#include "anonymize/texts.h"

#include <ctype.h>
#include <string.h>

#define HEX_DIGITS  16u
#define KEPT_DIGITS 3u
#define NUMBER_MAX  24u
#define LINE_MAX    8u

/* --- words ------------------------------------------------------------------------------------ */

static int is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

/* What stands between words. */
static int is_between(char c)
{
    return c && strchr(" ._-:/()[]<>,#+=\n", c) != NULL;
}

static int is_hex(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!is_digit(text[i]) && (text[i] < 'a' || text[i] > 'f'))
            return 0;
    return length == HEX_DIGITS;
}

/* Letters without digits. Around a mark the word is cut in pieces. */
static void put_letters(struct dft_texts *texts, const char *text, size_t length, struct dft_long_text *out)
{
    size_t at, mark;

    if (!length)
        return;
    if (dft_public_has_folded(&texts->public, DFT_PUBLIC_WORD, text, length)) {
        dft_long_text_add(out, text, length);
        return;
    }
    mark = dft_public_find_mark(text, length, &at);
    if (at)
        dft_hashes_put(&texts->words, DFT_HASH_WORD, text, at, out);
    if (!mark)
        return;
    dft_long_text_add(out, "_", at != 0);
    dft_long_text_add(out, text + at, mark);
    dft_long_text_add(out, "_", at + mark < length);
    put_letters(texts, text + at + mark, length - at - mark, out);
}

static void put_digits(struct dft_texts *texts, const char *text, size_t length, struct dft_long_text *out)
{
    if (length <= KEPT_DIGITS)
        dft_long_text_add(out, text, length);
    else
        dft_hashes_put(&texts->words, DFT_HASH_DIGITS, text, length, out);
}

/* One word: letters and digits apart, for "epoch7" is an epoch. */
static void put_word(struct dft_texts *texts, const char *text, size_t length, struct dft_long_text *out)
{
    if (is_hex(text, length)) {
        dft_hashes_put(&texts->words, DFT_HASH_HEX, text, length, out);
        return;
    }
    if (dft_public_has_folded(&texts->public, DFT_PUBLIC_WORD, text, length)) {
        dft_long_text_add(out, text, length);
        return;
    }
    for (size_t from = 0, to; from < length; from = to) {
        for (to = from; to < length && is_digit(text[to]) == is_digit(text[from]);)
            to++;
        if (is_digit(text[from]))
            put_digits(texts, text + from, to - from, out);
        else
            put_letters(texts, text + from, to - from, out);
    }
}

/* The length of the address of a machine ("10.0.0.7") that a text begins with; 0: there is none. Its short
 * numbers are no counts. */
static uint32_t find_address(struct dft_text text)
{
    uint32_t at = 0;

    for (unsigned group = 0; group < 4; group++) {
        uint32_t from = at += group != 0;

        while (at < text.length && is_digit(text.bytes[at]))
            at++;
        if (at == from || at - from > KEPT_DIGITS || (group < 3 && (at == text.length || text.bytes[at] != '.')))
            return 0;
    }
    return at;
}

void dft_texts_words(struct dft_texts *texts, struct dft_text phrase, struct dft_long_text *out)
{
    for (uint32_t from = 0, to; from < phrase.length; from = to) {
        uint32_t address = find_address((struct dft_text){phrase.bytes + from, phrase.length - from});

        dft_texts_name(texts, (struct dft_text){phrase.bytes + from, address}, out);
        from += address;
        for (to = from; to < phrase.length && !is_between(phrase.bytes[to]);)
            to++;
        put_word(texts, phrase.bytes + from, to - from, out);
        for (from = to; to < phrase.length && is_between(phrase.bytes[to]);)
            to++;
        dft_long_text_add(out, phrase.bytes + from, to - from);
    }
}

/* --- any text --------------------------------------------------------------------------------- */

/* "-12.5e-3" */
static int is_number(struct dft_text text)
{
    uint32_t digits = 0;

    for (uint32_t i = 0; i < text.length; i++) {
        digits += (uint32_t)is_digit(text.bytes[i]);
        if (!is_digit(text.bytes[i]) && !(text.bytes[i] && strchr("+-.eE", text.bytes[i])))
            return 0;
        if ((text.bytes[i] | 32) == 'e' && !digits)
            return 0;
    }
    return digits && text.length <= NUMBER_MAX && !find_address(text);
}

/* Are all words public? */
static int is_public(const struct dft_texts *texts, struct dft_text text)
{
    for (uint32_t from = 0, to; from < text.length; from = to) {
        for (to = from; to < text.length && !is_between(text.bytes[to]);)
            to++;
        if (to > from && !dft_public_has_folded(&texts->public, DFT_PUBLIC_WORD, text.bytes + from, to - from))
            return 0;
        while (to < text.length && is_between(text.bytes[to]))
            to++;
    }
    return 1;
}

void dft_texts_any(struct dft_texts *texts, struct dft_text any, struct dft_long_text *out)
{
    if (!any.length)
        return;
    if (is_number(any) || is_public(texts, any))
        dft_long_text_add(out, any.bytes, any.length);
    else if (is_hex(any.bytes, any.length))
        dft_hashes_put(&texts->words, DFT_HASH_HEX, any.bytes, any.length, out);
    else
        dft_texts_path(texts, any, out);
}

/* --- frames ----------------------------------------------------------------------------------- */

static struct dft_text between(const char *from, const char *to)
{
    return (struct dft_text){from, (uint32_t)(to - from)};
}

/* `<string>` and the like, and the note that frames are left out, have no path. */
void dft_texts_frame(struct dft_texts *texts, struct dft_text frame, struct dft_long_text *out)
{
    const char *end = frame.bytes + frame.length;
    const char *space = frame.length ? memrchr(frame.bytes, ' ', frame.length) : NULL;
    const char *colon = space ? memrchr(frame.bytes, ':', (size_t)(space - frame.bytes)) : NULL;

    if (!colon || *frame.bytes == '[' || *frame.bytes == '<') {
        dft_texts_words(texts, frame, out);
        return;
    }
    dft_texts_path(texts, between(frame.bytes, colon), out);
    for (const char *at = colon + 1; at < space; at++)
        if (!is_digit(*at) || space - colon > (ptrdiff_t)LINE_MAX + 1) {
            colon = space; /* no number of a line */
            break;
        }
    dft_long_text_add(out, colon, (size_t)(space - colon));
    dft_long_text_add(out, " ", 1);
    dft_texts_words(texts, between(space + 1, end), out);
}

void dft_texts_address(struct dft_texts *texts, struct dft_text frame, struct dft_long_text *out)
{
    const char *end = frame.bytes + frame.length, *open, *close;

    close = frame.length ? memmem(frame.bytes, frame.length, "]+0x", 4) : NULL;
    open = close ? memrchr(frame.bytes, '[', (size_t)(close - frame.bytes)) : NULL;
    if (!open || end - close > 4 + (ptrdiff_t)HEX_DIGITS) {
        dft_texts_words(texts, frame, out);
        return;
    }
    dft_texts_path(texts, between(frame.bytes, open), out);
    dft_long_text_add(out, "[", 1);
    if (close > open + 1)
        dft_hashes_put(&texts->words, DFT_HASH_HEX, open + 1, (size_t)(close - open) - 1, out);
    dft_long_text_add(out, "]+0x", 4);
    for (const char *at = close + 4; at < end && isxdigit((unsigned char)*at); at++)
        dft_long_text_add(out, at, 1);
}
