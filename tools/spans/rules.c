/* SPDX-License-Identifier: MIT */
/* Reads the rules of users. */
#include "spans/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table_file.h"

struct reading {
    struct dft_table_file file;
    struct dft_span_rules *rules;
};

static const char *const keys[DFT_RULE_KEYS] = {"match", "id", "event", "time", "note", "in", "key", "same"};

static void free_rule(struct dft_span_rule *rule)
{
    free(rule->type);
    for (unsigned i = 0; i < DFT_RULE_KEYS; i++)
        free(rule->values[i]);
}

static int fail(const struct reading *reading, const char *word, const char *why, const char *nearest)
{
    return dft_table_file_fail(&reading->file, word, why, nearest);
}

/* Does the expression have the parts that a value asks for? */
static int check_parts(const struct reading *reading, const char *value, size_t parts)
{
    for (; value && *value; value++)
        if (*value == '\\' && value[1] >= '0' && value[1] <= '9' && (size_t)(value[1] - '0') > parts)
            return fail(reading, value, ": the expression has not so many parts in parentheses.", NULL);
    return 0;
}

static int compile(const struct reading *reading, struct dft_span_rule *rule)
{
    char why[160];
    int error, rc;

    if (!rule->values[DFT_RULE_MATCH] || !rule->values[DFT_RULE_ID])
        return fail(reading, rule->type, " lacks match= or id=.", NULL);
    if ((rule->values[DFT_RULE_IN] && !strchr(rule->values[DFT_RULE_IN], ':')) ||
        (rule->values[DFT_RULE_SAME] && !strchr(rule->values[DFT_RULE_SAME], ':')))
        return fail(reading, rule->type, ": in= and same= are TYPE:ID.", NULL);
    error = regcomp(&rule->expression, rule->values[DFT_RULE_MATCH], REG_EXTENDED);
    if (error) {
        why[0] = ':';
        why[1] = ' ';
        regerror(error, &rule->expression, why + 2, sizeof why - 2);
        return fail(reading, rule->values[DFT_RULE_MATCH], why, NULL);
    }
    rc = check_parts(reading, rule->type, rule->expression.re_nsub);
    for (unsigned i = DFT_RULE_ID; !rc && i < DFT_RULE_KEYS; i++)
        rc = check_parts(reading, rule->values[i], rule->expression.re_nsub);
    if (rc)
        regfree(&rule->expression);
    return rc;
}

static int parse_values(const struct reading *reading, char *at, struct dft_span_rule *rule)
{
    unsigned key;
    char *value;
    int rc;

    while ((rc = dft_table_file_value(&reading->file, &at, keys, DFT_RULE_KEYS, &key, &value)) > 0) {
        if (rule->values[key])
            return fail(reading, keys[key], " stands in this line twice.", NULL);
        rule->values[key] = strdup(value);
        if (!rule->values[key])
            return -ENOMEM;
    }
    return rc ? rc : compile(reading, rule);
}

static int parse_line(void *context, char *line)
{
    struct reading *reading = context;
    struct dft_span_rules *rules = reading->rules;
    struct dft_span_rule rule = {0};
    char *type = dft_trimmed(line), *rest = type + strcspn(type, " \t");
    int rc;

    if (!*type || *type == '#')
        return 0;
    rule.type = strndup(type, (size_t)(rest - type));
    if (!rule.type)
        return -ENOMEM;
    rc = parse_values(reading, rest, &rule);
    if (!rc && !DFT_ARRAY_PUSH(rules->list, rules->capacity, rules->count, rule))
        return 0;
    if (!rc)
        regfree(&rule.expression);
    free_rule(&rule);
    return rc ? rc : -ENOMEM;
}

int dft_span_rules_read(struct dft_span_rules *rules, const char *path, char *error, size_t size)
{
    struct reading reading = {.file = {.path = path, .error = error, .size = size}, .rules = rules};
    int rc = dft_table_file_read(&reading.file, parse_line, &reading);

    if (!rc && !rules->count) {
        snprintf(error, size,
                 "%s: there is no rule in it, such as: app.step match=\"step ([0-9]+) done\" id=\\1 "
                 "event=done",
                 path);
        rc = -EINVAL;
    }
    return rc;
}

void dft_span_rules_fini(struct dft_span_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        regfree(&rules->list[i].expression);
        free_rule(&rules->list[i]);
    }
    free(rules->list);
    *rules = (struct dft_span_rules){0};
}
