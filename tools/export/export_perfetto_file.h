/* SPDX-License-Identifier: MIT */
/* What a file of `--format perfetto` has beside events. */
#ifndef DFT_EXPORT_PERFETTO_FILE_H
#define DFT_EXPORT_PERFETTO_FILE_H

#include "export/export_perfetto_put.h"

/* A record of metadata; the members of its args stand between the two. */
void dft_perfetto_begin_metadata(struct dft_perfetto *p, const char *name, uint32_t pid, uint32_t tid);
void dft_perfetto_end_metadata(struct dft_perfetto *p);
/* Begins a file, up to the first record that has no comma. `sentence`: what the file lacks, if it lacks anything. */
void dft_perfetto_put_head(struct dft_perfetto *p, const struct dft_plan *plan, uint64_t max_bytes,
                           const char *sentence);
void dft_perfetto_put_end(struct dft_perfetto *p);
/* Names processes and threads. Returns 0 or -ENOMEM. */
int dft_perfetto_put_metadata(struct dft_perfetto *p);
/* A process above all others, with a slice over the whole file that says what the file lacks. Nothing where it lacks
 * nothing. */
void dft_perfetto_put_notice(struct dft_perfetto *p, const struct dft_plan *plan, const char *sentence);
void dft_perfetto_put_tracks(struct dft_perfetto *p, const struct dft_tracks *tracks);

#endif
