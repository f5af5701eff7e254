/* SPDX-License-Identifier: MIT */
/* The forms of a time line: a plot, lines, a heat map, JSON and CSV. */
#ifndef DFT_TIMELINE_OUTPUT_H
#define DFT_TIMELINE_OUTPUT_H

#include "analysis/timeline.h"
#include "base/write_text.h"

/* "bytes" ... */
const char *dft_timeline_measure_word(enum dft_timeline_measure measure);

/* How a plot fits the terminal: each character shows `fold` columns, `count` characters in all,
 * behind `indent` characters of labels. */
struct dft_timeline_layout {
    unsigned indent;
    uint32_t count, fold;
    int unicode;
};

/* A number of the measure in so much time, as a rate: "1.20 GiB/s". `room`: DFT_TIMELINE_ROOM. */
#define DFT_TIMELINE_ROOM (DFT_TEXT_ROOM + 16)
const char *dft_timeline_rate(char *room, enum dft_timeline_measure measure, uint64_t value, uint64_t ns);
/* The forms. They return 0 or -ENOMEM. `lines`: at most so many of a heat map; 0: as many as
 * series. */
int dft_timeline_text(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout);
int dft_timeline_lines(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout);
int dft_timeline_heat(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout, unsigned lines);
/* Parts of them: values by column as bars, the axis under a plot, what answered. */
int dft_timeline_bars(const uint64_t *values, const struct dft_timeline *timeline,
                      const struct dft_timeline_layout *layout);
void dft_timeline_axis(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout);
void dft_timeline_footer(const struct dft_timeline *timeline, const struct dft_timeline_layout *layout);
void dft_timeline_json(const struct dft_timeline *timeline);
void dft_timeline_csv(const struct dft_timeline *timeline);

#endif
