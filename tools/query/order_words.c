/* SPDX-License-Identifier: MIT */
/* Words that say what to sort by: names of JSON, titles of tables, keys; or what only one of these
 * begins with. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/nearest_word.h"
#include "query/answer.h"
#include "query/answer_sort.h"

/* Titles on the screen, also of columns that are no member of JSON. */
static const struct {
    const char *title;
    enum dft_column column;
} titles[] = {
    {"calls", DFT_COLUMN_COUNT},
    {"failed", DFT_COLUMN_ERRORS},
    {"time", DFT_COLUMN_TIME},
    {"in I/O", DFT_COLUMN_IO},
    {"busy", DFT_COLUMN_BUSY},
    {"in flight", DFT_COLUMN_BUSY},
    {"%", DFT_COLUMN_SHARE},
    {"share", DFT_COLUMN_SHARE},
    {"self", DFT_COLUMN_SELF},
    {"mean", DFT_COLUMN_MEAN},
    {"min", DFT_COLUMN_TIME_MIN},
    {"p50", DFT_COLUMN_P50},
    {"p95", DFT_COLUMN_P95},
    {"p99", DFT_COLUMN_P99},
    {"max", DFT_COLUMN_TIME_MAX},
    {"bytes", DFT_COLUMN_BYTES},
    {"a call", DFT_COLUMN_A_CALL},
    {"distinct", DFT_COLUMN_DISTINCT},
    {"rate", DFT_COLUMN_RATE},
    {"calls/s", DFT_COLUMN_COUNT},
    {"% of wall", DFT_COLUMN_TIME},
    {"% of processes", DFT_COLUMN_TIME},
    {"first", DFT_COLUMN_FIRST},
    {"last", DFT_COLUMN_LAST},
    {"again", DFT_COLUMN_AGAIN},
    {"processes", DFT_COLUMN_PROCESSES},
    {"common size", DFT_COLUMN_COMMON},
};
#define TITLES (sizeof titles / sizeof *titles)

const char *dft_order_title(size_t i)
{
    return i < TITLES ? titles[i].title : NULL;
}

/* A word, and what it means. */
struct word {
    char text[32];
    int column, key; /* one of them is -1 */
};
struct words {
    struct word list[DFT_ORDER_WORDS];
    size_t count, shown; /* the first ones stand on the screen */
};

_Static_assert(TITLES + 2u * DFT_COLUMNS + 3u * DFT_BY_COUNT <= DFT_ORDER_WORDS, "words of --sort");

static void add(struct words *words, const char *text, int column, int key)
{
    struct word *word = &words->list[words->count++];

    *word = (struct word){.column = column, .key = key};
    strncat(word->text, text, sizeof word->text - 1);
}

static void collect(struct words *words, const struct dft_query *query)
{
    words->count = 0;
    for (size_t i = 0; i < TITLES; i++)
        add(words, titles[i].title, (int)titles[i].column, -1);
    for (unsigned i = 0; i < query->nby; i++) {
        add(words, dft_by_word((enum dft_by)query->by[i]), -1, query->by[i]);
        if (query->by[i] == DFT_BY_TIME)
            add(words, "from", -1, DFT_BY_TIME);
    }
    words->shown = words->count;
    for (unsigned i = 0; i < query->nby; i++)
        add(words, dft_by_name((enum dft_by)query->by[i]), -1, query->by[i]);
    for (int c = 0; c < DFT_COLUMNS; c++) {
        const char *name = dft_column_name((enum dft_column)c), *end = strstr(name, "_ns");

        add(words, name, c, -1);
        if (!end || end[3])
            continue;
        add(words, name, c, -1);
        words->list[words->count - 1].text[end - name] = 0;
    }
}

/* The word that this one is, in any case of letters. */
static const struct word *find_exact(const struct words *words, const char *text)
{
    for (size_t i = 0; i < words->count; i++)
        if (!strcasecmp(words->list[i].text, text))
            return &words->list[i];
    return NULL;
}

/* Among words from `from` to before `to`: the one that begins so, if all that do mean the same. */
static const struct word *find_begun(const struct words *words, size_t from, size_t to, const char *text)
{
    const struct word *found = NULL;

    for (size_t i = from; i < to; i++) {
        const struct word *word = &words->list[i];

        if (strncasecmp(word->text, text, strlen(text)) != 0)
            continue;
        if (found && (found->column != word->column || found->key != word->key))
            return NULL;
        found = word;
    }
    return found;
}

int dft_order_find(const struct dft_answer *answer, const char *column, struct dft_sorting *sorting)
{
    struct words words;
    const struct word *word;

    *sorting = (struct dft_sorting){.answer = answer, .column = -1, .key = -1};
    collect(&words, &answer->query);
    word = find_exact(&words, column ? column : "time");
    if (!word && *column)
        word = find_begun(&words, 0, words.shown, column);
    if (!word && *column)
        word = find_begun(&words, words.shown, words.count, column);
    if (!word)
        return -EINVAL;
    sorting->column = word->column;
    sorting->key = word->key;
    return 0;
}

size_t dft_order_words(const struct dft_query *query, const char *text, const char **nearest,
                       const char *list[DFT_ORDER_WORDS])
{
    static struct words words; /* its texts are handed out */

    collect(&words, query);
    for (size_t i = 0; i < words.count; i++)
        list[i] = words.list[i].text;
    *nearest = dft_nearest_word(text, strlen(text), list, words.count);
    return words.shown;
}

int dft_order_is(const struct dft_answer *answer, const char *title)
{
    struct dft_sorting asked, shown;

    return answer->sorted && !dft_order_find(answer, answer->sorted, &asked) &&
           !dft_order_find(answer, title, &shown) && asked.column == shown.column && asked.key == shown.key;
}
