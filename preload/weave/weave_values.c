/* SPDX-License-Identifier: MIT */
/* Owns what is recorded of the arguments of a call: numbers, texts, words of enums, pointers. */
#include <string.h>

#include "os/reading.h"
#include "os/sys.h"
#include "weave/weave_inside.h"

/* A whole number of any width; `at` is where libffi, or the program, has it. */
static int64_t number_at(enum dft_weave_kind kind, const void *at)
{
    switch (kind) {
    case DFT_WEAVE_I8:
        return *(const int8_t *)at;
    case DFT_WEAVE_U8:
        return *(const uint8_t *)at;
    case DFT_WEAVE_I16:
        return *(const int16_t *)at;
    case DFT_WEAVE_U16:
        return *(const uint16_t *)at;
    case DFT_WEAVE_I32:
        return *(const int32_t *)at;
    case DFT_WEAVE_U32:
        return *(const uint32_t *)at;
    default:
        return *(const int64_t *)at;
    }
}

static void keep(struct dft_thread *self, struct dftrace_arg arg)
{
    dft_region_keep_args(self, &arg, 1);
}

/* The program's text, as far as it can be read, up to where annotations would cut it. */
static void capture_text(struct dft_thread *self, const char *name, const char *text)
{
    struct dft_text found;
    char copy[512];

    if (dft_reading_find(&found, text, sizeof copy - 1) && !found.length)
        return;
    memcpy(copy, text, found.length);
    copy[found.length] = 0;
    keep(self, dftrace_string(name, copy));
}

static void capture_pointer(struct dft_thread *self, const char *name, uintptr_t pointer)
{
    char digits[2 + 2 * sizeof pointer + 1], *at = digits + sizeof digits;

    *--at = 0;
    do
        *--at = "0123456789abcdef"[pointer & 15];
    while (pointer >>= 4);
    *--at = 'x';
    *--at = '0';
    keep(self, dftrace_string(name, at));
}

/* As a word where the enum has one. */
static inline void capture_number(struct dft_thread *self, const char *name, const struct dft_weave_type *type,
                                  int64_t number)
{
    const char *word = type->words ? dft_weave_find_word(type->words, number) : NULL;

    if (word)
        keep(self, dftrace_string(name, word));
    else
        keep(self, dftrace_int(name, number));
}

static void capture_other(struct dft_thread *self, const char *name, enum dft_weave_kind kind, const void *at)
{
    switch (kind) {
    case DFT_WEAVE_FLOAT:
        keep(self, dftrace_double(name, (double)*(const float *)at));
        break;
    case DFT_WEAVE_DOUBLE:
        keep(self, dftrace_double(name, *(const double *)at));
        break;
    case DFT_WEAVE_LONG_DOUBLE:
        keep(self, dftrace_double(name, (double)*(const long double *)at));
        break;
    case DFT_WEAVE_TEXT:
        if (*(const char *const *)at)
            capture_text(self, name, *(const char *const *)at);
        break;
    case DFT_WEAVE_POINTER:
        capture_pointer(self, name, *(const uintptr_t *)at);
        break;
    default: /* nothing, and structs */
        break;
    }
}

static inline void capture(struct dft_thread *self, const char *name, const struct dft_weave_type *type, const void *at)
{
    if (dft_weave_is_number(type->kind))
        capture_number(self, name, type, number_at(type->kind, at));
    else
        capture_other(self, name, type->kind, at);
}

/* A pointer yields what it points to when the call begins. Returns -1 where that cannot be read. */
static int factor(const struct dft_weave_type *type, const void *at, uint64_t *number)
{
    enum dft_weave_kind kind = type->kind;

    if (kind == DFT_WEAVE_POINTER) {
        at = *(const void *const *)at;
        kind = type->to;
        if (!at || !dft_sys_can_read((const void *)((uintptr_t)at & ~(uintptr_t)7)))
            return -1;
    }
    *number *= (uint64_t)number_at(kind, at);
    return 0;
}

static uint64_t product(const struct dft_weave_rule *rule, const struct dft_weave_amount *amount, void **arguments,
                        uint64_t unknown)
{
    uint64_t number = amount->times;

    for (uint32_t i = 0; i < amount->count; i++) {
        int argument = amount->arguments[i];

        if (factor(&rule->function.arguments[argument].type, arguments[argument], &number))
            return unknown;
    }
    return number;
}

/* Most are one argument. */
static inline uint64_t amount_of(const struct dft_weave_rule *rule, const struct dft_weave_amount *amount,
                                 void **arguments, uint64_t unknown)
{
    if (!amount->count)
        return unknown;
    return amount->plain ? (uint64_t)number_at(amount->plain, arguments[amount->arguments[0]])
                         : product(rule, amount, arguments, unknown);
}

struct dft_region_data dft_weave_capture(struct dft_thread *self, const struct dft_weave_rule *rule, void **arguments)
{
    for (uint64_t left = rule->captured; left; left &= left - 1) {
        int i = __builtin_ctzll(left);

        capture(self, rule->function.arguments[i].name, &rule->function.arguments[i].type, arguments[i]);
    }
    for (const struct dft_weave_constant *constant = rule->constants; constant; constant = constant->next)
        keep(self, dftrace_string(constant->key, constant->text));
    return (struct dft_region_data){.size = amount_of(rule, &rule->size, arguments, 0),
                                    .offset = (int64_t)amount_of(rule, &rule->offset, arguments, UINT64_MAX)};
}

void dft_weave_capture_result(struct dft_thread *self, const struct dft_weave_rule *rule, const void *result)
{
    capture(self, "ret", &rule->function.result, result);
}
