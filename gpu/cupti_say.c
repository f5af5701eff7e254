/* SPDX-License-Identifier: MIT */
/* Owns what the module tells: a line on standard error, and metadata of the category CUPTI. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti_module.h"

static void put(const char *key, const struct dftrace_arg *arg)
{
    struct dftrace_arg named = *arg;
    DFTRACE_API_;

    named.key = key;
    if (DFTRACE_HAS_(metadata_arg))
        dftrace_api_->metadata_arg("CUPTI", &named);
}

/* Not where the user wants to hear nothing. */
static void write_line(const char *text)
{
    const char *level = secure_getenv("DFTRACER_LOG_LEVEL");
    char line[600];
    int n = snprintf(line, sizeof line, "dftrace: GPU: %s\n", text);

    if (level && !strcasecmp(level, "NONE"))
        return;
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1) < 0)
        return;
}

void dft_cupti_say(const char *text, ...)
{
    struct dftrace_arg note = {.type = 2};
    char line[512] = "";
    size_t used = 0;
    va_list list;

    va_start(list, text);
    for (; text; text = va_arg(list, const char *)) {
        int n = snprintf(line + used, sizeof line - used, "%s", text);

        used = n > 0 && used + (size_t)n < sizeof line ? used + (size_t)n : sizeof line - 1;
    }
    va_end(list);
    note.value.string = line;
    put("note", &note);
    write_line(line);
}

void dft_cupti_say_count(const char *name, uint64_t count, const char *text)
{
    struct dftrace_arg number = {.type = 0};
    char line[256];

    number.value.integer = (int64_t)count;
    put(name, &number);
    snprintf(line, sizeof line, "%llu %s", (unsigned long long)count, text);
    write_line(line);
}
