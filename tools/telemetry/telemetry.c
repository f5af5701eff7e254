/* What was read from telemetry files: records, texts and problems. */
#include "telemetry/telemetry.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBLEMS_MAX 1000u /* lines that are kept; the rest is counted */

int dft_telemetry_add(struct dft_telemetry *telemetry, const struct dft_telemetry_event *event)
{
    if (telemetry->count == telemetry->capacity) {
        size_t capacity = telemetry->capacity ? telemetry->capacity * 3 / 2 : 256;
        struct dft_telemetry_event *bigger = realloc(telemetry->events, capacity * sizeof *bigger);

        if (!bigger)
            return -ENOMEM;
        telemetry->events = bigger;
        telemetry->capacity = capacity;
    }
    telemetry->events[telemetry->count++] = *event;
    return 0;
}

static uint32_t *find_text(const struct dft_telemetry *telemetry, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    uint32_t i;

    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    for (i = (uint32_t)(hash ^ hash >> 32) & (telemetry->nslots - 1); telemetry->text_slots[i];
         i = (i + 1) & (telemetry->nslots - 1))
        if (!strcmp(telemetry->texts[telemetry->text_slots[i] - 1], text))
            break;
    return &telemetry->text_slots[i];
}

static int grow_texts(struct dft_telemetry *telemetry)
{
    uint32_t nslots = telemetry->nslots ? 2 * telemetry->nslots : 64;
    char **texts = realloc(telemetry->texts, nslots / 2 * sizeof *texts);
    uint32_t *slots;

    if (!texts)
        return -ENOMEM;
    telemetry->texts = texts;
    slots = calloc(nslots, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    free(telemetry->text_slots);
    telemetry->text_slots = slots;
    telemetry->nslots = nslots;
    for (uint32_t i = 0; i < telemetry->ntexts; i++)
        *find_text(telemetry, texts[i]) = i + 1;
    return 0;
}

uint32_t dft_telemetry_text(struct dft_telemetry *telemetry, const char *text)
{
    uint32_t *slot;

    if (2 * telemetry->ntexts >= telemetry->nslots && grow_texts(telemetry))
        return 0;
    slot = find_text(telemetry, text);
    if (!*slot) {
        char *copy = strdup(text);

        if (!copy)
            return 0;
        telemetry->texts[telemetry->ntexts++] = copy;
        *slot = telemetry->ntexts;
    }
    return *slot;
}

int dft_telemetry_problem(struct dft_telemetry *telemetry, const char *format, ...)
{
    char **bigger, *line;
    va_list arguments;
    int n;

    telemetry->bad++;
    if (telemetry->nproblems == PROBLEMS_MAX)
        return 0;
    bigger = realloc(telemetry->problems, (telemetry->nproblems + 1) * sizeof *bigger);
    if (!bigger)
        return -ENOMEM;
    telemetry->problems = bigger;
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
    free(telemetry->text_slots);
    free(telemetry->problems);
    free(telemetry->events);
    memset(telemetry, 0, sizeof *telemetry);
}
