/* SPDX-License-Identifier: MIT */
/* Pictures over time: bandwidth, and the heat map of ranks. Their numbers are those of dftmerge
 * timeline. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/write_text.h"
#include "figure/figure.h"
#include "analysis/timeline.h"

#define COLUMNS 120u
#define LINES   120u
#define SHADES  15

/* Returns 0, DFT_FIGURE_EMPTY, or -errno. The caller calls dft_timeline_fini. */
static int count(struct dft_timeline *timeline)
{
    int rc = dft_timeline_choose_width(timeline, 0, COLUMNS);

    if (!rc)
        rc = dft_timeline_count(timeline);
    return rc ? rc : timeline->count ? 0 : DFT_FIGURE_EMPTY;
}

/* Where a column begins, or how far it reaches, in ns from the start of what is requested. */
static uint64_t column_from(const struct dft_timeline *timeline, uint32_t i)
{
    uint64_t from = timeline->base_ns + i * timeline->width_ns;

    return from > timeline->start_ns ? from - timeline->start_ns : 0;
}

static struct dft_scale time_scale(const struct dft_figure *figure, const struct dft_timeline *timeline)
{
    uint64_t span = timeline->end_ns > timeline->start_ns ? timeline->end_ns - timeline->start_ns : 1;

    return (struct dft_scale){span, figure->svg.left, figure->svg.right, DFT_SVG_NS};
}

/* --- bandwidth -------------------------------------------------------------------------------- */

static uint64_t rate_of(const struct dft_timeline *timeline, uint32_t i, uint64_t bytes)
{
    return dft_uint_of((double)bytes * 1e9 / (double)dft_timeline_span(timeline, i, 1));
}

static uint64_t most_rate(const struct dft_timeline *timeline)
{
    uint64_t most = 1;

    for (uint32_t i = 0; i < timeline->count; i++) {
        uint64_t rate = rate_of(timeline, i, timeline->columns[i].read + timeline->columns[i].written);

        most = rate > most ? rate : most;
    }
    return most;
}

static void put_rate(struct dft_figure *figure, const struct dft_timeline *timeline, uint32_t i, int is_write,
                     const struct dft_scale *x, const struct dft_scale *y)
{
    const struct dft_timeline_column *column = &timeline->columns[i];
    uint64_t bytes = is_write ? column->written : column->read, below = is_write ? column->read : 0;
    uint64_t from = column_from(timeline, i);
    double left = dft_scale_at(x, (double)from), top = dft_scale_at(y, (double)rate_of(timeline, i, below + bytes));
    char attributes[96], at[DFT_TEXT_ROOM + 8], rate[DFT_TEXT_ROOM + 8];

    if (!bytes)
        return;
    snprintf(attributes, sizeof attributes, " data-t-ns=\"%llu\" data-bytes=\"%llu\"",
             (unsigned long long)(timeline->base_ns + i * timeline->width_ns), (unsigned long long)bytes);
    dft_svg_bar(&figure->svg, is_write ? "write" : "read", left, top,
                dft_scale_at(x, (double)(from + dft_timeline_span(timeline, i, 1))) - left,
                dft_scale_at(y, (double)rate_of(timeline, i, below)) - top, attributes);
    fprintf(figure->out, "%s: %s %s", dft_svg_number(at, DFT_SVG_NS, from), is_write ? "written" : "read",
            dft_svg_number(rate, DFT_SVG_BYTES_S, rate_of(timeline, i, bytes)));
    dft_svg_bar_end(&figure->svg);
}

/* The share of time in which some call was going on, below the bandwidth. */
static void put_shares(struct dft_figure *figure, const struct dft_timeline *timeline, const struct dft_scale *x,
                       const struct dft_scale *y)
{
    for (uint32_t i = 0; i < timeline->count; i++) {
        uint64_t span = dft_timeline_span(timeline, i, 1), from = column_from(timeline, i);
        uint64_t going = timeline->columns[i].union_ns;
        double left = dft_scale_at(x, (double)from),
               share = 100.0 * (double)(going < span ? going : span) / (double)span;
        char attributes[96];

        if (!going)
            continue;
        snprintf(attributes, sizeof attributes, " data-t-ns=\"%llu\" data-busy-union-ns=\"%llu\"",
                 (unsigned long long)(timeline->base_ns + i * timeline->width_ns), (unsigned long long)going);
        dft_svg_bar(&figure->svg, "union", left, dft_scale_at(y, share), dft_scale_at(x, (double)(from + span)) - left,
                    y->from - dft_scale_at(y, share), attributes);
        fprintf(figure->out, "%s%.1f %% of the time with I/O", timeline->is_exact ? "" : "at most ", share);
        dft_svg_bar_end(&figure->svg);
    }
}

static void put_bandwidth(struct dft_figure *figure, const struct dft_timeline *timeline)
{
    const struct dft_svg_legend legends[] = {
        {"read", "read"},
        {"write", "written"},
        {"union", timeline->is_exact ? "time with I/O" : "time with I/O, at most"}};
    int knows_union = timeline->is_exact || timeline->knows_occupancy;
    struct dft_svg *svg = &figure->svg;
    struct dft_scale x, y, share;
    char read[DFT_TEXT_ROOM], written[DFT_TEXT_ROOM], wall[DFT_TEXT_ROOM], width[DFT_TEXT_ROOM], text[256];
    double parting;

    dft_figure_begin(figure, "Bandwidth over time");
    parting = knows_union ? svg->bottom - (svg->bottom - svg->top) / 4 : svg->bottom;
    x = time_scale(figure, timeline);
    y = (struct dft_scale){most_rate(timeline), knows_union ? parting - 20 : parting, svg->top, DFT_SVG_BYTES_S};
    share = (struct dft_scale){100, svg->bottom, parting, DFT_SVG_PERCENT};
    snprintf(text, sizeof text, "%s read and %s written in %s; a bar is %s.%s", dft_text_bytes(read, timeline->read),
             dft_text_bytes(written, timeline->written), dft_text_ns(wall, x.most),
             dft_text_ns(width, timeline->width_ns), knows_union ? "" : " The share of time with I/O is not known.");
    dft_svg_sentence(svg, text);
    dft_svg_legends(svg, legends, knows_union ? 3 : 2);
    dft_svg_y_axis(svg, &y, "bandwidth");
    if (knows_union) {
        dft_svg_y_axis(svg, &share, "share of the time with I/O");
        put_shares(figure, timeline, &x, &share);
    }
    for (uint32_t i = 0; i < timeline->count; i++) {
        put_rate(figure, timeline, i, 0, &x, &y);
        put_rate(figure, timeline, i, 1, &x, &y);
    }
    dft_svg_x_axis(svg, &x, "time since the start");
    dft_figure_end(figure);
}

int dft_figure_bandwidth(struct dft_figure *figure)
{
    struct dft_timeline timeline = {.source = figure->source,
                                    .options = figure->options,
                                    .job = figure->job,
                                    .measure = DFT_TIMELINE_BYTES,
                                    .by = DFT_BY_COUNT};
    int rc = count(&timeline);

    if (!rc)
        put_bandwidth(figure, &timeline);
    dft_timeline_fini(&timeline);
    return rc;
}

/* --- heat map --------------------------------------------------------------------------------- */

/* Cells are calls in flight, on average over the column; a line stands for `each` neighbours. */
struct cells {
    double *values;
    uint32_t lines, columns;
    uint64_t places, each;
    double least, most; /* of those above 0 */
};

static uint64_t place_of(const struct dft_timeline *timeline, size_t i)
{
    if (timeline->by != DFT_BY_RANK)
        return i;
    return timeline->series[i].id >= 2 ? timeline->series[i].id - 2 : UINT64_MAX; /* no rank: nowhere */
}

static int make_cells(const struct dft_timeline *timeline, struct cells *cells)
{
    cells->places = timeline->by == DFT_BY_RANK ? timeline->job.world_size : timeline->nseries;
    for (size_t i = 0; i < timeline->nseries; i++)
        if (place_of(timeline, i) != UINT64_MAX && place_of(timeline, i) >= cells->places)
            cells->places = place_of(timeline, i) + 1;
    cells->each = cells->places > LINES ? (cells->places + LINES - 1) / LINES : 1;
    cells->lines = (uint32_t)((cells->places + cells->each - 1) / cells->each);
    cells->columns = timeline->count;
    cells->values = calloc((size_t)cells->lines * cells->columns + 1, sizeof *cells->values);
    if (!cells->values)
        return -ENOMEM;
    for (size_t s = 0; s < timeline->nseries; s++)
        for (uint32_t i = 0; place_of(timeline, s) != UINT64_MAX && i < timeline->count; i++) {
            double *cell = &cells->values[place_of(timeline, s) / cells->each * cells->columns + i];
            double value = (double)timeline->series[s].values[i] / (double)dft_timeline_span(timeline, i, 1);

            *cell = value > *cell ? value : *cell;
        }
    for (size_t i = 0; i < (size_t)cells->lines * cells->columns; i++) {
        double value = cells->values[i];

        cells->most = value > cells->most ? value : cells->most;
        cells->least = value > 0 && (cells->least == 0 || value < cells->least) ? value : cells->least;
    }
    return 0;
}

/* 1 to SHADES on a logarithmic scale; 0: nothing. */
static int shade_of(const struct cells *cells, double value)
{
    if (value <= 0)
        return 0;
    if (cells->most <= cells->least)
        return SHADES;
    return 1 + (int)((SHADES - 0.001) * log(value / cells->least) / log(cells->most / cells->least));
}

/* The colour of a shade, from light yellow to dark blue. */
static void put_colour(FILE *out, int shade)
{
    static const int ends[3][3] = {{0xff, 0xf3, 0xb0}, {0x35, 0xa0, 0x9a}, {0x1b, 0x1f, 0x5e}};
    double at = 2.0 * (shade - 1) / (SHADES - 1);
    int first = at >= 1 ? 1 : 0;

    fputs("fill=\"#", out);
    for (int i = 0; i < 3; i++)
        fprintf(out, "%02x", (int)(ends[first][i] + (at - first) * (ends[first + 1][i] - ends[first][i])));
    fputs("\"", out);
}

/* All cells of a shade as one path, in units of cells: neighbours in a line are one rectangle. */
static void put_shade(FILE *out, const struct cells *cells, int shade)
{
    fputs("<path ", out);
    put_colour(out, shade);
    fprintf(out, " data-shade=\"%d\" d=\"", shade);
    for (uint32_t line = 0; line < cells->lines; line++)
        for (uint32_t i = 0, n; i < cells->columns; i += n) {
            const double *values = &cells->values[(size_t)line * cells->columns];

            for (n = 1; i + n < cells->columns && shade_of(cells, values[i + n]) == shade_of(cells, values[i]);)
                n++;
            if (shade_of(cells, values[i]) == shade)
                fprintf(out, "M%u %uh%uv1h-%uz", i, line, n, n);
        }
    fputs("\"/>\n", out);
}

/* The colours, from the least to the most time in I/O of a cell, which is WIDTH_NS wide. */
static void put_shades(struct dft_figure *figure, const struct cells *cells, uint64_t width_ns)
{
    struct dft_svg *svg = &figure->svg;
    char time[DFT_TEXT_ROOM], text[DFT_TEXT_ROOM + 16];
    double x = svg->right - 8 * SHADES - 100;

    dft_svg_text(svg, x - 6, DFT_SVG_LEGEND, "legend", "end",
                 dft_text_ns(time, dft_uint_of(cells->least * (double)width_ns)));
    for (int shade = 1; shade <= SHADES; shade++) {
        fprintf(figure->out, "<rect x=\"%.1f\" y=\"%d\" width=\"8\" height=\"10\" ", x + 8 * (shade - 1),
                DFT_SVG_LEGEND - 10);
        put_colour(figure->out, shade);
        fputs("/>\n", figure->out);
    }
    snprintf(text, sizeof text, "%s in I/O", dft_text_ns(time, dft_uint_of(cells->most * (double)width_ns)));
    dft_svg_text(svg, x + 8 * SHADES + 6, DFT_SVG_LEGEND, "legend", "start", text);
}

static void put_sentence(struct dft_figure *figure, const struct dft_timeline *timeline, const struct cells *cells)
{
    const struct dft_timeline_series *most = NULL;
    uint64_t nowhere = 0, idle = cells->places;
    char text[512], time[DFT_TEXT_ROOM], width[DFT_TEXT_ROOM];
    int used = 0;

    for (size_t i = 0; i < timeline->nseries; i++) {
        if (!most || timeline->series[i].time_ns > most->time_ns)
            most = &timeline->series[i];
        nowhere += place_of(timeline, i) == UINT64_MAX;
        idle -= place_of(timeline, i) != UINT64_MAX;
    }
    text[0] = 0;
    if (most)
        used =
            snprintf(text, sizeof text, "Most I/O time: %s %.64s with %s. A column is %s.", dft_by_word(timeline->by),
                     most->name, dft_text_ns(time, most->time_ns), dft_text_ns(width, timeline->width_ns));
    if (idle)
        used += snprintf(text + used, sizeof text - (size_t)used, " Without I/O: %llu of %llu.",
                         (unsigned long long)idle, (unsigned long long)cells->places);
    if (cells->each > 1)
        used += snprintf(text + used, sizeof text - (size_t)used, " A line shows the largest of %llu neighbours.",
                         (unsigned long long)cells->each);
    if (nowhere)
        snprintf(text + used, sizeof text - (size_t)used, " Processes without a rank are not shown.");
    dft_svg_sentence(&figure->svg, text);
}

static void put_heatmap(struct dft_figure *figure, const struct dft_timeline *timeline, const struct cells *cells)
{
    struct dft_svg *svg = &figure->svg;
    struct dft_scale x, y;

    dft_figure_begin(figure, timeline->by == DFT_BY_RANK ? "I/O by rank and time" : "I/O by process and time");
    x = time_scale(figure, timeline);
    y = (struct dft_scale){cells->places, svg->top, svg->bottom, DFT_SVG_COUNT, .is_rows = 1};
    put_sentence(figure, timeline, cells);
    put_shades(figure, cells, timeline->width_ns);
    dft_svg_y_axis(svg, &y, timeline->by == DFT_BY_RANK ? "rank" : "process");
    fprintf(figure->out,
            "<svg class=\"cells\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"%.6f 0 %.6f %.6f\" "
            "preserveAspectRatio=\"none\" data-t-ns=\"%llu\" data-width-ns=\"%llu\" data-each=\"%llu\">\n",
            svg->left, svg->top, svg->right - svg->left, svg->bottom - svg->top,
            timeline->start_ns > timeline->base_ns
                ? (double)(timeline->start_ns - timeline->base_ns) / (double)timeline->width_ns
                : 0.0,
            (double)x.most / (double)timeline->width_ns, (double)cells->places / (double)cells->each,
            (unsigned long long)timeline->base_ns, (unsigned long long)timeline->width_ns,
            (unsigned long long)cells->each);
    for (int shade = 1; shade <= SHADES; shade++)
        put_shade(figure->out, cells, shade);
    fputs("</svg>\n", figure->out);
    dft_svg_x_axis(svg, &x, "time since the start");
    dft_figure_end(figure);
}

int dft_figure_heatmap(struct dft_figure *figure)
{
    struct dft_timeline timeline = {.source = figure->source,
                                    .options = figure->options,
                                    .job = figure->job,
                                    .measure = DFT_TIMELINE_TIME,
                                    .by = figure->job.ranks ? DFT_BY_RANK : DFT_BY_PROCESS};
    struct cells cells = {0};
    int rc = count(&timeline);

    if (!rc)
        rc = make_cells(&timeline, &cells);
    if (!rc && cells.most <= 0)
        rc = DFT_FIGURE_EMPTY;
    if (!rc)
        put_heatmap(figure, &timeline, &cells);
    free(cells.values);
    dft_timeline_fini(&timeline);
    return rc;
}
