/* SPDX-License-Identifier: MIT */
/* What `dftmerge ps` shows, as text (ps.c) and as JSON (ps_json.c). */
#ifndef DFT_PS_INSIDE_H
#define DFT_PS_INSIDE_H

#include "small/ps_flights.h"
#include "small/ps_stacks.h"
#include "source/ps_tree.h"
#include "source/source.h"

struct ps {
    struct dft_source *source;
    struct dft_ps_tree tree;
    struct dft_ps_flights flights;
    struct dft_ps_stacks stacks;
    int with_stacks; /* --stacks */
};

void dft_ps_json(const struct ps *ps);

#endif
