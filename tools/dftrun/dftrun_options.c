/* SPDX-License-Identifier: MIT */
/* The options of dftrun. What contradicts itself is refused before the program runs. */
#include "dftrun/dftrun_options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest_word.h"
#include "base/settings.h"
#include "base/write_wrapped.h"
#include "dftrun/dftrun_container.h"

#define FRAMES_MAX 128 /* that the library records */

static int is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

/* A number behind the option is its own; no command has such a name. */
static int take_stack(struct dft_run *run, char **argv)
{
    run->stack = "16";
    if (optarg || (argv[optind] && is_number(argv[optind])))
        run->stack = optarg ? optarg : argv[optind++];
    if (is_number(run->stack) && strlen(run->stack) < 10 && atoi(run->stack) <= FRAMES_MAX)
        return 0;
    fprintf(stderr, "dftrun: --stack takes a number of frames, at most %d, not '%s'\n", FRAMES_MAX, run->stack);
    return DFTRUN_USAGE;
}

static int take_top(struct dft_run *run, char **argv)
{
    (void)argv;
    run->top = optarg;
    if (is_number(run->top))
        return 0;
    fprintf(stderr, "dftrun: --top takes a number of lines, not '%s'\n", run->top);
    return DFTRUN_USAGE;
}

static int take_every(struct dft_run *run, char **argv)
{
    (void)argv;
    run->every = is_number(optarg) && strlen(optarg) < 10 ? atoi(optarg) : 0;
    if (run->every)
        return 0;
    fprintf(stderr,
            "dftrun: --every takes a number of ranks from 1 on, not '%s': --every 8 traces ranks 0, 8, 16 ...\n",
            optarg);
    return DFTRUN_USAGE;
}

static int contradict(const char *first, const char *second, const char *why)
{
    fprintf(stderr, "dftrun: %s and %s contradict each other: %s\n", first, second, why);
    return DFTRUN_USAGE;
}

/* Can the file of an option be one to write? */
static int check_file(const char *option, const char *path)
{
    struct stat st;

    if (path && (!*path || !strcmp(path, "-"))) {
        fprintf(stderr, "dftrun: %s takes the name of a file: standard output is the program's\n", option);
        return DFTRUN_USAGE;
    }
    if (path && !stat(path, &st) && S_ISDIR(st.st_mode)) {
        fprintf(stderr, "dftrun: %s %s: that is a directory; name a file in it\n", option, path);
        return DFTRUN_USAGE;
    }
    return 0;
}

/* What prints something in place of a page takes no option of the page. */
static int check_alone(const struct dft_run *run, const char *option)
{
    const char *page = run->by        ? "--by"
                       : run->top     ? "--top"
                       : run->report  ? "--report"
                       : run->quiet   ? "--quiet"
                       : run->no_page ? "--no-summary"
                       : run->node    ? "--node"
                                      : NULL;

    return page ? contradict(option, page, "no page is printed") : 0;
}

static int check_container(const struct dft_run *run)
{
    if (run->doctor || run->json)
        return contradict("--container", run->doctor ? "--doctor" : "--json", "it prints flags alone");
    if (check_alone(run, "--container"))
        return DFTRUN_USAGE;
    if (*run->command) {
        fprintf(stderr,
                "dftrun: --container prints flags, and runs nothing: write '%s' behind the IMAGE, as in "
                "docker run $(dftrun --container docker) IMAGE COMMAND\n",
                *run->command);
        return DFTRUN_USAGE;
    }
    return 0;
}

static int check(const struct dft_run *run)
{
    const char *shape = run->by ? "--by" : run->top ? "--top" : NULL;

    if (!*run->directory) {
        fputs("dftrun: -o takes a directory, not an empty name: -o . is the working directory\n", stderr);
        return DFTRUN_USAGE;
    }
    if (run->container)
        return check_container(run);
    if (run->doctor && check_alone(run, "--doctor"))
        return DFTRUN_USAGE;
    if (shape && run->no_page)
        return contradict(run->quiet ? "--quiet" : "--no-summary", shape, "without a page there is nothing to shape");
    if (run->stack && run->aggregate && strcmp(run->stack, "0") != 0)
        return contradict("--stack", "--aggregate", "call stacks belong to events, and aggregates have none");
    if (run->every && run->aggregate)
        return contradict("--every", "--aggregate", "--every keeps events of some ranks, and --aggregate of none");
    if (check_file("--json", run->json) || check_file("--report", run->report))
        return DFTRUN_USAGE;
    if (run->json && run->report && !strcmp(run->json, run->report))
        return contradict("--json", "--report", "each is a file of its own");
    if (!*run->command && !run->doctor) {
        fputs("dftrun: which command shall be traced? For example: dftrun -- ls -l\n", stderr);
        return DFTRUN_USAGE;
    }
    return 0;
}

static int take_quiet(struct dft_run *run, char **argv)
{
    (void)argv;
    run->quiet = run->no_page = 1;
    return 0;
}

static int take_version(struct dft_run *run, char **argv)
{
    (void)run, (void)argv;
    puts("dftrun " DFT_VERSION);
    exit(0);
}

static int take_help(struct dft_run *run, char **argv);

/* An option. `take` takes it, or it goes to a text or a flag of struct dft_run at `place`. */
struct row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* its name in --help; "[N]": may be missing; NULL: a flag */
    size_t place;
    int (*take)(struct dft_run *run, char **argv); /* 0 or an exit code; optarg: the argument */
    const char *help;
    const char *(*word)(size_t i); /* the words that it takes, by number, then NULL; NULL: any */
};

#define AT(member) offsetof(struct dft_run, member), NULL
static const struct row rows[] = {
    {"output", 'o', "DIR", AT(directory), "Directory for the trace files (default: " DFT_TRACES_USUAL ")"},
    {"aggregate", 0, NULL, AT(aggregate), "Keep aggregates only, no single events: 0.15 to 3 bytes a call"},
    {"every", 0, "N", 0, take_every, "Keep events of every Nth rank of a job, and aggregates alone of the others"},
    {"stage", 0, "DIR", AT(stage),
     "Write traces below DIR on the node (/dev/shm, a local disk), and move them at the end "
     "of each process; what killed ones leave there is collected"},
    {"data-dir", 0, "D", AT(data_dir),
     "Trace only files below these directories (colon-separated; a leading ! excludes, "
     "from everything where no directory is named)"},
    {"stack", 0, "[N]", 0, take_stack, "Record call stacks up to N frames deep (default: 16)"},
    {"node", 0, NULL, AT(node),
     "Sample this node, too (processors, memory, disks, network, GPUs): dftmerge counters DIR"},
    {"gpu", 0, NULL, AT(gpu), "Record what NVIDIA GPUs do, too: kernels, copies, waits"},
    {"by", 'b', "KEYS", AT(by), "Print a table by these keys in place of the page: dftmerge summary --help"},
    {"top", 'n', "N", 0, take_top, "Print at most N lines of each table (0: all)"},
    {"json", 0, "FILE", AT(json), "Write the page as JSON, too; FILE is replaced when the JSON is complete"},
    {"report", 0, "FILE", AT(report), "Write a page to look at in a browser, too: dftmerge report --help"},
    {"doctor", 0, NULL, AT(doctor),
     "Say why nothing is recorded: look at the library, the variables, DIR and the limits; run "
     "COMMAND once, if there is one, and say which of its programs were not traced"},
    {"container", 0, "IN", AT(container),
     "Print the flags with which programs in a container are traced; IN is podman, docker, "
     "apptainer or kubernetes: docker run $(dftrun --container docker) IMAGE COMMAND",
     dft_container_word},
    {"no-summary", 0, NULL, AT(no_page), "Print no page afterwards"},
    {"quiet", 'q', NULL, 0, take_quiet, "Print no page: only why something failed, or was not traced"},
    {"version", 'V', NULL, 0, take_version, "Print the version"},
    {"help", 'h', NULL, 0, take_help, "This text"},
};
#undef AT
enum { ROWS = sizeof rows / sizeof *rows, FIRST = 256 };

static void print_row(const struct row *row)
{
    char left[32] = "      ", title[40];

    if (row->letter)
        snprintf(left, sizeof left, "  -%c, ", row->letter);
    snprintf(left + 6, sizeof left - 6, "--%s%s%s", row->name, row->argument ? " " : "",
             row->argument ? row->argument : "");
    snprintf(title, sizeof title, "%-20s ", left);
    dft_text_wrapped(stdout, title, 21, row->help);
}

/* For programs that make completions, as `dftmerge --list-options`: name, letter, argument, words, help. */
static void list_options(void)
{
    puts("command\tdftrun\tRuns a command under the I/O tracer");
    for (const struct row *row = rows; row < rows + ROWS; row++) {
        const char letter[] = {row->letter, 0};

        printf("option\t%s\t%s\t%s\t", row->name, letter, row->argument ? row->argument : "");
        for (size_t i = 0; row->word && row->word(i); i++)
            printf("%s%s", i ? "," : "", row->word(i));
        printf("\t%s\n", row->help);
    }
    exit(fflush(stdout) ? 1 : 0);
}

static int take_help(struct dft_run *run, char **argv)
{
    (void)run, (void)argv;
    puts("Usage: dftrun [OPTION...] [--] COMMAND [ARGUMENT...]\n"
         "       dftrun --doctor [-o DIR] [--json FILE] [-- COMMAND ...]\n"
         "       dftrun --container IN [-o DIR]");
    dft_print_wrapped("Runs COMMAND under the I/O tracer, then prints where its I/O time went (on standard error).");
    puts("\nExamples:\n"
         "  dftrun -o /tmp/traces -- tar cf /tmp/doc.tar /usr/share/doc\n"
         "  dftrun --stack --by line --top 5 -- ./app\n"
         "  mpirun -n 4 dftrun -o traces --json page.json -- ./app\n"
         "  dftrun --doctor -- ./app\n"
         "\nOptions:");
    for (int i = 0; i < ROWS; i++)
        print_row(&rows[i]);
    puts("");
    dft_print_wrapped(
        "The exit code of COMMAND, or the signal that COMMAND dies of, is that of dftrun. Where no trace can "
        "be written to DIR, COMMAND is not run, and the exit code is 125. Other settings are taken from "
        "DFTRACER_* variables. In an MPI or Slurm job the last rank to end prints the page of the whole "
        "job.");
    exit(0);
}

/* Says what is wrong with an option that getopt_long does not take, and which one was likely
 * meant. */
static int deny_option(const char *given)
{
    const char *words[ROWS], *nearest = NULL;

    for (int i = 0; i < ROWS; i++) {
        words[i] = rows[i].name;
        if (optopt == FIRST + i || (optopt && optopt == rows[i].letter)) {
            fprintf(stderr, "dftrun: --%s takes no value\n", words[i]);
            return DFTRUN_USAGE;
        }
    }
    if (optopt) {
        fprintf(stderr, "dftrun: there is no option -%c: dftrun --help\n", optopt);
        return DFTRUN_USAGE;
    }
    nearest = dft_nearest_word(given + 2, strcspn(given + 2, "="), words, ROWS);
    fprintf(stderr, "dftrun: there is no option %s%s%s%s\n", given, nearest ? ". Did you mean --" : ": dftrun --help",
            nearest ? nearest : "", nearest ? "?" : "");
    return DFTRUN_USAGE;
}

/* Makes the tables for getopt_long. The options end at COMMAND. */
static void make_tables(struct option options[ROWS + 1], char letters[2 * ROWS + 3])
{
    char *end = stpcpy(letters, "+:");

    for (int i = 0; i < ROWS; i++) {
        const char *argument = rows[i].argument;

        options[i] = (struct option){rows[i].name,
                                     !argument          ? no_argument
                                     : *argument == '[' ? optional_argument
                                                        : required_argument,
                                     NULL, FIRST + i};
        if (rows[i].letter)
            end += sprintf(end, "%c%s", rows[i].letter, argument ? ":" : "");
    }
    options[ROWS] = (struct option){0};
}

static const struct row *row_of(int option)
{
    for (int i = 0; i < ROWS; i++)
        if (option == FIRST + i || option == rows[i].letter)
            return &rows[i];
    return NULL;
}

static int take(struct dft_run *run, const struct row *row, char **argv)
{
    char *place = (char *)run + row->place;

    if (row->take)
        return row->take(run, argv);
    if (row->argument)
        *(const char **)(void *)place = optarg;
    else
        *(int *)(void *)place = 1;
    return 0;
}

int dft_run_parse(struct dft_run *run, int argc, char **argv)
{
    struct option options[ROWS + 1];
    char letters[2 * ROWS + 3];
    int option, error = 0;

    if (argc == 2 && !strcmp(argv[1], "--list-options"))
        list_options();
    make_tables(options, letters);
    run->directory = DFT_TRACES_USUAL;
    opterr = 0;
    while (!error && (option = getopt_long(argc, argv, letters, options, NULL)) != -1) {
        const struct row *row = row_of(option);

        if (row) {
            error = take(run, row, argv);
        } else if (option == ':') {
            fprintf(stderr, "dftrun: %s: its value is missing: dftrun --help\n", argv[optind - 1]);
            error = DFTRUN_USAGE;
        } else {
            error = deny_option(argv[optind - 1]);
        }
    }
    run->command = argv + optind;
    return error ? error : check(run);
}
