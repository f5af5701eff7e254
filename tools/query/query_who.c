/* SPDX-License-Identifier: MIT */
/* Which processes are one to a query: those that are alike in all traits that are keys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "query/query_inside.h"
#include "base/names.h"
#include "format/hash.h"

static uint64_t text_id(struct dft_asking *asking, struct dft_text text)
{
    uint64_t id;

    if (!text.length)
        return 0;
    id = dft_name_id(text.bytes, text.length);
    return dft_names_add(asking->names, id, text.bytes, text.length, NULL) ? 0 : id;
}

static uint64_t program_id(struct dft_asking *asking, const struct dft_process *process)
{
    struct dft_text text = process->exe;
    const char *slash = text.length ? memrchr(text.bytes, '/', text.length) : NULL;

    if (slash) {
        text.length -= (uint32_t)(slash + 1 - text.bytes);
        text.bytes = slash + 1;
    }
    return text_id(asking, text);
}

/* Any of a key's fields does for a trait here. */
int dft_number_processes(struct dft_asking *asking)
{
    struct dft_group_map map = {0};
    const struct dft_source_process *processes;
    uint32_t count;
    int rc = 0;

    processes = dft_source_processes(asking->source, &count);
    asking->who_of = calloc(count + 1u, sizeof *asking->who_of);
    asking->who = calloc(count + 1u, sizeof *asking->who);
    if (!asking->who_of || !asking->who)
        return -ENOMEM;
    for (uint32_t i = 0; !rc && i < count; i++) {
        const struct dft_process *process = &processes[i].process;
        struct dft_group_key key = {0};
        uint32_t number;

        if (DFT_HAS(asking, DFT_BY_PROCESS))
            key.call = processes[i].key;
        if (DFT_HAS(asking, DFT_BY_RANK))
            key.cat = (uint64_t)(process->rank + INT64_C(1));
        if (DFT_HAS(asking, DFT_BY_PID))
            key.name = process->pid;
        if (DFT_HAS(asking, DFT_BY_HOST))
            key.region = text_id(asking, process->host);
        if (DFT_HAS(asking, DFT_BY_PROGRAM))
            key.file = program_id(asking, process);
        if (DFT_HAS(asking, DFT_BY_RUN))
            key.stack = processes[i].run;
        rc = dft_group_map_get(&map, &key, &number);
        asking->who_of[i] = number + 1;
        if (!rc && number == asking->nwho)
            asking->who[asking->nwho++] = &processes[i];
    }
    dft_group_map_fini(&map);
    return rc;
}
