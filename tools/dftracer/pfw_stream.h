/* SPDX-License-Identifier: MIT */
/* The streams of one file: a process, a thread, a kind. */
#ifndef DFT_DFTRACER_PFW_STREAM_H
#define DFT_DFTRACER_PFW_STREAM_H

#include "dftracer/pfw_inside.h"

struct dft_pfw_stream *dft_pfw_stream(struct dft_pfw *pfw, struct dft_pfw_process *process, uint64_t thread,
                                      uint32_t kind);
struct dft_event *dft_pfw_event_new(struct dft_pfw *pfw, struct dft_pfw_stream *stream);
/* An argument of the last event, as the record has it. */
void dft_pfw_arg(struct dft_pfw *pfw, struct dft_pfw_stream *stream, struct dft_text key,
                 const struct dft_pfw_value *value);
/* The last event is complete: its stream is written when it is large. */
void dft_pfw_event_done(struct dft_pfw *pfw, struct dft_pfw_stream *stream);
void dft_pfw_stream_flush(struct dft_pfw *pfw, struct dft_pfw_stream *stream);
void dft_pfw_rows_flush(struct dft_pfw *pfw, struct dft_pfw_stream *stream);
void dft_pfw_streams_flush(struct dft_pfw *pfw);

#endif
