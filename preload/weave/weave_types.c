/* SPDX-License-Identifier: MIT */
/* Names of types: C's own, those of the libraries that are woven most, and typedefs and structs of
 * weave files. */
#include "weave/weave_types.h"

#include <errno.h>
#include <string.h>

#include "os/sys.h"
#include "weave/weave_text.h"

ffi_type *dft_weave_ffi_types[DFT_WEAVE_KINDS];

ffi_type *dft_weave_ffi_type(const struct dft_weave_type *type)
{
    return type->kind == DFT_WEAVE_STRUCT ? type->structure : dft_weave_ffi_types[type->kind];
}

void *dft_weave_reserve(size_t bytes)
{
    static char *at;
    static size_t left;

    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > left) {
        left = bytes > 65536 ? bytes : 65536;
        at = dft_sys_map(left);
        if (!at)
            left = 0;
    }
    if (!left)
        return NULL;
    left -= bytes;
    at += bytes;
    return at - bytes;
}

/* Beside C's own: what weave files would have to define again and again. `word`: a number or a
 * pointer, whatever fills a register. */
static const struct {
    const char *name;
    enum dft_weave_kind kind;
} known[] = {
    {"word", DFT_WEAVE_ULONG},      {"ptr", DFT_WEAVE_POINTER},    {"str", DFT_WEAVE_TEXT},
    {"int8", DFT_WEAVE_I8},         {"int16", DFT_WEAVE_I16},      {"int32", DFT_WEAVE_I32},
    {"int64", DFT_WEAVE_I64},       {"uint8", DFT_WEAVE_U8},       {"uint16", DFT_WEAVE_U16},
    {"uint32", DFT_WEAVE_U32},      {"uint64", DFT_WEAVE_U64},     {"int8_t", DFT_WEAVE_I8},
    {"int16_t", DFT_WEAVE_I16},     {"int32_t", DFT_WEAVE_I32},    {"int64_t", DFT_WEAVE_I64},
    {"uint8_t", DFT_WEAVE_U8},      {"uint16_t", DFT_WEAVE_U16},   {"uint32_t", DFT_WEAVE_U32},
    {"uint64_t", DFT_WEAVE_U64},    {"uchar", DFT_WEAVE_U8},       {"ushort", DFT_WEAVE_U16},
    {"uint", DFT_WEAVE_U32},        {"ulong", DFT_WEAVE_ULONG},    {"size_t", DFT_WEAVE_ULONG},
    {"ssize_t", DFT_WEAVE_LONG},    {"ptrdiff_t", DFT_WEAVE_LONG}, {"intptr_t", DFT_WEAVE_LONG},
    {"uintptr_t", DFT_WEAVE_ULONG}, {"off_t", DFT_WEAVE_LONG},     {"off64_t", DFT_WEAVE_I64},
    {"time_t", DFT_WEAVE_LONG},     {"mode_t", DFT_WEAVE_U32},     {"pid_t", DFT_WEAVE_I32},
    {"bool", DFT_WEAVE_U8},         {"_Bool", DFT_WEAVE_U8},       {"herr_t", DFT_WEAVE_I32},
    {"htri_t", DFT_WEAVE_I32},      {"hid_t", DFT_WEAVE_I64},      {"hsize_t", DFT_WEAVE_U64},
    {"hssize_t", DFT_WEAVE_I64},    {"haddr_t", DFT_WEAVE_U64},    {"MPI_Offset", DFT_WEAVE_I64},
    {"MPI_Count", DFT_WEAVE_I64},   {"MPI_Aint", DFT_WEAVE_I64},
};

struct dft_weave_named *dft_weave_typedefs, *dft_weave_tags;

const struct dft_weave_named *dft_weave_find_named(const struct dft_weave_named *list, const char *at, size_t length)
{
    for (; list; list = list->next)
        if (dft_weave_is_word(at, length, list->name))
            return list;
    return NULL;
}

int dft_weave_find_type(const char *at, size_t length, struct dft_weave_type *type)
{
    const struct dft_weave_named *named = dft_weave_find_named(dft_weave_typedefs, at, length);

    if (named) {
        *type = named->type;
        return 1;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (dft_weave_is_word(at, length, known[i].name)) {
            *type = (struct dft_weave_type){.kind = known[i].kind};
            return 1;
        }
    return 0;
}

int dft_weave_name_type(struct dft_weave_named **list, const char *at, size_t length, const struct dft_weave_type *type)
{
    struct dft_weave_named *named = dft_weave_reserve(sizeof *named);

    if (!named)
        return -ENOMEM;
    *named = (struct dft_weave_named){dft_weave_keep_word(at, length), *type, *list};
    *list = named;
    return 0;
}
