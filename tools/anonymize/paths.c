/* SPDX-License-Identifier: MIT */
/* Paths without names: what is replaced of each component, and what stays. Commands group files by
 * directory, extension and pattern, and these groups must stay. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "anonymize/texts.h"
#include "base/pattern.h"
#include "format/format.h"

#define EXTENSION_MAX 15u /* without the point: a longer one is none, as in file_groups.c */
#define KEPT_DIGITS   3u

static int all_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]))
            return 0;
    return 1;
}

static int has_digit(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (isdigit((unsigned char)text[i]))
            return 1;
    return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

static int has_number(struct dft_text name)
{
    for (uint32_t i = 0; i < name.length; i++)
        if (dft_pattern_number(name.bytes, name.length, i))
            return 1;
    return 0;
}

void dft_texts_name(struct dft_texts *texts, struct dft_text name, struct dft_long_text *out)
{
    if (name.length)
        dft_hashes_put(&texts->words, has_number(name) ? DFT_HASH_NUMBERED : DFT_HASH_WORD, name.bytes, name.length,
                       out);
}

/* "python3.11" */
static int is_python(struct dft_text name)
{
    size_t at = 6;

    if (name.length < 7 || memcmp(name.bytes, "python", 6) != 0)
        return 0;
    while (at < name.length && (isdigit((unsigned char)name.bytes[at]) || name.bytes[at] == '.'))
        at++;
    return at == name.length && name.length <= 6 + 5;
}

static int is_public(const struct dft_texts *texts, struct dft_text name)
{
    return dft_public_has(&texts->public, DFT_PUBLIC_NAME, name.bytes, name.length) || is_python(name);
}

/* --- components ------------------------------------------------------------------------------- */

/* Where the numbers at the end begin, each behind a point: ".1.2" of "a.so.1.2". Four numbers are the
 * address of a machine, and none of a version. */
static uint32_t find_numbers(struct dft_text name, uint32_t from)
{
    uint32_t end = name.length;

    for (unsigned count = 0;; count++) {
        const char *point = end > from ? memrchr(name.bytes + from, '.', end - from) : NULL;
        uint32_t at = point ? (uint32_t)(point - name.bytes) : 0;

        if (!point || at == from || !all_digits(point + 1, end - at - 1))
            return count > 3 || (count == 3 && isdigit((unsigned char)name.bytes[end - 1])) ? name.length : end;
        end = at;
    }
}

static void put_numbers(struct dft_texts *texts, const char *at, const char *end, struct dft_long_text *out)
{
    while (at < end) {
        const char *next = memchr(at + 1, '.', (size_t)(end - at - 1));
        size_t length = (size_t)((next ? next : end) - at) - 1;

        dft_long_text_add(out, ".", 1);
        if (length > KEPT_DIGITS)
            dft_hashes_put(&texts->words, DFT_HASH_DIGITS, at + 1, length, out);
        else
            dft_long_text_add(out, at + 1, length);
        at += length + 1;
    }
}

/* How many letters stand before the number at the end of an extension (".e01"): with the number these
 * remain an extension. 0: there is no such number, or a long one. */
static uint32_t find_letters(struct dft_text extension)
{
    uint32_t letters = extension.length;

    while (letters && isdigit((unsigned char)extension.bytes[letters - 1]))
        letters--;
    if (extension.length - letters > KEPT_DIGITS || has_digit(extension.bytes, letters))
        return 0;
    return dft_pattern_number(extension.bytes, extension.length, 0) ? 0 : letters;
}

/* The extension of a name that ends here, from the point on, or an empty text. Other digits of an
 * unusual one are part of the name. */
static struct dft_text find_extension(const struct dft_texts *texts, struct dft_text name, uint32_t from)
{
    const char *point = name.length > from ? memrchr(name.bytes + from, '.', name.length - from) : NULL;
    struct dft_text none = {name.bytes + name.length, 0}, found;

    if (!point || point == name.bytes + from)
        return none;
    found = (struct dft_text){point, (uint32_t)(name.bytes + name.length - point)};
    if (found.length < 2 || found.length - 1 > EXTENSION_MAX)
        return none;
    if (has_digit(point, found.length) &&
        !dft_public_has_folded(&texts->public, DFT_PUBLIC_EXTENSION, point + 1, found.length - 1) &&
        !find_letters((struct dft_text){point + 1, found.length - 1}))
        return none;
    return found;
}

static void put_extension(struct dft_texts *texts, struct dft_text extension, struct dft_long_text *out)
{
    const char *name = extension.bytes + 1;
    uint32_t length = extension.length - 1, letters;

    if (!extension.length)
        return;
    dft_long_text_add(out, ".", 1);
    letters = has_digit(name, length) ? find_letters((struct dft_text){name, length}) : 0;
    if (dft_public_has_folded(&texts->public, DFT_PUBLIC_EXTENSION, name, length)) {
        dft_long_text_add(out, name, length);
    } else if (letters) {
        dft_hashes_put(&texts->words, DFT_HASH_SHORT, name, letters, out);
        dft_long_text_add(out, name + letters, length - letters);
    } else {
        dft_hashes_put(&texts->words, DFT_HASH_WORD, name, length, out);
    }
}

/* A component without a public prefix. */
static void put_plain(struct dft_texts *texts, struct dft_text name, struct dft_long_text *out)
{
    struct dft_text extension, stem = name;
    uint32_t from = 0, numbers;

    while (from < name.length && name.bytes[from] == '.')
        from++;
    dft_long_text_add(out, name.bytes, from);
    numbers = find_numbers(name, from);
    stem.length = numbers;
    extension = find_extension(texts, stem, from);
    stem = (struct dft_text){name.bytes + from, numbers - from - extension.length};
    if (is_public(texts, stem))
        dft_long_text_add(out, stem.bytes, stem.length);
    else
        dft_texts_name(texts, stem, out);
    put_extension(texts, extension, out);
    put_numbers(texts, name.bytes + numbers, name.bytes + name.length, out);
}

static void put_component(struct dft_texts *texts, struct dft_text name, struct dft_long_text *out)
{
    size_t prefix = dft_public_prefix(name.bytes, name.length);
    struct dft_text rest = {name.bytes + prefix, (uint32_t)(name.length - prefix)};

    if (is_public(texts, name)) {
        dft_long_text_add(out, name.bytes, name.length);
        return;
    }
    dft_long_text_add(out, name.bytes, prefix);
    if (prefix && rest.length > 2 && *rest.bytes == '[' && rest.bytes[rest.length - 1] == ']' &&
        all_digits(rest.bytes + 1, rest.length - 2))
        dft_long_text_add(out, rest.bytes, rest.length); /* "pipe:[12]" */
    else
        put_plain(texts, rest, out);
}

/* --- paths ------------------------------------------------------------------------------------ */

static int begins(struct dft_text text, const char *with)
{
    size_t length = strlen(with);

    return text.length >= length && !memcmp(text.bytes, with, length);
}

/* Is the component from `from` to `to` kept as it is? */
static int is_kept(const struct dft_texts *texts, struct dft_text path, uint32_t from, uint32_t to)
{
    uint32_t length = to - from;
    const char *name = path.bytes + from;

    if (!length || (*name == '.' && (length == 1 || (length == 2 && name[1] == '.'))))
        return 1;
    if (*path.bytes == '/' && dft_public_has(&texts->public, DFT_PUBLIC_PATH, path.bytes, to))
        return 1;
    return begins(path, "/proc/") && all_digits(name, length);
}

static void put_components(struct dft_texts *texts, struct dft_text path, struct dft_long_text *out)
{
    for (uint32_t from = 0, to; from <= path.length; from = to + 1) {
        for (to = from; to < path.length && path.bytes[to] != '/';)
            to++;
        if (is_kept(texts, path, from, to))
            dft_long_text_add(out, path.bytes + from, to - from);
        else
            put_component(texts, (struct dft_text){path.bytes + from, to - from}, out);
        if (to < path.length)
            dft_long_text_add(out, "/", 1);
    }
}

void dft_texts_path(struct dft_texts *texts, struct dft_text path, struct dft_long_text *out)
{
    static const char deleted[] = " (deleted)";
    size_t tail = sizeof deleted - 1, before = out->length;
    struct dft_text rest = path;
    int is_deleted = path.length > tail && !memcmp(path.bytes + path.length - tail, deleted, tail);

    if (!path.length)
        return;
    rest.length -= is_deleted ? (uint32_t)tail : 0;
    put_components(texts, rest, out);
    if (is_deleted)
        dft_long_text_add(out, deleted, tail);
    if (out->rc || out->length - before <= DFT_TEXT_MAX)
        return;
    out->length = before;
    dft_long_text_add(out, "/", *path.bytes == '/');
    dft_hashes_put(&texts->words, DFT_HASH_WORD, path.bytes, path.length, out);
}
