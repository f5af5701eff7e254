/* SPDX-License-Identifier: MIT */
/* dftmerge spans states: how many roots are in which state over time. The command. */
#include "spans/states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "spans/analysis.h"
#include "spans/moment.h"

#define COLUMNS 8u /* states that the text shows over time */
#define LINES   40u

static const char *name_of(const struct dft_spans_states *states, size_t state)
{
    return states->model->kinds[states->states[state].kind].name;
}

static void print_csv(const struct dft_spans_states *states)
{
    puts("start_ns,state,roots");
    for (size_t i = 0; i < states->intervals.count; i++)
        for (size_t state = 0; state < states->count; state++) {
            printf("%lld,", (long long)(states->intervals.start + (int64_t)(i * states->intervals.width)));
            dft_csv_text(stdout, name_of(states, state), strlen(name_of(states, state)));
            printf(",%.17g\n", states->states[state].means[i]);
        }
}

static void print_json(const struct dft_spans_analysis *analysis, const struct dft_spans_states *states)
{
    struct dft_json json;

    dft_json_init(&json, stdout, 1);
    dft_json_object(&json, NULL);
    dft_json_string(&json, "root", analysis->model.types[analysis->type].name);
    dft_json_uint(&json, "roots", states->roots);
    dft_spans_intervals_json(&json, &states->intervals);
    dft_json_array(&json, "states");
    for (size_t state = 0; state < states->count; state++) {
        dft_json_object(&json, NULL);
        dft_json_string(&json, "state", name_of(states, state));
        dft_json_uint(&json, "entered", states->states[state].entered);
        dft_json_double(&json, "time_seconds", (double)states->states[state].ns / 1e9);
        dft_json_array(&json, "means");
        for (size_t i = 0; i < states->intervals.count; i++)
            dft_json_double(&json, NULL, states->states[state].means[i]);
        dft_json_end_array(&json);
        dft_json_end_object(&json);
    }
    dft_json_end_array(&json);
    dft_json_end_object(&json);
}

/* The states with a number each, their count and time. */
static void print_states(const struct dft_spans_states *states)
{
    printf("  %4s %12s %18s state\n", "", "entered", "time");
    for (size_t state = 0; state < states->count; state++) {
        double seconds = (double)states->states[state].ns / 1e9;
        char number[DFT_TEXT_ROOM], time[DFT_TEXT_ROOM];

        snprintf(time, sizeof time, "%.3f s", seconds);
        printf("  %4zu %12s %18s ", state + 1, dft_text_count(number, states->states[state].entered), time);
        dft_text_escape(stdout, name_of(states, state), strlen(name_of(states, state)));
        putchar('\n');
    }
}

/* A line for each interval, or for as many together that there are LINES. */
static void print_times(const struct dft_spans_states *states)
{
    const struct dft_spans_intervals *intervals = &states->intervals;
    size_t shown = states->count < COLUMNS ? states->count : COLUMNS, each = (intervals->count + LINES - 1) / LINES;

    printf("\nRoots in each state, in the mean%s:\n%15s", shown < states->count ? " (the first states)" : "", "time");
    for (size_t state = 0; state < shown; state++)
        printf(" %10zu", state + 1);
    putchar('\n');
    for (size_t first = 0; first < intervals->count; first += each) {
        char time[DFT_SPANS_MOMENT_CAPACITY];

        printf("%15s", dft_spans_moment_text(time, (int64_t)(first * intervals->width)));
        for (size_t state = 0; state < shown; state++) {
            double roots = 0, whole = 0;

            for (size_t i = first; i < first + each && i < intervals->count; i++) {
                roots += states->states[state].means[i] * (double)dft_spans_interval_ns(intervals, i);
                whole += (double)dft_spans_interval_ns(intervals, i);
            }
            printf(" %10.2f", whole > 0 ? roots / whole : 0);
        }
        putchar('\n');
    }
}

static int draw(const struct dft_spans_analysis *analysis, const struct dft_spans_states *states)
{
    struct dft_spans_states_picture picture = {states, &analysis->asked, NULL};
    char *title;
    int rc;

    if (asprintf(&title, "States of %s", analysis->model.types[analysis->type].name) < 0)
        return -ENOMEM;
    picture.title = title;
    rc = dft_spans_draw(&analysis->asked, dft_spans_states_draw, &picture);
    free(title);
    return rc;
}

static int print(const struct dft_spans_analysis *analysis, const struct dft_spans_states *states)
{
    const struct dft_spans_asked *asked = &analysis->asked;
    int rc = 0;

    if (!states->roots && !asked->options.json && !asked->options.csv) {
        fprintf(stderr, "dftmerge spans: no root of type %s has events%s\n", analysis->model.types[analysis->type].name,
                asked->output ? "; no picture was written" : "");
        return DFT_EXIT_BAD;
    }
    if (asked->output && states->roots)
        rc = draw(analysis, states);
    if (asked->options.json)
        print_json(analysis, states);
    else if (asked->options.csv)
        print_csv(states);
    else if (!asked->output) {
        print_states(states);
        print_times(states);
    }
    return rc;
}

static int run(int argc, char **argv)
{
    struct dft_spans_analysis analysis;
    struct dft_spans_states states;
    int code;

    if (dft_spans_analysis_begin(&analysis, &dft_spans_states,
                                 DFT_SPANS_TAKES_ROOT | DFT_SPANS_TAKES_INTERVAL | DFT_SPANS_TAKES_OUTPUT |
                                     DFT_SPANS_TAKES_SIZE | DFT_SPANS_TAKES_CSV,
                                 argc, argv, &code))
        return code;
    code = dft_spans_states_make(&states, &analysis.walk, &analysis.asked);
    if (!code)
        code = print(&analysis, &states);
    dft_spans_states_fini(&states);
    return dft_spans_analysis_end(&analysis, code);
}

const struct dft_command dft_spans_states = {
    .name = "spans states",
    .arguments = "FILE.db",
    .brief = "How many roots are in which state over time",
    .details =
        "The state of a root is the last event that happened to it, to its subspans, or to facets. The last state "
        "of each lasts until the last event of all. Numbers are means over intervals.",
    .example = "dftmerge spans states workflow.db -o states.svg",
    .run = run,
};
