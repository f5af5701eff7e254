/* SPDX-License-Identifier: MIT */
/* Views of the tables for common questions, as SQL. views.def lists them. */
#ifndef DFT_VIEWS_H
#define DFT_VIEWS_H

struct dft_view {
    const char *name, *help, *sql;
};

const struct dft_view *dft_views(unsigned *count);

#endif
