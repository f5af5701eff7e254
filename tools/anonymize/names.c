/* SPDX-License-Identifier: MIT */
/* Ids and texts of names: paths, calls, regions, keys of arguments, counters, stacks and their frames. */
#include "anonymize/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/hash.h"
#include "intake/source_names.h"

#define STACK "STACK"

/* The ids of frames become those of other frames. */
static int put_stack(struct dft_anonymizer *anonymizer, struct dft_text frames, struct dft_long_text *out)
{
    for (uint32_t at = 0; at + 8 <= frames.length; at += 8) {
        uint64_t id, other;
        int rc;

        memcpy(&id, frames.bytes + at, sizeof id);
        rc = dft_anonymizer_id(anonymizer, id, &other);
        if (rc)
            return rc;
        dft_long_text_add(out, (const char *)&other, sizeof other);
    }
    return out->rc;
}

static int put_name(struct dft_anonymizer *anonymizer, struct dft_text category, struct dft_text name,
                    struct dft_long_text *out)
{
    struct dft_texts *texts = &anonymizer->texts;

    if (dft_text_is(category, STACK) || dft_text_is(category, "FUNC") || dft_text_is(category, "PYTHON"))
        dft_long_text_add(out, category.bytes, category.length);
    else
        dft_texts_words(texts, category, out);
    dft_long_text_add(out, "", 1); /* the NUL */
    if (dft_text_is(category, STACK))
        return put_stack(anonymizer, name, out);
    if (dft_text_is(category, "FUNC"))
        dft_texts_address(texts, name, out);
    else if (dft_text_is(category, "PYTHON"))
        dft_texts_frame(texts, name, out);
    else
        dft_texts_words(texts, name, out);
    return out->rc;
}

static int put_text(struct dft_anonymizer *anonymizer, struct dft_text text, struct dft_long_text *out)
{
    const char *end = text.length ? memchr(text.bytes, 0, text.length) : NULL;

    if (dft_public_has(&anonymizer->texts.public, DFT_PUBLIC_CALL, text.bytes, text.length)) {
        dft_long_text_add(out, text.bytes, text.length);
    } else if (end) {
        struct dft_text category = {text.bytes, (uint32_t)(end - text.bytes)};
        struct dft_text name = {end + 1, text.length - category.length - 1};

        return put_name(anonymizer, category, name, out);
    } else {
        dft_texts_path(&anonymizer->texts, text, out);
    }
    return out->rc;
}

int dft_anonymizer_name(struct dft_anonymizer *anonymizer, struct dft_text text)
{
    struct dft_long_text *out = &anonymizer->text, other = {0};
    int rc;

    /* names of frames lie in the names of stacks */
    rc = put_text(anonymizer, text, &other);
    out->length = 0;
    dft_long_text_add(out, other.bytes, other.length < DFT_TEXT_MAX ? other.length : DFT_TEXT_MAX);
    free(other.bytes);
    return rc ? rc : out->rc;
}

int dft_anonymizer_id(struct dft_anonymizer *anonymizer, uint64_t id, uint64_t *other)
{
    const uint64_t *known = id ? dft_map_find(&anonymizer->ids, id) : NULL;
    struct dft_text text;
    uint64_t *place;
    int rc = 0;

    *other = known ? *known : 0;
    if (!id || known)
        return 0;
    text = dft_names_text(dft_source_names_table(anonymizer->source), id);
    if (text.bytes && dft_name_id(text.bytes, text.length) == id)
        rc = dft_anonymizer_name(anonymizer, text);
    /* of a text that was cut or that no block has, the id is all there is */
    *other = text.bytes && !rc && dft_name_id(text.bytes, text.length) == id
                 ? dft_name_id(anonymizer->text.bytes, anonymizer->text.length)
                 : dft_hashes_number(&anonymizer->texts.words, id);
    place = rc ? NULL : dft_map_put(&anonymizer->ids, id);
    if (!place)
        return rc ? rc : -ENOMEM;
    *place = *other;
    return 0;
}

/* --- what a file refers to -------------------------------------------------------------------- */

int dft_anonymizer_refer(struct dft_anonymizer *anonymizer, uint64_t id, uint64_t other)
{
    uint64_t *place = other ? dft_map_put(&anonymizer->referred, other) : NULL;

    if (place)
        *place = id;
    return !other || place ? 0 : -ENOMEM;
}

static int refer_frames_of(struct dft_anonymizer *anonymizer, uint64_t id)
{
    struct dft_text text = dft_names_text(dft_source_names_table(anonymizer->source), id);
    int rc = 0;

    if (text.length < sizeof STACK || memcmp(text.bytes, STACK, sizeof STACK) != 0)
        return 0;
    for (uint32_t at = sizeof STACK; at + 8 <= text.length && !rc; at += 8) {
        uint64_t frame, other;

        memcpy(&frame, text.bytes + at, sizeof frame);
        rc = dft_anonymizer_id(anonymizer, frame, &other);
        if (!rc)
            rc = dft_anonymizer_refer(anonymizer, frame, other);
    }
    return rc;
}

int dft_anonymizer_refer_frames(struct dft_anonymizer *anonymizer)
{
    const struct dft_map *referred = &anonymizer->referred;
    uint64_t *ids = malloc((referred->count + 1) * sizeof *ids);
    size_t count = 0;
    int rc = ids ? 0 : -ENOMEM;

    for (size_t i = 0; ids && i < referred->capacity; i++)
        if (referred->slots[i].key)
            ids[count++] = referred->slots[i].value;
    for (size_t i = 0; i < count && !rc; i++)
        rc = refer_frames_of(anonymizer, ids[i]);
    free(ids);
    return rc;
}
