/* SPDX-License-Identifier: MIT */
/* The options that the verbs of dftmerge spans have in common. */
#include "spans/asked.h"

#include <stdlib.h>
#include <string.h>

#include "base/svg.h"
#include "spans/picture.h"

#define WIDTH   800u
#define HEIGHT  400u
#define OPTIONS 16u

struct texts {
    const char *interval, *width, *height;
};

/* Makes the table of the options that the verb takes. */
static void make_options(struct dft_spans_asked *asked, struct texts *texts, unsigned takes,
                         struct dft_option options[OPTIONS])
{
    const struct {
        unsigned takes;
        struct dft_option option;
    } all[] = {
        {DFT_SPANS_TAKES_ROOT,
         {"root", 0, "TYPE", &asked->root, NULL, "Type of the root spans (default: " DFT_SPANS_ROOT ")"}},
        {DFT_SPANS_TAKES_ENDS,
         {"from", 0, "EVENT", &asked->from, NULL, "The event that begins the time: SPANTYPE/EVENT, or EVENT alone"}},
        {DFT_SPANS_TAKES_ENDS, {"to", 0, "EVENT", &asked->to, NULL, "The event that ends it"}},
        {DFT_SPANS_TAKES_EVENT,
         {"event", 0, "EVENT", &asked->event, NULL, "Which event: SPANTYPE/EVENT, or EVENT alone"}},
        {DFT_SPANS_TAKES_ALL, {"all", 0, NULL, NULL, &asked->all, "The other orderings, too"}},
        {DFT_SPANS_TAKES_INTERVAL,
         {"interval", 0, "SECONDS", &texts->interval, NULL, "Length of an interval (default: a round one)"}},
        {DFT_SPANS_TAKES_KIND,
         {"kind", 'k', "KIND", &asked->kind, NULL, "The picture: scatter, histogram or density (default: scatter)",
          .word = dft_spans_picture_word}},
        {DFT_SPANS_TAKES_OUTPUT,
         {"output", 'o', "FILE", &asked->output, NULL, "A picture as SVG in place of text; - is standard output"}},
        {DFT_SPANS_TAKES_SIZE, {"title", 0, "TEXT", &asked->title, NULL, "The title of the picture"}},
        {DFT_SPANS_TAKES_SIZE, {"width", 0, "PIXELS", &texts->width, NULL, "Width of the picture (default: 800)"}},
        {DFT_SPANS_TAKES_SIZE, {"height", 0, "PIXELS", &texts->height, NULL, "Height of the picture (default: 400)"}},
    };
    unsigned count = 0;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (takes & all[i].takes)
            options[count++] = all[i].option;
    options[count] = (struct dft_option){0};
}

static int wrong(const struct dft_command *command, const char *what, const char *word)
{
    fprintf(stderr, "dftmerge %s: %s%s%s\ndftmerge %s: see `dftmerge %s --help`\n", command->name, what,
            word ? ": " : "", word ? word : "", command->name, command->name);
    return -1;
}

static int parse_interval(struct dft_spans_asked *asked, const struct dft_command *command, const char *text)
{
    if (!text || (!dft_filter_seconds(&asked->interval_ns, text) && asked->interval_ns > 0))
        return 0;
    return wrong(command, "--interval: this is no time such as 0.5, 10ms or 1min", text);
}

/* Takes the words that are no options. Returns 0, or -1 after an error. */
static int take_words(struct dft_spans_asked *asked, const struct dft_command *command, unsigned takes)
{
    const struct dft_source_options *words = &asked->options.source;
    int most = takes & DFT_SPANS_TAKES_QUERY ? 2 : 1;

    if (!words->npaths)
        return wrong(command, "which database? Name the file", NULL);
    if (words->npaths > most)
        return wrong(command, "one database at a time; this is one word too many", words->paths[most]);
    asked->file = words->paths[0];
    if (most == 1)
        return 0;
    if (words->npaths < 2)
        return wrong(command, "which query? For example: 'select start, end from ...'", NULL);
    asked->query = words->paths[1];
    return asked->output ? 0 : wrong(command, "where to? -o FILE.svg", NULL);
}

int dft_spans_asked_parse(struct dft_spans_asked *asked, const struct dft_command *verb, unsigned takes, int argc,
                          char **argv, int *code)
{
    struct texts texts = {0};
    struct dft_option own[OPTIONS];
    struct dft_command command = *verb;

    *asked = (struct dft_spans_asked){.verb = verb};
    command.takes = DFT_TAKES_NONE | (takes & DFT_SPANS_TAKES_QUERY ? 0 : DFT_TAKES_JSON) |
                    (takes & DFT_SPANS_TAKES_CSV ? DFT_TAKES_CSV : 0);
    make_options(asked, &texts, takes, own);
    if (dft_options_parse(&asked->options, &command, own, argc, argv, code))
        return 1;
    if (take_words(asked, &command, takes) || parse_interval(asked, &command, texts.interval) ||
        dft_svg_pixels(command.name, "width", texts.width, WIDTH, &asked->width) ||
        dft_svg_pixels(command.name, "height", texts.height, HEIGHT, &asked->height)) {
        dft_options_fini(&asked->options);
        *code = DFT_EXIT_USAGE;
        return 1;
    }
    return 0;
}

int dft_spans_asked_end(struct dft_spans_asked *asked, int code)
{
    dft_options_fini(&asked->options);
    if (!fflush(stdout) && !ferror(stdout))
        return code;
    fprintf(stderr, "dftmerge %s: standard output could not be written\n", asked->verb->name);
    return DFT_EXIT_BAD;
}
