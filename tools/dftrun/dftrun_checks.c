/* SPDX-License-Identifier: MIT */
/* Owns the list of checks, and how the list is shown. */
#include "base/whole_file.h"
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
#include "base/write_wrapped.h"

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
    char more[32] = "";

    while (i < checks->count && checks->list[i].kind != (wrong ? DFT_CHECK_WRONG : DFT_CHECK_NOTE))
        i++;
    if (wrong > 1)
        snprintf(more, sizeof more, "; and %zu more", wrong - 1);
    if (wrong && checks->verdict)
        snprintf(text, capacity, "%s", checks->verdict);
    else if (wrong)
        snprintf(text, capacity, "Something is wrong: %s: %s%s", checks->list[i].topic, checks->list[i].found, more);
    else if (notes)
        snprintf(text, capacity, "Everything is in order, but for %zu note%s: %s: %s%s", notes, notes == 1 ? "" : "s",
                 checks->list[i].topic, checks->list[i].found, notes == 1 ? "" : " ...");
    else
        snprintf(text, capacity, "Everything is in order");
}

/* On a terminal lines fit; elsewhere each text stays in one line, for grep. */
static void print_text(FILE *out, const char *title, unsigned indent, const char *text)
{
    if (dft_terminal_is())
        dft_text_wrapped(out, title, indent, text);
    else
        fprintf(out, "%s%s\n", title, text);
}

static void print_check(FILE *out, const struct dft_check *check, int width)
{
    static const char *const words[] = {"ok", "note", "WRONG"};
    const unsigned indent = 9 + (unsigned)width;
    char title[80];

    snprintf(title, sizeof title, "%-5s  %-*s  ", words[check->kind], width, check->topic);
    print_text(out, title, indent, check->found);
    if (check->advice) {
        snprintf(title, sizeof title, "%*s-> ", (int)indent, "");
        print_text(out, title, indent + 3, check->advice);
    }
}

/* The same with a colour for the first word. Returns 0 or -ENOMEM. */
static int print_coloured(const struct dft_check *check, int width)
{
    static const char *const colours[] = {"\033[32m", "\033[33m", "\033[1;31m"};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int done = 0;

    if (out) {
        print_check(out, check, width);
        done = !fclose(out) && text;
    }
    if (done)
        printf("%s%.5s\033[0m%s", colours[check->kind], text, text + 5);
    free(text);
    return done ? 0 : -ENOMEM;
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
    fputs(colour ? "\033[1m" : "", stdout);
    print_text(stdout, "", 0, verdict);
    puts(colour ? "\033[0m" : "");
    for (size_t i = 0; i < checks->count; i++)
        if (!colour || print_coloured(&checks->list[i], (int)width))
            print_check(stdout, &checks->list[i], (int)width);
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
    struct dft_whole_file file;
    int error = dft_whole_file_open(&file, path, 1);
    FILE *out = error ? NULL : fdopen(dup(file.fd), "w");

    if (error)
        return error;
    if (!out)
        return dft_whole_file_close(&file, -errno);
    put_json(checks, out);
    if (ferror(out))
        error = -EIO;
    if (fclose(out) && !error)
        error = -errno;
    return dft_whole_file_close(&file, error);
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
