/* SPDX-License-Identifier: MIT */
/* dftmerge report: one page to look at, with the data inside. The command. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "command/sides.h"
#include "report/report_bytes.h"
#include "report/report_side.h"
#include "report/report_spans.h"

static int refuse(const char *message)
{
    fprintf(stderr, "dftmerge report: %s\ndftmerge report: see `dftmerge report --help`\n", message);
    return -EINVAL;
}

/* How many paths the first side has: all of them, if there is but one side. -EINVAL after an error. */
static int divide(const struct dft_options *options, const char *path)
{
    int n = dft_sides_divide(options), all = options->source.npaths;

    if (!path)
        return refuse("where to? For example: dftmerge report -o report.html PATH");
    if (!n || n + 1 == all)
        return refuse("two sides are needed around --: A -- B");
    return n < 0 ? all : n;
}

static int write_page(struct dft_report_side *sides, unsigned count, const char *path)
{
    struct dft_report reports[2];
    char *heads[2] = {NULL, NULL};
    unsigned char *bytes = NULL;
    struct dft_outfile file;
    size_t length;
    int rc;

    for (unsigned i = 0; i < count; i++) {
        reports[i] = sides[i].report;
        heads[i] = sides[i].head;
    }
    rc = dft_report_compress(reports, heads, count, &bytes, &length);
    if (!rc)
        rc = dft_outfile_open(&file, path);
    if (!rc) {
        dft_report_page(file.stream, NULL, bytes, length);
        rc = dft_outfile_close(&file, 0, 0);
    }
    if (rc)
        dft_outfile_say(path, rc);
    free(bytes);
    return rc;
}

static int run_sides(struct dft_report_side *sides, unsigned count, const char *path)
{
    static const char *const names[2][2] = {{"", ""}, {"A", "B"}};
    unsigned made = 0;
    int code = DFT_EXIT_OK, rc = 0;

    for (; made < count && !rc; made++)
        rc = dft_report_side_make(&sides[made], "report", names[count - 1][made], made ? sides[0].report.data.count : 0,
                                  path, &code);
    if (!rc && write_page(sides, count, path))
        code = DFT_EXIT_BAD;
    for (unsigned i = count; i-- > 0;) /* the first side has the paths of both */
        if (i < made)
            code = dft_report_side_end(&sides[i], code);
        else
            dft_options_fini(&sides[i].options);
    return code;
}

/* Each side has a filter of its own, so the options are parsed for each. A list of paths on standard
 * input can be read once only. Returns 0, or 1 with *code. */
static int take_second(struct dft_report_side *sides, const struct dft_option *own, int first, int argc, char **argv,
                       int *code)
{
    struct dft_source_options *a = &sides[0].options.source, *b = &sides[1].options.source;

    if (dft_options_parse(&sides[1].options, &dft_command_report, own, argc, argv, code))
        return 1;
    b->paths = a->paths + first + 1;
    b->npaths = a->npaths - first - 1;
    a->npaths = first;
    return 0;
}

static int run(int argc, char **argv)
{
    const char *path = NULL, *database = NULL, *root = NULL, *rules = NULL;
    struct dft_limits limits;
    int no_risk = 0;
    const struct dft_option own[] = {
        {"output", 'o', "FILE", &path, NULL, "The page to write; - is standard output"},
        {"rules", 0, "FILE", &rules, NULL, "Take limits of findings from FILE (see dftmerge findings)"},
        {"no-risk", 0, NULL, NULL, &no_risk, "Leave out the risks among the findings"},
        {"spans", 0, "FILE.db", &database, NULL, "A section about a workflow: a database of `dftmerge spans`"},
        {"spans-root", 0, "TYPE", &root, NULL, "Type of the root spans (default: parsl.monitoring.task)"},
        {0},
    };
    struct dft_report_side *sides = calloc(2, sizeof *sides);
    char *spans = NULL;
    int code = DFT_EXIT_BAD, count = 0, first, all;

    if (!sides)
        return code;
    dft_sides_mark(argc, argv);
    if (dft_options_parse(&sides[0].options, &dft_command_report, own, argc, argv, &code))
        goto out;
    all = sides[0].options.source.npaths;
    first = divide(&sides[0].options, path);
    if (first < 0 || dft_limits_choose(&limits, "report", rules, no_risk))
        code = DFT_EXIT_USAGE;
    else if (first == all)
        count = 1;
    else if (!take_second(sides, own, first, argc, argv, &code))
        count = 2;
    if (count)
        code = dft_report_spans(&spans, database, root, path, sides[0].options.source.quiet);
    if (count && !code) {
        sides[count - 1].spans = spans;
        sides[0].limits = sides[1].limits = &limits;
        code = run_sides(sides, (unsigned)count, path);
    } else {
        for (int i = 0; i < count || !i; i++)
            dft_options_fini(&sides[i].options);
    }
out:
    free(spans);
    free(sides);
    return code;
}

const struct dft_command dft_command_report = {
    .name = "report",
    .arguments = "-o FILE PATH...  |  -o FILE A -- B",
    .brief = "One HTML page to look at: findings, pictures, tables",
    .details =
        "Writes one HTML file with the data inside. It needs no network and no server, and opens in any browser of "
        "these years. What is chosen in one picture (a time, a rank, a file, a call, a region) filters all others. "
        "Two runs, with -- between them, stand side by side. The page says what was lost, and what was thinned out.",
    .example = "dftmerge report -o report.html traces/",
    .takes = DFT_TAKES_FILTER | DFT_TAKES_CLASSES,
    .run = run,
};
