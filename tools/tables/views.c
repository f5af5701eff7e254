/* SPDX-License-Identifier: MIT */
/* Which views there are. */
#include "tables/views.h"

static const struct dft_view views[] = {
#define DFT_VIEW(name, help, sql) {#name, help, sql},
#include "tables/views.def"
#undef DFT_VIEW
};

const struct dft_view *dft_views(unsigned *count)
{
    *count = sizeof views / sizeof *views;
    return views;
}
