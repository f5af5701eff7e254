/* SPDX-License-Identifier: MIT */
/* What every kind of picture gets, and the kinds. */
#ifndef DFT_FIGURE_H
#define DFT_FIGURE_H

#include "command/command.h"
#include "base/svg.h"
#include "job/job.h"

struct dft_figure {
    struct dft_source *source;
    const struct dft_options *options;
    struct dft_job job;
    const char *title; /* --title, or NULL */
    unsigned width, height;
    FILE *out;
    struct dft_svg svg;
};

/* Begins the picture: its title is that of --title, else `what` and the program's name. */
void dft_figure_begin(struct dft_figure *figure, const char *what);
/* Ends it, with what was lost. */
void dft_figure_end(struct dft_figure *figure);

/* Each asks its query and draws. They return 0, DFT_FIGURE_EMPTY (nothing is drawn), or
 * -errno. */
#define DFT_FIGURE_EMPTY 1
int dft_figure_bandwidth(struct dft_figure *figure);
int dft_figure_heatmap(struct dft_figure *figure);
int dft_figure_sizes(struct dft_figure *figure);
int dft_figure_latency(struct dft_figure *figure);
int dft_figure_overlap(struct dft_figure *figure);
int dft_figure_files(struct dft_figure *figure);

#endif
