/* SPDX-License-Identifier: MIT */
/* The memory of libyaml: it must not be the program's. The build binds libyaml's malloc, realloc, free and strdup
 * to these functions (CMakeLists.txt). Constructor only. */
#ifndef DFT_YAML_MEMORY_H
#define DFT_YAML_MEMORY_H

#include <stddef.h>

/* A document is opened, and closed. With the last one all memory goes back to the kernel. */
void dft_yaml_memory_begin(void);
void dft_yaml_memory_end(void);

/* As the C library's functions of these names. */
void *dft_yaml_malloc(size_t size);
void *dft_yaml_realloc(void *memory, size_t size);
void dft_yaml_free(void *memory);
char *dft_yaml_strdup(const char *text);

#endif
