/* SPDX-License-Identifier: MIT */
/* Draws how densely values lie: a curve of Gaussian kernels. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/saturate.h"
#include "base/write_text.h"
#include "spans/picture.h"

#define CELLS 512u

/* Silverman's width of a kernel (1986), for values in cells; 1 at least. */
static double kernel_width(const double *cells, size_t count)
{
    double sum = 0, squares = 0, width;

    for (unsigned i = 0; i < CELLS; i++)
        sum += cells[i] * i;
    for (unsigned i = 0; i < CELLS; i++)
        squares += cells[i] * (i - sum / (double)count) * (i - sum / (double)count);
    width = 1.06 * sqrt(squares / (double)count) * pow((double)count, -0.2);
    return width > 1 ? width : 1;
}

/* Spreads each cell over its neighbours; what would lie outside is reflected. */
static void spread(const double *cells, double *curve, double width)
{
    int reach = (int)ceil(4 * width);

    for (int i = 0; i < (int)CELLS; i++) {
        if (!(cells[i] > 0))
            continue;
        for (int k = i - reach; k <= i + reach; k++) {
            int at = k < 0 ? -1 - k : k >= (int)CELLS ? 2 * (int)CELLS - 1 - k : k;
            double away = (k - i) / width;

            if (at >= 0 && at < (int)CELLS)
                curve[at] += cells[i] * exp(-away * away / 2) / (width * 2.5066282746310002); /* root of 2 pi */
        }
    }
}

int dft_spans_density_draw(struct dft_svg *svg, const struct dft_spans_picture *picture, int64_t least, int64_t most)
{
    struct dft_spans_axis x = dft_spans_axis_make(least, most, svg->left, svg->right, picture->label);
    struct dft_scale y = {1, svg->bottom, svg->top, DFT_SVG_PERCENT};
    uint64_t step = dft_scale_step(x.scale.most, 10, DFT_SVG_NS);
    double *cells = calloc(2 * CELLS, sizeof *cells), *curve = cells + CELLS, factor, highest = 0;
    char label[64], number[DFT_TEXT_ROOM];

    if (!cells)
        return -ENOMEM;
    for (size_t i = 0; i < picture->count; i++) {
        double at = (double)((uint64_t)picture->points[i].y - (uint64_t)x.base) / (double)x.scale.most * CELLS;

        cells[at < CELLS ? (unsigned)at : CELLS - 1]++;
    }
    spread(cells, curve, kernel_width(cells, picture->count));
    /* from values in a cell to percent in a step */
    factor = 100 / (double)picture->count * CELLS * (double)step / (double)x.scale.most;
    for (unsigned i = 0; i < CELLS; i++)
        highest = curve[i] * factor > highest ? curve[i] * factor : highest;
    y.most = highest > 1 ? dft_uint_of(ceil(highest)) : 1;
    snprintf(label, sizeof label, "share in %s", dft_text_ns(number, step));
    dft_svg_y_axis(svg, &y, label);
    fprintf(svg->out, "<path class=\"calls\" fill-opacity=\"0.5\" stroke=\"#0072b2\" data-count=\"%zu\" d=\"M%.1f %.1f",
            picture->count, svg->left, svg->bottom);
    for (unsigned i = 0; i < CELLS; i++)
        fprintf(svg->out, "L%.1f %.1f", svg->left + (svg->right - svg->left) * (i + 0.5) / CELLS,
                dft_scale_at(&y, curve[i] * factor));
    fprintf(svg->out, "L%.1f %.1fz\"/>\n", svg->right, svg->bottom);
    dft_svg_x_axis(svg, &x.scale, x.label);
    free(cells);
    return 0;
}
