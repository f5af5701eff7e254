/* SPDX-License-Identifier: MIT */
/* Owns the keys of the file of settings: each stands for a variable. */
#include "settings/configuration.h"

#include <string.h>

#include "os/bulk.h"
#include "settings/config.h"
#include "settings/message.h"
#include "os/line.h"
#include "settings/nearest.h"
#include "settings/rules_file.h"
#include "settings/settings.h"
#include "settings/yaml.h"

/* SAME: the variable's value; INVERTED: a switch of the opposite meaning; ACCEPTED: of DFTracer, and
 * without effect here; GROUP: a map of more keys; LIST: rules. */
enum meaning { SAME, INVERTED, ACCEPTED, GROUP, LIST };

static const struct key {
    const char *path, *variable; /* the variable is without DFTRACER_ */
    enum meaning meaning;
} keys[] = {
    {"enable", "ENABLE", SAME},
    {"profiler", NULL, GROUP},
    {"profiler.init", "INIT", SAME},
    {"profiler.log_file", "LOG_FILE", SAME},
    {"profiler.mode", "MODE", SAME},
    {"profiler.data_dirs", "DATA_DIR", SAME},
    {"profiler.log_level", "LOG_LEVEL", SAME},
    {"profiler.compression", "TRACE_COMPRESSION", SAME},
    {"profiler.interval_ms", "TRACE_INTERVAL_MS", SAME},
    {"gotcha", NULL, GROUP},
    {"gotcha.priority", NULL, ACCEPTED},
    {"features", NULL, GROUP},
    {"features.metadata", "INC_METADATA", SAME},
    {"features.core_affinity", NULL, ACCEPTED},
    {"features.io", NULL, GROUP},
    {"features.io.enable", "DISABLE_IO", INVERTED},
    {"features.io.posix", "DISABLE_POSIX", INVERTED},
    {"features.io.stdio", "DISABLE_STDIO", INVERTED},
    {"features.tid", "DISABLE_TIDS", INVERTED},
    {"features.aggregation", NULL, GROUP},
    {"features.aggregation.enable", "ENABLE_AGGREGATION", SAME},
    {"features.aggregation.type", "AGGREGATION_TYPE", SAME},
    {"features.aggregation.file", "AGGREGATION_FILE", SAME},
    {"features.aggregation.inclusion", NULL, LIST},
    {"features.aggregation.exclusion", NULL, LIST},
    {"internal", NULL, GROUP},
    {"internal.bind_signals", "BIND_SIGNALS", SAME},
    {"internal.throw_error", NULL, ACCEPTED},
    {"internal.write_buffer_size", NULL, ACCEPTED},
};
#define KEYS       (sizeof keys / sizeof *keys)
#define PATH_ROOM  96u
#define DEPTH_MAX  3
#define VALUE_ROOM 4096u

static struct dft_yaml yaml;
static const char *variable; /* of the environment; NULL: there is no file */
static dft_yaml_node of_key[KEYS];

/* Notes what is wrong at a place of the file: the texts one behind the other, up to NULL. */
static void doubt(struct dft_yaml_place place, const char *const *texts)
{
    static struct dft_message_line line DFT_BULK;

    line.used = 0;
    dft_line_place(&line, place.line, place.column);
    for (; *texts; texts++)
        dft_line_text(&line, *texts);
    line.text[line.used] = 0;
    dft_settings_doubt_part(variable, dft_config_keep(line.text));
}

#define DOUBT(place, ...) doubt(place, (const char *const[]){__VA_ARGS__, NULL})

static const struct key *find_key(const char *path)
{
    for (size_t i = 0; i < KEYS; i++)
        if (!strcmp(keys[i].path, path))
            return &keys[i];
    return NULL;
}

static void doubt_key(dft_yaml_node node, const char *path)
{
    const char *names[KEYS];

    for (size_t i = 0; i < KEYS; i++)
        names[i] = keys[i].path;
    DOUBT(dft_yaml_place(&yaml, node), "there is no key ", path, "; the nearest is ",
          dft_nearest_of(names, KEYS, path, strlen(path)));
}

/* The text of a value. The items of a list of directories are joined by colons. */
static const char *text_of(dft_yaml_node node, char value[VALUE_ROOM])
{
    size_t used = 0;
    dft_yaml_node item;

    if (dft_yaml_kind(&yaml, node) != DFT_YAML_LIST)
        return dft_yaml_text(&yaml, node);
    for (uint32_t i = 0; (item = dft_yaml_item(&yaml, node, i)); i++) {
        const char *text = dft_yaml_text(&yaml, item);
        size_t length = text ? strlen(text) : VALUE_ROOM;

        if (used + length + 2 > VALUE_ROOM)
            return NULL;
        if (i)
            value[used++] = ':';
        memcpy(value + used, text, length + 1);
        used += length;
    }
    return used ? value : NULL;
}

static void set(const struct key *key, dft_yaml_node node)
{
    static char value[VALUE_ROOM] DFT_BULK;
    int is_list = dft_yaml_kind(&yaml, node) == DFT_YAML_LIST && strcmp(key->variable, "DATA_DIR") != 0;
    const char *text = is_list ? NULL : text_of(node, value), *wanted = text;

    if (text && key->meaning == INVERTED) {
        int given = dft_config_is_true(text);

        wanted = given < 0 ? NULL : given ? "0" : "1";
    }
    if (!wanted || dft_config_set(key->variable, strlen(key->variable), wanted) != DFT_CONFIG_SET)
        DOUBT(dft_yaml_place(&yaml, node), key->path, ": the value is not understood; the default is used");
}

static void apply_map(dft_yaml_node map, const char *above, int depth);

static void apply(const char *path, dft_yaml_node at, dft_yaml_node value, int depth)
{
    const struct key *key = find_key(path);

    if (!key) {
        doubt_key(at, path);
        return;
    }
    of_key[key - keys] = value;
    if (key->meaning == ACCEPTED)
        dft_message(DFT_LOG_INFO, variable, ": ", path, " has no effect here", NULL);
    else if (key->meaning == SAME || key->meaning == INVERTED)
        set(key, value);
    else if (key->meaning == GROUP && dft_yaml_kind(&yaml, value) == DFT_YAML_MAP && depth < DEPTH_MAX)
        apply_map(value, path, depth + 1);
    else if (key->meaning == GROUP)
        DOUBT(dft_yaml_place(&yaml, value), path, ": more keys are to stand below it, indented");
}

/* All pairs of a map. `above`: the path of its key, "" of the whole file. `tracer` is another name of
 * `profiler`. */
static void apply_map(dft_yaml_node map, const char *above, int depth)
{
    dft_yaml_node key, value;

    for (uint32_t i = 0; dft_yaml_pair(&yaml, map, i, &key, &value); i++) {
        const char *name = dft_yaml_text(&yaml, key);
        size_t length = name ? strlen(name) : 0, used = strlen(above);
        char path[PATH_ROOM];

        if (!name || !length || used + length + 2 > sizeof path) {
            DOUBT(dft_yaml_place(&yaml, key), "this is no key");
            continue;
        }
        if (!used && !strcmp(name, "tracer"))
            name = "profiler", length = strlen(name);
        memcpy(path, above, used);
        if (used)
            path[used++] = '.';
        memcpy(path + used, name, length + 1);
        apply(path, key, value, depth);
    }
}

void dft_configuration_read(const char *given)
{
    const char *path = strchr(given, '=') + 1;
    struct dft_yaml_fault fault;

    variable = given;
    if (dft_yaml_open(&yaml, path, &fault)) {
        static struct dft_message_line line DFT_BULK;

        line.used = 0;
        dft_line_place(&line, fault.place.line, fault.place.column);
        dft_line_text(&line, fault.reason);
        line.text[line.used] = 0;
        dft_settings_doubt(given, dft_config_keep(line.text), 1);
        dft_yaml_close(&yaml);
        variable = NULL;
        return;
    }
    if (dft_yaml_kind(&yaml, dft_yaml_root(&yaml)) == DFT_YAML_MAP)
        apply_map(dft_yaml_root(&yaml), "", 0);
    else
        dft_settings_doubt(given, "the file has no keys", 1);
}

int dft_configuration_doubt(const char *name, const char *reason)
{
    for (size_t i = 0; variable && i < KEYS; i++)
        if (keys[i].variable && of_key[i] && !strcmp(keys[i].variable, name)) {
            DOUBT(dft_yaml_place(&yaml, of_key[i]), keys[i].path, ": ", reason);
            return 1;
        }
    return 0;
}

int dft_configuration_rules(void)
{
    dft_yaml_node inclusion, exclusion;

    if (!variable)
        return 0;
    inclusion = of_key[find_key("features.aggregation.inclusion") - keys];
    exclusion = of_key[find_key("features.aggregation.exclusion") - keys];
    if (!inclusion && !exclusion)
        return 0;
    return dft_rules_take(variable, &yaml, inclusion, exclusion) ? -1 : 1;
}

void dft_configuration_done(void)
{
    if (variable)
        dft_yaml_close(&yaml);
    variable = NULL;
}
