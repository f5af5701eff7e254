/* SPDX-License-Identifier: MIT */
/* dftmerge layers: what each layer of a program did, and when nothing computed meanwhile. The
 * command. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest_word.h"
#include "base/write_wrapped.h"
#include "command/command.h"
#include "job/job.h"
#include "job/job_state.h"
#include "layers/layers_output.h"
#include "object/source_notes.h"

struct asked {
    struct dft_options options;
    const char *preset, *view, *interval;
    int list;
    enum dft_layer_view views[DFT_LAYER_VIEWS];
    unsigned nviews;
    int64_t width_ns;
};

static void preset_names(const char *names[DFT_BUILTIN_PRESETS])
{
    for (unsigned i = 0; i < DFT_BUILTIN_PRESETS; i++)
        names[i] = dft_builtin_presets[i].name;
}

static const char *preset_word(size_t i)
{
    return i < DFT_BUILTIN_PRESETS ? dft_builtin_presets[i].name : NULL;
}

static const char *view_word(size_t i)
{
    return i + 1 < DFT_LAYER_VIEWS ? dft_layer_view_words[i + 1] : NULL;
}

/* Returns 0, or 1 after an error. */
static int parse_views(struct asked *asked)
{
    for (const char *at = asked->view; at && *at;) {
        size_t length = strcspn(at, ",");
        unsigned view = DFT_LAYER_TIME, before = 0;

        while (view < DFT_LAYER_VIEWS &&
               (strlen(dft_layer_view_words[view]) != length || memcmp(dft_layer_view_words[view], at, length)))
            view++;
        if (view == DFT_LAYER_VIEWS) {
            const char *nearest = dft_nearest_word(at, length, dft_layer_view_words + 1, DFT_LAYER_VIEWS - 1);

            fprintf(stderr, "dftmerge layers: --view %.*s: there is no such view.%s%s%s", (int)length, at,
                    nearest ? " Did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
            dft_say_words(NULL, "Views are", dft_layer_view_words + 1, DFT_LAYER_VIEWS - 1);
            return 1;
        }
        while (before < asked->nviews && asked->views[before] != view)
            before++;
        if (before == asked->nviews)
            asked->views[asked->nviews++] = (enum dft_layer_view)view;
        at += length + (at[length] == ',');
    }
    return 0;
}

static int parse_interval(struct asked *asked)
{
    if (!asked->interval || (!dft_filter_seconds(&asked->width_ns, asked->interval) && asked->width_ns > 0))
        return 0;
    fprintf(stderr, "dftmerge layers: --interval %s: not a width in time, as in 0.5 or 200ms\n", asked->interval);
    return 1;
}

/* --list needs no traces. Its presets are those that --preset names, else all. */
static int list(const struct asked *asked)
{
    const struct dft_builtin_preset *only = asked->preset ? dft_builtin_preset(asked->preset) : NULL;

    for (unsigned i = 0; i < DFT_BUILTIN_PRESETS; i++)
        if (only ? only == &dft_builtin_presets[i] : !asked->preset)
            dft_builtin_preset_print(stdout, &dft_builtin_presets[i]);
    if (only || !asked->preset)
        return fflush(stdout) ? DFT_EXIT_BAD : DFT_EXIT_OK;
    return DFT_EXIT_USAGE;
}

/* A preset by its name, or a file; none if the user names none. Returns 0, or 1 after an error. */
static int read_preset(const struct asked *asked, struct dft_preset *preset)
{
    const struct dft_builtin_preset *builtin = asked->preset ? dft_builtin_preset(asked->preset) : NULL;
    const char *names[DFT_BUILTIN_PRESETS], *nearest;
    char error[512];
    int rc;

    if (!asked->preset)
        return 0;
    if (builtin) {
        rc = dft_preset_init(preset, builtin);
        snprintf(error, sizeof error, "%s", strerror(rc ? -rc : 0));
    } else if (!strchr(asked->preset, '/') && access(asked->preset, F_OK)) {
        preset_names(names);
        nearest = dft_nearest_word(asked->preset, strlen(asked->preset), names, DFT_BUILTIN_PRESETS);
        fprintf(stderr, "dftmerge layers: --preset %s: there is neither such a preset nor such a file.%s%s%s",
                asked->preset, nearest ? " Did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
        dft_say_words(NULL, "Presets are", names, DFT_BUILTIN_PRESETS);
        return 1;
    } else {
        rc = dft_preset_read(preset, asked->preset, error, sizeof error);
    }
    if (rc)
        fprintf(stderr, "dftmerge layers: %s\n", error);
    return rc != 0;
}

/* Chooses the preset where the user did not, and makes the layers of {cat}. */
static int prepare(const struct asked *asked, struct dft_source *source, struct dft_preset *preset)
{
    const struct dft_builtin_preset *tells = NULL;
    int rc = dft_layers_categories(source, &asked->options.filter, asked->preset ? preset : NULL, &tells);

    if (!rc && !asked->preset)
        rc = dft_preset_init(preset, tells ? tells : dft_builtin_preset("posix"));
    if (!rc)
        rc = dft_preset_begin(preset, source);
    if (rc == -E2BIG)
        fprintf(stderr,
                "dftmerge layers: there are more than %u layers; a preset with cat=A,B chooses among categories\n",
                DFT_LAYERS_MAX);
    return rc;
}

static int answer(struct asked *asked, struct dft_source *source, struct dft_preset *preset)
{
    struct dft_layers layers = {0};
    struct dft_layers_request request = {
        .source = source, .filter = &asked->options.filter, .preset = preset, .width_ns = (uint64_t)asked->width_ns};
    struct dft_layers_asked shown = {.layers = &layers,
                                     .source = source,
                                     .views = asked->views,
                                     .nviews = asked->nviews,
                                     .top = asked->options.top,
                                     .is_chosen = !asked->preset};
    int rc = prepare(asked, source, preset);

    if (rc)
        return rc;
    for (unsigned i = 0; i < asked->nviews; i++)
        request.views |= 1u << asked->views[i];
    rc = dft_layers_make(&request, &layers);
    if (rc == -E2BIG)
        fprintf(stderr, "dftmerge layers: --interval %s makes more than %u intervals; --from and --to choose a part\n",
                asked->interval, DFT_LAYER_INTERVALS_MAX);
    if (!rc)
        rc = dft_job_note_state(source);
    if (!rc && !layers.overlap.nprocesses)
        dft_command_nothing(&asked->options, source);
    if (!rc && asked->options.json)
        dft_layers_json(&shown);
    else if (!rc && asked->options.csv)
        dft_layers_csv(&shown);
    else if (!rc && layers.overlap.nprocesses) {
        dft_command_print_newest(&asked->options, source);
        rc = dft_layers_text(&shown);
    }
    dft_layers_fini(&layers);
    return rc;
}

static int run(int argc, char **argv)
{
    struct asked asked = {0};
    struct dft_options *options = &asked.options;
    struct dft_preset preset = {0};
    struct dft_source *source;
    int code, rc;
    const struct dft_option own[] = {
        {"preset", 'p', "NAME|FILE", &asked.preset, NULL, "One of posix, dlio, generic and torch, or a file of rules",
         .word = preset_word},
        {"view", 'v', "LIST", &asked.view, NULL, "Each layer by time,process,rank,host,file,directory,pattern",
         .word = view_word},
        {"interval", 0, "SECONDS", &asked.interval, NULL, "Width of an interval of --view time (default: as fits)"},
        {"list", 0, NULL, NULL, &asked.list, "Print presets, as files to begin with", 1},
        {0},
    };

    if (dft_options_parse(options, &dft_command_layers, own, argc, argv, &code))
        return code;
    rc = parse_views(&asked) || parse_interval(&asked) || read_preset(&asked, &preset);
    if (rc || asked.list) {
        code = rc ? DFT_EXIT_USAGE : list(&asked);
        dft_preset_fini(&preset);
        dft_options_fini(options);
        return code;
    }
    dft_command_take_newest(options);
    if (!dft_command_begin(options, &source, &code)) {
        dft_command_aggregates(source, "layers");
        rc = answer(&asked, source, &preset);
        if (rc && rc != -E2BIG)
            fprintf(stderr, "dftmerge layers: %s\n", strerror(-rc));
        code = dft_command_end(options, source, rc == -E2BIG ? DFT_EXIT_USAGE : rc ? DFT_EXIT_BAD : DFT_EXIT_OK);
    }
    dft_preset_fini(&preset);
    return code;
}

const struct dft_command dft_command_layers = {
    .name = "layers",
    .arguments = "PATH...",
    .brief = "Layers of a program: their time, and what is exposed",
    .details =
        "A preset says which calls and regions belong to which layer: posix (calls by what they do), dlio, torch, "
        "generic (a layer for each category), or a file of rules like those of --list. Without --preset the traces "
        "decide. Active is the time in which a layer goes on in a rank. Unoverlapped is what of that lies outside "
        "the layers that compute. Own is what lies outside the layers below, too. Each is a union of intervals: "
        "nothing counts twice.",
    .example = "dftmerge layers --preset dlio --view time,process,file traces/",
    .lacks = "the rules of a preset choose calls and files",
    .takes = DFT_TAKES_JSON | DFT_TAKES_CSV | DFT_TAKES_PART | DFT_TAKES_TOP | DFT_TAKES_CLASSES | DFT_TAKES_ALIGN,
    .run = run,
};
