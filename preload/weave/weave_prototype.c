/* SPDX-License-Identifier: MIT */
/* Parses declarations as in C. What is passed in registers as a number is a number of its width;
 * everything behind a `*` is a pointer. */
#include "weave/weave_prototype.h"

#include <errno.h>
#include <string.h>

#define FIELDS_MAX 256u
#define DEPTH_MAX  8u /* of structs in structs */

/* A type before its declarator: `known` is 0 for a name that means nothing here, which only a
 * pointer may have. */
struct specifiers {
    struct dft_weave_type type;
    int known, is_const, is_char;
    const char *name;
    size_t length;
};

/* A name and what stands around it. */
struct declarator {
    struct dft_weave_type type;
    const char *name;
    size_t length;
    uint64_t elements; /* of an array in a struct */
    int is_array;
};

static unsigned struct_depth;

static int parse_declarator(struct dft_weave_text *text, const struct specifiers *of, struct declarator *declarator);
static int parse_specifiers(struct dft_weave_text *text, struct specifiers *specifiers);

static int add_fields(struct dft_weave_text *text, const struct declarator *field, ffi_type **elements, uint32_t *count)
{
    ffi_type *type = dft_weave_ffi_type(&field->type);

    if (!type)
        return dft_weave_fail(text, "a field has no type", field->name, field->length);
    for (uint64_t i = 0; i < field->elements; i++) {
        if (*count >= FIELDS_MAX)
            return dft_weave_fail(text, "a struct has more than 256 fields", "", 0);
        elements[(*count)++] = type;
    }
    return 0;
}

/* The fields up to the closing brace, kept for good. */
static int parse_fields(struct dft_weave_text *text, struct dft_weave_type *type)
{
    ffi_type **elements = dft_weave_reserve((FIELDS_MAX + 1) * sizeof *elements + sizeof **elements);
    uint32_t count = 0;

    if (!elements)
        return -ENOMEM;
    while (!dft_weave_take(text, '}')) {
        struct specifiers specifiers;

        if (parse_specifiers(text, &specifiers))
            return -EINVAL;
        do {
            struct declarator field;

            if (parse_declarator(text, &specifiers, &field) || add_fields(text, &field, elements, &count))
                return -EINVAL;
        } while (dft_weave_take(text, ','));
        if (!dft_weave_take(text, ';'))
            return dft_weave_fail(text, "a field must end with a semicolon", "", 0);
    }
    if (!count)
        return dft_weave_fail(text, "a struct has no fields", "", 0);
    type->kind = DFT_WEAVE_STRUCT;
    type->structure = (ffi_type *)(elements + FIELDS_MAX + 1);
    *type->structure = (ffi_type){.type = FFI_TYPE_STRUCT, .elements = elements};
    return 0;
}

/* Behind the word `struct`, or the like. */
static int parse_struct(struct dft_weave_text *text, int is_union, struct specifiers *specifiers)
{
    size_t length = dft_weave_next_word(text);
    const char *tag = text->at;
    const struct dft_weave_named *named;
    int rc;

    text->at += length;
    specifiers->name = tag;
    specifiers->length = length;
    if (dft_weave_take(text, '{')) {
        if (is_union)
            return dft_weave_fail(text, "a union can only be passed by a pointer", tag, length);
        if (++struct_depth > DEPTH_MAX)
            return dft_weave_fail(text, "structs are nested too deep", tag, length);
        rc = parse_fields(text, &specifiers->type);
        struct_depth--;
        specifiers->known = 1;
        return rc || !length ? rc : dft_weave_name_type(&dft_weave_tags, tag, length, &specifiers->type);
    }
    if (!length)
        return dft_weave_fail(text, "a struct has neither a name nor fields", "", 0);
    if ((named = dft_weave_find_named(dft_weave_tags, tag, length))) {
        specifiers->type = named->type;
        specifiers->known = 1;
    }
    return 0;
}

/* C's own words for numbers, in any order. */
struct numbers {
    int longs, shorts, chars, ints, is_unsigned, is_signed, floats, doubles;
};

static int count_number_word(const char *at, size_t length, struct numbers *numbers)
{
    const struct {
        const char *word;
        int *count;
    } words[] = {{"long", &numbers->longs},   {"short", &numbers->shorts},         {"char", &numbers->chars},
                 {"int", &numbers->ints},     {"unsigned", &numbers->is_unsigned}, {"signed", &numbers->is_signed},
                 {"float", &numbers->floats}, {"double", &numbers->doubles}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (dft_weave_is_word(at, length, words[i].word)) {
            ++*words[i].count;
            return 1;
        }
    return 0;
}

static enum dft_weave_kind kind_of_numbers(const struct numbers *numbers)
{
    int is_unsigned = numbers->is_unsigned;

    if (numbers->floats)
        return DFT_WEAVE_FLOAT;
    if (numbers->doubles)
        return numbers->longs ? DFT_WEAVE_LONG_DOUBLE : DFT_WEAVE_DOUBLE;
    if (numbers->chars)
        return is_unsigned ? DFT_WEAVE_U8 : numbers->is_signed ? DFT_WEAVE_I8 : DFT_WEAVE_CHAR;
    if (numbers->shorts)
        return is_unsigned ? DFT_WEAVE_U16 : DFT_WEAVE_I16;
    if (numbers->longs > 1)
        return is_unsigned ? DFT_WEAVE_U64 : DFT_WEAVE_I64;
    if (numbers->longs)
        return is_unsigned ? DFT_WEAVE_ULONG : DFT_WEAVE_LONG;
    return is_unsigned ? DFT_WEAVE_U32 : DFT_WEAVE_I32;
}

/* Types that libffi has no name for, or none that is the same everywhere. */
static int is_refused(const char *at, size_t length)
{
    static const char *const words[] = {"_Complex",  "__complex__", "_Imaginary", "__int128", "__float128",
                                        "_Float128", "_Float16",    "_BitInt",    "va_list",  "__builtin_va_list"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (dft_weave_is_word(at, length, words[i]))
            return 1;
    return 0;
}

static int is_qualifier(const char *at, size_t length)
{
    static const char *const words[] = {"volatile", "restrict", "__restrict", "extern", "inline", "static", "register"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (dft_weave_is_word(at, length, words[i]))
            return 1;
    return 0;
}

/* Behind the word `enum`: one that no line declares is a number. */
static void take_enum(struct dft_weave_text *text, struct specifiers *specifiers)
{
    size_t length = dft_weave_next_word(text);
    const struct dft_weave_named *named = dft_weave_find_named(dft_weave_enums, text->at, length);

    text->at += length;
    specifiers->type = named ? named->type : (struct dft_weave_type){.kind = DFT_WEAVE_U32};
    specifiers->known = 1;
}

/* One word of a type. Returns 1: taken, 0: it belongs to the declarator, or -EINVAL. */
static int parse_specifier(struct dft_weave_text *text, size_t length, struct specifiers *specifiers,
                           struct numbers *numbers, int *seen)
{
    const char *at = text->at;

    if (is_refused(at, length))
        return dft_weave_fail(text, "a type cannot be passed on", at, length);
    if (dft_weave_is_word(at, length, "const")) {
        specifiers->is_const = 1;
    } else if (!is_qualifier(at, length)) {
        if (count_number_word(at, length, numbers)) {
            specifiers->known = *seen = 1;
        } else if (*seen) {
            return 0;
        } else if (dft_weave_is_word(at, length, "struct") || dft_weave_is_word(at, length, "class") ||
                   dft_weave_is_word(at, length, "union")) {
            text->at += length;
            *seen = 2;
            return parse_struct(text, dft_weave_is_word(at, length, "union"), specifiers) ? -EINVAL : 1;
        } else if (dft_weave_is_word(at, length, "enum")) {
            text->at += length;
            take_enum(text, specifiers);
            *seen = 2;
            return 1;
        } else {
            specifiers->name = at;
            specifiers->length = length;
            specifiers->known =
                dft_weave_is_word(at, length, "void") || dft_weave_find_type(at, length, &specifiers->type);
            *seen = 2;
        }
    }
    text->at += length;
    return 1;
}

static int parse_specifiers(struct dft_weave_text *text, struct specifiers *specifiers)
{
    struct numbers numbers = {0};
    int seen = 0; /* 1: numbers' words, 2: another type */

    *specifiers = (struct specifiers){.name = "", .type = {.kind = DFT_WEAVE_VOID}};
    for (size_t length; (length = dft_weave_next_word(text));) {
        int rc = parse_specifier(text, length, specifiers, &numbers, &seen);

        if (rc < 0)
            return rc;
        if (!rc)
            break;
    }
    if (!seen)
        return dft_weave_fail(
            text, *text->at == '.' ? "a variable number of arguments cannot be passed on" : "a type is missing",
            text->at, *text->at ? 1 : 0);
    if (seen == 1)
        specifiers->type.kind = kind_of_numbers(&numbers);
    specifiers->is_char = seen == 1 && numbers.chars;
    return 0;
}

/* "[3]" and the like behind a name. */
static int parse_array(struct dft_weave_text *text, uint64_t *elements)
{
    uint64_t n = 0;

    dft_weave_skip_blanks(text);
    while (*text->at >= '0' && *text->at <= '9' && n < 1000000)
        n = n * 10 + (uint64_t)(*text->at++ - '0');
    if (!dft_weave_take(text, ']'))
        return dft_weave_fail(text, "the size of an array must be a number", "", 0);
    *elements = *elements < 1000000 ? *elements * n : *elements;
    return 0;
}

static unsigned count_stars(struct dft_weave_text *text)
{
    unsigned stars = 0;

    for (;;) {
        if (dft_weave_take(text, '*') || dft_weave_take(text, '&'))
            stars++;
        else if (!dft_weave_take_word(text, "const") && !dft_weave_take_word(text, "restrict") &&
                 !dft_weave_take_word(text, "__restrict") && !dft_weave_take_word(text, "volatile"))
            return stars;
    }
}

/* The name in "(*name)(...)"; whatever it is declared as, it is a pointer. */
static int parse_function_pointer(struct dft_weave_text *text, struct declarator *declarator)
{
    if (!count_stars(text))
        return dft_weave_fail(text, "a function can only be passed by a pointer", "", 0);
    declarator->length = dft_weave_next_word(text);
    declarator->name = text->at;
    return dft_weave_skip_parentheses(text) || !dft_weave_take(text, '(') || dft_weave_skip_parentheses(text)
               ? dft_weave_fail(text, "a pointer to a function is not complete", "", 0)
               : 0;
}

/* `stars` 0: to a function. */
static struct dft_weave_type pointer_to(const struct specifiers *of, unsigned stars)
{
    struct dft_weave_type type = {.kind = DFT_WEAVE_POINTER, .to = DFT_WEAVE_VOID};

    if (stars == 1 && of->is_char && of->is_const)
        type.kind = DFT_WEAVE_TEXT;
    if (stars == 1)
        type.to = of->type.kind;
    return type;
}

static int parse_declarator(struct dft_weave_text *text, const struct specifiers *of, struct declarator *declarator)
{
    unsigned stars = count_stars(text);
    int is_function = 0;

    *declarator = (struct declarator){.type = of->type, .elements = 1};
    if (dft_weave_take(text, '(')) {
        if (parse_function_pointer(text, declarator))
            return -EINVAL;
        is_function = 1;
    } else {
        declarator->length = dft_weave_next_word(text);
        declarator->name = text->at;
        text->at += declarator->length;
    }
    while (dft_weave_take(text, '[')) {
        declarator->is_array = 1;
        if (parse_array(text, &declarator->elements))
            return -EINVAL;
    }
    if (stars || is_function)
        declarator->type = pointer_to(of, is_function ? 0 : stars);
    else if (!of->known && !declarator->is_array)
        return dft_weave_fail(text, "a type is not known (give it a line: typedef TYPE NAME;)", of->name, of->length);
    if (!declarator->is_array)
        declarator->elements = 1;
    return 0;
}

/* --- functions -------------------------------------------------------------------------------- */

static int parse_argument(struct dft_weave_text *text, struct dft_weave_function *function)
{
    struct dft_weave_argument *argument = &function->arguments[function->count];
    struct specifiers specifiers;
    struct declarator declarator;

    if (function->count == DFT_WEAVE_ARGUMENTS)
        return dft_weave_fail(text, "more than 64 arguments", "", 0);
    if (parse_specifiers(text, &specifiers) || parse_declarator(text, &specifiers, &declarator))
        return -EINVAL;
    if (declarator.is_array)
        declarator.type = pointer_to(&specifiers, 1);
    argument->name = dft_weave_keep_word(declarator.name, declarator.length);
    argument->type = declarator.type;
    if (argument->type.kind == DFT_WEAVE_VOID)
        return function->count || declarator.length ? dft_weave_fail(text, "an argument is void", "", 0) : 1;
    function->count++;
    return 0;
}

int dft_weave_parse_function(struct dft_weave_text *text, struct dft_weave_function *function)
{
    struct specifiers specifiers;
    struct declarator declarator;
    int nothing = 0;

    struct_depth = 0;
    function->count = 0;
    if (parse_specifiers(text, &specifiers) || parse_declarator(text, &specifiers, &declarator))
        return -EINVAL;
    if (!declarator.length || !dft_weave_take(text, '('))
        return dft_weave_fail(text, "this is no prototype: TYPE NAME(ARGUMENTS) is meant", "", 0);
    function->name = dft_weave_keep_word(declarator.name, declarator.length);
    function->result = declarator.type;
    if (dft_weave_take(text, ')'))
        return 0;
    do {
        if (nothing)
            return dft_weave_fail(text, "an argument is void", "", 0);
        if ((nothing = parse_argument(text, function)) < 0)
            return -EINVAL;
    } while (dft_weave_take(text, ','));
    return dft_weave_take(text, ')') ? 0
                                     : dft_weave_fail(text, "a parenthesis is not closed", text->at, *text->at ? 1 : 0);
}

int dft_weave_parse_typedef(struct dft_weave_text *text)
{
    struct specifiers specifiers;
    struct declarator declarator;

    struct_depth = 0;
    if (parse_specifiers(text, &specifiers) || parse_declarator(text, &specifiers, &declarator))
        return -EINVAL;
    if (!declarator.length)
        return dft_weave_fail(text, "a typedef has no name", "", 0);
    if (declarator.elements != 1)
        return dft_weave_fail(text, "a typedef of an array cannot be passed", declarator.name, declarator.length);
    dft_weave_take(text, ';');
    return dft_weave_name_type(&dft_weave_typedefs, declarator.name, declarator.length, &declarator.type);
}

int dft_weave_parse_struct(struct dft_weave_text *text)
{
    struct specifiers specifiers = {.known = 0};

    struct_depth = 0;
    if (parse_struct(text, 0, &specifiers))
        return -EINVAL;
    dft_weave_take(text, ';');
    return specifiers.known ? 0 : dft_weave_fail(text, "a struct has no fields", specifiers.name, specifiers.length);
}
