/* SPDX-License-Identifier: MIT */
/* Kinds of calls: what a category and a name mean. Calls are what has the category POSIX or STDIO,
 * or the type LIBC_IO; all else is a region, whatever its name. Names of calls are looked up in
 * calls.def, entries and aliases included (__xstat, fopen64). Category and name decide on the
 * operation alone: a call is one thing in the whole file. */
#include "dftracer/pfw_calls.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dftracer/pfw_memory.h"
#include "dftracer/pfw_stream.h"
#include "format/hash.h"
#include "format/calls.h"
#include "format/file_class.h"
#include "format/leb128.h"

#define CALLS_MAX 32768u /* of a batch; a file with more kinds of calls gets more blocks */

/* --- names of functions ----------------------------------------------------------------------- */

struct alias {
    const char *event, *name;
};

static const struct alias aliases[] = {
#define DFT_CALL(...)
#define DFT_MODE(...)
#define DFT_CUSTOM(...)
#define DFT_FORMAT(...)
#define DFT_RECLASSIFIED(...)
#define DFT_VERSIONED(...)
#define DFT_EVENT(...)
#define DFT_ENTRY(event, op, type, name, ...) {#event, #name},
#define DFT_FORMAT_ENTRY(...)
#define DFT_ALIAS(name, alias)        {#name, #alias},
#define DFT_CUSTOM_ALIAS(name, alias) {#name, #alias},
#define DFT_GATE(...)
#include <dftrace/calls.def>
};

static struct dft_map functions; /* hash of a function's name -> op + 1 */
static pthread_once_t functions_once = PTHREAD_ONCE_INIT;

static void put_function(const char *name, uint64_t op)
{
    uint64_t *place = dft_map_put(&functions, dft_name_id(name, strlen(name)));

    if (place && !*place)
        *place = op + 1;
}

/* Runs once; kept until the program ends. Process calls have a category of their own here, and none
 * in DFTracer. */
static void make_functions(void)
{
    for (unsigned i = 1; i < DFT_CALL_COUNT; i++) {
        const struct dft_call_row *row = &dft_call_rows[i];
        const char *text = dft_call_text(row);

        if (!memcmp(text, "POSIX", 6) || !memcmp(text, "STDIO", 6))
            put_function(text + 6, row->op);
        else if (!memcmp(text, "PROCESS", 8) && dft_op_class(row->op) == DFT_CLASS_NONE)
            put_function(text + 8, row->op);
    }
    put_function("exec", DFT_OP_EXEC); /* the family by its short names */
    put_function("spawn", DFT_OP_SPAWN);
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        const uint64_t *op = dft_map_find(&functions, dft_name_id(aliases[i].event, strlen(aliases[i].event)));

        if (op)
            put_function(aliases[i].name, *op - 1);
    }
}

static uint8_t op_of_function(struct dft_text name)
{
    const uint64_t *op;

    pthread_once(&functions_once, make_functions);
    op = dft_map_find(&functions, dft_name_id(name.bytes, name.length));
    if (!op && name.length > 2 && !memcmp(name.bytes + name.length - 2, "64", 2))
        op = dft_map_find(&functions, dft_name_id(name.bytes, name.length - 2));
    return op ? (uint8_t)(*op - 1) : DFT_OP_OTHER;
}

/* --- kinds ------------------------------------------------------------------------------------ */

static int contains(struct dft_text text, const char *part)
{
    return text.length && memmem(text.bytes, text.length, part, strlen(part));
}

static int is_category(struct dft_text text, const char *word)
{
    return text.length == strlen(word) && !strncasecmp(text.bytes, word, text.length);
}

/* What a call does. Functions that calls.def does not have move bytes by DFTracer's rule: POSIX
 * calls with read or write in the name, fread and fwrite of STDIO. Items are STDIO's: the same name
 * in POSIX tells of bytes. */
static uint8_t op_of_call(struct dft_text name, int posix, int stdio)
{
    uint8_t op = op_of_function(name);

    if (dft_op_class(op) == DFT_CLASS_MARK)
        return DFT_OP_OTHER; /* socket and the like: our own traces know what became of them */
    if (posix && dft_op_bytes(op) == DFT_BYTES_ITEMS)
        return dft_op_class(op) == DFT_CLASS_WRITE ? DFT_OP_WRITE : DFT_OP_READ;
    if (op != DFT_OP_OTHER)
        return op;
    if (!posix && (contains(name, "fwrite") || contains(name, "fread")))
        return contains(name, "fwrite") ? DFT_OP_FWRITE : DFT_OP_FREAD;
    if (!stdio && (contains(name, "write") || contains(name, "read")))
        return contains(name, "write") ? DFT_OP_WRITE : DFT_OP_READ;
    return op;
}

static void describe(struct dft_pfw_call *call, struct dft_text category, struct dft_text name, int libc)
{
    int posix = is_category(category, "POSIX"), stdio = is_category(category, "STDIO");

    call->libc = posix || stdio || libc;
    call->op = call->libc ? op_of_call(name, posix, stdio) : DFT_OP_REGION;
    if (dft_text_is(category, "dftracer"))
        call->bookkeeping = dft_text_is(name, "start") ? 1 : dft_text_is(name, "end") ? 2 : 0;
}

static struct dft_pfw_call *make_call(struct dft_pfw *pfw, uint64_t id, struct dft_text category, struct dft_text name,
                                      int libc)
{
    struct dft_pfw_call *call = calloc(1, sizeof *call);
    char *text = malloc((size_t)category.length + name.length + 1);
    uint64_t *number = dft_map_put(&pfw->kind_of, id);

    if (!call || !text || !number ||
        dft_pfw_grow(pfw, &pfw->kinds, &pfw->kinds_capacity, pfw->nkinds, sizeof *pfw->kinds)) {
        free(call);
        free(text);
        pfw->error = -ENOMEM;
        return NULL;
    }
    memcpy(text, category.bytes, category.length);
    text[category.length] = 0;
    memcpy(text + category.length + 1, name.bytes, name.length);
    call->id = id;
    call->text = (struct dft_text){text, category.length + 1 + name.length};
    describe(call, category, name, libc);
    pfw->kinds[pfw->nkinds++] = call;
    *number = pfw->nkinds;
    return call;
}

#define TYPE_LIBC_IO 3u
static const char *const types[] = {"",     "DFTRACER", "C_APP",    "LIBC_IO",     "HIP",
                                    "HDF5", "PYTHON",   "PSUTIL",   "FINSTRUMENT", "CPP_APP",
                                    "MPI",  "PAPI",     "OMNISTAT", "VARIORUM",    "CUDA"};
#define TYPES (sizeof types / sizeof *types)

/* The type of a record of 2.x; 0: it has none, or none that is known. */
static unsigned type_of(const struct dft_pfw_record *record)
{
    uint64_t type;
    int negative;

    if (!DFT_PFW_HAS(record, TYPE) || dft_pfw_unsigned(DFT_PFW_GET(record, TYPE), &type, &negative) || negative)
        return 0;
    return type < TYPES ? (unsigned)type : 0;
}

/* Cut so that the text of the call fits into a block. */
static struct dft_text cut(struct dft_text text)
{
    if (text.length > DFT_TEXT_MAX / 2 - 1)
        text.length = DFT_TEXT_MAX / 2 - 1;
    return text;
}

/* The texts of a call, without escapes. */
static struct dft_pfw_call *find_call(struct dft_pfw *pfw, const struct dft_pfw_record *record)
{
    const struct dft_pfw_value *name = DFT_PFW_GET(record, NAME), *category = DFT_PFW_GET(record, CAT);
    int has_category = DFT_PFW_HAS(record, CAT) && category->kind == DFT_PFW_STRING;
    size_t length = name->text.length + (has_category ? category->text.length : 32) + 2;
    char *text = dft_pfw_reserve(pfw, 2 * length), *whole = text + length;
    struct dft_text name_text, category_text;
    const uint64_t *number;
    unsigned type = type_of(record);
    uint64_t id;

    if (!text)
        return NULL;
    name_text = cut(dft_pfw_unescape(name, text));
    category_text =
        cut(has_category ? dft_pfw_unescape(category, text + name->text.length + 1) : dft_text_from(types[type]));
    memcpy(whole, category_text.bytes, category_text.length);
    whole[category_text.length] = 0;
    memcpy(whole + category_text.length + 1, name_text.bytes, name_text.length);
    id = dft_name_id(whole, (size_t)category_text.length + 1 + name_text.length);
    number = dft_map_find(&pfw->kind_of, id);
    return number ? pfw->kinds[*number - 1] : make_call(pfw, id, category_text, name_text, type == TYPE_LIBC_IO);
}

/* At most eight bytes of a text. Behind it there is always more line. */
static uint64_t word_of(struct dft_text text)
{
    uint64_t word = dft_load64(text.bytes);

    return text.length < 8 ? word & ((UINT64_C(1) << 8 * text.length) - 1) : word;
}

static struct dft_pfw_call *call_of(struct dft_pfw *pfw, const struct dft_pfw_record *record)
{
    const struct dft_pfw_value *name = DFT_PFW_GET(record, NAME), *category = DFT_PFW_GET(record, CAT);
    struct dft_pfw_cached_call *cached;
    uint64_t head, tail;

    if (dft_unlikely(name->text.length > 16 || category->text.length > 8 || !name->text.length))
        return find_call(pfw, record);
    head = word_of(name->text);
    tail = name->text.length > 8 ? word_of((struct dft_text){name->text.bytes + 8, name->text.length - 8}) : 0;
    tail ^= word_of(category->text) * UINT64_C(0x9e3779b97f4a7c15);
    cached = &pfw->cache[((head ^ tail * 31) * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
    if (dft_likely(cached->call && cached->head == head && cached->tail == tail &&
                   cached->category_length == category->text.length && cached->name_length == name->text.length))
        return cached->call;
    *cached = (struct dft_pfw_cached_call){.head = head,
                                           .tail = tail,
                                           .category_length = category->text.length,
                                           .name_length = name->text.length,
                                           .call = find_call(pfw, record)};
    return cached->call;
}

struct dft_pfw_call *dft_pfw_call(struct dft_pfw *pfw, struct dft_pfw_record *record)
{
    const uint64_t members = DFT_PFW_BIT(NAME) | DFT_PFW_BIT(CAT);

    if (dft_unlikely(!DFT_PFW_HAS(record, CAT) || DFT_PFW_GET(record, CAT)->kind != DFT_PFW_STRING))
        return find_call(pfw, record);
    if (record->changed & members || !pfw->last_call) {
        pfw->last_call = call_of(pfw, record);
        record->changed &= ~members;
    }
    return pfw->last_call;
}

static enum dft_io class_of(const struct dft_pfw *pfw, uint64_t file)
{
    const uint64_t *io = dft_likely(!pfw->known->classes.count) ? NULL : dft_map_find(&pfw->known->classes, file);

    return io ? (enum dft_io) * io : DFT_IO_NONE;
}

uint32_t dft_pfw_call_position(struct dft_pfw *pfw, struct dft_pfw_call *call, uint8_t op, uint64_t file)
{
    enum dft_io own = class_of(pfw, file), io = dft_io_on(op, own);
    uint32_t *position = &call->position[own == DFT_IO_NONE ? 0 : own == DFT_IO_STARTUP ? 1 : 2][op];

    if (dft_likely(*position))
        return *position - 1;
    if (dft_pfw_grow(pfw, &pfw->calls, &pfw->calls_capacity, pfw->ncalls, sizeof *pfw->calls))
        return 0;
    pfw->calls[pfw->ncalls++] = (struct dft_call){.id = call->id, .text = call->text, .op = op, .io = (uint8_t)io};
    *position = pfw->ncalls;
    return pfw->ncalls - 1;
}

/* Before an event is begun: when there are too many calls, all streams are written, and positions assigned anew. */
void dft_pfw_calls_bound(struct dft_pfw *pfw)
{
    if (dft_likely(pfw->ncalls < CALLS_MAX))
        return;
    dft_pfw_streams_flush(pfw);
    pfw->ncalls = 0;
    for (uint32_t i = 0; i < pfw->nkinds; i++)
        memset(pfw->kinds[i]->position, 0, sizeof pfw->kinds[i]->position);
}
