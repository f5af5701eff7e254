/* SPDX-License-Identifier: MIT */
/* The options of dftrun. What contradicts itself is refused before the program runs. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/nearest_word.h"
#include "dftrun/dftrun.h"

static void print_help(FILE *out)
{
    fputs(
        "usage: dftrun [OPTION...] [--] COMMAND [ARGUMENT...]\n"
        "Runs COMMAND under the I/O tracer, then prints where its I/O time went (on standard error).\n"
        "\n"
        "  -o, --output DIR   directory for the trace files (default: traces)\n"
        "      --aggregate    keep aggregates only, no single events: 0.15 to 3 bytes a call\n"
        "      --data-dir D   trace only files below these directories (colon-separated; a leading ! excludes,\n"
        "                     from everything where no directory is named)\n"
        "      --stack [N]    record call stacks up to N frames deep (default: 16)\n"
        "      --node         sample this node, too (processors, memory, disks, network, GPUs): dftmerge counters DIR\n"
        "  -b, --by KEYS      print a table by these keys in place of the page: dftmerge summary --help\n"
        "  -n, --top N        print at most N lines of each table (0: all)\n"
        "      --json FILE    write the page as JSON, too; FILE is replaced when the JSON is complete\n"
        "      --report FILE  write a page to look at in a browser, too: dftmerge report --help\n"
        "      --no-summary   print no page afterwards\n"
        "  -q, --quiet        print no page: only why something failed, or was not traced\n"
        "  -V, --version      print the version\n"
        "  -h, --help         this text\n"
        "\n"
        "The exit code of COMMAND, or the signal that COMMAND dies of, is that of dftrun. Where no trace can be\n"
        "written to DIR, COMMAND is not run, and the exit code is 125. Other settings are taken from DFTRACER_*\n"
        "variables. In an MPI or Slurm job the last rank to end prints the page of the whole job.\n"
        "\n"
        "Examples:\n"
        "  dftrun -o /tmp/traces -- tar cf /tmp/doc.tar /usr/share/doc\n"
        "  dftrun --stack --by line --top 5 -- ./app\n"
        "  mpirun -n 4 dftrun -o traces --json page.json -- ./app\n",
        out);
}

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
    if (is_number(run->stack))
        return 0;
    fprintf(stderr, "dftrun: --stack takes a number of frames, not '%s'\n", run->stack);
    return DFTRUN_USAGE;
}

static int take_top(struct dft_run *run)
{
    run->top = optarg;
    if (is_number(run->top))
        return 0;
    fprintf(stderr, "dftrun: --top takes a number of lines, not '%s'\n", run->top);
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

static int check(const struct dft_run *run)
{
    const char *shape = run->by ? "--by" : run->top ? "--top" : NULL;

    if (shape && run->no_page)
        return contradict(run->quiet ? "--quiet" : "--no-summary", shape, "without a page there is nothing to shape");
    if (run->stack && run->aggregate && strcmp(run->stack, "0") != 0)
        return contradict("--stack", "--aggregate", "call stacks belong to events, and aggregates have none");
    if (check_file("--json", run->json) || check_file("--report", run->report))
        return DFTRUN_USAGE;
    if (run->json && run->report && !strcmp(run->json, run->report))
        return contradict("--json", "--report", "each is a file of its own");
    if (!*run->command) {
        fputs("dftrun: which command shall be traced? For example: dftrun -- ls -l\n", stderr);
        return DFTRUN_USAGE;
    }
    return 0;
}

enum { AGGREGATE = 256, DATA_DIR, STACK, NODE, JSON, REPORT, NO_SUMMARY };

/* Where the text of an option belongs, or NULL. */
static const char **text_of(struct dft_run *run, int option)
{
    switch (option) {
    case 'o':
        return &run->directory;
    case 'b':
        return &run->by;
    case DATA_DIR:
        return &run->data_dir;
    case JSON:
        return &run->json;
    case REPORT:
        return &run->report;
    default:
        return NULL;
    }
}

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"aggregate", no_argument, NULL, AGGREGATE},
    {"data-dir", required_argument, NULL, DATA_DIR},
    {"stack", optional_argument, NULL, STACK},
    {"node", no_argument, NULL, NODE},
    {"by", required_argument, NULL, 'b'},
    {"top", required_argument, NULL, 'n'},
    {"json", required_argument, NULL, JSON},
    {"report", required_argument, NULL, REPORT},
    {"no-summary", no_argument, NULL, NO_SUMMARY},
    {"quiet", no_argument, NULL, 'q'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* Says what is wrong with an option that getopt_long does not take, and which one was likely
 * meant. */
static int deny_option(const char *given)
{
    const size_t count = sizeof options / sizeof *options - 1;
    const char *words[sizeof options / sizeof *options], *nearest = NULL;

    for (size_t i = 0; i < count; i++) {
        words[i] = options[i].name;
        if (optopt && options[i].val == optopt) {
            fprintf(stderr, "dftrun: --%s takes no value\n", words[i]);
            return DFTRUN_USAGE;
        }
    }
    if (optopt) {
        fprintf(stderr, "dftrun: there is no option -%c: dftrun --help\n", optopt);
        return DFTRUN_USAGE;
    }
    nearest = dft_nearest_word(given + 2, strcspn(given + 2, "="), words, count);
    fprintf(stderr, "dftrun: there is no option %s%s%s%s\n", given, nearest ? ". Did you mean --" : ": dftrun --help",
            nearest ? nearest : "", nearest ? "?" : "");
    return DFTRUN_USAGE;
}

int dft_run_parse(struct dft_run *run, int argc, char **argv)
{
    int option, error = 0;

    run->directory = "traces";
    opterr = 0;
    while (!error && (option = getopt_long(argc, argv, "+:o:b:n:qVh", options, NULL)) != -1) {
        const char **text = text_of(run, option);

        if (text) {
            *text = optarg;
            continue;
        }
        switch (option) {
        case AGGREGATE:
            run->aggregate = 1;
            break;
        case STACK:
            error = take_stack(run, argv);
            break;
        case NODE:
            run->node = 1;
            break;
        case 'n':
            error = take_top(run);
            break;
        case 'q':
        case NO_SUMMARY:
            run->quiet |= option == 'q';
            run->no_page = 1;
            break;
        case 'V':
            puts("dftrun " DFT_VERSION);
            exit(0);
        case 'h':
            print_help(stdout);
            exit(0);
        case ':':
            fprintf(stderr, "dftrun: %s: its value is missing: dftrun --help\n", argv[optind - 1]);
            error = DFTRUN_USAGE;
            break;
        default:
            error = deny_option(argv[optind - 1]);
        }
    }
    run->command = argv + optind;
    return error ? error : check(run);
}
