/* SPDX-License-Identifier: MIT */
/* Owns the list of checks, and how the list is shown. */
#include "dftrun/dftrun_checks.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/write_json.h"
#include "base/write_text.h"

static char *text_of(const char *format, va_list list)
{
    char *text = NULL, *escaped;

    if (vasprintf(&text, format, list) < 0)
        return NULL;
    escaped = dft_text_escaped(text, strlen(text));
    free(text);
    return escaped;
}

void dft_checks_add(struct dft_checks *checks, enum dft_check_kind kind, const char *topic, const char *advice,
                    const char *format, ...)
{
    struct dft_check *more = reallocarray(checks->list, checks->count + 1, sizeof *more);
    struct dft_check check = {.kind = kind, .topic = topic};
    va_list list;

    va_start(list, format);
    check.found = text_of(format, list);
    va_end(list);
    check.advice = advice ? dft_text_escaped(advice, strlen(advice)) : NULL;
    checks->list = more ? more : checks->list;
    checks->no_memory |= !more || !check.found || (advice && !check.advice);
    if (more)
        more[checks->count++] = check;
}

void dft_checks_judge(struct dft_checks *checks, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    if (!checks->verdict)
        checks->verdict = text_of(format, list);
    va_end(list);
}

size_t dft_checks_number(const struct dft_checks *checks, enum dft_check_kind kind)
{
    size_t number = 0;

    for (size_t i = 0; i < checks->count; i++)
        number += checks->list[i].kind == kind;
    return number;
}

/* The first line: what is wrong, or that nothing is. */
static void put_verdict(const struct dft_checks *checks, char *text, size_t capacity)
{
    size_t wrong = dft_checks_number(checks, DFT_CHECK_WRONG), notes = dft_checks_number(checks, DFT_CHECK_NOTE), i = 0;

    while (i < checks->count && checks->list[i].kind != DFT_CHECK_WRONG)
        i++;
    if (wrong && checks->verdict)
        snprintf(text, capacity, "%s", checks->verdict);
    else if (wrong)
        snprintf(text, capacity, "Something is wrong: %s: %s", checks->list[i].topic, checks->list[i].found);
    else
        snprintf(text, capacity, "Everything is in order%s", notes ? ", but for the notes" : "");
}

static void print_check(const struct dft_check *check, int width, int colour)
{
    static const char *const words[] = {"ok", "note", "WRONG"}, *const colours[] = {"\033[32m", "\033[33m",
                                                                                    "\033[1;31m"};

    printf("%s%-5s%s  %-*s  %s\n", colour ? colours[check->kind] : "", words[check->kind], colour ? "\033[0m" : "",
           width, check->topic, check->found);
    if (check->advice)
        printf("%*s-> %s\n", 9 + width, "", check->advice);
}

int dft_checks_print(const struct dft_checks *checks)
{
    const int colour = dft_terminal_colour();
    char verdict[1024];
    size_t width = 0;

    if (checks->no_memory)
        return -ENOMEM;
    for (size_t i = 0; i < checks->count; i++)
        width = strlen(checks->list[i].topic) > width ? strlen(checks->list[i].topic) : width;
    put_verdict(checks, verdict, sizeof verdict);
    printf("%s%s%s\n\n", colour ? "\033[1m" : "", verdict, colour ? "\033[0m" : "");
    for (size_t i = 0; i < checks->count; i++)
        print_check(&checks->list[i], (int)width, colour);
    return fflush(stdout) || ferror(stdout) ? -errno : 0;
}

static void put_json(const struct dft_checks *checks, FILE *out)
{
    static const char *const words[] = {"ok", "note", "wrong"};
    struct dft_json json;
    char verdict[1024];

    put_verdict(checks, verdict, sizeof verdict);
    dft_json_init(&json, out, 1);
    dft_json_object(&json, NULL);
    dft_json_string(&json, "verdict", verdict);
    dft_json_string(&json, "version", DFT_VERSION);
    dft_json_array(&json, "checks");
    for (size_t i = 0; i < checks->count; i++) {
        dft_json_object(&json, NULL);
        dft_json_string(&json, "kind", words[checks->list[i].kind]);
        dft_json_string(&json, "topic", checks->list[i].topic);
        dft_json_string(&json, "found", checks->list[i].found);
        dft_json_string(&json, "advice", checks->list[i].advice);
        dft_json_end_object(&json);
    }
    dft_json_end_array(&json);
    dft_json_end_object(&json);
}

int dft_checks_write(const struct dft_checks *checks, const char *path)
{
    char temporary[PATH_MAX];
    int fd = dft_beside_open(path, temporary, sizeof temporary), error = 0;
    FILE *out = fd < 0 ? NULL : fdopen(dup(fd), "w");

    if (fd < 0)
        return fd;
    if (!out)
        return dft_beside_close(path, temporary, fd, -errno);
    put_json(checks, out);
    if (ferror(out))
        error = -EIO;
    if (fclose(out) && !error)
        error = -errno;
    return dft_beside_close(path, temporary, fd, error);
}

void dft_checks_fini(struct dft_checks *checks)
{
    for (size_t i = 0; i < checks->count; i++) {
        free(checks->list[i].found);
        free(checks->list[i].advice);
    }
    free(checks->list);
    free(checks->verdict);
    *checks = (struct dft_checks){0};
}
