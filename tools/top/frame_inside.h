/* SPDX-License-Identifier: MIT */
/* Pieces of a frame. */
#ifndef DFT_TOP_FRAME_INSIDE_H
#define DFT_TOP_FRAME_INSIDE_H

#include "top/frame.h"

struct dft_frame {
    FILE *out;
    const struct dft_top_view *view;
    unsigned lines;                 /* so far */
    unsigned widths[DFT_TOP_SORTS]; /* of the columns of numbers, with the space before them */
};

/* `before`: an escape sequence, or NULL. */
void dft_frame_line(struct dft_frame *frame, const char *text, const char *before);
/* The last intervals, the newest at the right. */
void dft_frame_spark(const struct dft_frame *frame, const struct dft_top_groups *groups,
                     const struct dft_top_group *group, unsigned width);
/* An amount a second; "-" without an interval. */
const char *dft_frame_rate(char *room, uint64_t amount, uint64_t interval_ns, int is_bytes);
/* The table, of at most `room` lines: around the one that is marked. Returns 0 or -ENOMEM. */
int dft_frame_table(struct dft_frame *frame, struct dft_top_view *view, unsigned room);

#endif
