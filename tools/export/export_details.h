/* SPDX-License-Identifier: MIT */
/* Writes files with the detail that their plans have. */
#ifndef DFT_EXPORT_DETAILS_H
#define DFT_EXPORT_DETAILS_H

#include "base/outfile.h"
#include "export/export_merged.h"
#include "export/export_route.h"

struct dft_details {
    struct dft_route route;
    struct dft_merged_names *names; /* that the counting has met; may be NULL where nothing is merged */
    const char *path;               /* of the file, or of the directory of parts */
    uint64_t max_bytes;             /* for the text about it */
    struct dft_outfile out;
    int is_open;
    uint64_t below_ns; /* the one level */
    uint64_t ids;      /* of merged requests */
};

/* Prepares details->route. It writes a file for each plan. */
void dft_details_begin(struct dft_details *details, struct dft_perfetto *p, struct dft_plan *plans, uint32_t count);
/* Also forgets a file that is not whole. */
void dft_details_fini(struct dft_details *details);

/* The name of a part, and room for it. */
#define DFT_PART_NAME_BYTES 32u
void dft_details_name(char *name, uint32_t part);

#endif
