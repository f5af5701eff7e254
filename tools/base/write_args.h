/* SPDX-License-Identifier: MIT */
/* Arguments of calls and regions as an object of JSON. */
#ifndef DFT_WRITE_ARGS_H
#define DFT_WRITE_ARGS_H

#include "base/names.h"
#include "base/write_line.h"

struct dft_arg;

/* Each argument in its place, also where a name comes twice. */
void dft_line_args(struct dft_line *line, const struct dft_names *names, const struct dft_arg *args, uint32_t count);

#endif
