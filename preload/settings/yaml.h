/* SPDX-License-Identifier: MIT */
/* Reads a YAML file by libyaml, where that was there when the library was built. Constructor only:
 * its memory is there until the file is closed. */
#ifndef DFT_YAML_H
#define DFT_YAML_H

#include <stddef.h>
#include <stdint.h>

#define DFT_YAML_FILE_MAX (1u << 20) /* bytes of a file */
#define DFT_YAML_OPEN_MAX 1000       /* brackets that are open at once */

/* A place in the file; both count from 1. line 0: the whole file. */
struct dft_yaml_place {
    uint32_t line, column;
};

/* What is wrong with the file. */
struct dft_yaml_fault {
    struct dft_yaml_place place;
    const char *reason; /* static, or valid until the file is closed */
};

enum dft_yaml_kind { DFT_YAML_NONE, DFT_YAML_SCALAR, DFT_YAML_LIST, DFT_YAML_MAP };

struct dft_yaml {
    void *document; /* libyaml's */
    char *text;
    char unreadable[32];
};

/* A node is a number; 0 is none. The file's text and the texts of its nodes are valid until it is
 * closed. */
typedef int dft_yaml_node;

/* Returns 0, or -1 with `fault` filled in. Close it in either case. */
int dft_yaml_open(struct dft_yaml *yaml, const char *path, struct dft_yaml_fault *fault);
void dft_yaml_close(struct dft_yaml *yaml);

/* The outermost node; 0: the file is empty. */
dft_yaml_node dft_yaml_root(const struct dft_yaml *yaml);
enum dft_yaml_kind dft_yaml_kind(const struct dft_yaml *yaml, dft_yaml_node node);
struct dft_yaml_place dft_yaml_place(const struct dft_yaml *yaml, dft_yaml_node node);
/* The text of a scalar, ended by a NUL. NULL: this node is no scalar, or its text has a NUL inside. */
const char *dft_yaml_text(const struct dft_yaml *yaml, dft_yaml_node node);
/* The i-th item of a list; 0 behind the last one. */
dft_yaml_node dft_yaml_item(const struct dft_yaml *yaml, dft_yaml_node list, uint32_t i);
/* The i-th pair of a map. Returns 1, or 0 behind the last one. */
int dft_yaml_pair(const struct dft_yaml *yaml, dft_yaml_node map, uint32_t i, dft_yaml_node *key, dft_yaml_node *value);

#endif
