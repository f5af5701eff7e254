/* SPDX-License-Identifier: MIT */
/* Rules: their text, and what they decide about an event.
 *
 * Each rule asks about the call, the paths and the region. Each field fits a set of rules, kept as
 * a mask. The mask of a name is worked out once. The lowest bit that all masks have in common is
 * the rule that decides. */
#include "merge/group_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/filter.h"
#include "format/ops.h"
#include "base/map.h"

#define TEXT_MAX 65535
#define OTHER    "other"

enum aspect { BY_CAT, BY_NAME, BY_PATH, BY_REGION, ASPECTS };

struct patterns {
    const char **list;
    size_t count;
};

struct rule {
    struct patterns by[ASPECTS];
    unsigned classes; /* mask of enum dft_class; 0: any */
    uint32_t group;
};

struct dft_rules {
    char *text, *words; /* the rules as given; the rules cut into words */
    struct rule rules[DFT_RULES_MAX];
    uint32_t count;
    const char *names[DFT_RULES_MAX + 1];
    uint32_t groups;
};

/* --- reading ---------------------------------------------------------------------------------- */

static int wrong(unsigned line, const char *what, const char *word)
{
    fprintf(stderr, "dftmerge: rules, line %u: %s%s%s\n", line, what, *word ? ": " : "", word);
    return -EINVAL;
}

static int is_file_name(const char *name)
{
    if (!*name || *name == '.' || !strcmp(name, "aggregates"))
        return 0;
    return !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
}

static uint32_t group_of(struct dft_rules *rules, const char *name)
{
    uint32_t i = 0;

    while (i < rules->groups && strcmp(rules->names[i], name))
        i++;
    if (i == rules->groups)
        rules->names[rules->groups++] = name;
    return i;
}

static int add_pattern(struct patterns *patterns, const char *pattern)
{
    const char **bigger = realloc(patterns->list, (patterns->count + 1) * sizeof *bigger);

    if (!bigger)
        return -ENOMEM;
    patterns->list = bigger;
    bigger[patterns->count++] = pattern;
    return 0;
}

static int add_class(struct rule *rule, const char *word)
{
    static const char *const words[] = {
        [DFT_CLASS_META] = "meta", [DFT_CLASS_READ] = "read", [DFT_CLASS_WRITE] = "write", [DFT_CLASS_NONE] = "none"};

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (!words[i] || strcmp(words[i], word))
            continue;
        rule->classes |= 1u << i | (i == DFT_CLASS_NONE) << DFT_CLASS_MARK;
        return 0;
    }
    return -EINVAL;
}

/* Adds one value. A value in quotes is taken as it is; any other value is a list. */
static int add_values(struct rule *rule, int aspect, char *value, int quoted, unsigned line)
{
    int rc = 0;

    for (char *comma; !rc && value; value = comma) {
        comma = quoted ? NULL : strchr(value, ',');
        if (comma)
            *comma++ = 0;
        if (!*value)
            return wrong(line, "a pattern is missing", "");
        if (aspect < ASPECTS)
            rc = add_pattern(&rule->by[aspect], value);
        else if (add_class(rule, value))
            return wrong(line, "classes are read, write, meta and none", value);
    }
    return rc;
}

/* Reads KEY=VALUE at *at, and moves *at behind it. */
static int read_condition(struct rule *rule, char **at, unsigned line)
{
    static const char *const keys[] = {
        [BY_CAT] = "cat=", [BY_NAME] = "name=", [BY_PATH] = "path=", [BY_REGION] = "region=", [ASPECTS] = "class="};
    int aspect = 0, quoted;
    char *value, *end;

    while (aspect <= ASPECTS && strncmp(*at, keys[aspect], strlen(keys[aspect])))
        aspect++;
    if (aspect > ASPECTS)
        return wrong(line, "conditions are cat= name= class= path= region=", *at);
    value = *at + strlen(keys[aspect]);
    quoted = *value == '"';
    value += quoted;
    end = quoted ? strchr(value, '"') : value + strcspn(value, " \t");
    if (!end)
        return wrong(line, "a quote is not closed", "");
    *at = end + (*end != 0);
    *end = 0;
    return add_values(rule, aspect, value, quoted, line);
}

static int read_line(struct dft_rules *rules, char *at, unsigned line)
{
    struct rule *rule = &rules->rules[rules->count];
    char *name = at + strspn(at, " \t"), *colon = strchr(name, ':'), *end;
    int rc = 0;

    if (!*name || *name == '#')
        return 0;
    if (!colon)
        return wrong(line, "NAME: CONDITIONS is expected", name);
    for (end = colon; end > name && (end[-1] == ' ' || end[-1] == '\t');)
        end--;
    *end = 0;
    if (!is_file_name(name))
        return wrong(line,
                     "a group's name becomes that of a file: letters, digits, '.', '_' and '-' (and not "
                     "`aggregates`)",
                     name);
    if (rules->count == DFT_RULES_MAX)
        return wrong(line, "too many rules: 63 at most", "");
    rules->count++;
    rule->group = group_of(rules, name);
    for (at = colon + 1; !rc;) {
        at += strspn(at, " \t");
        if (!*at)
            break;
        rc = read_condition(rule, &at, line);
    }
    return rc;
}

static int read_lines(struct dft_rules *rules, const char *ends)
{
    unsigned line = 1;
    int rc = 0;

    for (char *at = rules->words, *end; !rc && at; at = end, line++) {
        end = at + strcspn(at, ends);
        if (*end)
            *end++ = 0;
        else
            end = NULL;
        rc = read_line(rules, at, line);
    }
    if (!rc && !rules->count)
        return wrong(1, "there is none", "");
    for (uint32_t i = 0; !rc && i < rules->groups; i++)
        if (!strcmp(rules->names[i], OTHER) && i + 1 < rules->groups) {
            /* `other` is always the last group. */
            for (uint32_t k = 0; k < rules->count; k++)
                rules->rules[k].group = rules->rules[k].group == i  ? rules->groups - 1
                                        : rules->rules[k].group > i ? rules->rules[k].group - 1
                                                                    : rules->rules[k].group;
            memmove(rules->names + i, rules->names + i + 1, (rules->groups - i - 1) * sizeof *rules->names);
            rules->names[rules->groups - 1] = OTHER;
            break;
        }
    if (!rc)
        group_of(rules, OTHER);
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

int dft_rules_read(struct dft_rules **result, const char *given)
{
    struct dft_rules *rules = calloc(1, sizeof *rules);
    const char *ends = "\n\r";
    int rc = rules ? read_file(&rules->text, given) : -ENOMEM;

    *result = rules;
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

void dft_rules_destroy(struct dft_rules *rules)
{
    if (!rules)
        return;
    for (uint32_t i = 0; i < DFT_RULES_MAX; i++)
        for (int aspect = 0; aspect < ASPECTS; aspect++)
            free(rules->rules[i].by[aspect].list);
    free(rules->text);
    free(rules->words);
    free(rules);
}

uint32_t dft_rules_groups(const struct dft_rules *rules)
{
    return rules->groups;
}

const char *dft_rules_name(const struct dft_rules *rules, uint32_t group)
{
    return rules->names[group];
}

struct dft_text dft_rules_text(const struct dft_rules *rules)
{
    return dft_text_from(rules->text);
}

/* --- asking ----------------------------------------------------------------------------------- */

struct dft_matcher {
    const struct dft_rules *rules;
    const struct dft_names *names;
    struct dft_map calls, paths, regions; /* id -> mask of rules * 2 + 1 */
};

struct dft_matcher *dft_matcher_create(const struct dft_rules *rules, const struct dft_names *names)
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

static int fits(const struct patterns *patterns, struct dft_text text)
{
    return !patterns->count || dft_patterns_fit(patterns->list, patterns->count, text);
}

static uint64_t mask_of_call(const struct dft_matcher *matcher, uint64_t id, uint8_t op)
{
    struct dft_text category, name;
    uint64_t mask = 0;
    char capacity[18];

    dft_names_call(matcher->names, id, &category, &name, capacity);
    for (uint32_t i = 0; i < matcher->rules->count; i++) {
        const struct rule *rule = &matcher->rules->rules[i];

        if (fits(&rule->by[BY_CAT], category) && fits(&rule->by[BY_NAME], name) &&
            (!rule->classes || rule->classes >> dft_op_class(op) & 1))
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

/* Finds the rules that fit a text. Rules without a pattern fit every text. Rules with a pattern fit
 * no absent text. */
static uint64_t mask_of_text(const struct dft_matcher *matcher, enum aspect aspect, uint64_t id)
{
    struct dft_text category, text = {0};
    uint64_t mask = 0;
    char capacity[18];

    if (id && aspect == BY_REGION)
        dft_names_call(matcher->names, id, &category, &text, capacity);
    else if (id)
        text = dft_names_show(matcher->names, id, capacity);
    for (uint32_t i = 0; i < matcher->rules->count; i++) {
        const struct patterns *patterns = &matcher->rules->rules[i].by[aspect];

        if (!patterns->count || (id && fits(patterns, text)))
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

/* Finds the mask of a name, and remembers the mask. `op`: that of a call; calls of one name may
 * differ in op. Returns 0 or -ENOMEM. */
static int mask_of(struct dft_matcher *matcher, struct dft_map *map, enum aspect aspect, uint64_t id, uint8_t op,
                   uint64_t *mask)
{
    uint64_t key = id ^ op * UINT64_C(0x9e3779b97f4a7c15), *known = key ? dft_map_find(map, key) : NULL;

    if (!known && key && !(known = dft_map_put(map, key)))
        return -ENOMEM;
    if (known && *known) {
        *mask = *known >> 1;
        return 0;
    }
    *mask = aspect == BY_NAME ? mask_of_call(matcher, id, op) : mask_of_text(matcher, aspect, id);
    if (known)
        *known = *mask << 1 | 1;
    return 0;
}

int dft_matcher_group(struct dft_matcher *matcher, const struct dft_call *call, const struct dft_event *event)
{
    uint64_t calls, path, path2 = 0, region, itself = 0, mask;

    if (mask_of(matcher, &matcher->calls, BY_NAME, call->id, call->op, &calls) ||
        mask_of(matcher, &matcher->paths, BY_PATH, event->file, 0, &path) ||
        mask_of(matcher, &matcher->regions, BY_REGION, event->region, 0, &region))
        return -ENOMEM;
    if (event->file2 && mask_of(matcher, &matcher->paths, BY_PATH, event->file2, 0, &path2))
        return -ENOMEM;
    if (call->op == DFT_OP_REGION && mask_of(matcher, &matcher->regions, BY_REGION, call->id, 0, &itself))
        return -ENOMEM;
    mask = calls & (path | path2) & (region | itself);
    return mask ? (int)matcher->rules->rules[__builtin_ctzll(mask)].group : (int)matcher->rules->groups - 1;
}
