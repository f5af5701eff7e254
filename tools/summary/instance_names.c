/* SPDX-License-Identifier: MIT */
/* What tells instances of a region apart: their arguments and their numbers. */
#include "summary/instance_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/names.h"
#include "format/event.h"

#define ARGS 8u /* of an instance are looked at */

/* A short argument, as "epoch 1"; empty: it is long. */
static void put_arg(const struct dft_names *table, const struct dft_arg *arg, char text[DFT_INSTANCE_ARGS])
{
    struct dft_text category, key;
    char buffer[18];

    *text = 0;
    dft_names_call(table, arg->key, &category, &key, buffer);
    if (!key.length || key.length > 20)
        return;
    if (arg->type == DFT_ARG_INT)
        snprintf(text, DFT_INSTANCE_ARGS, "%.*s %lld", (int)key.length, key.bytes, (long long)arg->i);
    else if (arg->type == DFT_ARG_STRING && arg->s.length && arg->s.length < 20)
        snprintf(text, DFT_INSTANCE_ARGS, "%.*s %.*s", (int)key.length, key.bytes, (int)arg->s.length, arg->s.bytes);
}

static int by_text(const void *left, const void *right)
{
    return strcmp(left, right);
}

void dft_instance_label(const struct dft_names *table, const struct dft_batch *batch, uint32_t event, uint32_t first,
                        char text[DFT_INSTANCE_ARGS])
{
    char args[ARGS][DFT_INSTANCE_ARGS];
    size_t count = 0, used = 0;

    *text = 0;
    for (uint32_t i = first; i < batch->nargs && batch->args[i].event == event && count < ARGS; i++) {
        put_arg(table, &batch->args[i], args[count]);
        count += *args[count] != 0;
    }
    qsort(args, count, sizeof args[0], by_text);
    for (size_t i = 0; i < count && used + strlen(args[i]) + 3 < DFT_INSTANCE_ARGS; i++)
        used += (size_t)snprintf(text + used, DFT_INSTANCE_ARGS - used, "%s%s", used ? ", " : "", args[i]);
}

static int by_start(const void *left, const void *right)
{
    const struct dft_instance *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->end_ns != b->end_ns ? (a->end_ns > b->end_ns ? -1 : 1) : 0;
}

int dft_instances_number(struct dft_instances *instances)
{
    struct dft_map counts = {0};
    int rc = 0;

    if (instances->count)
        qsort(instances->list, instances->count, sizeof *instances->list, by_start);
    for (size_t i = 0; i < instances->count && !rc; i++) {
        struct dft_instance *one = &instances->list[i];
        uint64_t *count = dft_map_put(&counts, dft_map_join(dft_map_join(one->process, one->tid), one->call));

        rc = count ? 0 : -ENOMEM;
        one->number = count ? (uint32_t)++ * count : 0;
    }
    dft_map_fini(&counts);
    return rc;
}
