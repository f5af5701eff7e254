/* SPDX-License-Identifier: MIT */
/* Draws durations. */
#include "spans/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/write_text.h"
#include "base/write_wrapped.h"
#include "spans/moment.h"

#define BINS   40u
#define SINGLE 20000u /* points that are drawn one by one; of more, one in each pixel */

static const char *const kinds[] = {"scatter", "histogram", "density"};

const char *dft_spans_picture_word(size_t i)
{
    return i < 3 ? kinds[i] : NULL;
}

int dft_spans_picture_parse(const struct dft_spans_asked *asked)
{
    for (int i = 0; i < 3; i++)
        if (!asked->kind || !strcmp(asked->kind, kinds[i]))
            return i;
    fprintf(stderr, "dftmerge %s: --kind %s: there is no such kind.", asked->verb->name, asked->kind);
    dft_say_words(asked->kind, "Kinds are", kinds, 3);
    return -1;
}

/* --- axes ------------------------------------------------------------------------------------- */

struct dft_spans_axis dft_spans_axis_make(int64_t least, int64_t most, double from, double to, const char *label)
{
    struct dft_spans_axis axis = {.scale = {1, from, to, DFT_SVG_NS}};
    uint64_t span = (uint64_t)most - (uint64_t)least;
    size_t end;
    int64_t step = (int64_t)dft_scale_step(span ? span : 1, 10, DFT_SVG_NS);
    char text[DFT_SPANS_MOMENT_CAPACITY];

    /* where 0 would press all values together, the axis begins near them */
    if (least < 0 || (uint64_t)least > span)
        axis.base = (least / step - (least % step < 0)) * step;
    axis.scale.most = most > axis.base ? (uint64_t)most - (uint64_t)axis.base : 1;
    dft_spans_moment_text(text, axis.base);
    for (end = strlen(text); text[end - 1] == '0';)
        end--;
    text[end - (text[end - 1] == '.')] = 0;
    snprintf(axis.label, sizeof axis.label, axis.base ? "%.64s above %s s" : "%.64s", label, text);
    return axis;
}

double dft_spans_axis_at(const struct dft_spans_axis *axis, int64_t value)
{
    return dft_scale_at(&axis->scale, (double)((uint64_t)value - (uint64_t)axis->base));
}

/* --- scatter ---------------------------------------------------------------------------------- */

static int put_pixels(struct dft_svg *svg, const struct dft_spans_picture *picture, const struct dft_spans_axis *x,
                      const struct dft_spans_axis *y)
{
    size_t line = svg->width;
    char *seen = calloc(line, svg->height);

    if (!seen)
        return -ENOMEM;
    for (size_t i = 0; i < picture->count; i++) {
        unsigned column = (unsigned)dft_spans_axis_at(x, picture->points[i].x);
        unsigned row = (unsigned)dft_spans_axis_at(y, picture->points[i].y);

        if (!seen[row * line + column])
            fprintf(svg->out, "M%u %uh0", column, row);
        seen[row * line + column] = 1;
    }
    free(seen);
    return 0;
}

static int put_scatter(struct dft_svg *svg, const struct dft_spans_picture *picture, int64_t least, int64_t most)
{
    struct dft_spans_axis x, y = dft_spans_axis_make(least, most, svg->bottom, svg->top, picture->label);
    int64_t first = picture->points[0].x, last = first;
    int rc = 0;

    for (size_t i = 0; i < picture->count; i++) {
        first = picture->points[i].x < first ? picture->points[i].x : first;
        last = picture->points[i].x > last ? picture->points[i].x : last;
    }
    x = (struct dft_spans_axis){
        {last > first ? (uint64_t)(last - first) : 1, svg->left, svg->right, DFT_SVG_NS}, first, {0}};
    dft_svg_y_axis(svg, &y.scale, y.label);
    dft_svg_x_axis(svg, &x.scale, picture->x_label);
    fprintf(svg->out,
            "<path fill=\"none\" stroke=\"#0072b2\" stroke-opacity=\"0.6\" stroke-width=\"4\" stroke-linecap=\"round\" "
            "data-count=\"%zu\" d=\"",
            picture->count);
    if (picture->count > SINGLE)
        rc = put_pixels(svg, picture, &x, &y);
    else
        for (size_t i = 0; i < picture->count; i++)
            fprintf(svg->out, "M%.1f %.1fh0", dft_spans_axis_at(&x, picture->points[i].x),
                    dft_spans_axis_at(&y, picture->points[i].y));
    fputs("\"/>\n", svg->out);
    return rc;
}

/* --- histogram -------------------------------------------------------------------------------- */

static void put_bins(struct dft_svg *svg, const struct dft_spans_axis *x, uint64_t step, const uint64_t *bins,
                     size_t count, const struct dft_scale *y)
{
    for (size_t i = 0; i < count; i++) {
        int64_t from = x->base + (int64_t)(i * step);
        double left = dft_spans_axis_at(x, from), right = dft_scale_at(&x->scale, (double)((i + 1) * step));
        char attributes[128], number[DFT_TEXT_ROOM], edge[DFT_TEXT_ROOM + 1];

        if (!bins[i])
            continue;
        snprintf(attributes, sizeof attributes, " data-from-ns=\"%lld\" data-width-ns=\"%llu\" data-count=\"%llu\"",
                 (long long)from, (unsigned long long)step, (unsigned long long)bins[i]);
        dft_svg_bar(svg, "calls", left, dft_scale_at(y, (double)bins[i]), right - left > 1 ? right - left - 0.5 : 1,
                    y->from - dft_scale_at(y, (double)bins[i]), attributes);
        fprintf(svg->out, "%s from %s on", dft_text_count(number, bins[i]), dft_spans_duration_text(edge, from));
        dft_svg_bar_end(svg);
    }
}

static int put_histogram(struct dft_svg *svg, const struct dft_spans_picture *picture, int64_t least, int64_t most)
{
    struct dft_spans_axis x = dft_spans_axis_make(least, most, svg->left, svg->right, picture->label);
    struct dft_scale y = {1, svg->bottom, svg->top, DFT_SVG_COUNT};
    uint64_t step = dft_scale_step(x.scale.most, BINS, DFT_SVG_NS), bins[2 * BINS] = {0};
    size_t count = (size_t)(x.scale.most / step) + 1;

    x.scale.most = count * step; /* the last bin is whole, too */
    for (size_t i = 0; i < picture->count; i++) {
        uint64_t *bin = &bins[((uint64_t)picture->points[i].y - (uint64_t)x.base) / step];

        y.most = ++*bin > y.most ? *bin : y.most;
    }
    dft_svg_y_axis(svg, &y, "count");
    put_bins(svg, &x, step, bins, count, &y);
    dft_svg_x_axis(svg, &x.scale, x.label);
    return 0;
}

int dft_spans_picture_draw(void *context, FILE *out)
{
    const struct dft_spans_picture *picture = context;
    const struct dft_spans_asked *asked = picture->asked;
    int64_t least = picture->points[0].y, most = least;
    struct dft_svg svg;
    int rc;

    for (size_t i = 0; i < picture->count; i++) {
        least = picture->points[i].y < least ? picture->points[i].y : least;
        most = picture->points[i].y > most ? picture->points[i].y : most;
    }
    dft_svg_begin(&svg, out, asked->width, asked->height, asked->title ? asked->title : picture->title);
    dft_svg_sentence(&svg, picture->sentence);
    if (picture->kind == DFT_SPANS_SCATTER)
        rc = put_scatter(&svg, picture, least, most);
    else if (picture->kind == DFT_SPANS_HISTOGRAM)
        rc = put_histogram(&svg, picture, least, most);
    else
        rc = dft_spans_density_draw(&svg, picture, least, most);
    dft_svg_end(&svg);
    return rc;
}
