/* SPDX-License-Identifier: MIT */
/* The ids of the words in which traces tell of entities. */
#ifndef DFT_LINEAGE_WORDS_H
#define DFT_LINEAGE_WORDS_H

#include "lineage/lineage.h"
#include "object/object.h"

enum dft_lineage_word {
    DFT_LINEAGE_WORD_NONE,
    /* metadata of category "dftracer": an entity, a type, a relation of two entities */
    DFT_LINEAGE_EH,
    DFT_LINEAGE_ET,
    DFT_LINEAGE_ER,
    /* a relation for which its region had no room: the record's region is the one it is of */
    DFT_LINEAGE_RR,
    /* keys of arguments */
    DFT_LINEAGE_KEY_ID,
    DFT_LINEAGE_KEY_TYPE,
    DFT_LINEAGE_KEY_KEY,
    DFT_LINEAGE_KEY_STORE,
    DFT_LINEAGE_KEY_URI,
    DFT_LINEAGE_KEY_ROLE,
    DFT_LINEAGE_KEY_DESCRIPTION,
    DFT_LINEAGE_KEY_RELATION,
    DFT_LINEAGE_KEY_SUBJECT,
    DFT_LINEAGE_KEY_OBJECT,
    DFT_LINEAGE_KEY_REGION,    /* of DFT_LINEAGE_RR: the id of the region's name */
    DFT_LINEAGE_KEY_RELATIONS, /* DFTracer's own: {"used":["ID",...],...} */
};

struct dft_lineage_words {
    struct dft_map words;  /* id of a name -> enum dft_lineage_word */
    struct dft_map places; /* id of the name of an argument "RELATION:ID" -> place + 1 in relates */
    struct dft_lineage_relate *relates;
    uint32_t count, capacity;
    uint8_t has_apart; /* there are DFT_LINEAGE_RR */
    uint8_t any;       /* there is something to read */
};

/* Looks through the names of all blocks. Returns 0 or -ENOMEM. */
int dft_lineage_words_find(struct dft_lineage_words *words, struct dft_source *source);
void dft_lineage_words_fini(struct dft_lineage_words *words);

static inline enum dft_lineage_word dft_lineage_word_of(const struct dft_lineage_words *words, uint64_t id)
{
    const uint64_t *word = dft_map_find(&words->words, id);

    return word ? (enum dft_lineage_word) * word : DFT_LINEAGE_WORD_NONE;
}

/* The record that a text of "category NUL name" stands for. */
enum dft_lineage_word dft_lineage_word_of_call(struct dft_text text);

/* "used" -> DFT_LINEAGE_USED; -1: no such relation of a region. */
int dft_lineage_region_relation(struct dft_text name);
/* The names of relations, stores and roles; NULL: no such number. */
const char *dft_lineage_relation_name(uint8_t relation);
const char *dft_lineage_store_name(int64_t store);
const char *dft_lineage_role_name(int64_t role);

#endif
