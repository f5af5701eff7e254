/* SPDX-License-Identifier: MIT */
/* Maps processes to the groups that a query distinguishes: by all traits that are keys. */
#include "query/plan_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "format/hash.h"
#include "query/execution.h"
#include "query/group_map.h"
#include "query/query_types.h"
#include "object/object.h"

static uint64_t text_id(struct dft_execution *execution, struct dft_text text)
{
    uint64_t id;

    if (!text.length)
        return 0;
    id = dft_name_id(text.bytes, text.length);
    return dft_names_add(execution->names, id, text.bytes, text.length, NULL) ? 0 : id;
}

static uint64_t program_id(struct dft_execution *execution, const struct dft_process *process)
{
    struct dft_text text = process->exe;
    const char *slash = text.length ? memrchr(text.bytes, '/', text.length) : NULL;

    if (slash) {
        text.length -= (uint32_t)(slash + 1 - text.bytes);
        text.bytes = slash + 1;
    }
    return text_id(execution, text);
}

/* Any of a key's fields does for a trait here. */
int dft_number_processes(struct dft_execution *execution)
{
    struct dft_group_map map = {0};
    const struct dft_source_process *processes;
    uint32_t count;
    int rc = 0;

    processes = dft_source_processes(execution->source, &count);
    execution->process_group_of = calloc(count + 1u, sizeof *execution->process_group_of);
    execution->process_group = calloc(count + 1u, sizeof *execution->process_group);
    if (!execution->process_group_of || !execution->process_group)
        return -ENOMEM;
    for (uint32_t i = 0; !rc && i < count; i++) {
        const struct dft_process *process = &processes[i].process;
        struct dft_group_key key = {0};
        uint32_t number;

        if (DFT_HAS(execution, DFT_BY_PROCESS))
            key.call = processes[i].key;
        if (DFT_HAS(execution, DFT_BY_RANK))
            key.cat = (uint64_t)(process->rank + INT64_C(1));
        if (DFT_HAS(execution, DFT_BY_PID))
            key.name = process->pid;
        if (DFT_HAS(execution, DFT_BY_HOST))
            key.region = text_id(execution, process->host);
        if (DFT_HAS(execution, DFT_BY_PROGRAM))
            key.file = program_id(execution, process);
        if (DFT_HAS(execution, DFT_BY_RUN))
            key.stack = processes[i].run;
        if (DFT_HAS(execution, DFT_BY_JOB))
            key.time = processes[i].job;
        if (DFT_HAS(execution, DFT_BY_ROLE))
            key.line = text_id(execution, process->role);
        rc = dft_group_map_get(&map, &key, &number);
        execution->process_group_of[i] = number + 1;
        if (!rc && number == execution->nprocess_groups)
            execution->process_group[execution->nprocess_groups++] = &processes[i];
    }
    dft_group_map_fini(&map);
    return rc;
}
