/* SPDX-License-Identifier: MIT */
/* The columns NAMES and CALLS, both directions. */
#include <errno.h>

#include "decoder.h"
#include "encoder.h"
#include "format/hash.h"

/* KIND_OTHER shares its beginning with the text before the previous one. */
enum name_kind { KIND_ID = 0, KIND_TEXT = 1, KIND_CUT = 2, KIND_OTHER = 3 };

int dft_entries_begin(struct dft_encoder *encoder, struct dft_entries *entries, uint64_t bound)
{
    if (bound > 1u << encoder->names.bits)
        bound = 1u << encoder->names.bits; /* DFT_NAMES_MAX, or a share of it */
    entries->names = NULL;
    entries->capacity = (uint32_t)bound;
    entries->count = entries->referred = 0;
    entries->list = dft_arena_take(encoder, bound * sizeof *entries->list);
    entries->order = dft_arena_take(encoder, bound * sizeof *entries->order);
    if (!entries->list || !entries->order)
        return -E2BIG;
    dft_idmap_reset(&encoder->names);
    entries->map = &encoder->names;
    return 0;
}

int dft_entries_define(struct dft_entries *entries, const struct dft_name *names, uint32_t count)
{
    entries->names = names;
    for (uint32_t i = 0; i < count; i++) {
        struct dft_entry *entry = dft_entries_get(entries, names[i].id);

        if (!entry)
            return -E2BIG;
        if (entry->name == DFT_NO_NAME && names[i].text.bytes)
            entry->name = i;
    }
    return 0;
}

struct dft_entry *dft_entries_get(struct dft_entries *entries, uint64_t id)
{
    struct dft_idmap_slot *slot = dft_idmap_find(entries->map, id, entries->list, sizeof *entries->list);
    struct dft_entry *entry;

    if (slot->generation == entries->map->generation)
        return &entries->list[slot->position];
    if (entries->count == entries->capacity)
        return NULL;
    entry = &entries->list[entries->count++];
    entry->id = id;
    dft_idmap_add(entries->map, slot, entries->list, sizeof *entries->list);
    entry->end = 0;
    entry->fd = -1;
    entry->position = DFT_NO_POSITION;
    entry->name = DFT_NO_NAME;
    return entry;
}

static uint32_t shared_bytes(const struct dft_text *a, const struct dft_text *b)
{
    uint32_t n = a->length < b->length ? a->length : b->length, i = 0;

    while (i + 8 <= n) {
        uint64_t different = dft_load64(a->bytes + i) ^ dft_load64(b->bytes + i);

        if (different)
            return i + (uint32_t)__builtin_ctzll(different) / 8;
        i += 8;
    }
    while (i < n && a->bytes[i] == b->bytes[i])
        i++;
    return i;
}

/* previous: the last two texts, the last one first. A program that copies names files of two trees
 * in turn. */
static void put_name(struct dft_raw *raw, const struct dft_name *name, struct dft_text previous[2])
{
    struct dft_text text = name->text;
    enum name_kind kind = name->cut || text.length > DFT_TEXT_MAX ? KIND_CUT : KIND_TEXT;
    uint32_t shared, other;

    if (text.length > DFT_TEXT_MAX)
        text.length = DFT_TEXT_MAX;
    shared = shared_bytes(&text, &previous[0]);
    other = kind == KIND_TEXT ? shared_bytes(&text, &previous[1]) : 0;
    if (other > shared) {
        kind = KIND_OTHER;
        shared = other;
    }
    dft_raw_leb(raw, (uint64_t)shared << 2 | kind);
    if (kind == KIND_CUT)
        dft_raw_bytes(raw, &name->id, 8);
    dft_raw_leb(raw, text.length - shared);
    dft_raw_bytes(raw, text.bytes + shared, text.length - shared);
    previous[1] = previous[0];
    previous[0] = text;
}

uint32_t dft_names_put(struct dft_raw *raw, struct dft_entries *entries)
{
    struct dft_text previous[2] = {{"", 0}, {"", 0}};

    for (uint32_t i = 0; i < entries->count; i++)
        if (entries->list[i].name != DFT_NO_NAME)
            dft_entries_refer(entries, &entries->list[i]);
    if (!entries->referred)
        return 0;
    dft_raw_open(raw, DFT_COL_NAMES, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < entries->referred; i++) {
        const struct dft_entry *entry = &entries->list[entries->order[i]];

        if (entry->name != DFT_NO_NAME) {
            put_name(raw, &entries->names[entry->name], previous);
        } else {
            dft_raw_leb(raw, KIND_ID);
            dft_raw_bytes(raw, &entry->id, 8);
        }
    }
    dft_raw_close(raw);
    return entries->referred;
}

static int has_own_class(const struct dft_call *call)
{
    return call->io != dft_op_io(call->op);
}

/* Most blocks have none. */
static void put_classes(struct dft_raw *raw, const struct dft_call *calls, const uint32_t *order, uint32_t count)
{
    uint32_t i = 0;

    while (i < count && !has_own_class(&calls[order ? order[i] : i]))
        i++;
    if (i == count)
        return;
    dft_raw_open(raw, DFT_COL_CLASSES, DFT_ENC_LEB128);
    for (i = 0; i < count; i++) {
        const struct dft_call *call = &calls[order ? order[i] : i];

        dft_raw_leb(raw, has_own_class(call) ? call->io + 1u : 0);
    }
    dft_raw_close(raw);
}

int dft_calls_put(struct dft_raw *raw, struct dft_entries *entries, const struct dft_call *calls, const uint32_t *order,
                  uint32_t count)
{
    if (!count)
        return 0;
    dft_raw_open(raw, DFT_COL_CALLS, DFT_ENC_BYTES);
    for (uint32_t i = 0; i < count; i++) {
        const struct dft_call *call = &calls[order ? order[i] : i];

        if (call->text.length > DFT_TEXT_MAX)
            return -EINVAL;
        dft_raw_leb(raw, call->op);
        dft_raw_leb(raw, call->text.length);
        if (call->text.length) {
            dft_raw_bytes(raw, call->text.bytes, call->text.length);
        } else {
            struct dft_entry *entry = dft_entries_get(entries, call->id);

            if (!entry)
                return -E2BIG;
            dft_raw_leb(raw, dft_entries_refer(entries, entry));
        }
    }
    dft_raw_close(raw);
    put_classes(raw, calls, order, count);
    return 0;
}

/* A text in the buffer of them, which may move while it grows. */
struct place {
    size_t at;
    uint32_t length;
};

/* The text of an entry: `shared` bytes of an earlier one, then the next `length` of the column.
 * Appends it to the texts; *used is their size. */
static int get_text(struct dft_decoder *decoder, uint64_t shared, struct place earlier, size_t *used,
                    struct dft_text *text)
{
    struct dft_columns *columns = &decoder->columns;
    uint64_t length = dft_column_leb(columns, DFT_COL_NAMES);
    const uint8_t *bytes;
    char *out;

    if (shared > earlier.length || length > DFT_TEXT_MAX || shared + length > DFT_TEXT_MAX) {
        dft_column_fault(columns, DFT_COL_NAMES);
        return -EBADMSG;
    }
    bytes = dft_column_bytes(columns, DFT_COL_NAMES, length);
    if (!bytes)
        return -EBADMSG;
    if (*used + shared + length > DFT_TEXTS_MAX) {
        dft_columns_fault(columns, "more text than a block may hold");
        return -EBADMSG;
    }
    if (dft_buffer_reserve(&decoder->texts, *used + shared + length))
        return -ENOMEM;
    out = (char *)decoder->texts.bytes + *used;
    memcpy(out, (char *)decoder->texts.bytes + earlier.at, shared);
    memcpy(out + shared, bytes, length);
    text->length = (uint32_t)(shared + length);
    *used += text->length;
    return 0;
}

/* One entry of NAMES. previous: the last two texts, the last one first. Texts may move while they
 * grow: an entry's text.bytes says only that there is one, until all are read. */
static int get_name(struct dft_decoder *decoder, struct dft_name *name, struct place previous[2], size_t *used)
{
    struct dft_columns *columns = &decoder->columns;
    uint64_t head = dft_column_leb(columns, DFT_COL_NAMES), kind = head & 3;
    size_t at = *used;
    int status;

    memset(name, 0, sizeof *name);
    if (kind == KIND_ID && head) {
        dft_column_fault(columns, DFT_COL_NAMES);
        return -EBADMSG;
    }
    if (kind == KIND_ID || kind == KIND_CUT)
        name->id = dft_column_word(columns, DFT_COL_NAMES);
    if (kind == KIND_ID)
        return columns->reason ? -EBADMSG : 0;
    status = get_text(decoder, head >> 2, previous[kind == KIND_OTHER], used, &name->text);
    if (status)
        return status;
    if (kind != KIND_CUT)
        name->id = dft_name_id((char *)decoder->texts.bytes + at, name->text.length);
    name->cut = kind == KIND_CUT;
    name->text.bytes = (char *)decoder->texts.bytes + at;
    previous[1] = previous[0];
    previous[0] = (struct place){at, name->text.length};
    return columns->reason ? -EBADMSG : 0;
}

int dft_names_get(struct dft_decoder *decoder)
{
    struct dft_columns *columns = &decoder->columns;
    size_t most = dft_column_left(columns, DFT_COL_NAMES) / 2, used = 0;
    struct place previous[2] = {{0, 0}, {0, 0}};
    struct dft_name *names;
    int status;

    if (most > DFT_NAMES_MAX)
        most = DFT_NAMES_MAX;
    status = dft_buffer_reserve(&decoder->names, (most + 1) * sizeof *names);
    if (!status)
        status = dft_buffer_reserve(&decoder->texts, 1);
    names = decoder->names.bytes;
    while (!status && dft_column_left(columns, DFT_COL_NAMES)) {
        if (decoder->nnames == DFT_NAMES_MAX) {
            dft_columns_fault(columns, "more names than a block may hold");
            return -EBADMSG;
        }
        status = get_name(decoder, &names[decoder->nnames], previous, &used);
        decoder->nnames += !status;
    }
    used = 0;
    for (uint32_t i = 0; i < decoder->nnames; i++) {
        if (!names[i].text.bytes)
            continue;
        names[i].text.bytes = (char *)decoder->texts.bytes + used;
        used += names[i].text.length;
    }
    return status;
}

static int get_call(struct dft_decoder *decoder, struct dft_call *call)
{
    struct dft_columns *columns = &decoder->columns;
    const struct dft_name *names = decoder->names.bytes;
    uint64_t length, position, class;

    call->op = (uint8_t)dft_column_leb_max(columns, DFT_COL_CALLS, UINT8_MAX);
    class = dft_column_leb_max(columns, DFT_COL_CLASSES, DFT_IO_COUNT);
    call->io = (uint8_t)(class ? class - 1 : dft_op_io(call->op));
    length = dft_column_leb_max(columns, DFT_COL_CALLS, DFT_TEXT_MAX);
    if (length) {
        call->text.bytes = (const char *)dft_column_bytes(columns, DFT_COL_CALLS, length);
        call->text.length = (uint32_t)length;
        call->id = call->text.bytes ? dft_name_id(call->text.bytes, length) : 0;
        return columns->reason ? -EBADMSG : 0;
    }
    position = dft_column_leb(columns, DFT_COL_CALLS);
    if (position >= decoder->nnames) {
        dft_column_fault(columns, DFT_COL_CALLS);
        return -EBADMSG;
    }
    call->id = names[position].id;
    /* The id of a call with a text is the text's hash: not so if it is cut. */
    call->text = names[position].cut ? (struct dft_text){NULL, 0} : names[position].text;
    return columns->reason ? -EBADMSG : 0;
}

int dft_calls_get(struct dft_decoder *decoder)
{
    struct dft_columns *columns = &decoder->columns;
    size_t most = dft_column_left(columns, DFT_COL_CALLS) / 3 + 1;
    int status;

    if (most > DFT_COUNT_MAX)
        most = DFT_COUNT_MAX;
    status = dft_buffer_reserve(&decoder->calls, most * sizeof(struct dft_call));
    while (!status && dft_column_left(columns, DFT_COL_CALLS)) {
        if (decoder->ncalls == most) {
            dft_columns_fault(columns, columns->list[DFT_COL_CALLS].spec->early);
            return -EBADMSG;
        }
        status = get_call(decoder, (struct dft_call *)decoder->calls.bytes + decoder->ncalls);
        decoder->ncalls += !status;
    }
    return status;
}
