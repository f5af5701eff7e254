/* SPDX-License-Identifier: MIT */
/* The contents of telemetry files: records, texts and problems. */
#include "telemetry/telemetry.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define PROBLEMS_MAX 1000u /* lines that are kept; further lines are only counted */

int dft_telemetry_add(struct dft_telemetry *telemetry, const struct dft_telemetry_event *event)
{
    return DFT_ARRAY_PUSH(telemetry->events, telemetry->capacity, telemetry->count, *event);
}

uint32_t dft_telemetry_text(struct dft_telemetry *telemetry, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325), *number; /* FNV-1a */
    char *copy;

    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    number = dft_map_put(&telemetry->text_numbers, hash ? hash : 1);
    if (!number)
        return 0;
    if (!*number) {
        copy = strdup(text);
        if (!copy || DFT_ARRAY_PUSH(telemetry->texts, telemetry->texts_capacity, telemetry->ntexts, copy)) {
            free(copy);
            return 0;
        }
        *number = telemetry->ntexts;
    }
    return (uint32_t)*number;
}

int dft_telemetry_problem(struct dft_telemetry *telemetry, const char *format, ...)
{
    char *line;
    va_list arguments;
    int n;

    telemetry->bad++;
    if (telemetry->nproblems == PROBLEMS_MAX)
        return 0;
    if (DFT_ARRAY_RESERVE(telemetry->problems, telemetry->problems_capacity, telemetry->nproblems + 1))
        return -ENOMEM;
    va_start(arguments, format);
    n = vasprintf(&line, format, arguments);
    va_end(arguments);
    if (n < 0)
        return -ENOMEM;
    telemetry->problems[telemetry->nproblems++] = line;
    return 0;
}

void dft_telemetry_fini(struct dft_telemetry *telemetry)
{
    for (uint32_t i = 0; i < telemetry->ntexts; i++)
        free(telemetry->texts[i]);
    for (size_t i = 0; i < telemetry->nproblems; i++)
        free(telemetry->problems[i]);
    free(telemetry->texts);
    dft_map_fini(&telemetry->text_numbers);
    free(telemetry->problems);
    free(telemetry->events);
    memset(telemetry, 0, sizeof *telemetry);
}
