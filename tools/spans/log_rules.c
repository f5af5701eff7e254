/* SPDX-License-Identifier: MIT */
/* Lines that rules of a user choose. */
#include <stdlib.h>

#include "spans/logs.h"
#include "spans/log_time.h"
#include "spans/rules.h"

static const struct dft_text none = {NULL, 0};

/* A rule, and the line that fits it. */
struct fit {
    const struct dft_span_rule *rule;
    struct dft_text line;
    regmatch_t parts[DFT_RULE_PARTS];
};

static struct dft_text part_of(const struct fit *fit, unsigned number)
{
    const regmatch_t *part = &fit->parts[number];

    if (part->rm_so < 0)
        return (struct dft_text){"", 0};
    return (struct dft_text){fit->line.bytes + part->rm_so, (uint32_t)(part->rm_eo - part->rm_so)};
}

/* The value with its parts put in. The caller frees it; NULL: no memory. */
static char *fill(const struct fit *fit, const char *value)
{
    size_t size = strlen(value) + 1, n = 0;
    char *text;

    for (const char *at = value; *at; at++)
        if (*at == '\\' && isdigit((unsigned char)at[1]))
            size += part_of(fit, (unsigned)(at[1] - '0')).length;
    text = malloc(size);
    for (const char *at = value; text && *at; at++) {
        struct dft_text part = {at, 1};

        if (*at == '\\' && isdigit((unsigned char)at[1]))
            part = part_of(fit, (unsigned)(*++at - '0'));
        memcpy(text + n, part.bytes, part.length);
        n += part.length;
    }
    if (text)
        text[n] = '\0';
    return text;
}

struct filled {
    char *type, *values[DFT_RULE_KEYS];
};

static int fill_all(struct filled *filled, const struct fit *fit)
{
    filled->type = fill(fit, fit->rule->type);
    if (!filled->type)
        return -ENOMEM;
    for (unsigned i = DFT_RULE_ID; i < DFT_RULE_KEYS; i++)
        if (fit->rule->values[i] && !(filled->values[i] = fill(fit, fit->rule->values[i])))
            return -ENOMEM;
    return 0;
}

static void free_filled(struct filled *filled)
{
    free(filled->type);
    for (unsigned i = 0; i < DFT_RULE_KEYS; i++)
        free(filled->values[i]);
}

/* The span that "TYPE:ID" names. */
static int put_named(struct dft_log *log, const char *name, struct dft_uuid *uuid)
{
    const char *colon = strchr(name, ':');
    struct dft_span_name span = {
        {name, (uint32_t)(colon - name)}, dft_text_from(log->place.run), dft_text_from(colon + 1), none};

    return dft_span_put(&log->import->store, &span, uuid);
}

static int put_event(struct dft_log *log, const struct filled *filled, const struct dft_uuid *uuid)
{
    const char *time = filled->values[DFT_RULE_TIME];
    int64_t ns = log->ns;

    if (!filled->values[DFT_RULE_EVENT])
        return 0;
    if (time ? !dft_log_time_parse(time, strlen(time), &ns) : !log->has_time)
        return dft_log_fail(log, "a rule chooses the line, but there is no time where the rule expects one");
    return dft_span_event(&log->import->store, uuid, ns, dft_text_from(filled->values[DFT_RULE_EVENT]),
                          dft_text_from(filled->values[DFT_RULE_NOTE]));
}

static int put_filled(struct dft_log *log, const struct filled *filled)
{
    const char *id = filled->values[DFT_RULE_ID], *key = filled->values[DFT_RULE_KEY];
    struct dft_span_name span = {dft_text_from(filled->type), dft_text_from(log->place.run), dft_text_from(id), none};
    struct dft_span_store *store = &log->import->store;
    struct dft_uuid uuid, other;
    int rc = dft_span_put(store, &span, &uuid);

    if (!rc && filled->values[DFT_RULE_IN])
        rc = put_named(log, filled->values[DFT_RULE_IN], &other);
    if (!rc && filled->values[DFT_RULE_IN])
        rc = dft_span_below(store, &other, &uuid, dft_text_from(key ? key : id), none);
    if (!rc && filled->values[DFT_RULE_SAME])
        rc = put_named(log, filled->values[DFT_RULE_SAME], &other);
    if (!rc && filled->values[DFT_RULE_SAME])
        rc = dft_span_facet(store, &uuid, &other, "by a rule");
    return rc ? rc : put_event(log, filled, &uuid);
}

int dft_log_rules(struct dft_log *log, struct dft_text line)
{
    const struct dft_span_rules *rules = log->import->rules;
    struct fit fit = {.line = line};
    int taken = 0;

    for (size_t i = 0; i < rules->count; i++) {
        struct filled filled = {0};
        int rc;

        fit.rule = &rules->list[i];
        fit.parts[0] = (regmatch_t){0, (regoff_t)line.length};
        if (regexec(&fit.rule->expression, line.bytes, DFT_RULE_PARTS, fit.parts, REG_STARTEND))
            continue;
        rc = fill_all(&filled, &fit);
        if (!rc)
            rc = put_filled(log, &filled);
        free_filled(&filled);
        if (rc)
            return rc;
        taken = 1;
    }
    return taken;
}
