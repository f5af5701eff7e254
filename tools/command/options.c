/* SPDX-License-Identifier: MIT */
/* Options of dftmerge's commands, the common ones (options_table.c) and a command's own: parsing. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/aggregate.h"
#include "base/nearest_word.h"
#include "base/settings.h"
#include "mpi/comm.h"
#include "command/command.h"
#include "command/help.h"
#include "command/options_table.h"

#define OWN_MAX 32

/* May paths be missing? */
static int needs_paths(const struct dft_command *command, const struct dft_option *own)
{
    for (; own && own->name; own++)
        if (own->alone && (own->flag ? *own->flag : *own->text != NULL))
            return 0;
    return !(command->takes & DFT_TAKES_NONE);
}

/* Makes the tables for getopt_long. Returns the number of the command's own options. */
static int make_table(const struct dft_command *command, const struct dft_option *own, struct option *table,
                      char *letters)
{
    int n = 0, count = 0;

    *letters++ = ':';
    for (; own && own[count].name && count < OWN_MAX; count++) {
        const struct dft_option *option = &own[count];

        table[n++] =
            (struct option){option->name, option->argument ? required_argument : no_argument, NULL, OPT_OWN + count};
        if (option->letter) {
            *letters++ = option->letter;
            if (option->argument)
                *letters++ = ':';
        }
    }
    for (size_t i = 0; i < DFT_COMMON_OPTIONS; i++) {
        const struct dft_common_option *option = &dft_common_options[i];

        if (!dft_takes_option(command, own, option, 0))
            continue;
        table[n++] =
            (struct option){option->name, option->argument ? required_argument : no_argument, NULL, option->id};
        if (option->letter)
            *letters++ = option->letter;
    }
    *letters = 0;
    table[n] = (struct option){0};
    return count;
}

static int parse_count(uint64_t *value, const char *text, uint64_t max)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno || *end || *text < '0' || *text > '9' || !*value || *value > max ? -EINVAL : 0;
}

static int parse_period(uint64_t *period_ns, const char *text)
{
    int64_t ns;

    if (dft_filter_seconds(&ns, text) || ns <= 0 || (uint64_t)ns > DFT_INTERVAL_NS_MAX)
        return -EINVAL;
    *period_ns = (uint64_t)ns;
    return 0;
}

static int set_common(struct dft_options *options, int id, char *value, char why[DFT_FILTER_WHY])
{
    uint64_t n = 0;
    int rc = 0;

    *why = 0;
    if (id >= OPT_FILTER)
        return dft_filter_set(&options->filter, (enum dft_filter_option)(id - OPT_FILTER), value, why);
    switch (id) {
    case OPT_JSON:
        options->json = 1;
        break;
    case OPT_CSV:
        options->csv = 1;
        break;
    case OPT_QUIET:
        options->source.quiet = 1;
        break;
    case OPT_DEDUPE:
        options->source.dedupe = 1;
        break;
    case OPT_JOB:
        options->source.jobs = value;
        break;
    case OPT_RUN:
        options->all_runs = !strcmp(value, "all");
        options->source.note_newest = options->source.newest = !strcmp(value, "newest");
        options->source.runs = options->all_runs || options->source.newest ? NULL : value;
        break;
    case OPT_FILES_FROM:
        options->files_from = value;
        break;
    case OPT_NO_INDEX:
        options->source.no_index = 1;
        break;
    case OPT_PERIOD:
        rc = parse_period(&options->source.period_ns, value);
        break;
    case OPT_PERIOD_ENDS:
        options->source.period_ends = 1;
        break;
    case OPT_SORT:
        options->sort = value;
        break;
    case OPT_ALIGN:
        options->align = value;
        break;
    case OPT_CLASSES:
        options->classes_from = value;
        rc = dft_class_table_read(&options->classes, value, why, DFT_FILTER_WHY);
        break;
    case OPT_TOP:
        if (value[0] && !value[strspn(value, "0")])
            options->top = UINT32_MAX; /* 0: all of them */
        else
            rc = parse_count(&options->top, value, UINT32_MAX);
        break;
    case OPT_THREADS:
        rc = parse_count(&n, value, 1024);
        options->source.threads = (unsigned)n;
        break;
    }
    return rc;
}

static int usage(const struct dft_command *command)
{
    fprintf(stderr, "dftmerge %s: see `dftmerge %s --help`\n", command->name, command->name);
    return DFT_EXIT_USAGE;
}

static const char *name_of(const struct option *table, int id)
{
    for (; table->name; table++)
        if (table->val == id)
            return table->name;
    return "";
}

/* Says what is wrong with an option that getopt_long does not take. */
static void deny_option(const struct dft_command *command, const struct option *table, const char *given)
{
    const char *words[OWN_MAX + DFT_COMMON_OPTIONS], *name = strncmp(given, "--", 2) ? given : given + 2, *nearest;
    size_t n = 0, length = strcspn(name, "="), fits = 0;

    for (const struct option *option = table; option->name; option++) {
        words[n++] = option->name;
        fits += !strncmp(option->name, name, length);
        if (!strncmp(option->name, name, length) && !option->name[length]) {
            fprintf(stderr, "dftmerge %s: --%s takes no argument\n", command->name, option->name);
            return;
        }
    }
    for (size_t i = 0; name != given && i < DFT_COMMON_OPTIONS; i++)
        if (!strncmp(dft_common_options[i].name, name, length) && !dft_common_options[i].name[length]) {
            const char *why = dft_common_options[i].id >= OPT_FILTER ? command->lacks : NULL;

            fprintf(stderr, "dftmerge: %s does not take --%s%s%s\n", command->name, dft_common_options[i].name,
                    why ? ": " : "", why ? why : "");
            return;
        }
    fprintf(stderr, "dftmerge %s: %s: %s", command->name, given,
            name != given && length && fits > 1 ? "there are several options that begin so:" : "no such option");
    for (size_t i = 0; name != given && length && fits > 1 && i < n; i++)
        if (!strncmp(words[i], name, length))
            fprintf(stderr, " --%s", words[i]);
    nearest = name == given ? NULL : dft_nearest_word(name, length, words, n);
    if (nearest && fits < 2)
        fprintf(stderr, ". Did you mean --%s?", nearest);
    fputc('\n', stderr);
}

/* The option that getopt_long took for another that begins so (--class for --classes); NULL: there
 * is none. */
static const char *abbreviated(const struct option *table, int id, char **argv)
{
    const char *given = argv[optind - (optarg && optarg == argv[optind - 1] ? 2 : 1)];
    size_t length = strncmp(given, "--", 2) ? 0 : strcspn(given + 2, "=");

    for (size_t i = 0; length && strlen(name_of(table, id)) > length && i < DFT_COMMON_OPTIONS; i++)
        if (!strncmp(dft_common_options[i].name, given + 2, length) && !dft_common_options[i].name[length])
            return given;
    return NULL;
}

/* Takes one option from getopt_long. Returns 0: go on, 1: done with *code. */
static int take_option(struct dft_options *options, const struct dft_command *command, const struct dft_option *own,
                       const struct option *table, int id, char **argv, int *code)
{
    char why[DFT_FILTER_WHY];
    int rc;

    if (id == OPT_HELP || id == 'h') {
        dft_help_command(command, own);
        *code = fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
        return 1;
    }
    if (id == '?' || id == ':') {
        if (id == ':')
            fprintf(stderr, "dftmerge %s: %s: its argument is missing\n", command->name, argv[optind - 1]);
        else
            deny_option(command, table, argv[optind - 1]);
        *code = usage(command);
        return 1;
    }
    if (abbreviated(table, id, argv)) {
        deny_option(command, table, abbreviated(table, id, argv));
        *code = usage(command);
        return 1;
    }
    if (id < 256 && id != 'q')
        for (int i = 0; own && own[i].name; i++)
            if (own[i].letter == id)
                id = OPT_OWN + i;
    if (id >= OPT_OWN) {
        const struct dft_option *option = &own[id - OPT_OWN];

        if (option->flag)
            *option->flag = 1;
        else
            *option->text = optarg;
        return 0;
    }
    rc = set_common(options, id == 'q' ? OPT_QUIET : id, optarg, why);
    if (!rc)
        return 0;
    fprintf(stderr, "dftmerge %s: --%s %s: %s\n", command->name, name_of(table, id), optarg,
            rc == -ENOMEM ? "no memory"
            : *why        ? why
                          : "this cannot be understood");
    *code = usage(command);
    return 1;
}

/* Says what is wrong with the paths, or with none. Returns whether something is. */
static int deny_paths(const struct dft_options *options, const struct dft_command *command,
                      const struct dft_option *own)
{
    if (options->source.npaths && !*command->arguments)
        fprintf(stderr, "dftmerge %s: it is about no trace, and takes no argument such as %s\n", command->name,
                options->source.paths[0]);
    else if (!options->source.npaths && needs_paths(command, own))
        fprintf(stderr, "dftmerge %s: which traces? Name files (.dft) or the directory they are in\n", command->name);
    else
        return 0;
    return 1;
}

/* The paths on the command line, and those of --files-from. Only rank 0 of many ranks has standard input, and only rank
 * 0 looks for the files. Returns an exit code. */
static int take_paths(struct dft_options *options, const struct dft_command *command, char **paths, int count)
{
    int rc = 0;

    options->source.paths = paths;
    options->source.npaths = count;
    if (!options->files_from)
        return DFT_EXIT_OK;
    if (!dft_comm_rank())
        rc = dft_path_list_read(&options->given, options->files_from, paths, count);
    dft_comm_broadcast(&rc, sizeof rc);
    if (rc) {
        fprintf(stderr, "dftmerge %s: %s: %s\n", command->name, options->files_from, strerror(-rc));
        return DFT_EXIT_USAGE;
    }
    options->source.paths = options->given.paths;
    options->source.npaths = options->given.count;
    dft_comm_broadcast(&options->source.npaths, sizeof options->source.npaths);
    return DFT_EXIT_OK;
}

/* Do the options, the paths and the settings fit together? Returns an exit code. */
static int check_options(struct dft_options *options, const struct dft_command *command, const struct dft_option *own)
{
    const char *contradiction = dft_filter_contradiction(&options->filter);

    if (!contradiction && options->json && options->csv)
        contradiction = "--json and --csv exclude each other";
    if (contradiction)
        fprintf(stderr, "dftmerge %s: %s\n", command->name, contradiction);
    if (contradiction || deny_paths(options, command, own))
        return usage(command);
    return dft_settings_check() ? DFT_EXIT_USAGE : DFT_EXIT_OK;
}

int dft_options_parse(struct dft_options *options, const struct dft_command *command, const struct dft_option *own,
                      int argc, char **argv, int *code)
{
    struct option table[OWN_MAX + DFT_COMMON_OPTIONS + 1];
    char letters[2 * OWN_MAX + 16];
    int id;

    /* a file beyond the size limit becomes an error with a message, and its begun file is
     * removed */
    signal(SIGXFSZ, SIG_IGN);
    memset(options, 0, sizeof *options);
    dft_filter_init(&options->filter);
    if (argc == 2 && !strcmp(argv[1], "--list-options")) {
        dft_options_list(command, own);
        *code = fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
        goto done;
    }
    make_table(command, own, table, letters);
    optind = 0; /* GNU: start anew */
    opterr = 0;
    while ((id = getopt_long(argc, argv, letters, table, NULL)) != -1)
        if (take_option(options, command, own, table, id, argv, code))
            goto done;
    *code = take_paths(options, command, argv + optind, argc - optind);
    if (!*code)
        *code = check_options(options, command, own);
    if (*code)
        goto done;
    if ((command->takes & DFT_TAKES_RANKS) || dft_comm_alone(command->name, options->source.quiet))
        return 0;
    *code = DFT_EXIT_OK;
done:
    dft_options_fini(options);
    return 1;
}

void dft_options_fini(struct dft_options *options)
{
    dft_clocks_fini(&options->clocks);
    dft_class_table_fini(&options->classes);
    dft_filter_fini(&options->filter);
    dft_path_list_fini(&options->given);
}
