/* SPDX-License-Identifier: MIT */
/* The different texts of one column of a batch, and the codes that stand for them. One thread. */
#ifndef DFT_TABLES_DICTIONARY_H
#define DFT_TABLES_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "format/text.h"

/* A name whose text is to be found later. */
struct dft_wanted_text {
    uint64_t id;
    uint32_t code;
};

/* All zero at first. */
struct dft_dictionary {
    struct dft_map by_id, by_text; /* -> code + 1 */
    struct dft_text *texts;
    uint32_t count, capacity;
    uint64_t last_id; /* the last one that was looked for, and its code */
    uint32_t last_code;
    struct dft_wanted_text *wanted;
    size_t nwanted, wanted_capacity;
    struct dft_text_chunk *chunks; /* texts that were copied */
    size_t bytes;                  /* of these */
};

void dft_dictionary_fini(struct dft_dictionary *dictionary);
/* Forgets all texts, and keeps the memory of the lists. */
void dft_dictionary_clear(struct dft_dictionary *dictionary);

/* The code of an id, or DFT_CODE_NULL. */
static inline uint32_t dft_dictionary_find(struct dft_dictionary *dictionary, uint64_t id)
{
    const uint64_t *place;

    if (id == dictionary->last_id)
        return dictionary->last_code;
    place = dft_map_find(&dictionary->by_id, id);
    if (!place || !*place)
        return UINT32_MAX;
    dictionary->last_id = id;
    return dictionary->last_code = (uint32_t)(*place - 1);
}

/* All return 0 or -ENOMEM.
 * text: the code of a text. copy: it does not outlive the call.
 * id: the same, and from now on the code of this id, too. */
int dft_dictionary_text(struct dft_dictionary *dictionary, struct dft_text text, int copy, uint32_t *code);
int dft_dictionary_id(struct dft_dictionary *dictionary, uint64_t id, struct dft_text text, int copy, uint32_t *code);
/* A new code for an id whose text is set later. */
int dft_dictionary_want(struct dft_dictionary *dictionary, uint64_t id, uint32_t *code);
/* Sets the text of a code; it is copied. */
int dft_dictionary_set(struct dft_dictionary *dictionary, uint32_t code, struct dft_text text);

#endif
