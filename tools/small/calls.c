/* SPDX-License-Identifier: MIT */
/* `dftmerge debug calls`: what is intercepted, straight from the call table that the wrappers are made
 * from. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "command/command.h"
#include "base/facet_words.h"
#include "base/write_json.h"
#include "base/write_wrapped.h"

/* A row of calls.def or syscalls.def: a call of its own (event NULL), or another way into one. */
struct entry {
    const char *category, *op, *name, *event;
};

static const struct entry entries[] = {
#define DFT_CALL(category, op, type, name, ...) {#category, #op, #name, NULL},
#define DFT_MODE                                DFT_CALL
#define DFT_CUSTOM                              DFT_CALL
#define DFT_FORMAT(category, op, name, ...)     {#category, #op, #name, NULL},
#define DFT_ENTRY(event, op, type, name, ...)   {NULL, #op, #name, #event},
#define DFT_FORMAT_ENTRY(event, op, name, ...)  {NULL, #op, #name, #event},
#define DFT_ALIAS(name, alias)                  {NULL, NULL, #alias, #name},
#define DFT_CUSTOM_ALIAS                        DFT_ALIAS
#define DFT_RECLASSIFIED(...)
#define DFT_GATE(...)
#define DFT_VERSIONED                 DFT_CALL
#define DFT_EVENT(category, op, name) {#category, #op, #name, NULL},
#include <dftrace/calls.def>
#define DFT_SYSCALL_EVENT(category, op, name) {#category, #op, #name, NULL},
#define DFT_SYSCALL(event, op, name, ...)     {NULL, #op, #name, #event},
#define DFT_SYSCALL_CUSTOM                    DFT_SYSCALL
#include <dftrace/syscalls.def>
};
#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

static const struct {
    const char *op, *bytes;
    uint8_t io;
} ops[] = {
#define DFT_OP(number, name, class, io, bytes, effect, group) {#name, #bytes, DFT_IO_##io},
#include <dftrace/ops.def>
#undef DFT_OP
};

static const char *class_of(size_t op)
{
    const char *word = dft_io_word(ops[op].io);

    return word ? word : "none";
}

static const struct entry *find(const char *name)
{
    for (size_t i = 0; i < ENTRIES; i++)
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
    return NULL;
}

/* The call that an entry point is recorded as: an alias may lead to an entry point of another
 * call. */
static const struct entry *call_of(const struct entry *entry)
{
    while (entry && entry->event)
        entry = find(entry->event);
    return entry;
}

static size_t op_of(const struct entry *call)
{
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (strcmp(ops[i].op, call->op) == 0)
            return i;
    return 0;
}

static void print_json(void)
{
    struct dft_json json;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_array(&json, "calls");
    for (size_t i = 0; i < ENTRIES; i++) {
        size_t op;

        if (entries[i].event)
            continue;
        op = op_of(&entries[i]);
        dft_json_object(&json, NULL);
        dft_json_string(&json, "cat", entries[i].category);
        dft_json_string(&json, "name", entries[i].name);
        dft_json_array(&json, "entry_points");
        for (size_t j = 0; j < ENTRIES; j++)
            if (call_of(&entries[j]) == &entries[i])
                dft_json_string(&json, NULL, entries[j].name);
        dft_json_end_array(&json);
        dft_json_string(&json, "op", entries[i].op);
        dft_json_string(&json, "class", class_of(op));
        dft_json_string(&json, "bytes", ops[op].bytes);
        dft_json_end_object(&json);
    }
    dft_json_end_array(&json);
    dft_json_end_object(&json);
    putchar('\n');
}

static void print_csv(void)
{
    puts("entry_point,cat,name,op,class,bytes");
    for (size_t i = 0; i < ENTRIES; i++) {
        const struct entry *call = call_of(&entries[i]);
        size_t op = op_of(call);

        printf("%s,%s,%s,%s,%s,%s\n", entries[i].name, call->category, call->name, call->op, class_of(op),
               ops[op].bytes);
    }
}

static int print_text(void)
{
    size_t calls = 0;
    int rc = 0;

    printf("%-8s %-17s %-9s %-6s %s\n", "CATEGORY", "CALL", "OP", "CLASS", "OTHER ENTRIES");
    for (size_t i = 0; !rc && i < ENTRIES; i++) {
        const char *comma = "";
        struct dft_sentence others;
        char title[64];
        FILE *out;

        if (entries[i].event)
            continue;
        calls++;
        snprintf(title, sizeof title, "%-8s %-17s %-9s %-6s ", entries[i].category, entries[i].name, entries[i].op,
                 class_of(op_of(&entries[i])));
        out = dft_sentence_begin(&others);
        for (size_t j = 0; out && j < ENTRIES; j++)
            if (j != i && call_of(&entries[j]) == &entries[i]) {
                fprintf(out, "%s%s", comma, entries[j].name);
                comma = ", ";
            }
        rc = dft_sentence_end(&others, out, title, (unsigned)strlen(title));
    }
    if (!rc)
        printf("%zu calls by %zu entry points are intercepted.\n", calls, ENTRIES);
    return rc;
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    int code, rc = 0;

    if (dft_options_parse(&options, &dft_command_calls, NULL, argc, argv, &code))
        return code;
    if (options.json)
        print_json();
    else if (options.csv)
        print_csv();
    else
        rc = print_text();
    dft_options_fini(&options);
    return rc || fflush(stdout) < 0 || ferror(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
}

const struct dft_command dft_command_calls = {
    .name = "debug calls",
    .arguments = "",
    .brief = "The list of intercepted calls",
    .details =
        "Every function of the C library that is intercepted: the category and the name under which its calls are "
        "recorded, its other entry points (SYS_ ones through syscall()), what kind of operation it is, and what "
        "its time and bytes count for.",
    .example = "dftmerge debug calls --json",
    .takes = DFT_TAKES_JSON | DFT_TAKES_CSV | DFT_TAKES_NONE | DFT_TAKES_RANKS,
    .run = run,
};
