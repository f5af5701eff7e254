/* SPDX-License-Identifier: MIT */
/* Owns the reading of YAML files. Every function of libyaml is called here. */
#include "settings/yaml.h"

#ifdef DFT_HAVE_YAML

#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "os/line.h"
#include "os/sys.h"
#include "os/whole.h"
#include "settings/yaml_memory.h"

/* libyaml's time grows with the square of the brackets that are open at once. Returns -1 with the place where there are
 * too many; brackets in texts and comments count, too, and are closed there as a rule. */
static int check_depth(const char *text, size_t length, struct dft_yaml_fault *fault)
{
    size_t open = 0, line_start = 0;
    uint32_t line = 1;

    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n') {
            line++;
            line_start = i + 1;
        } else if (text[i] == '[' || text[i] == '{') {
            open++;
        } else if (text[i] == ']' || text[i] == '}') {
            open -= open > 0;
        }
        if (open > DFT_YAML_OPEN_MAX) {
            fault->place.line = line;
            fault->place.column = (uint32_t)(i - line_start) + 1;
            fault->reason = "over 1,000 brackets are open here";
            return -1;
        }
    }
    return 0;
}

/* Returns 0, or -1 with the place of the mistake. */
static int parse(struct dft_yaml *yaml, size_t length, struct dft_yaml_fault *fault)
{
    yaml_parser_t parser;
    int result = -1;

    if (check_depth(yaml->text, length, fault))
        return -1;
    fault->reason = "there is no memory to read it";
    yaml->document = dft_yaml_malloc(sizeof(yaml_document_t));
    if (!yaml->document)
        return -1;
    memset(yaml->document, 0, sizeof(yaml_document_t));
    if (!yaml_parser_initialize(&parser))
        return -1;
    yaml_parser_set_input_string(&parser, (const unsigned char *)yaml->text, length);
    if (yaml_parser_load(&parser, yaml->document)) {
        result = 0;
    } else {
        fault->place.line = (uint32_t)parser.problem_mark.line + 1;
        fault->place.column = (uint32_t)parser.problem_mark.column + 1;
        if (parser.problem)
            fault->reason = parser.problem;
        dft_yaml_free(yaml->document); /* libyaml has emptied it */
        yaml->document = NULL;
    }
    yaml_parser_delete(&parser);
    return result;
}

int dft_yaml_open(struct dft_yaml *yaml, const char *path, struct dft_yaml_fault *fault)
{
    long length;

    _Static_assert(sizeof yaml->unreadable == DFT_ERROR_ROOM, "the text of an unknown error fits");
    *yaml = (struct dft_yaml){.document = NULL};
    *fault = (struct dft_yaml_fault){.reason = NULL};
    dft_yaml_memory_begin();
    length = dft_whole_read(path, DFT_YAML_FILE_MAX, &yaml->text);
    if (length >= 0)
        return parse(yaml, (size_t)length, fault);
    fault->reason = length == -EFBIG    ? "it is larger than 1 MiB"
                    : length == -ENODEV ? "it is no regular file"
                                        : dft_line_error((int)-length, yaml->unreadable);
    return -1;
}

void dft_yaml_close(struct dft_yaml *yaml)
{
    if (yaml->document)
        yaml_document_delete(yaml->document);
    dft_yaml_free(yaml->document);
    dft_yaml_memory_end();
    if (yaml->text)
        DFT_SYS(munmap, yaml->text, DFT_YAML_FILE_MAX + 1, 0, 0, 0, 0);
    yaml->document = NULL;
    yaml->text = NULL;
}

static yaml_node_t *node_at(const struct dft_yaml *yaml, dft_yaml_node node)
{
    return yaml_document_get_node(yaml->document, node);
}

dft_yaml_node dft_yaml_root(const struct dft_yaml *yaml)
{
    return yaml_document_get_root_node(yaml->document) ? 1 : 0; /* they are numbered from 1 */
}

enum dft_yaml_kind dft_yaml_kind(const struct dft_yaml *yaml, dft_yaml_node node)
{
    const yaml_node_t *at = node_at(yaml, node);

    if (!at)
        return DFT_YAML_NONE;
    return at->type == YAML_SCALAR_NODE     ? DFT_YAML_SCALAR
           : at->type == YAML_SEQUENCE_NODE ? DFT_YAML_LIST
           : at->type == YAML_MAPPING_NODE  ? DFT_YAML_MAP
                                            : DFT_YAML_NONE;
}

/* The text of a quoted scalar begins behind the quote. */
struct dft_yaml_place dft_yaml_place(const struct dft_yaml *yaml, dft_yaml_node node)
{
    const yaml_node_t *at = node_at(yaml, node);
    int quoted = at && at->type == YAML_SCALAR_NODE && at->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;

    if (!at)
        return (struct dft_yaml_place){0, 0};
    return (struct dft_yaml_place){(uint32_t)at->start_mark.line + 1,
                                   (uint32_t)at->start_mark.column + 1 + (uint32_t)quoted};
}

const char *dft_yaml_text(const struct dft_yaml *yaml, dft_yaml_node node)
{
    const yaml_node_t *at = node_at(yaml, node);
    const char *text;

    if (!at || at->type != YAML_SCALAR_NODE)
        return NULL;
    text = (const char *)at->data.scalar.value;
    return strlen(text) == at->data.scalar.length ? text : NULL;
}

dft_yaml_node dft_yaml_item(const struct dft_yaml *yaml, dft_yaml_node list, uint32_t i)
{
    const yaml_node_t *at = node_at(yaml, list);

    if (!at || at->type != YAML_SEQUENCE_NODE ||
        i >= (size_t)(at->data.sequence.items.top - at->data.sequence.items.start))
        return 0;
    return at->data.sequence.items.start[i];
}

int dft_yaml_pair(const struct dft_yaml *yaml, dft_yaml_node map, uint32_t i, dft_yaml_node *key, dft_yaml_node *value)
{
    const yaml_node_t *at = node_at(yaml, map);

    if (!at || at->type != YAML_MAPPING_NODE ||
        i >= (size_t)(at->data.mapping.pairs.top - at->data.mapping.pairs.start))
        return 0;
    *key = at->data.mapping.pairs.start[i].key;
    *value = at->data.mapping.pairs.start[i].value;
    return 1;
}

#else

int dft_yaml_open(struct dft_yaml *yaml, const char *path, struct dft_yaml_fault *fault)
{
    (void)path;
    *yaml = (struct dft_yaml){.document = NULL};
    *fault = (struct dft_yaml_fault){.reason = "this build cannot read YAML: install libyaml-dev, and build again"};
    return -1;
}

void dft_yaml_close(struct dft_yaml *yaml)
{
    (void)yaml;
}

/* No file is ever open. */
dft_yaml_node dft_yaml_root(const struct dft_yaml *yaml)
{
    (void)yaml;
    return 0;
}

enum dft_yaml_kind dft_yaml_kind(const struct dft_yaml *yaml, dft_yaml_node node)
{
    (void)yaml;
    (void)node;
    return DFT_YAML_NONE;
}

struct dft_yaml_place dft_yaml_place(const struct dft_yaml *yaml, dft_yaml_node node)
{
    (void)yaml;
    (void)node;
    return (struct dft_yaml_place){0, 0};
}

const char *dft_yaml_text(const struct dft_yaml *yaml, dft_yaml_node node)
{
    (void)yaml;
    (void)node;
    return NULL;
}

dft_yaml_node dft_yaml_item(const struct dft_yaml *yaml, dft_yaml_node list, uint32_t i)
{
    (void)yaml;
    (void)list;
    (void)i;
    return 0;
}

int dft_yaml_pair(const struct dft_yaml *yaml, dft_yaml_node map, uint32_t i, dft_yaml_node *key, dft_yaml_node *value)
{
    (void)yaml;
    (void)map;
    (void)i;
    *key = *value = 0;
    return 0;
}

#endif
