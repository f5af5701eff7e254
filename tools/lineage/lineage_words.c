/* SPDX-License-Identifier: MIT */
/* Finds the words in which traces tell of entities, and names the numbers. */
#include "lineage/lineage_words.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "lineage/lineage_graph.h"
#include "intake/source_names.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const region_relations[] = {"used", "generated", "invalidated", "updated"};
static const char *const link_relations[] = {"derived_from",      "revision_of",  "contains",  "part_of",
                                             "specialization_of", "alternate_of", "depends_on"};

int dft_lineage_region_relation(struct dft_text name)
{
    for (int i = 0; i < (int)COUNT(region_relations); i++)
        if (dft_text_is(name, region_relations[i]))
            return i;
    return -1;
}

const char *dft_lineage_relation_name(uint8_t relation)
{
    if (relation < COUNT(region_relations))
        return region_relations[relation];
    return DFT_LINEAGE_IS_LINK(relation) ? link_relations[relation - DFT_LINEAGE_DERIVED_FROM] : NULL;
}

const char *dft_lineage_store_name(int64_t store)
{
    static const char *const names[] = {"memory",       "GPU memory",   "local disk", "parallel file system",
                                        "burst buffer", "object store", "database",   "network",
                                        "other"};

    return store >= 0 && store < (int64_t)COUNT(names) ? names[store] : NULL;
}

const char *dft_lineage_role_name(int64_t role)
{
    static const char *const names[] = {"unknown", "input", "output", "intermediate", "parameter", "reference"};

    return role >= 0 && role < (int64_t)COUNT(names) ? names[role] : NULL;
}

/* --- ids of names ----------------------------------------------------------------------------- */

struct finding {
    struct dft_lineage_words *words;
    pthread_mutex_t lock; /* several threads give names */
};

enum dft_lineage_word dft_lineage_word_of_call(struct dft_text text)
{
    static const char records[][12] = {"dftracer\0EH", "dftracer\0ET", "dftracer\0ER", "dftracer\0RR"};

    for (size_t i = 0; text.length == sizeof *records - 1 && i < COUNT(records); i++)
        if (!memcmp(text.bytes, records[i], sizeof *records - 1))
            return (enum dft_lineage_word)(DFT_LINEAGE_EH + i);
    return DFT_LINEAGE_WORD_NONE;
}

static enum dft_lineage_word key_of(struct dft_text name)
{
    static const char *const names[] = {"id",          "type",     "key",     "store",  "uri",    "role",
                                        "description", "relation", "subject", "object", "region", "relations"};

    for (size_t i = 0; i < COUNT(names); i++)
        if (dft_text_is(name, names[i]))
            return (enum dft_lineage_word)(DFT_LINEAGE_KEY_ID + i);
    return DFT_LINEAGE_WORD_NONE;
}

static int add_word(struct dft_lineage_words *words, uint64_t id, enum dft_lineage_word word)
{
    uint64_t *at = dft_map_put(&words->words, id);

    if (!at)
        return -ENOMEM;
    *at = word;
    words->any |= word <= DFT_LINEAGE_KEY_ID || word >= DFT_LINEAGE_KEY_SUBJECT;
    words->has_apart |= word == DFT_LINEAGE_RR || word == DFT_LINEAGE_KEY_REGION;
    return 0;
}

static int add_relation(struct dft_lineage_words *words, uint64_t id, const struct dft_lineage_relate *relate)
{
    uint64_t *at = dft_map_put(&words->places, id);

    if (!at || (!*at && DFT_ARRAY_PUSH(words->relates, words->capacity, words->count, *relate)))
        return -ENOMEM;
    if (!*at)
        *at = words->count;
    words->any = 1;
    return 0;
}

/* "used:0123456789abcdef". A program's own argument may look nearly so. */
static int relation_of(struct dft_text name, struct dft_lineage_relate *relate)
{
    const char *colon = name.length ? memchr(name.bytes, ':', name.length) : NULL;
    struct dft_text digits;
    int relation;

    if (!colon)
        return 0;
    digits = (struct dft_text){colon + 1, (uint32_t)(name.bytes + name.length - colon - 1)};
    relation = dft_lineage_region_relation((struct dft_text){name.bytes, (uint32_t)(colon - name.bytes)});
    if (relation < 0 || dft_lineage_hex(digits, &relate->entity))
        return 0;
    relate->relation = (uint8_t)relation;
    return 1;
}

static int look_at(void *context, uint64_t id, struct dft_text text)
{
    struct finding *finding = context;
    const char *end = text.length ? memchr(text.bytes, 0, text.length) : NULL;
    struct dft_text category = {text.bytes, end ? (uint32_t)(end - text.bytes) : 0};
    struct dft_text name = {end ? end + 1 : text.bytes, end ? text.length - category.length - 1 : text.length};
    struct dft_lineage_relate relate;
    enum dft_lineage_word word;
    int is_relation = 0, rc;

    word = dft_lineage_word_of_call(text);
    if (!word && !category.length)
        word = key_of(name);
    if (!word && !category.length)
        is_relation = relation_of(name, &relate);
    if (!word && !is_relation)
        return 0;
    pthread_mutex_lock(&finding->lock);
    rc = word ? add_word(finding->words, id, word) : add_relation(finding->words, id, &relate);
    pthread_mutex_unlock(&finding->lock);
    return rc;
}

int dft_lineage_words_find(struct dft_lineage_words *words, struct dft_source *source)
{
    struct finding finding = {.words = words, .lock = PTHREAD_MUTEX_INITIALIZER};

    memset(words, 0, sizeof *words);
    return dft_source_names_each(source, look_at, &finding);
}

void dft_lineage_words_fini(struct dft_lineage_words *words)
{
    dft_map_fini(&words->words);
    dft_map_fini(&words->places);
    free(words->relates);
    memset(words, 0, sizeof *words);
}
