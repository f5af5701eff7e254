/* SPDX-License-Identifier: MIT */
/* Reads a preset line by line, and says what is wrong with a line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/facet_words.h"
#include "base/nearest_word.h"
#include "base/table_file.h"
#include "layers/preset.h"

struct reading {
    struct dft_table_file file;
    struct dft_preset *preset;
    struct dft_layer_rule rule; /* of this line */
    uint16_t layer;             /* of this line; DFT_LAYER_NONE: {cat} */
    uint16_t before;            /* the layers of earlier lines */
};

static const char *const keys[] = {"cat", "name", "path", "class", "inside", "outside", "parent", "role"};
enum key { KEY_CAT, KEY_NAME, KEY_PATH, KEY_CLASS, KEY_INSIDE, KEY_OUTSIDE, KEY_PARENT, KEY_ROLE, KEYS };

static int fail(const struct reading *reading, const char *word, const char *why, const char *nearest)
{
    return dft_table_file_fail(&reading->file, word, why, nearest);
}

/* A list with commas into one with a NUL behind each word. Returns 0, -EINVAL after an error, or
 * -ENOMEM. */
static int split(const struct reading *reading, const char *value, char **list)
{
    size_t length = strlen(value), n = 0;

    *list = malloc(length + 2);
    if (!*list)
        return -ENOMEM;
    for (size_t i = 0; i < length; i++)
        if (value[i] != ',' || (n && (*list)[n - 1]))
            (*list)[n++] = value[i] == ',' ? '\0' : value[i];
    if (n && (*list)[n - 1])
        (*list)[n++] = '\0';
    (*list)[n] = '\0';
    if (n)
        return 0;
    return fail(reading, "", "a value is missing, as in cat=POSIX,STDIO.", NULL);
}

/* The number of a layer of an earlier line, or -EINVAL after an error. */
static int find_layer(const struct reading *reading, const char *name)
{
    const char *names[DFT_LAYERS_MAX], *nearest;

    for (uint16_t i = 0; i < reading->before; i++) {
        names[i] = reading->preset->layers[i].name;
        if (!strcmp(names[i], name))
            return i;
    }
    nearest = dft_nearest_word(name, strlen(name), names, reading->before);
    return fail(reading, name, ": no layer of an earlier line has this name.", nearest);
}

static int set_layers(struct reading *reading, const char *list, struct dft_layer_set *set)
{
    for (const char *at = list; *at; at += strlen(at) + 1) {
        int layer = find_layer(reading, at);

        if (layer < 0)
            return layer;
        dft_layer_set_add(set, (unsigned)layer);
        dft_layer_set_add(&reading->preset->around, (unsigned)layer);
    }
    return 0;
}

static int set_classes(struct reading *reading, const char *list)
{
    const char *words[DFT_IO_COUNT];

    for (unsigned io = 0; io < DFT_IO_COUNT; io++)
        words[io] = dft_io_word((uint8_t)io);
    for (const char *at = list; *at; at += strlen(at) + 1) {
        unsigned io = 0;

        while (io < DFT_IO_COUNT && strcmp(words[io], at) != 0)
            io++;
        if (io == DFT_IO_COUNT)
            return fail(reading, at, ": there is no such class of calls.",
                        dft_nearest_word(at, strlen(at), words, DFT_IO_COUNT));
        reading->rule.classes |= 1u << io;
    }
    return 0;
}

static int set_parent(struct reading *reading, const char *name)
{
    int parent = find_layer(reading, name);
    uint16_t *of =
        reading->layer == DFT_LAYER_NONE ? &reading->rule.parent : &reading->preset->layers[reading->layer].parent;

    if (parent < 0)
        return parent;
    if (parent == reading->layer)
        return fail(reading, name, ": a layer cannot be its own parent.", NULL);
    if (*of != DFT_LAYER_NONE && *of != parent)
        return fail(reading, name, ": another line gives the layer another parent.", NULL);
    if (reading->layer != DFT_LAYER_NONE && dft_layer_is_above(reading->preset, reading->layer, (unsigned)parent))
        return fail(reading, name, ": its parents lead back to this layer.", NULL);
    *of = (uint16_t)parent;
    return 0;
}

static int set_role(struct reading *reading, const char *role)
{
    static const char *const roles[] = {"compute"};

    if (strcmp(role, *roles) != 0)
        return fail(reading, role, ": the one role is compute.", dft_nearest_word(role, strlen(role), roles, 1));
    reading->rule.computes = 1;
    if (reading->layer != DFT_LAYER_NONE)
        reading->preset->layers[reading->layer].computes = 1;
    return 0;
}

static int set_path(struct reading *reading, const char *value)
{
    if (reading->preset->npaths == DFT_LAYER_PATHS_MAX)
        return fail(reading, "path", ": at most 63 rules have paths.", NULL);
    reading->rule.path_bit = (int8_t)reading->preset->npaths++;
    return split(reading, value, &reading->rule.path);
}

static int set_list(struct reading *reading, enum key key, const char *value)
{
    struct dft_layer_rule *rule = &reading->rule;
    char *list;
    int rc = split(reading, value, &list);

    if (!rc && key == KEY_CLASS)
        rc = set_classes(reading, list);
    else if (!rc)
        rc = set_layers(reading, list, key == KEY_INSIDE ? &rule->inside : &rule->outside);
    rule->is_inside |= key == KEY_INSIDE;
    free(list);
    return rc;
}

static int set(struct reading *reading, enum key key, const char *value)
{
    switch (key) {
    case KEY_CAT:
        return split(reading, value, &reading->rule.cat);
    case KEY_NAME:
        return split(reading, value, &reading->rule.name);
    case KEY_PATH:
        return set_path(reading, value);
    case KEY_PARENT:
        return set_parent(reading, value);
    case KEY_ROLE:
        return set_role(reading, value);
    default:
        return set_list(reading, key, value);
    }
}

/* --- a line ----------------------------------------------------------------------------------- */

/* Finds or makes the layer of the line. */
static int set_layer(struct reading *reading, const char *name)
{
    struct dft_preset *preset = reading->preset;
    struct dft_layer layer = {.parent = DFT_LAYER_NONE};

    reading->layer = DFT_LAYER_NONE;
    if (!strcmp(name, "{cat}"))
        return 0;
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127 || strchr("=,\"{}!", *at))
            return fail(reading, name, ": a line begins with the name of a layer, without =,\"{}! in it.", NULL);
    for (reading->layer = 0; reading->layer < preset->nlayers; reading->layer++)
        if (!strcmp(preset->layers[reading->layer].name, name))
            return 0;
    if (preset->nlayers == DFT_LAYERS_MAX)
        return fail(reading, name, ": a preset has at most 128 layers.", NULL);
    layer.name = strdup(name);
    if (layer.name && !DFT_ARRAY_PUSH(preset->layers, preset->layers_capacity, preset->nlayers, layer))
        return 0;
    free(layer.name);
    return -ENOMEM;
}

/* Cuts "KEY=VALUE" or KEY="VALUE" off. Returns 0 or -EINVAL after an error. */
static int next_condition(const struct reading *reading, char **at, enum key *key, char **value)
{
    char *word = *at, *equals = word + strcspn(word, "= \t"), *end;

    if (*equals != '=') {
        *equals = '\0';
        return fail(reading, word, ": a condition is KEY=VALUE, as in cat=POSIX.", NULL);
    }
    *equals = '\0';
    for (*key = KEY_CAT; *key < KEYS && strcmp(keys[*key], word) != 0;)
        ++*key;
    if (*key == KEYS)
        return fail(reading, word, ": there is no such key.", dft_nearest_word(word, strlen(word), keys, KEYS));
    *value = equals + 1;
    end = *value + strcspn(*value, " \t");
    if (**value == '"') {
        end = strchr(++*value, '"');
        if (!end || (end[1] && !strchr(" \t", end[1])))
            return fail(reading, *value - 1, ": a quote is missing, or a blank after it.", NULL);
    }
    *at = end + (*end != '\0');
    *end = '\0';
    return 0;
}

static int parse_conditions(struct reading *reading, char *at)
{
    unsigned seen = 0;
    int rc = 0;

    while (!rc && *(at = dft_trimmed(at))) {
        enum key key = KEYS;
        char *value = NULL;

        rc = next_condition(reading, &at, &key, &value);
        if (!rc && seen >> key & 1)
            return fail(reading, keys[key], " stands in this line twice.", NULL);
        if (!rc)
            rc = set(reading, key, value);
        seen |= rc ? 0 : 1u << key;
    }
    if (!rc && !(seen & ~(1u << KEY_PARENT | 1u << KEY_ROLE)))
        return fail(reading, "", "the line chooses no events: cat=, name=, path= or class= does.", NULL);
    return rc;
}

static void cut_comment(char *line)
{
    int quoted = 0;

    for (; *line && (*line != '#' || quoted); line++)
        quoted ^= *line == '"';
    *line = '\0';
}

static int parse_line(void *context, char *line)
{
    struct reading *reading = context;
    struct dft_preset *preset = reading->preset;
    char *name, *rest;
    int rc;

    cut_comment(line);
    name = dft_trimmed(line);
    if (!*name)
        return 0;
    rest = name + strcspn(name, " \t");
    if (*rest)
        *rest++ = '\0';
    if (preset->nrules == DFT_LAYER_RULES_MAX)
        return fail(reading, name, ": a preset has at most 512 rules.", NULL);
    reading->before = (uint16_t)preset->nlayers;
    reading->rule = (struct dft_layer_rule){.parent = DFT_LAYER_NONE, .path_bit = -1};
    rc = set_layer(reading, name);
    if (!rc)
        rc = parse_conditions(reading, rest);
    reading->rule.layer = reading->layer;
    if (!rc && !DFT_ARRAY_PUSH(preset->rules, preset->rules_capacity, preset->nrules, reading->rule))
        return 0;
    free(reading->rule.cat);
    free(reading->rule.name);
    free(reading->rule.path);
    return rc ? rc : -ENOMEM;
}

int dft_preset_read(struct dft_preset *preset, const char *path, char *error, size_t size)
{
    struct reading reading = {.file = {.path = path, .error = error, .size = size}, .preset = preset};
    int rc;

    *preset = (struct dft_preset){.name = path};
    rc = dft_table_file_read(&reading.file, parse_line, &reading);
    if (!rc && !preset->nrules) {
        snprintf(error, size, "%s: there is no rule in it; `dftmerge layers --list posix` prints an example", path);
        rc = -EINVAL;
    }
    return rc;
}

int dft_preset_init(struct dft_preset *preset, const struct dft_builtin_preset *builtin)
{
    char error[256], *text = strdup(builtin->text), *state = NULL;
    struct reading reading = {.file = {.path = builtin->name, .error = error, .size = sizeof error}, .preset = preset};
    int rc = text ? 0 : -ENOMEM;

    *preset = (struct dft_preset){.name = builtin->name};
    for (char *line = text ? strtok_r(text, "\n", &state) : NULL; !rc && line; line = strtok_r(NULL, "\n", &state))
        rc = parse_line(&reading, line);
    free(text);
    return rc;
}
