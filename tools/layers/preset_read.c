/* SPDX-License-Identifier: MIT */
/* Reads a preset line by line, and says what is wrong with a line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
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

static const char *const keys[] = {DFT_SELECTION_WORDS, "inside", "outside", "parent", "role"};
enum { KEY_INSIDE = DFT_SELECTION_KEYS, KEY_OUTSIDE, KEY_PARENT, KEY_ROLE, KEYS };

static int fail(const struct reading *reading, const char *word, const char *why, const char *nearest)
{
    return dft_table_file_fail(&reading->file, word, why, nearest);
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

static int set_layers(struct reading *reading, char *list, struct dft_layer_set *set)
{
    for (char *name = list, *comma; name; name = comma) {
        int layer;

        comma = strchr(name, ',');
        if (comma)
            *comma++ = '\0';
        layer = find_layer(reading, name);
        if (layer < 0)
            return layer;
        dft_layer_set_add(set, (unsigned)layer);
        dft_layer_set_add(&reading->preset->around, (unsigned)layer);
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

static int select_events(struct reading *reading, unsigned key, const char *value)
{
    struct dft_layer_rule *rule = &reading->rule;
    char why[DFT_FILTER_WHY + 2] = ": ";
    int rc;

    if ((key == DFT_SELECT_PATH || key == DFT_SELECT_REGION) && rule->place_bit < 0) {
        if (reading->preset->nplaces == DFT_LAYER_PLACES_MAX)
            return fail(reading, keys[key], ": at most 63 rules have paths or regions.", NULL);
        rule->place_bit = (int8_t)reading->preset->nplaces++;
    }
    rc = dft_selection_add(&rule->selection, key, value, why + 2);
    return rc == -EINVAL ? fail(reading, keys[key], why, NULL) : rc;
}

static int set(struct reading *reading, unsigned key, char *value)
{
    struct dft_layer_rule *rule = &reading->rule;

    switch (key) {
    case KEY_INSIDE:
        rule->is_inside = 1;
        return set_layers(reading, value, &rule->inside);
    case KEY_OUTSIDE:
        return set_layers(reading, value, &rule->outside);
    case KEY_PARENT:
        return set_parent(reading, value);
    case KEY_ROLE:
        return set_role(reading, value);
    default:
        return select_events(reading, key, value);
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

static int parse_conditions(struct reading *reading, char *at)
{
    unsigned seen = 0, key;
    char *value;
    int rc;

    while ((rc = dft_table_file_value(&reading->file, &at, keys, KEYS, &key, &value)) > 0) {
        if (seen >> key & 1)
            return fail(reading, keys[key], " stands in this line twice.", NULL);
        rc = set(reading, key, value);
        if (rc)
            return rc;
        seen |= 1u << key;
    }
    if (!rc && !(seen & ~(1u << KEY_PARENT | 1u << KEY_ROLE)))
        return fail(reading, "", "the line chooses no events: cat=, name=, path=, region= or class= does.", NULL);
    return rc;
}

static int parse_line(void *context, char *line)
{
    struct reading *reading = context;
    struct dft_preset *preset = reading->preset;
    char *name, *rest;
    int rc;

    name = dft_trimmed(line);
    if (!*name || *name == '#')
        return 0;
    rest = name + strcspn(name, " \t");
    if (*rest)
        *rest++ = '\0';
    if (preset->nrules == DFT_LAYER_RULES_MAX)
        return fail(reading, name, ": a preset has at most 512 rules.", NULL);
    reading->before = (uint16_t)preset->nlayers;
    reading->rule = (struct dft_layer_rule){.parent = DFT_LAYER_NONE, .place_bit = -1};
    rc = set_layer(reading, name);
    if (!rc)
        rc = parse_conditions(reading, rest);
    reading->rule.layer = reading->layer;
    if (!rc && !DFT_ARRAY_PUSH(preset->rules, preset->rules_capacity, preset->nrules, reading->rule))
        return 0;
    dft_selection_fini(&reading->rule.selection);
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
    char error[256], *text = strdup(builtin->text);
    struct reading reading = {.file = {.path = builtin->name, .error = error, .size = sizeof error}, .preset = preset};
    int rc;

    *preset = (struct dft_preset){.name = builtin->name};
    rc = text ? dft_table_text_read(&reading.file, text, "\n", parse_line, &reading) : -ENOMEM;
    free(text);
    return rc;
}
