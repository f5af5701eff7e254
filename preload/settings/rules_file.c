/* SPDX-License-Identifier: MIT */
/* Owns the reading of rules files. A file is applied whole or not at all. */
#include "settings/rules_file.h"

#include <string.h>

#include "os/bulk.h"
#include "settings/config.h"
#include "os/line.h"
#include "settings/nearest.h"
#include "settings/rules_inside.h"
#include "settings/rules_text.h"
#include "settings/settings.h"

static struct dft_message_line line DFT_BULK;

static const struct dft_yaml_place nowhere;

/* Notes what is wrong: the texts one behind the other, up to NULL. Returns -1. */
static int refuse(const char *variable, struct dft_yaml_place place, const char *const *texts)
{
    line.used = 0;
    dft_line_place(&line, place.line, place.column);
    for (; *texts; texts++)
        dft_line_text(&line, *texts);
    dft_line_text(&line, "; no rule is applied, and all events are kept");
    line.text[line.used] = 0;
    dft_settings_doubt(variable, dft_config_keep(line.text), 0);
    dft_rules_clear();
    return -1;
}

#define REFUSE(variable, place, ...) refuse(variable, place, (const char *const[]){__VA_ARGS__, NULL})

/* The same of a mistake inside a rule. */
static int refuse_rule(const char *variable, struct dft_yaml_place place, const struct dft_rules_fault *fault)
{
    char word[40];
    size_t length = fault->length < sizeof word - 1 ? fault->length : sizeof word - 1;

    place.column += (uint32_t)fault->at;
    if (!fault->word)
        return REFUSE(variable, place, fault->reason);
    memcpy(word, fault->word, length);
    word[length] = 0;
    if (!fault->nearest)
        return REFUSE(variable, place, fault->reason, " '", word, "'");
    return REFUSE(variable, place, fault->reason, " '", word, "'; the nearest is '", fault->nearest, "'");
}

/* What a duration without a unit counts in. */
static uint64_t unit_ns(void)
{
    switch (dft_config.time_metric) {
    case DFT_TIME_US:
        return 1000;
    case DFT_TIME_MS:
        return 1000000;
    case DFT_TIME_SEC:
        return 1000000000;
    default:
        return 1;
    }
}

/* The rules of one list, any of which may fit. *any: there was one. */
static int take_list(const char *variable, const struct dft_yaml *yaml, dft_yaml_node list, const char *name, int *any)
{
    struct dft_rules_fault fault = {.at = 0};
    dft_yaml_node item;

    *any = 0;
    if (!list)
        return 0;
    if (dft_yaml_kind(yaml, list) == DFT_YAML_SCALAR && !*dft_yaml_text(yaml, list))
        return 0; /* a key with nothing behind it */
    if (dft_yaml_kind(yaml, list) != DFT_YAML_LIST)
        return REFUSE(variable, dft_yaml_place(yaml, list), name, " is no list of rules");
    for (uint32_t i = 0; (item = dft_yaml_item(yaml, list, i)); i++) {
        const char *text = dft_yaml_text(yaml, item);

        if (!text)
            return REFUSE(variable, dft_yaml_place(yaml, item), "a rule is a text");
        if (dft_rules_compile(text, unit_ns(), &fault))
            return refuse_rule(variable, dft_yaml_place(yaml, item), &fault);
        if (*any && dft_rules_put(&(struct dft_rule_step){.what = DFT_RULE_OR}))
            return REFUSE(variable, dft_yaml_place(yaml, item), "the rules are too long");
        *any = 1;
    }
    return 0;
}

int dft_rules_take(const char *variable, const struct dft_yaml *yaml, dft_yaml_node inclusion, dft_yaml_node exclusion)
{
    int included, excluded;

    dft_rules_clear();
    if (take_list(variable, yaml, inclusion, "inclusion", &included))
        return -1;
    if (!included)
        return REFUSE(variable, nowhere, "inclusion names nothing, so nothing would be left to aggregates alone");
    if (take_list(variable, yaml, exclusion, "exclusion", &excluded))
        return -1;
    if (excluded && (dft_rules_put(&(struct dft_rule_step){.what = DFT_RULE_NOT}) ||
                     dft_rules_put(&(struct dft_rule_step){.what = DFT_RULE_AND})))
        return REFUSE(variable, nowhere, "the rules are too long");
    dft_rules_ready();
    return 0;
}

static int read_open(const char *variable, const struct dft_yaml *yaml)
{
    static const char *const names[] = {"inclusion", "exclusion"};
    dft_yaml_node lists[2] = {0, 0}, key, value;

    if (dft_yaml_kind(yaml, dft_yaml_root(yaml)) != DFT_YAML_MAP)
        return REFUSE(variable, nowhere, "the file has neither inclusion nor exclusion");
    for (uint32_t i = 0; dft_yaml_pair(yaml, dft_yaml_root(yaml), i, &key, &value); i++) {
        const char *name = dft_yaml_text(yaml, key);
        int which = !name ? -1 : !strcmp(name, names[0]) ? 0 : !strcmp(name, names[1]) ? 1 : -1;

        if (which < 0)
            return REFUSE(variable, dft_yaml_place(yaml, key), "there is no key '", name ? name : "",
                          "'; the nearest is '", dft_nearest_of(names, 2, name ? name : "", name ? strlen(name) : 0),
                          "'");
        lists[which] = value;
    }
    return dft_rules_take(variable, yaml, lists[0], lists[1]);
}

int dft_rules_read(const char *variable)
{
    struct dft_yaml_fault fault;
    struct dft_yaml yaml;
    int result = -1;

    if (dft_yaml_open(&yaml, strchr(variable, '=') + 1, &fault))
        REFUSE(variable, fault.place, fault.reason);
    else
        result = read_open(variable, &yaml);
    dft_yaml_close(&yaml);
    return result;
}
