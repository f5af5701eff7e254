/* SPDX-License-Identifier: MIT */
/* Finds the entity that a user means, and names entities. */
#include "lineage/lineage_find.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest_word.h"
#include "base/write_cut.h"
#include "base/write_text.h"
#include "lineage/lineage_graph.h"

#define NAMED 8u     /* entities that a message names */
#define WORDS 65536u /* that are compared with a word */

char *dft_lineage_name(const struct dft_lineage *lineage, uint32_t place, size_t *length)
{
    const struct dft_lineage_entity *entity = &lineage->entities[place];
    struct dft_text type = dft_names_text(lineage->texts, entity->type),
                    key = dft_names_text(lineage->texts, entity->key);
    char id[17];
    char *name = malloc(type.length + key.length + 19u);

    if (!name)
        return NULL;
    snprintf(id, sizeof id, "%016" PRIx64, entity->id);
    *length = type.length;
    if (type.length)
        memcpy(name, type.bytes, type.length);
    name[(*length)++] = key.length && type.length ? ':' : '#';
    if (key.length && type.length) {
        memcpy(name + *length, key.bytes, key.length);
        *length += key.length;
    } else {
        memcpy(name + *length, id, 16);
        *length += 16;
    }
    name[*length] = 0;
    return name;
}

char *dft_lineage_shown(const struct dft_lineage *lineage, uint32_t place, size_t width)
{
    size_t length;
    char *name = dft_lineage_name(lineage, place, &length), *escaped = NULL, *cut = NULL;

    if (name)
        escaped = dft_text_escaped(name, length);
    if (escaped)
        cut = dft_text_fit(escaped, width, 0);
    free(name);
    free(escaped);
    return cut;
}

/* --- what a user means ------------------------------------------------------------------------ */

struct found {
    uint32_t places[NAMED];
    uint64_t count;
};

static void found_add(struct found *found, uint32_t place)
{
    for (uint64_t i = 0; i < found->count && i < NAMED; i++)
        if (found->places[i] == place)
            return;
    if (found->count < NAMED)
        found->places[found->count] = place;
    found->count++;
}

static void add_id(const struct dft_lineage *lineage, uint64_t id, struct found *found)
{
    const uint64_t *at = dft_map_find(&lineage->entity_places, id);

    if (at)
        found_add(found, (uint32_t)(*at - 1));
}

static void by_id(const struct dft_lineage *lineage, struct dft_text text, struct found *found)
{
    uint64_t id;
    const char *hash = text.length ? memchr(text.bytes, '#', text.length) : NULL;

    if (hash) {
        text.length -= (uint32_t)(hash + 1 - text.bytes);
        text.bytes = hash + 1;
    }
    if (!dft_lineage_hex(text, &id))
        add_id(lineage, id, found);
}

/* Types and keys may have colons. */
static void by_both(const struct dft_lineage *lineage, struct dft_text text, struct found *found)
{
    for (uint32_t i = 0; i < text.length; i++)
        if (text.bytes[i] == ':')
            add_id(lineage,
                   dft_lineage_id((struct dft_text){text.bytes, i},
                                  (struct dft_text){text.bytes + i + 1, text.length - i - 1}),
                   found);
}

static int same(const struct dft_lineage *lineage, uint64_t id, struct dft_text text)
{
    struct dft_text own = dft_names_text(lineage->texts, id);

    return own.length == text.length && own.length && !memcmp(own.bytes, text.bytes, own.length);
}

static void by_uri(const struct dft_lineage *lineage, struct dft_text text, struct found *found)
{
    for (uint32_t i = 0; i < lineage->nentities; i++)
        if (lineage->entities[i].uri && same(lineage, lineage->entities[i].uri, text))
            found_add(found, i);
}

static void by_key(const struct dft_lineage *lineage, struct dft_text text, struct found *found)
{
    for (uint32_t i = 0; i < lineage->ntypes; i++)
        add_id(lineage, dft_lineage_id(dft_names_text(lineage->texts, lineage->types[i].name), text), found);
}

/* --- messages --------------------------------------------------------------------------------- */

static void say_nearest(const struct dft_lineage *lineage, const char *text)
{
    uint32_t count = lineage->nentities < WORDS ? lineage->nentities : WORDS;
    char **words = calloc(2 * (size_t)count + 1, sizeof *words);
    const char *nearest;

    for (uint32_t i = 0; words && i < count; i++) {
        struct dft_text key = dft_names_text(lineage->texts, lineage->entities[i].key);
        size_t length;

        words[2 * i] = key.length ? strndup(key.bytes, key.length) : NULL;
        words[2 * i + 1] = dft_lineage_name(lineage, i, &length);
    }
    nearest = words ? dft_nearest_word(text, strlen(text), (const char *const *)words, 2 * (size_t)count) : NULL;
    if (nearest) {
        fputs(" Did you mean ", stderr);
        dft_text_escape(stderr, nearest, strlen(nearest));
        fputc('?', stderr);
    }
    for (size_t i = 0; words && i < 2 * (size_t)count; i++)
        free(words[i]);
    free(words);
}

static int say_unknown(const struct dft_lineage *lineage, const char *text)
{
    fputs("dftmerge lineage: no entity is named ", stderr);
    dft_text_escape(stderr, text, strlen(text));
    fputc('.', stderr);
    say_nearest(lineage, text);
    if (lineage->nentities)
        fputs(" `dftmerge lineage PATH` lists entities\n", stderr);
    else
        fputs(" The traces know no entity at all\n", stderr);
    return -ENOENT;
}

static int say_several(const struct dft_lineage *lineage, const char *text, const struct found *found)
{
    fputs("dftmerge lineage: several entities are named ", stderr);
    dft_text_escape(stderr, text, strlen(text));
    fputs(". Name one of them:", stderr);
    for (uint64_t i = 0; i < found->count && i < NAMED; i++) {
        char *name = dft_lineage_shown(lineage, found->places[i], 100);

        fprintf(stderr, "%s %s", i ? "," : "", name ? name : "?");
        free(name);
    }
    if (found->count > NAMED)
        fprintf(stderr, ", and %" PRIu64 " more", found->count - NAMED);
    fputc('\n', stderr);
    return -EEXIST;
}

int dft_lineage_find(const struct dft_lineage *lineage, const char *text, uint32_t *place)
{
    static void (*const ways[])(const struct dft_lineage *, struct dft_text, struct found *) = {by_id, by_both, by_uri,
                                                                                                by_key};
    const struct dft_text wanted = dft_text_from(text);
    struct found found = {.count = 0};

    for (size_t i = 0; !found.count && i < sizeof ways / sizeof *ways; i++)
        ways[i](lineage, wanted, &found);
    if (!found.count)
        return say_unknown(lineage, text);
    if (found.count > 1)
        return say_several(lineage, text, &found);
    *place = found.places[0];
    return 0;
}
