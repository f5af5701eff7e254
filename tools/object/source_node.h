/* SPDX-License-Identifier: MIT */
/* Processes that describe a node: `dftrun --node` samples it, and they make no calls. */
#ifndef DFT_SOURCE_NODE_H
#define DFT_SOURCE_NODE_H

#include <string.h>

#include "object/object.h"

static inline int dft_process_is_node(const struct dft_source_process *process)
{
    const struct dft_text *role = &process->process.role;

    return !process->process.exe.length && role->length == 4 && !memcmp(role->bytes, "node", 4);
}

#endif
