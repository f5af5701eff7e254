/* SPDX-License-Identifier: MIT */
/* Ranks by time as a map of shades. A line stands for as many neighbours as the screen makes
 * necessary, and shows the largest of them: one slow rank among ten thousand is seen. */
#include "timeline/timeline_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/plot.h"
#include "base/write_text.h"
#include "base/write_wrapped.h"

/* The lines of the map. Ranks have their numbers as places, others the order of their ids. */
struct places {
    uint64_t count; /* of all places, idle ones too */
    uint64_t each;  /* places a line */
    uint32_t lines;
};

static uint64_t place_of(const struct dft_timeline *timeline, size_t i)
{
    if (timeline->by != DFT_BY_RANK)
        return i;
    return timeline->series[i].id >= 2 ? timeline->series[i].id - 2 : UINT64_MAX; /* no rank: nowhere */
}

static struct places places_of(const struct dft_timeline *timeline, unsigned lines)
{
    struct places places = {.count = timeline->nseries};

    if (timeline->by == DFT_BY_RANK) {
        uint64_t last = timeline->nseries ? place_of(timeline, timeline->nseries - 1) : UINT64_MAX;

        places.count = timeline->job.world_size;
        if (last != UINT64_MAX && last >= places.count)
            places.count = last + 1;
    }
    lines = lines ? lines : 1;
    places.each = places.count > lines ? (places.count + lines - 1) / lines : 1;
    places.lines = (uint32_t)((places.count + places.each - 1) / places.each);
    return places;
}

/* A character's value of one series: the mean of its columns. */
static uint64_t cell_of(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout,
                        const struct dft_timeline_series *series, uint32_t at)
{
    uint64_t sum = 0;

    for (uint32_t k = at * layout->fold; k < timeline->count && k < (at + 1) * layout->fold; k++)
        sum += series->values[k];
    return sum;
}

/* Fills the cells, lines by characters. Returns the largest one. */
static uint64_t fill(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout,
                     const struct places *places, uint64_t *cells)
{
    uint64_t most = 0;

    for (size_t i = 0; i < timeline->nseries; i++) {
        uint64_t place = place_of(timeline, i);

        for (uint32_t at = 0; place != UINT64_MAX && at < layout->count; at++) {
            uint64_t *cell = &cells[place / places->each * layout->count + at];
            uint64_t value = cell_of(timeline, layout, &timeline->series[i], at);

            *cell = value > *cell ? value : *cell;
            most = value > most ? value : most;
        }
    }
    return most;
}

static void print_label(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout,
                        const struct places *places, uint32_t line)
{
    uint64_t from = line * places->each, to = from + places->each < places->count ? from + places->each : places->count;
    char label[64];

    if (timeline->by != DFT_BY_RANK && to - from == 1)
        snprintf(label, sizeof label, "%s", timeline->series[from].name);
    else if (to - from == 1)
        snprintf(label, sizeof label, "%llu", (unsigned long long)from);
    else
        snprintf(label, sizeof label, "%llu-%llu", (unsigned long long)from, (unsigned long long)to - 1);
    printf("%*.*s %s", (int)layout->indent - 2, (int)layout->indent - 2, label, layout->unicode ? "│" : "|");
}

static void print_scale(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout, uint64_t most)
{
    char room[DFT_TIMELINE_ROOM];
    struct dft_sentence text;
    FILE *out = dft_sentence_begin(&text);

    if (!out)
        return;
    fprintf(out, "%s by %s:",
            timeline->measure == DFT_TIMELINE_TIME ? "calls in flight" : dft_timeline_measure_word(timeline->measure),
            dft_by_word(timeline->by));
    for (unsigned shade = 1; shade <= DFT_PLOT_SHADES; shade++)
        fprintf(out, " %s", dft_plot_shade(layout->unicode, shade));
    fprintf(out, " up to %s",
            dft_timeline_rate(room, timeline->measure, most, (uint64_t)layout->fold * timeline->width_ns));
    dft_sentence_end(&text, out, "", 0);
}

/* The series with the most, and those without any. */
static void print_extremes(const struct dft_timeline *timeline, const struct places *places)
{
    const struct dft_timeline_series *most = NULL;
    uint64_t idle = places->count;
    char a[DFT_TEXT_ROOM], b[DFT_TEXT_ROOM], c[DFT_TEXT_ROOM];

    for (size_t i = 0; i < timeline->nseries; i++) {
        const struct dft_timeline_series *series = &timeline->series[i];

        idle -= place_of(timeline, i) != UINT64_MAX;
        if (!most || series->time_ns > most->time_ns)
            most = series;
    }
    if (most)
        dft_print_wrapped("most I/O time: %s %s with %s in %s calls, %s", dft_by_word(timeline->by), most->name,
                          dft_text_ns(a, most->time_ns), dft_text_count(b, most->calls),
                          dft_text_bytes(c, most->read + most->written));
    if (places->each > 1)
        dft_print_wrapped("a line shows the largest of %s neighbours", dft_text_count(a, places->each));
    if (idle)
        dft_print_wrapped("without I/O: %s of %s", dft_text_count(a, idle), dft_text_count(b, places->count));
}

int dft_timeline_heat(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout, unsigned lines)
{
    struct places places = places_of(timeline, lines);
    uint64_t *cells = calloc((size_t)places.lines * layout->count + 1, sizeof *cells), most;

    if (!cells)
        return -ENOMEM;
    most = fill(timeline, layout, &places, cells);
    if (timeline->count) {
        print_scale(timeline, layout, most);
        for (uint32_t line = 0; line < places.lines; line++) {
            print_label(timeline, layout, &places, line);
            for (uint32_t at = 0; at < layout->count; at++)
                fputs(dft_plot_shade(layout->unicode,
                                     dft_plot_level(cells[(size_t)line * layout->count + at], most, DFT_PLOT_SHADES)),
                      stdout);
            putchar('\n');
        }
        dft_timeline_axis(timeline, layout);
        print_extremes(timeline, &places);
        dft_timeline_footer(timeline, layout);
    }
    free(cells);
    return 0;
}
