/* SPDX-License-Identifier: MIT */
/* The task that a text names. */
#include "spans/task_name.h"

#include "spans/scan.h"

/* Takes RUN:TASK or RUN:TASK:TRY. */
static int take(struct dft_text at, struct dft_task_name *name)
{
    struct dft_text whole;

    name->run = (struct dft_text){at.bytes, 0};
    while (at.length && *at.bytes != ':' && !isspace((unsigned char)*at.bytes) && *at.bytes) {
        name->run.length++;
        dft_scan_skip(&at, 1);
    }
    if (!name->run.length || !dft_scan_take(&at, ":"))
        return 0;
    whole = at;
    name->task = dft_scan_digits(&at);
    name->try = (struct dft_text){0};
    if (name->task.length && dft_scan_take(&at, ":") && dft_scan_digits(&at).length)
        name->try = (struct dft_text){whole.bytes, (uint32_t)(at.bytes - whole.bytes)};
    return name->task.length != 0;
}

int dft_task_name_find(struct dft_text text, struct dft_task_name *name)
{
    while (dft_scan_find(&text, "parsl:"))
        if (take(text, name))
            return 1;
    return 0;
}
