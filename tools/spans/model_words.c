/* SPDX-License-Identifier: MIT */
/* Words for types of spans and events, as users give them. */
#include <stdlib.h>
#include <string.h>

#include "base/nearest_word.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "spans/model.h"

#define LISTED 40u /* words that an error lists, at most */

/* Says that a word is not known, with those that are. The word may be near to the end of a name
 * that follows a slash. */
static void deny(const struct dft_spans_model *model, const char *option, const char *word, const char *title,
                 char *const *names, size_t count)
{
    char *shown = dft_text_escaped(word, strlen(word));
    const char *nearest = dft_nearest_word(word, strlen(word), (const char *const *)names, count);

    for (size_t i = 0; !nearest && !strchr(word, '/') && i < count; i++) {
        const char *end = names[i] ? strrchr(names[i], '/') : NULL;

        if (end && (end++, dft_nearest_word(word, strlen(word), &end, 1)))
            nearest = names[i];
    }
    fprintf(stderr, "dftmerge spans: %s %s: %s has none.", option, shown ? shown : "", model->path);
    free(shown);
    if (nearest)
        fprintf(stderr, " Did you mean %s?", nearest);
    if (count && count <= LISTED)
        dft_say_words(NULL, title, (const char *const *)names, count);
    else
        fprintf(stderr, " `dftmerge spans types %s` lists what it has.\n", model->path);
}

/* Names as a terminal may show them. NULL: no memory. */
static char **shown_names(size_t count, const char *(*name)(const struct dft_spans_model *model, size_t i),
                          const struct dft_spans_model *model)
{
    char **names = calloc(count + 1, sizeof *names);

    for (size_t i = 0; names && i < count; i++)
        names[i] = dft_text_escaped(name(model, i), strlen(name(model, i)));
    return names;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

static const char *type_name(const struct dft_spans_model *model, size_t i)
{
    return model->types[i].name;
}

static const char *kind_name(const struct dft_spans_model *model, size_t i)
{
    return model->kinds[i].name;
}

uint32_t dft_spans_model_type(const struct dft_spans_model *model, const char *option, const char *word)
{
    char **names;

    for (uint32_t i = 0; i < model->ntypes; i++)
        if (!strcmp(model->types[i].name, word))
            return i;
    names = shown_names(model->ntypes, type_name, model);
    deny(model, option, word, "Types of spans are", names, names ? model->ntypes : 0);
    free_names(names, model->ntypes);
    return DFT_SPANS_NONE;
}

/* Says which types of spans have an event. */
static void say_several(const struct dft_spans_model *model, const char *option, const char *word)
{
    const char *between = "";

    fprintf(stderr, "dftmerge spans: %s %s: several types of spans have such an event; choose one of ", option, word);
    for (size_t i = 0; i < model->nkinds; i++)
        if (!strcmp(model->kinds[i].event, word)) {
            fputs(between, stderr);
            dft_text_escape(stderr, model->kinds[i].name, strlen(model->kinds[i].name));
            between = ", ";
        }
    fputc('\n', stderr);
}

uint32_t dft_spans_model_kind(const struct dft_spans_model *model, const char *option, const char *word)
{
    uint32_t found = DFT_SPANS_NONE;
    unsigned count = 0;
    char **names;

    for (uint32_t i = 0; i < model->nkinds; i++) {
        if (!strcmp(model->kinds[i].name, word))
            return i;
        if (!strcmp(model->kinds[i].event, word)) {
            found = i;
            count++;
        }
    }
    if (count == 1)
        return found;
    if (count) {
        say_several(model, option, word);
        return DFT_SPANS_NONE;
    }
    names = shown_names(model->nkinds, kind_name, model);
    deny(model, option, word, "Events are", names, names ? model->nkinds : 0);
    free_names(names, model->nkinds);
    return DFT_SPANS_NONE;
}

void dft_spans_model_note(const struct dft_spans_model *model)
{
    const struct dft_spans_skipped *skipped = &model->skipped;

    if (skipped->times)
        fprintf(
            stderr,
            "dftmerge spans: note: %llu events have no time that can be read (the first: %s) and were passed over\n",
            (unsigned long long)skipped->times, skipped->time ? skipped->time : "");
    if (skipped->orphans)
        fprintf(stderr, "dftmerge spans: note: %llu events are of spans that are not there, and were passed over\n",
                (unsigned long long)skipped->orphans);
    if (skipped->edges)
        fprintf(stderr,
                "dftmerge spans: note: %llu rows of subspan and facet name spans that are not there, and were passed "
                "over\n",
                (unsigned long long)skipped->edges);
}
