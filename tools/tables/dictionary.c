/* SPDX-License-Identifier: MIT */
/* The different texts of one column of a batch. */
#include "tables/dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/hash.h"

#define CHUNK_BYTES ((size_t)16 << 10)

struct dft_text_chunk {
    struct dft_text_chunk *next;
    size_t used, capacity;
    char bytes[];
};

static void forget_chunks(struct dft_dictionary *dictionary)
{
    struct dft_text_chunk *next;

    for (struct dft_text_chunk *chunk = dictionary->chunks; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    dictionary->chunks = NULL;
    dictionary->bytes = 0;
}

void dft_dictionary_fini(struct dft_dictionary *dictionary)
{
    dft_map_fini(&dictionary->by_id);
    dft_map_fini(&dictionary->by_text);
    free(dictionary->texts);
    free(dictionary->wanted);
    forget_chunks(dictionary);
    memset(dictionary, 0, sizeof *dictionary);
}

void dft_dictionary_clear(struct dft_dictionary *dictionary)
{
    if (!dictionary->count)
        return;
    dft_map_clear(&dictionary->by_id);
    dft_map_clear(&dictionary->by_text);
    dictionary->count = 0;
    dictionary->nwanted = 0;
    dictionary->last_id = 0;
    forget_chunks(dictionary);
}

static int copy_text(struct dft_dictionary *dictionary, struct dft_text *text)
{
    struct dft_text_chunk *chunk = dictionary->chunks;

    if (!chunk || chunk->capacity - chunk->used < text->length) {
        size_t capacity = text->length > CHUNK_BYTES ? text->length : CHUNK_BYTES;

        chunk = malloc(sizeof *chunk + capacity);
        if (!chunk)
            return -ENOMEM;
        *chunk = (struct dft_text_chunk){.next = dictionary->chunks, .capacity = capacity};
        dictionary->chunks = chunk;
        dictionary->bytes += capacity;
    }
    memcpy(chunk->bytes + chunk->used, text->bytes, text->length);
    text->bytes = chunk->bytes + chunk->used;
    chunk->used += text->length;
    return 0;
}

int dft_dictionary_text(struct dft_dictionary *dictionary, struct dft_text text, int copy, uint32_t *code)
{
    uint64_t hash = dft_name_id(text.bytes, text.length), *place = dft_map_put(&dictionary->by_text, hash);

    if (!place)
        return -ENOMEM;
    if (!*place) {
        if (copy && copy_text(dictionary, &text))
            return -ENOMEM;
        if (DFT_ARRAY_PUSH(dictionary->texts, dictionary->capacity, dictionary->count, text))
            return -ENOMEM;
        *place = dictionary->count;
    }
    *code = (uint32_t)(*place - 1);
    return 0;
}

static int remember(struct dft_dictionary *dictionary, uint64_t id, uint32_t code)
{
    uint64_t *place = dft_map_put(&dictionary->by_id, id);

    if (!place)
        return -ENOMEM;
    *place = (uint64_t)code + 1;
    dictionary->last_id = id;
    dictionary->last_code = code;
    return 0;
}

int dft_dictionary_id(struct dft_dictionary *dictionary, uint64_t id, struct dft_text text, int copy, uint32_t *code)
{
    int rc = dft_dictionary_text(dictionary, text, copy, code);

    return rc ? rc : remember(dictionary, id, *code);
}

int dft_dictionary_want(struct dft_dictionary *dictionary, uint64_t id, uint32_t *code)
{
    struct dft_wanted_text wanted = {id, dictionary->count};

    if (DFT_ARRAY_PUSH(dictionary->wanted, dictionary->wanted_capacity, dictionary->nwanted, wanted) ||
        DFT_ARRAY_PUSH(dictionary->texts, dictionary->capacity, dictionary->count, (struct dft_text){0}))
        return -ENOMEM;
    *code = wanted.code;
    return remember(dictionary, id, *code);
}

int dft_dictionary_set(struct dft_dictionary *dictionary, uint32_t code, struct dft_text text)
{
    int rc = copy_text(dictionary, &text);

    if (!rc)
        dictionary->texts[code] = text;
    return rc;
}
