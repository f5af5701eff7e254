/* SPDX-License-Identifier: MIT */
/* dftmerge plot: a picture for a paper, as SVG. The command; each kind has a file of its own. */
#include "figure/figure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "base/write_wrapped.h"
#include "command/part_files.h"
#include "job/job_losses.h"
#include "job/job_state.h"
#include "object/source_notes.h"

#define WIDTH  720u
#define HEIGHT 400u

static const struct {
    const char *name;
    int (*draw)(struct dft_figure *figure);
} kinds[] = {
    {"bandwidth", dft_figure_bandwidth}, {"heatmap", dft_figure_heatmap}, {"sizes", dft_figure_sizes},
    {"latency", dft_figure_latency},     {"overlap", dft_figure_overlap}, {"files", dft_figure_files},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static const char *kind_word(size_t i)
{
    return i < KINDS ? kinds[i].name : NULL;
}

struct asked {
    const char *kind, *path, *width, *height;
};

/* Returns the number of the kind, or -1 after an error. */
static int find_kind(const char *name)
{
    const char *names[KINDS];

    for (size_t i = 0; i < KINDS; i++) {
        if (name && !strcmp(name, kinds[i].name))
            return (int)i;
        names[i] = kinds[i].name;
    }
    if (name)
        fprintf(stderr, "dftmerge plot: --kind %s: there is no such kind.", name);
    else
        fputs("dftmerge plot: which picture? --kind KIND.", stderr);
    dft_say_words(name, "Kinds are", names, KINDS);
    return -1;
}

/* Returns the number of the kind, or -1 after an error. */
static int understand(const struct asked *asked, struct dft_figure *figure)
{
    int kind = find_kind(asked->kind);

    if (kind < 0 || dft_svg_pixels("plot", "width", asked->width, WIDTH, &figure->width) ||
        dft_svg_pixels("plot", "height", asked->height, HEIGHT, &figure->height))
        return -1;
    if (asked->path)
        return kind;
    fprintf(stderr, "dftmerge plot: where to? For example: dftmerge plot --kind %s -o %s.svg PATH\n", kinds[kind].name,
            kinds[kind].name);
    return -1;
}

void dft_figure_begin(struct dft_figure *figure, const char *what)
{
    struct dft_text program =
        figure->job.first ? dft_filter_trait(&figure->job.first->process, DFT_FILTER_PROGRAM) : (struct dft_text){0};
    char title[256];

    snprintf(title, sizeof title, "%s%s%.*s", what, program.length ? ": " : "",
             program.length < 128 ? (int)program.length : 128, program.length ? program.bytes : "");
    dft_svg_begin(&figure->svg, figure->out, figure->width, figure->height, figure->title ? figure->title : title);
}

void dft_figure_end(struct dft_figure *figure)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (out) {
        int lossy = dft_job_is_lossy(&figure->job, figure->source), paused = dft_job_unrecorded(out, "", &figure->job);

        fputs(paused ? ". " : "", out);
        fputs(lossy ? "Incomplete: lost " : paused ? "Nothing else was lost." : "Nothing was lost.", out);
        if (lossy)
            dft_job_losses(out, &figure->job, figure->source);
        fclose(out);
    }
    dft_svg_foot(&figure->svg, text ? text : "");
    dft_svg_end(&figure->svg);
    free(text);
}

static int draw(struct dft_figure *figure, int kind, const char *path)
{
    struct dft_outfile file;
    int rc;

    if (dft_is_input(figure->source, path)) {
        fprintf(stderr, "dftmerge plot: -o %s is one of the traces: choose another file\n", path);
        return -EEXIST;
    }
    rc = dft_outfile_open(&file, path);
    if (!rc) {
        figure->out = file.stream;
        rc = kinds[kind].draw(figure);
        if (rc)
            dft_outfile_abort(&file);
        else
            rc = dft_outfile_close(&file, 0, 0);
    }
    if (rc < 0)
        dft_outfile_say(path, rc);
    if (rc == DFT_FIGURE_EMPTY)
        dft_command_nothing(figure->options, figure->source);
    if (rc == DFT_FIGURE_EMPTY)
        dft_source_note(figure->source, 1, "nothing to draw: %s was not written", path);
    return rc;
}

static int run(int argc, char **argv)
{
    struct dft_options options;
    struct dft_figure figure = {.options = &options};
    struct asked asked = {0};
    const struct dft_option own[] = {
        {"kind", 'k', "KIND", &asked.kind, NULL, "One of bandwidth, heatmap, sizes, latency, overlap or files",
         .word = kind_word},
        {"output", 'o', "FILE", &asked.path, NULL, "The file to write; - is standard output"},
        {"title", 0, "TEXT", &figure.title, NULL, "The title (default: what it is, and the program)"},
        {"width", 0, "PIXELS", &asked.width, NULL, "Width of the picture (default: 720)"},
        {"height", 0, "PIXELS", &asked.height, NULL, "Height of the picture (default: 400)"},
        {0},
    };
    int code, kind, rc;

    if (dft_options_parse(&options, &dft_command_plot, own, argc, argv, &code))
        return code;
    kind = understand(&asked, &figure);
    if (kind < 0) {
        dft_options_fini(&options);
        return DFT_EXIT_USAGE;
    }
    options.only_queries = 1;
    dft_command_take_newest(&options);
    options.source.note_newest = options.source.newest; /* a picture has no room to say it */
    if (dft_command_begin(&options, &figure.source, &code))
        return code;
    rc = dft_job_collect(&figure.job, figure.source);
    if (rc)
        fprintf(stderr, "dftmerge plot: %s\n", strerror(-rc));
    else
        rc = draw(&figure, kind, asked.path);
    dft_job_fini(&figure.job);
    return dft_command_end(&options, figure.source, rc ? DFT_EXIT_BAD : DFT_EXIT_OK);
}

const struct dft_command dft_command_plot = {
    .name = "plot",
    .arguments = "--kind KIND -o FILE PATH...",
    .brief = "Pictures as SVG, for papers",
    .details = "bandwidth  bytes read and written a second, and the share of time with I/O\n"
               "heatmap    ranks (or processes) by time: calls in flight\n"
               "sizes      bytes that calls asked for, by calls and by time\n"
               "latency    how long calls took, with p50, p95 and p99\n"
               "overlap    compute, and I/O that is hidden behind it or in its way, of each rank\n"
               "files      the files with the most time\n"
               "No display is needed. Pointing at a bar shows its numbers; data-* "
               "attributes have them exactly. The picture says what was lost.",
    .example = "dftmerge plot --kind bandwidth -o bandwidth.svg traces/",
    .takes = DFT_TAKES_FILTER | DFT_TAKES_CLASSES,
    .run = run,
};
