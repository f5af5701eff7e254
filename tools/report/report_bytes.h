/* SPDX-License-Identifier: MIT */
/* The bytes of a page: the data of one or two runs as one zlib stream, and the page around it. */
#ifndef DFT_REPORT_BYTES_H
#define DFT_REPORT_BYTES_H

#include <stdio.h>

#include "report/report.h"

/* The data of `count` runs (report/README.md, "The data"), compressed, from malloc. Returns 0 or
 * -ENOMEM. */
int dft_report_compress(const struct dft_report *reports, char *const *heads, unsigned count, unsigned char **bytes,
                        size_t *length);
/* Writes the page with these bytes inside, or (live is not NULL) one that fetches its data from that
 * address each second. Errors are the stream's. */
void dft_report_page(FILE *out, const char *live, const unsigned char *bytes, size_t length);

#endif
