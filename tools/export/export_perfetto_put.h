/* SPDX-License-Identifier: MIT */
/* The records of `--format perfetto`: each function writes one, or one of a kind for each process. */
#ifndef DFT_EXPORT_PERFETTO_PUT_H
#define DFT_EXPORT_PERFETTO_PUT_H

#include "base/write_json.h"
#include "export/export_flows.h"
#include "export/export_pids.h"
#include "export/export_reorder.h"
#include "export/export_tracks.h"
#include "export/exporting.h"
#include "format/event.h"

/* What a file lacks, so that it keeps to a size. All zero: nothing. */
struct dft_plan {
    uint64_t below_ns; /* slices shorter than this are left out, and samples that follow so soon; UINT64_MAX: all */
    unsigned zeros;    /* arrows and spans whose hash ends in fewer zeros are left out */
    uint64_t width_ns; /* counter tracks have a point for so long; 0: all; UINT64_MAX: none */
    uint64_t slices, time_ns; /* left out: so many slices, which took so long in all */
    uint64_t samples, links;  /* left out: samples of the program's counters; ends of arrows and spans */
};

/* Is anything not there that the trace has? */
static inline int dft_plan_lacks(const struct dft_plan *plan)
{
    return plan->slices || plan->samples || plan->links || plan->width_ns;
}

struct dft_perfetto {
    struct dft_export *export; /* records go to its `out`; each begins with the comma before it */
    struct dft_json json;
    struct dft_pids pids;
    struct dft_flows flows;
    uint64_t origin_ns, end_ns; /* of the whole trace */
    struct dft_reorder reorder; /* events of one start */
    struct dft_tracks tracks;
    struct dft_plan plan;
    struct dft_map samples; /* process and counter -> when its last sample was; for dft_fit_keeps */
    FILE *memory, *file;    /* a stream of the text below; `out` of the export meanwhile */
    char *text;
    size_t length;
    int has_names; /* metadata was written: the next record is not the first one */
    int error;     /* of what cannot return it */
};

/* How a record takes part in what a viewer shows. */
enum dft_record {
    DFT_RECORD_SLICE,   /* of a thread, also without duration */
    DFT_RECORD_REQUEST, /* may overlap with others */
    DFT_RECORD_SPAN,    /* one end of what may overlap */
    DFT_RECORD_LINK,    /* one end of an arrow */
    DFT_RECORD_SAMPLE,  /* of a counter of the program */
    DFT_RECORD_EDGE,    /* one end of a slice */
    DFT_RECORD_LABEL,   /* names a thread */
};
enum dft_record dft_perfetto_record(struct dft_perfetto *p, const struct dft_event_at *at);

void dft_perfetto_put(struct dft_perfetto *p, const struct dft_event_at *at);
/* Writes the arrow from a call to the process that it started, if there is one. */
void dft_perfetto_put_arrow(struct dft_perfetto *p, const struct dft_event_at *at);

/* Records go to p->text from now on; NULL: no memory. dft_perfetto_end_text sets p->length. It
 * returns 0 or -ENOMEM. */
FILE *dft_perfetto_begin_text(struct dft_perfetto *p);
int dft_perfetto_end_text(struct dft_perfetto *p);

/* export_perfetto_file.c */

#endif
