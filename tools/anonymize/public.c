/* SPDX-License-Identifier: MIT */
/* What is the same on every machine: the rows of public.def, classes.def, counters.def and calls.def, as a set. */
#include "anonymize/public.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "format/calls.h"
#include "format/hash.h"

#define WORD_MAX 64u /* what is longer is no public word */

struct row {
    enum dft_public_kind kind;
    const char *words;
};

static const struct row rows[] = {
#define DFT_PUBLIC(kind, words) {DFT_PUBLIC_##kind, words},
#include "anonymize/public.def"
#undef DFT_PUBLIC
};

static const struct {
    const char *text;
    size_t length;
} counters[] = {
#define DFT_COUNTER(NAME, name, unit, kind, help) {"process\0" #name, sizeof "process\0" #name - 1},
#include <dftrace/counters.def>
#undef DFT_COUNTER
};

static const struct {
    const char *call;
    size_t length;
    const char *name;
} functions[] = {
#define DFT_WEAVE_FUNCTION(category, name) {#category "\0" #name, sizeof #category + sizeof #name - 1, #name},
#include "weave_functions.def"
#undef DFT_WEAVE_FUNCTION
};

/* Parts of names and whole paths by which files have classes. */
enum where { START, PART, END, VERSION };
static const struct {
    enum where where;
    const char *text;
} classes[] = {
#define DFT_FILE_CLASS(where, text, class, reason) {where, text},
#include <dftrace/classes.def>
#undef DFT_FILE_CLASS
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static uint64_t id_of(enum dft_public_kind kind, const char *text, size_t length)
{
    return dft_map_join(kind, dft_name_id(text, length));
}

static int add(struct dft_public *public, enum dft_public_kind kind, const char *text, size_t length)
{
    uint64_t *place = dft_map_put(&public->texts, id_of(kind, text, length));

    if (!place)
        return -ENOMEM;
    *place = 1;
    return 0;
}

static int add_row(struct dft_public *public, const struct row *row)
{
    enum dft_public_kind kind = row->kind == DFT_PUBLIC_PLACE  ? DFT_PUBLIC_PATH
                                : row->kind == DFT_PUBLIC_PART ? DFT_PUBLIC_NAME
                                : row->kind == DFT_PUBLIC_MARK ? DFT_PUBLIC_WORD
                                                               : row->kind;
    int rc = 0;

    for (const char *at = row->words; *at && !rc;) {
        size_t length = strcspn(at, " ");

        rc = add(public, kind, at, length);
        at += length + (at[length] == ' ');
    }
    return rc;
}

/* A path with all that it lies in; the end of a name: a name, or an extension. */
static int add_class(struct dft_public *public, enum where where, const char *text, int strict)
{
    size_t length = strlen(text);
    int rc = 0;

    if (where == START && text[length - 1] != ':' && !strict)
        for (size_t n = 1; n <= length && !rc; n++)
            rc = n == length || text[n] == '/' ? add(public, DFT_PUBLIC_PATH, text, n) : 0;
    else if ((where == END || where == VERSION) && *text == '.' && !strict)
        rc = add(public, DFT_PUBLIC_EXTENSION, text + 1, length - 1);
    else if (where == END && *text == '/')
        rc = add(public, DFT_PUBLIC_NAME, text + 1, length - 1);
    else if (where == PART && *text == '/' && !strchr(text + 1, '/'))
        rc = add(public, DFT_PUBLIC_NAME, text + 1, length - 1);
    return rc;
}

int dft_public_init(struct dft_public *public, int strict)
{
    int rc = 0;

    *public = (struct dft_public){0};
    for (size_t i = 0; i < COUNT(rows) && !rc; i++)
        if (!strict || (rows[i].kind != DFT_PUBLIC_PATH && rows[i].kind != DFT_PUBLIC_NAME &&
                        rows[i].kind != DFT_PUBLIC_EXTENSION))
            rc = add_row(public, &rows[i]);
    for (size_t i = 0; i < COUNT(classes) && !rc; i++)
        rc = add_class(public, classes[i].where, classes[i].text, strict);
    for (size_t i = 0; i < COUNT(counters) && !rc; i++)
        rc = add(public, DFT_PUBLIC_CALL, counters[i].text, counters[i].length);
    for (size_t i = 0; i < COUNT(functions) && !rc; i++) {
        rc = add(public, DFT_PUBLIC_CALL, functions[i].call, functions[i].length);
        if (!rc)
            rc = add(public, DFT_PUBLIC_FUNCTION, functions[i].name, strlen(functions[i].name));
    }
    for (size_t i = 1; i < DFT_CALL_COUNT && !rc; i++)
        rc = add(public, DFT_PUBLIC_CALL, dft_call_text(&dft_call_rows[i]), dft_call_rows[i].length);
    return rc;
}

void dft_public_fini(struct dft_public *public)
{
    dft_map_fini(&public->texts);
}

int dft_public_has(const struct dft_public *public, enum dft_public_kind kind, const char *text, size_t length)
{
    return dft_map_find(&public->texts, id_of(kind, text, length)) != NULL;
}

int dft_public_has_folded(const struct dft_public *public, enum dft_public_kind kind, const char *text, size_t length)
{
    char folded[WORD_MAX];

    if (length > sizeof folded)
        return 0;
    for (size_t i = 0; i < length; i++)
        folded[i] = (char)tolower((unsigned char)text[i]);
    return dft_public_has(public, kind, folded, length);
}

static int begins(const char *text, size_t length, const char *with, size_t bytes)
{
    return length > bytes && !memcmp(text, with, bytes);
}

/* The first word of the rows of a kind that the text begins with. */
static size_t find_beginning(enum dft_public_kind kind, const char *text, size_t length)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        for (const char *at = rows[i].kind == kind ? rows[i].words : ""; *at;) {
            size_t bytes = strcspn(at, " ");

            if (begins(text, length, at, bytes))
                return bytes;
            at += bytes + (at[bytes] == ' ');
        }
    return 0;
}

size_t dft_public_prefix(const char *text, size_t length)
{
    size_t found = find_beginning(DFT_PUBLIC_PREFIX, text, length);

    for (size_t i = 0; i < COUNT(classes) && !found; i++) {
        const char *part = classes[i].text + 1;
        size_t bytes = strlen(part);

        if (classes[i].where == PART && !strchr(part, '/') && begins(text, length, part, bytes) &&
            !isalnum((unsigned char)part[bytes - 1]))
            found = bytes;
    }
    return found;
}

size_t dft_public_find_mark(const char *text, size_t length, size_t *at)
{
    size_t found = 0;

    *at = length;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (const char *mark = rows[i].kind == DFT_PUBLIC_MARK ? rows[i].words : ""; *mark;) {
            size_t bytes = strcspn(mark, " ");

            for (size_t k = 0; k + bytes <= length && k < *at; k++)
                if (!strncasecmp(text + k, mark, bytes)) {
                    *at = k;
                    found = bytes;
                }
            mark += bytes + (mark[bytes] == ' ');
        }
    return found;
}
