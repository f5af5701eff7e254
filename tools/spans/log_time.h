/* SPDX-License-Identifier: MIT */
/* Times in logs: from their text to Unix ns, and from there to the text of event.time. */
#ifndef DFT_SPANS_LOG_TIME_H
#define DFT_SPANS_LOG_TIME_H

#include <stddef.h>
#include <stdint.h>

/* Where times without a zone are local. Call this before any other function: NULL is the zone of
 * the user. Returns 0, or -EINVAL: there is no such zone. */
int dft_log_time_zone(const char *zone);

/* Reads the time at the beginning of a text: Unix seconds (1680774973.526384), or ISO 8601 with a
 * blank or a T (2023-04-06 09:55:58,123+02:00). Returns how many bytes it takes; 0: there is none. */
size_t dft_log_time_parse(const char *text, size_t length, int64_t *ns);

/* Unix seconds, in the shortest form that keeps the time. Returns `text`. */
#define DFT_LOG_TIME_ROOM 32u
char *dft_log_time_text(char text[DFT_LOG_TIME_ROOM], int64_t ns);

#endif
