/* SPDX-License-Identifier: MIT */
/* Dictionaries of one file (hash -> name), and the texts that go into its blocks.
 *
 * A hash means what it was last defined as: in old files they are 16 bits wide and collide. One
 * that is used before it is defined means its first definition, which takes a second reading. */
#include "dftracer/pfw_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dftracer/pfw_memory.h"
#include "format/file_class.h"
#include "format/hash.h"

#define NAMED_MAX     ((size_t)4 << 20) /* ids remembered; texts may stand there twice beyond that */
#define PENDING_NAMES 4096u
#define PENDING_TEXT  ((size_t)1 << 20)
#define STRINGS_MAX   ((size_t)16 << 20)

/* The hash as it stands there: a number, or the text between its quotes. Never through a double. */
uint64_t dft_pfw_token(const struct dft_pfw_value *value)
{
    uint64_t number;
    uint32_t digits = 0;
    int negative;

    if (value->kind == DFT_PFW_INTEGER)
        return value->number;
    while (digits < value->text.length && value->text.bytes[digits] >= '0' && value->text.bytes[digits] <= '9')
        digits++; /* "1e5" is a hash, and not 10,000 */
    if (value->kind == DFT_PFW_STRING && digits == value->text.length && digits < 16 &&
        !dft_pfw_unsigned(value, &number, &negative))
        return number;
    return dft_name_id(value->text.bytes, value->text.length);
}

/* Hosts, files and strings have hashes of their own. */
static uint64_t definition_key(enum dft_pfw_hash kind, uint64_t token)
{
    uint64_t key = (token + kind) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)kind << 61;

    return key ? key : 1;
}

static void add_text(struct dft_pfw *pfw, uint64_t id, struct dft_text text, int cut)
{
    if (pfw->nnames >= PENDING_NAMES || pfw->name_text_used + text.length > PENDING_TEXT)
        dft_pfw_names_flush(pfw);
    if (dft_pfw_grow(pfw, &pfw->names, &pfw->names_capacity, pfw->nnames, sizeof *pfw->names))
        return;
    if (DFT_ARRAY_RESERVE(pfw->name_text, pfw->name_text_capacity, pfw->name_text_used + text.length)) {
        pfw->error = -ENOMEM;
        return;
    }
    if (text.length)
        memcpy(pfw->name_text + pfw->name_text_used, text.bytes, text.length);
    pfw->names[pfw->nnames++] = (struct dft_name){
        .id = id, .text = {(const char *)(uintptr_t)pfw->name_text_used, text.length}, .cut = (uint8_t)cut};
    pfw->name_text_used += text.length;
}

void dft_pfw_name_put(struct dft_pfw *pfw, uint64_t id, struct dft_text text, int cut)
{
    uint64_t *named;

    if (pfw->surveys || pfw->error)
        return;
    if (pfw->named.count >= NAMED_MAX)
        dft_map_fini(&pfw->named);
    named = dft_map_put(&pfw->named, id);
    if (!named)
        pfw->error = -ENOMEM;
    else if (!(*named)++)
        add_text(pfw, id, text, cut);
}

uint64_t dft_pfw_name(struct dft_pfw *pfw, const char *bytes, size_t length)
{
    uint64_t id = dft_name_id(bytes, length);
    int cut = length > DFT_TEXT_MAX;

    dft_pfw_name_put(pfw, id, (struct dft_text){bytes, cut ? DFT_TEXT_MAX : (uint32_t)length}, cut);
    return id;
}

void dft_pfw_names_take(struct dft_pfw *pfw, struct dft_name **names, uint32_t *count)
{
    for (uint32_t i = 0; i < pfw->nnames; i++)
        pfw->names[i].text.bytes = pfw->name_text + (uintptr_t)pfw->names[i].text.bytes;
    *names = pfw->names;
    *count = pfw->nnames;
}

void dft_pfw_names_taken(struct dft_pfw *pfw)
{
    pfw->nnames = 0;
    pfw->name_text_used = 0;
}

void dft_pfw_names_flush(struct dft_pfw *pfw)
{
    struct dft_name *names;
    const void *block;
    uint32_t count;

    if (!pfw->nnames)
        return;
    dft_pfw_names_take(pfw, &names, &count);
    {
        long bytes = dft_encode_names(pfw->encoder, 0, names, count, &block);

        dft_pfw_put(pfw, block, bytes);
    }
    dft_pfw_names_taken(pfw);
}

/* A directory may be named with a slash behind its name. Only the recorder's names end so: those stand for all files
 * below that are not distinguished. */
static struct dft_text without_end_slash(struct dft_text path)
{
    while (path.length > 1 && path.bytes[path.length - 1] == '/')
        path.length--;
    return path;
}

uint64_t dft_pfw_file_name(struct dft_pfw *pfw, struct dft_text path)
{
    enum dft_io io;
    uint64_t id, *known;

    path = without_end_slash(path);
    io = dft_file_class(path.bytes, path.length);
    id = dft_pfw_name(pfw, path.bytes, path.length);
    if (io == DFT_IO_NONE)
        return id;
    known = dft_map_put(&pfw->known->classes, id);
    if (known)
        *known = io;
    else
        pfw->error = -ENOMEM;
    return id;
}

/* --- short texts: of hosts, commands and programs --------------------------------------------- */

void dft_pfw_keep_short(struct dft_pfw *pfw, uint64_t id, struct dft_text text)
{
    uint64_t *place = dft_map_put(&pfw->short_texts, id);

    if (!place) {
        pfw->error = -ENOMEM;
        return;
    }
    if (*place || pfw->strings_used > STRINGS_MAX)
        return;
    if (DFT_ARRAY_RESERVE(pfw->strings, pfw->strings_capacity, pfw->strings_used + text.length + sizeof text.length)) {
        pfw->error = -ENOMEM;
        return;
    }
    *place = pfw->strings_used + 1;
    memcpy(pfw->strings + pfw->strings_used, &text.length, sizeof text.length);
    if (text.length)
        memcpy(pfw->strings + pfw->strings_used + sizeof text.length, text.bytes, text.length);
    pfw->strings_used += sizeof text.length + text.length;
}

struct dft_text dft_pfw_short_text(const struct dft_pfw *pfw, uint64_t id)
{
    const uint64_t *place = id ? dft_map_find(&pfw->short_texts, id) : NULL;
    struct dft_text text = {"", 0};

    if (!place || !*place)
        return text;
    memcpy(&text.length, pfw->strings + *place - 1, sizeof text.length);
    text.bytes = pfw->strings + *place - 1 + sizeof text.length;
    return text;
}

/* --- dictionaries ----------------------------------------------------------------------------- */

/* The same definition again is nothing; another one replaces it. */
static void keep_definition(struct dft_pfw *pfw, uint64_t key, uint64_t id)
{
    uint64_t *value = dft_map_put(&pfw->definitions, key), *other;

    if (value && *value && *value != id && !dft_map_put(&pfw->ambiguous, key))
        value = NULL;
    if (!value) {
        pfw->error = -ENOMEM;
        return;
    }
    *value = id;
    pfw->last_file = 0;
    if (pfw->second || !dft_map_find(&pfw->unresolved, key))
        return;
    other = dft_map_put(&pfw->known->definitions, key);
    if (!other)
        pfw->error = -ENOMEM;
    else if (!*other)
        *other = id;
    pfw->surveys = 1;
}

void dft_pfw_define(struct dft_pfw *pfw, enum dft_pfw_hash kind, const struct dft_pfw_value *hash,
                    const struct dft_pfw_value *name)
{
    char *buffer = dft_pfw_reserve(pfw, name->text.length);
    struct dft_text text;
    uint64_t id;

    if (!buffer)
        return;
    text = dft_pfw_unescape(name, buffer);
    id = kind == DFT_HASH_FILE ? dft_pfw_file_name(pfw, text) : dft_name_id(text.bytes, text.length);
    if (kind != DFT_HASH_FILE)
        dft_pfw_keep_short(pfw, id, text);
    keep_definition(pfw, definition_key(kind, dft_pfw_token(hash)), id);
}

uint64_t dft_pfw_resolve(struct dft_pfw *pfw, enum dft_pfw_hash kind, const struct dft_pfw_value *hash)
{
    uint64_t key = definition_key(kind, dft_pfw_token(hash)), *id = dft_map_find(&pfw->definitions, key);

    if (id) {
        if (kind == DFT_HASH_FILE && pfw->ambiguous.count && dft_map_find(&pfw->ambiguous, key))
            pfw->counts->ambiguous++;
        return *id;
    }
    id = dft_map_find(&pfw->known->definitions, key);
    if (id)
        return *id;
    if (!dft_map_put(&pfw->unresolved, key))
        pfw->error = -ENOMEM;
    if (kind != DFT_HASH_FILE)
        return 0;
    pfw->counts->unresolved++;
    key ^= pfw->job->identity; /* the same hash may be another file elsewhere */
    return key ? key : 1;
}
