/* SPDX-License-Identifier: MIT */
/* Counter tracks: what moved in each interval, and what was sampled. */
#ifndef DFT_EXPORT_TRACKS_H
#define DFT_EXPORT_TRACKS_H

#include "export/exporting.h"

/* A point of a track. */
struct dft_track_point {
    uint32_t process; /* number of the process image */
    uint16_t track;   /* enum dft_track, or position in `series` + DFT_TRACKS */
    uint64_t time_ns;
    double value;
};

enum dft_track { DFT_TRACK_READ, DFT_TRACK_WRITTEN, DFT_TRACK_CALLS, DFT_TRACK_FLIGHT, DFT_TRACK_OPEN, DFT_TRACKS };

/* A counter that was sampled; a total becomes its growth a second. */
struct dft_track_series {
    uint64_t id; /* of its name */
    uint8_t total;
};

struct dft_tracks {
    uint64_t width_ns;              /* of the intervals of all tracks but samples; 0: there are none */
    struct dft_track_point *points; /* by process, track, time; on rank 0 */
    size_t count, capacity;
    struct dft_track_series *series;
    size_t nseries, series_capacity;
};

/* Collects all points that pass the filter. What would take too much memory is left out and noted.
 * Collective. Returns 0 or -ENOMEM. */
int dft_tracks_make(struct dft_tracks *tracks, const struct dft_export *export);
void dft_tracks_fini(struct dft_tracks *tracks);

/* Gives the points as (process, category, name, time, value). */
void dft_tracks_visit(const struct dft_tracks *tracks, const struct dft_names *names,
                      void (*emit)(void *context, uint32_t process, struct dft_text category, struct dft_text name,
                                   const struct dft_track_point *point),
                      void *context);

#endif
