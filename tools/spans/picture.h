/* SPDX-License-Identifier: MIT */
/* Pictures of durations: scatter over time, histogram, density. */
#ifndef DFT_SPANS_PICTURE_H
#define DFT_SPANS_PICTURE_H

#include <stdio.h>

#include "base/svg.h"
#include "spans/asked.h"
#include "spans/distribution.h"

enum dft_spans_picture_kind { DFT_SPANS_SCATTER, DFT_SPANS_HISTOGRAM, DFT_SPANS_DENSITY };

struct dft_spans_picture {
    enum dft_spans_picture_kind kind;
    const char *title, *sentence; /* --title comes before this title */
    const char *x_label, *label;  /* of x, and of y */
    const struct dft_spans_point *points;
    size_t count; /* 1 or more */
    const struct dft_spans_asked *asked;
};

/* The kinds, by number, then NULL. */
const char *dft_spans_picture_word(size_t i);
/* The kind that --kind names, scatter without it; -1 after an error. */
int dft_spans_picture_parse(const struct dft_spans_asked *asked);
/* Draws; `picture` is a struct dft_spans_picture, for dft_spans_draw. Returns 0 or -ENOMEM. */
int dft_spans_picture_draw(void *picture, FILE *out);

/* An axis for values that may begin far from 0: `base` is taken off each. */
struct dft_spans_axis {
    struct dft_scale scale;
    int64_t base;
    char label[128]; /* says what was taken off */
};
struct dft_spans_axis dft_spans_axis_make(int64_t least, int64_t most, double from, double to, const char *label);
/* The pixel of a value. */
double dft_spans_axis_at(const struct dft_spans_axis *axis, int64_t value);

/* Draws how densely values lie, as dftmerge spans plot --kind density does. Returns 0 or -ENOMEM. */
int dft_spans_density_draw(struct dft_svg *svg, const struct dft_spans_picture *picture, int64_t least, int64_t most);

#endif
