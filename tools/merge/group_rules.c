/* SPDX-License-Identifier: MIT */
/* Rules: their text, and what they decide about an event.
 *
 * Each rule selects calls, paths and regions. Each field fits a set of rules, kept as a mask. The mask of a name is
 * worked out once. The lowest bit that all masks have in common is the rule that decides. */
#include "merge/group_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/table_file.h"
#include "format/event.h"
#include "format/ops.h"
#include "views/selection.h"

#define TEXT_MAX 65535
#define OTHER    "other"

struct rule {
    struct dft_selection selection;
    uint32_t group;
};

struct dft_group_rules {
    struct dft_table_file file;
    char error[DFT_FILTER_WHY + 256];
    char *text, *words; /* the rules as specified; the rules cut into words */
    struct rule rules[DFT_RULES_MAX];
    uint32_t count;
    const char *names[DFT_RULES_MAX + 1];
    uint32_t groups;
};

/* --- reading ---------------------------------------------------------------------------------- */

static int fail(const struct dft_group_rules *rules, const char *word, const char *why)
{
    return dft_table_file_fail(&rules->file, word, why, NULL);
}

static int is_file_name(const char *name)
{
    if (!*name || *name == '.' || !strcmp(name, "aggregates"))
        return 0;
    return !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
}

static uint32_t group_of(struct dft_group_rules *rules, const char *name)
{
    uint32_t i = 0;

    while (i < rules->groups && strcmp(rules->names[i], name))
        i++;
    if (i == rules->groups)
        rules->names[rules->groups++] = name;
    return i;
}

static int read_line(void *context, char *at)
{
    static const char *const keys[] = {DFT_SELECTION_WORDS};
    struct dft_group_rules *rules = context;
    struct rule *rule = &rules->rules[rules->count];
    char *name = dft_trimmed(at), *colon = strchr(name, ':'), *value, why[DFT_FILTER_WHY + 2] = ": ";
    unsigned key;
    int rc;

    if (!*name || *name == '#')
        return 0;
    if (!colon)
        return fail(rules, name, ": NAME: CONDITIONS is expected.");
    *colon = 0;
    name = dft_trimmed(name);
    if (!is_file_name(name))
        return fail(rules, name,
                    ": a group's name becomes that of a file: letters, digits, '.', '_' and '-' (and not "
                    "`aggregates`).");
    if (rules->count == DFT_RULES_MAX)
        return fail(rules, "", "too many rules: 63 at most.");
    rules->count++;
    rule->group = group_of(rules, name);
    at = colon + 1;
    while ((rc = dft_table_file_value(&rules->file, &at, keys, DFT_SELECTION_KEYS, &key, &value)) > 0) {
        rc = dft_selection_add(&rule->selection, key, value, why + 2);
        if (rc)
            return rc == -EINVAL ? fail(rules, keys[key], why) : rc;
    }
    return rc;
}

/* `other` is always the last group. */
static void put_other_last(struct dft_group_rules *rules)
{
    uint32_t at = group_of(rules, OTHER), last = rules->groups - 1;

    memmove(rules->names + at, rules->names + at + 1, (last - at) * sizeof *rules->names);
    rules->names[last] = OTHER;
    for (uint32_t i = 0; i < rules->count; i++)
        rules->rules[i].group = rules->rules[i].group == at  ? last
                                : rules->rules[i].group > at ? rules->rules[i].group - 1
                                                             : rules->rules[i].group;
}

static int read_lines(struct dft_group_rules *rules, const char *ends)
{
    int rc = dft_table_text_read(&rules->file, rules->words, ends, read_line, rules);

    if (!rc && !rules->count) {
        rules->file.line = 1;
        rc = fail(rules, "", "there is none.");
    }
    if (!rc)
        put_other_last(rules);
    if (rc == -EINVAL)
        fprintf(stderr, "dftmerge: %s\n", rules->error);
    return rc;
}

static int read_file(char **text, const char *path)
{
    FILE *file = fopen(path, "re");
    size_t length;
    int rc = 0;

    if (!file)
        return -errno;
    *text = calloc(1, TEXT_MAX + 2);
    length = *text ? fread(*text, 1, TEXT_MAX + 1, file) : 0;
    if (!*text)
        rc = -ENOMEM;
    else if (ferror(file))
        rc = errno ? -errno : -EIO;
    else if (length > TEXT_MAX || memchr(*text, 0, length))
        rc = -EFBIG;
    fclose(file);
    return rc;
}

int dft_rules_read(struct dft_group_rules **result, const char *given)
{
    struct dft_group_rules *rules = calloc(1, sizeof *rules);
    const char *ends = "\n\r";
    int rc = rules ? read_file(&rules->text, given) : -ENOMEM;

    *result = rules;
    if (rules)
        rules->file = (struct dft_table_file){.path = "rules", .error = rules->error, .size = sizeof rules->error};
    if (rc && rc != -ENOMEM && strchr(given, ':') && strlen(given) <= TEXT_MAX) {
        free(rules->text);
        rules->text = strdup(given);
        rc = rules->text ? 0 : -ENOMEM;
        ends = "\n;";
    }
    if (rc && rc != -ENOMEM) {
        fprintf(stderr, "dftmerge: %s: %s\n", given, rc == -EFBIG ? "this is no list of rules" : strerror(-rc));
        return -EINVAL;
    }
    if (!rc) {
        rules->words = strdup(rules->text);
        rc = rules->words ? read_lines(rules, ends) : -ENOMEM;
    }
    return rc;
}

int dft_rules_begin(struct dft_group_rules *rules, const struct dft_source *source)
{
    int rc = 0;

    for (uint32_t i = 0; !rc && i < rules->count; i++)
        rc = dft_selection_begin(&rules->rules[i].selection, source);
    return rc;
}

void dft_rules_destroy(struct dft_group_rules *rules)
{
    if (!rules)
        return;
    for (uint32_t i = 0; i < rules->count; i++)
        dft_selection_fini(&rules->rules[i].selection);
    free(rules->text);
    free(rules->words);
    free(rules);
}

uint32_t dft_rules_groups(const struct dft_group_rules *rules)
{
    return rules->groups;
}

const char *dft_rules_name(const struct dft_group_rules *rules, uint32_t group)
{
    return rules->names[group];
}

struct dft_text dft_rules_text(const struct dft_group_rules *rules)
{
    return dft_text_from(rules->text);
}

/* --- deciding --------------------------------------------------------------------------------- */

struct dft_matcher {
    const struct dft_group_rules *rules;
    const struct dft_names *names;
    struct dft_map calls, paths, regions; /* id -> mask of rules * 2 + 1 */
};

struct dft_matcher *dft_matcher_create(const struct dft_group_rules *rules, const struct dft_names *names)
{
    struct dft_matcher *matcher = calloc(1, sizeof *matcher);

    if (matcher) {
        matcher->rules = rules;
        matcher->names = names;
    }
    return matcher;
}

void dft_matcher_destroy(struct dft_matcher *matcher)
{
    if (!matcher)
        return;
    dft_map_fini(&matcher->calls);
    dft_map_fini(&matcher->paths);
    dft_map_fini(&matcher->regions);
    free(matcher);
}

static uint64_t mask_of_call(const struct dft_matcher *matcher, uint64_t id, uint8_t io)
{
    struct dft_text category, name;
    uint64_t mask = 0;
    char text[18];

    dft_names_call(matcher->names, id, &category, &name, text);
    for (uint32_t i = 0; i < matcher->rules->count; i++)
        if (dft_selection_call_fits(&matcher->rules->rules[i].selection, category, name, io, 0))
            mask |= UINT64_C(1) << i;
    return mask;
}

/* Finds the rules that fit a text. Rules without a pattern fit every text. Rules with a pattern fit
 * no absent text. */
static uint64_t mask_of_text(const struct dft_matcher *matcher, enum dft_selection_key key, uint64_t id)
{
    struct dft_text category, text = {0};
    uint64_t mask = 0;
    char shown[18];

    if (id && key == DFT_SELECT_REGION)
        dft_names_call(matcher->names, id, &category, &text, shown);
    else if (id)
        text = dft_names_show(matcher->names, id, shown);
    for (uint32_t i = 0; i < matcher->rules->count; i++) {
        const struct dft_selection *selection = &matcher->rules->rules[i].selection;

        if (id ? dft_selection_text_fits(selection, key, text, 0) : !dft_selection_has(selection, key))
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

/* Finds the mask of a name, and remembers the mask. `io`: the class of a call; calls of one name may
 * differ in it. Returns 0 or -ENOMEM. */
static int mask_of(struct dft_matcher *matcher, struct dft_map *map, enum dft_selection_key key, uint64_t id,
                   uint8_t io, uint64_t *mask)
{
    uint64_t joined = id ? dft_map_join(id, io) : 0, *known = joined ? dft_map_find(map, joined) : NULL;

    if (!known && joined && !(known = dft_map_put(map, joined)))
        return -ENOMEM;
    if (known && *known) {
        *mask = *known >> 1;
        return 0;
    }
    *mask = key == DFT_SELECT_NAME ? mask_of_call(matcher, id, io) : mask_of_text(matcher, key, id);
    if (known)
        *known = *mask << 1 | 1;
    return 0;
}

int dft_matcher_group(struct dft_matcher *matcher, const struct dft_call *call, const struct dft_event *event)
{
    uint64_t calls, path, path2 = 0, region, itself = 0, mask;

    if (mask_of(matcher, &matcher->calls, DFT_SELECT_NAME, call->id, call->io, &calls) ||
        mask_of(matcher, &matcher->paths, DFT_SELECT_PATH, event->file, 0, &path) ||
        mask_of(matcher, &matcher->regions, DFT_SELECT_REGION, event->region, 0, &region))
        return -ENOMEM;
    if (event->file2 && mask_of(matcher, &matcher->paths, DFT_SELECT_PATH, event->file2, 0, &path2))
        return -ENOMEM;
    if (call->op == DFT_OP_REGION && mask_of(matcher, &matcher->regions, DFT_SELECT_REGION, call->id, 0, &itself))
        return -ENOMEM;
    mask = calls & (path | path2) & (region | itself);
    return mask ? (int)matcher->rules->rules[__builtin_ctzll(mask)].group : (int)matcher->rules->groups - 1;
}
