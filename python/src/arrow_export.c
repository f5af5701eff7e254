/* SPDX-License-Identifier: MIT */
/* Hands a table on through the Arrow C data interface. Each array owns its buffers, so a reader may
 * keep some of them. */
#include "arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        struct ArrowSchema *child = schema->children[i];

        if (child && child->release)
            child->release(child);
        free(child);
    }
    free(schema->children);
    if (schema->dictionary && schema->dictionary->release)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    free(schema->private_data); /* the name */
    schema->release = NULL;
}

static int begin_schema(struct ArrowSchema *out, const char *format, const char *name)
{
    char *copy = strdup(name);

    memset(out, 0, sizeof(*out));
    if (!copy)
        return ENOMEM;
    out->format = format;
    out->name = out->private_data = copy;
    out->flags = ARROW_NULLABLE;
    out->release = release_schema;
    return 0;
}

static const char *format_of(enum arrow_type type)
{
    switch (type) {
    case TYPE_FLOAT:
        return "g";
    case TYPE_UNSIGNED:
        return "L";
    case TYPE_TIME:
        return "tsn:UTC";
    case TYPE_TEXT:
        return "u";
    case TYPE_WORD:
        return "i";
    default:
        return "l";
    }
}

static int column_schema(const struct column *column, struct ArrowSchema *out)
{
    int rc = begin_schema(out, format_of(column->type), column->name);

    if (rc || column->type != TYPE_WORD)
        return rc;
    out->dictionary = calloc(1, sizeof(*out->dictionary));
    return out->dictionary ? begin_schema(out->dictionary, "u", "") : ENOMEM;
}

int arrow_export_schema(const struct table *table, struct ArrowSchema *out)
{
    int rc = begin_schema(out, "+s", "");

    if (rc)
        return rc;
    out->flags = 0;
    out->children = calloc(table->count ? table->count : 1, sizeof(*out->children));
    for (size_t i = 0; !rc && i < table->count; i++) {
        struct ArrowSchema *child = out->children ? calloc(1, sizeof(*child)) : NULL;

        if (!child) {
            rc = ENOMEM;
            break;
        }
        out->children[out->n_children++] = child;
        rc = column_schema(&table->columns[i], child);
    }
    if (rc || !out->children) {
        release_schema(out);
        return ENOMEM;
    }
    return 0;
}

static void release_array(struct ArrowArray *array)
{
    void **owned = array->private_data;

    for (int64_t i = 0; i < array->n_children; i++) {
        struct ArrowArray *child = array->children[i];

        if (child && child->release)
            child->release(child);
        free(child);
    }
    free(array->children);
    if (array->dictionary && array->dictionary->release)
        array->dictionary->release(array->dictionary);
    free(array->dictionary);
    for (int64_t i = 0; i < array->n_buffers; i++)
        free(owned[i]);
    free(owned);
    array->release = NULL;
}

static int begin_array(struct ArrowArray *out, size_t length, int buffers)
{
    void **owned = calloc((size_t)buffers, sizeof(*owned));

    memset(out, 0, sizeof(*out));
    if (!owned)
        return ENOMEM;
    out->length = (int64_t)length;
    out->n_buffers = buffers;
    out->private_data = owned;
    out->buffers = (const void **)owned;
    out->release = release_array;
    return 0;
}

/* A surrogate has three bytes in our texts, and so has the replacement character. Returns whether there was one. */
static bool make_valid(struct column *column, size_t texts)
{
    char *at = column->bytes, *end = at + column->ends[texts];
    bool changed = false;

    while ((at = memchr(at, 0xED, (size_t)(end - at)))) {
        if (end - at > 2 && (unsigned char)at[1] >= 0xA0) {
            memcpy(at, "\xEF\xBF\xBD", 3);
            changed = true;
        }
        at++;
    }
    return changed;
}

struct word {
    const char *bytes;
    size_t length;
    int32_t index;
};

static int by_text(const void *left, const void *right)
{
    const struct word *a = left, *b = right;

    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return memcmp(a->bytes, b->bytes, a->length);
}

/* The first word that has the text of each word. */
static bool find_first(const struct column *column, int32_t *first)
{
    struct word *words = malloc((column->words + 1) * sizeof(*words));

    if (!words)
        return false;
    for (size_t i = 0; i < column->words; i++)
        words[i] =
            (struct word){column->bytes + column->ends[i], (size_t)(column->ends[i + 1] - column->ends[i]), (int32_t)i};
    qsort(words, column->words, sizeof(*words), by_text);
    for (size_t i = 0, next; i < column->words; i = next) {
        int32_t least = words[i].index;

        for (next = i + 1; next < column->words && !by_text(&words[i], &words[next]); next++)
            least = words[next].index < least ? words[next].index : least;
        for (size_t k = i; k < next; k++)
            first[words[k].index] = least;
    }
    free(words);
    return true;
}

/* A dictionary has each value once, also where different bytes became the replacement character. */
static bool merge_words(struct column *column, size_t rows)
{
    int32_t *number = malloc((column->words + 1) * sizeof(*number)), kept = 0, begin = 0, end = 0;

    if (!number || !find_first(column, number)) {
        free(number);
        return false;
    }
    for (int32_t i = 0, next; (size_t)i < column->words; i++, begin = next) {
        next = column->ends[i + 1];
        if (number[i] < i) {
            number[i] = number[number[i]];
            continue;
        }
        memmove(column->bytes + end, column->bytes + begin, (size_t)(next - begin));
        end += next - begin;
        number[i] = kept++;
        column->ends[kept] = end;
    }
    for (size_t row = 0; row < rows && column->words; row++) {
        int32_t word;

        memcpy(&word, column->values + row * sizeof(word), sizeof(word));
        memcpy(column->values + row * sizeof(word), &number[word], sizeof(word));
    }
    column->words = (size_t)kept;
    free(number);
    return true;
}

static void give_texts(struct column *column, void **owned)
{
    owned[1] = column->ends;
    owned[2] = column->bytes;
    column->ends = NULL;
    column->bytes = NULL;
}

static int export_column(struct column *column, size_t rows, struct ArrowArray *out)
{
    bool text = column->type == TYPE_TEXT, word = column->type == TYPE_WORD;
    void **owned;
    int rc;

    if ((text || word) && make_valid(column, text ? rows : column->words) && word && !merge_words(column, rows))
        return ENOMEM;
    rc = begin_array(out, rows, text ? 3 : 2);
    if (rc)
        return rc;
    owned = out->private_data;
    out->null_count = (int64_t)column->nulls;
    owned[0] = column->valid;
    column->valid = NULL;
    if (text) {
        give_texts(column, owned);
        return 0;
    }
    owned[1] = column->values;
    column->values = NULL;
    if (!word)
        return 0;
    out->dictionary = calloc(1, sizeof(*out->dictionary));
    if (!out->dictionary)
        return ENOMEM;
    rc = begin_array(out->dictionary, column->words, 3);
    if (!rc)
        give_texts(column, out->dictionary->private_data);
    return rc;
}

int arrow_export_table(struct table *table, struct ArrowArray *out)
{
    int rc = begin_array(out, table->rows, 1);

    if (rc)
        return rc;
    out->children = calloc(table->count ? table->count : 1, sizeof(*out->children));
    for (size_t i = 0; !rc && i < table->count; i++) {
        struct ArrowArray *child = out->children ? calloc(1, sizeof(*child)) : NULL;

        if (!child) {
            rc = ENOMEM;
            break;
        }
        out->children[out->n_children++] = child;
        rc = export_column(&table->columns[i], table->rows, child);
    }
    if (rc || !out->children) {
        release_array(out);
        return ENOMEM;
    }
    return 0;
}
