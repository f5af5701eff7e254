/* SPDX-License-Identifier: MIT */
/* Types of arguments: how they are recorded, and how libffi gets them described. Everything here
 * belongs to the one thread that reads weave files, and is kept for good. */
#ifndef DFT_WEAVE_TYPES_H
#define DFT_WEAVE_TYPES_H

#include <ffi.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* How a value is recorded. */
enum dft_weave_kind {
    DFT_WEAVE_VOID,
    DFT_WEAVE_I8,
    DFT_WEAVE_U8,
    DFT_WEAVE_I16,
    DFT_WEAVE_U16,
    DFT_WEAVE_I32,
    DFT_WEAVE_U32,
    DFT_WEAVE_I64,
    DFT_WEAVE_U64,
    DFT_WEAVE_FLOAT,
    DFT_WEAVE_DOUBLE,
    DFT_WEAVE_LONG_DOUBLE,
    DFT_WEAVE_POINTER,
    DFT_WEAVE_TEXT, /* const char *: what it points to */
    DFT_WEAVE_STRUCT,
    DFT_WEAVE_KINDS
};

/* A word of an enum, in the order of the file. */
struct dft_weave_word {
    const char *word;
    int32_t value;
    const struct dft_weave_word *next;
};

/* A type: its kind and, for a struct, its fields as libffi wants them (kept for good). */
struct dft_weave_type {
    enum dft_weave_kind kind, to; /* to: what a pointer points to, where that is known; else void */
    ffi_type *structure;
    const struct dft_weave_word *words; /* of an enum; NULL: it is recorded as a number */
};

static inline int dft_weave_is_number(enum dft_weave_kind kind)
{
    return kind >= DFT_WEAVE_I8 && kind <= DFT_WEAVE_U64;
}

/* NULL: the enum has no such value. */
const char *dft_weave_find_word(const struct dft_weave_word *words, int64_t value);

/* libffi's own types, by kind; NULL for those that are not there. Set before anything is parsed. */
extern ffi_type *dft_weave_ffi_types[DFT_WEAVE_KINDS];
ffi_type *dft_weave_ffi_type(const struct dft_weave_type *type);

#define DFT_WEAVE_LONG  (sizeof(long) == 8 ? DFT_WEAVE_I64 : DFT_WEAVE_I32)
#define DFT_WEAVE_ULONG (sizeof(long) == 8 ? DFT_WEAVE_U64 : DFT_WEAVE_U32)
#define DFT_WEAVE_CHAR  (CHAR_MIN < 0 ? DFT_WEAVE_I8 : DFT_WEAVE_U8)

struct dft_weave_named {
    const char *name;
    struct dft_weave_type type;
    struct dft_weave_named *next;
};

/* From weave files: typedefs; structs with a tag; enums. */
extern struct dft_weave_named *dft_weave_typedefs, *dft_weave_tags, *dft_weave_enums;
const struct dft_weave_named *dft_weave_find_named(const struct dft_weave_named *list, const char *at, size_t length);
/* A type by its name, of a typedef or one that is known anyway. Returns 0 when there is none. */
int dft_weave_find_type(const char *at, size_t length, struct dft_weave_type *type);
/* Returns 0 or -ENOMEM. */
int dft_weave_name_type(struct dft_weave_named **list, const char *at, size_t length,
                        const struct dft_weave_type *type);

/* Zeroed memory that is never freed; NULL when there is none. */
void *dft_weave_reserve(size_t bytes);

#endif
