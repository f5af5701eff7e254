/* SPDX-License-Identifier: MIT */
/* Owns the roles behind a prototype: what of a call is recorded.
 *
 * cat=CATEGORY, capture=ARG,ARG (or *), with=KEY:TEXT,KEY:TEXT, size=ARG, size=ARG*ARG*4, offset=ARG, finds=ARG,
 * pointcut=around|before|after, version=VERSION. */
#include <errno.h>
#include <string.h>

#include "weave/weave_inside.h"

#define NUMBER_MAX 9u /* digits of a number in a product */

static int find_argument(const struct dft_weave_function *function, const char *name, size_t length)
{
    for (uint32_t i = 0; i < function->count; i++)
        if (length && dft_weave_is_word(name, length, function->arguments[i].name))
            return (int)i;
    return -1;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int times_number(struct dft_weave_text *text, const char *digits, size_t length, struct dft_weave_amount *amount)
{
    uint64_t number = 0;

    for (size_t i = 0; i < length; i++) {
        if (!is_digit(digits[i]) || length > NUMBER_MAX)
            return dft_weave_fail(text, "a factor is an argument or a number of at most 9 digits, not", digits, length);
        number = number * 10 + (uint64_t)(digits[i] - '0');
    }
    amount->times *= number;
    return 0;
}

static int times_argument(struct dft_weave_text *text, const struct dft_weave_function *function, const char *name,
                          size_t length, struct dft_weave_amount *amount)
{
    int argument = find_argument(function, name, length);
    const struct dft_weave_type *type;

    if (argument < 0)
        return dft_weave_fail(text, "there is no such argument", name, length);
    type = &function->arguments[argument].type;
    if (!dft_weave_is_number(type->kind) && !(type->kind == DFT_WEAVE_POINTER && dft_weave_is_number(type->to)))
        return dft_weave_fail(text, "this argument is no whole number", name, length);
    if (amount->count == DFT_WEAVE_FACTORS)
        return dft_weave_fail(text, "a product of more than 3 arguments", name, length);
    amount->arguments[amount->count++] = argument;
    return 0;
}

/* "ARG", or a product of arguments and numbers. */
static int amount_role(struct dft_weave_text *text, const struct dft_weave_function *function, const char *value,
                       size_t length, struct dft_weave_amount *amount)
{
    const char *end = value + length;
    int rc = 0;

    *amount = (struct dft_weave_amount){.times = 1};
    for (int more = 1; more && !rc;) {
        size_t n = strcspn(value, "* \t");

        rc = n && is_digit(*value) ? times_number(text, value, n, amount)
                                   : times_argument(text, function, value, n, amount);
        more = value + n < end;
        value += n + 1;
    }
    if (amount->count == 1 && amount->times == 1 &&
        dft_weave_is_number(function->arguments[*amount->arguments].type.kind))
        amount->plain = function->arguments[*amount->arguments].type.kind;
    return rc || amount->count ? rc : dft_weave_fail(text, "a number alone says nothing of a call", "", 0);
}

static int capture_role(struct dft_weave_text *text, struct dft_weave_rule *rule, const char *value, size_t length)
{
    if (dft_weave_is_word(value, length, "*")) {
        rule->captured = rule->function.count ? ~UINT64_C(0) >> (64 - rule->function.count) : 0;
        return 0;
    }
    for (const char *end = value + length; value < end;) {
        size_t n = strcspn(value, ", \t");
        int argument = find_argument(&rule->function, value, n);

        if (argument < 0)
            return dft_weave_fail(text, "there is no such argument", value, n);
        if (rule->function.arguments[argument].type.kind == DFT_WEAVE_STRUCT)
            return dft_weave_fail(text, "a struct cannot be recorded", value, n);
        rule->captured |= UINT64_C(1) << argument;
        value += n + 1;
    }
    return 0;
}

static int with_role(struct dft_weave_text *text, struct dft_weave_rule *rule, const char *value, size_t length)
{
    struct dft_weave_constant **last = &rule->constants;

    while (*last)
        last = &(*last)->next;
    for (const char *end = value + length; value < end;) {
        size_t n = strcspn(value, ", \t"), key = strcspn(value, ":, \t");
        struct dft_weave_constant *constant;

        if (!key || key + 1 >= n)
            return dft_weave_fail(text, "with=KEY:TEXT is meant, not", value, n);
        constant = dft_weave_reserve(sizeof *constant);
        if (!constant)
            return -ENOMEM;
        constant->key = dft_weave_keep_word(value, key);
        constant->text = dft_weave_keep_word(value + key + 1, n - key - 1);
        *last = constant;
        last = &constant->next;
        value += n + 1;
    }
    return 0;
}

static int finds_role(struct dft_weave_text *text, struct dft_weave_rule *rule, const char *value, size_t length)
{
    rule->finds = find_argument(&rule->function, value, length);
    if (rule->finds < 0)
        return dft_weave_fail(text, "there is no such argument", value, length);
    return rule->function.arguments[rule->finds].type.kind == DFT_WEAVE_POINTER
               ? 0
               : dft_weave_fail(text, "this argument is no pointer", value, length);
}

static int pointcut_role(struct dft_weave_text *text, struct dft_weave_rule *rule, const char *value, size_t length)
{
    static const char *const words[] = {"around", "before", "after"};

    for (int i = 0; i < 3; i++)
        if (dft_weave_is_word(value, length, words[i])) {
            rule->pointcut = (enum dft_weave_pointcut)i;
            return 0;
        }
    return dft_weave_fail(text, "pointcut is around, before or after, not", value, length);
}

int dft_weave_parse_role(struct dft_weave_text *text, struct dft_weave_rule *rule)
{
    const char *name = text->at, *value;
    size_t length = dft_weave_next_word(text), n;

    text->at += length;
    if (!length || !dft_weave_take(text, '='))
        return dft_weave_fail(text,
                              "a role (cat=, capture=, with=, size=, offset=, finds=, pointcut=, version=) is meant",
                              name, strcspn(name, " \t"));
    value = text->at;
    n = strcspn(value, " \t");
    text->at += n;
    if (dft_weave_is_word(name, length, "cat"))
        rule->site.category = dft_weave_keep_word(value, n);
    else if (dft_weave_is_word(name, length, "version"))
        rule->version = dft_weave_keep_word(value, n);
    else if (dft_weave_is_word(name, length, "capture"))
        return capture_role(text, rule, value, n);
    else if (dft_weave_is_word(name, length, "with"))
        return with_role(text, rule, value, n);
    else if (dft_weave_is_word(name, length, "size"))
        return amount_role(text, &rule->function, value, n, &rule->size);
    else if (dft_weave_is_word(name, length, "offset"))
        return amount_role(text, &rule->function, value, n, &rule->offset);
    else if (dft_weave_is_word(name, length, "finds"))
        return finds_role(text, rule, value, n);
    else if (dft_weave_is_word(name, length, "pointcut"))
        return pointcut_role(text, rule, value, n);
    else
        return dft_weave_fail(text, "this role is not known", name, length);
    return 0;
}
