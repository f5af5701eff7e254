/* SPDX-License-Identifier: MIT */
/* Looks modules up in a list: there are few. */
#include "symbols/modules.h"

#include <stdlib.h>
#include <string.h>

void *dft_module_get(struct dft_module **list, const char *path, uint64_t build_id, size_t bytes, int *added)
{
    struct dft_module *module = *list;

    *added = 0;
    while (module && (module->build_id != build_id || strcmp(module->path, path) != 0))
        module = module->next;
    if (module)
        return module;
    module = calloc(1, bytes);
    if (!module || !(module->path = strdup(path))) {
        free(module);
        return NULL;
    }
    module->build_id = build_id;
    module->next = *list;
    *list = module;
    *added = 1;
    return module;
}
