/* SPDX-License-Identifier: MIT */
/* dftmerge ranks: what a row, or an event, adds: the same for both. */
#include "ranks/ranks_piece.h"
#include "aggregator/aggregate.h"
#include "format/event.h"

int dft_piece_of_event(struct dft_piece *piece, const struct dft_batch *batch, const struct dft_event *event,
                       int64_t shift)
{
    const struct dft_call *call = &batch->calls[event->call];
    enum dft_class class = dft_op_class(call->op);
    int is_data = (class == DFT_CLASS_READ || class == DFT_CLASS_WRITE) && !event->err && event->result > 0;

    if (event->phase != DFT_PHASE_COMPLETE || class == DFT_CLASS_MARK || (event->bits & DFT_BIT_OPEN))
        return 0;
    *piece = (struct dft_piece){.call = call->id,
                                .op = call->op,
                                .io = call->io,
                                .start_ns = event->start_ns + (uint64_t)shift,
                                .samples = event->calls != 0,
                                .count = event->calls,
                                .errors = event->err ? event->calls : 0,
                                .ns = event->dur_ns,
                                .max_ns = event->dur_ns};
    piece->middle_ns = piece->first_ns = piece->start_ns;
    piece->last_ns = piece->end_ns = piece->start_ns + event->dur_ns;
    if (is_data && dft_op_bytes(call->op) != DFT_BYTES_NOTHING) {
        piece->bytes = (uint64_t)event->result * (dft_op_bytes(call->op) == DFT_BYTES_ITEMS ? event->unit : 1);
        piece->data = 1;
    }
    return 1;
}

int dft_piece_of_row(struct dft_piece *piece, const struct dft_buckets *buckets, const struct dft_row *row,
                     int64_t shift)
{
    const struct dft_metrics *m = &row->metrics;

    if (row->kind != DFT_ROW_CALL || !buckets->interval_ns || buckets->interval_ns > DFT_INTERVAL_NS_MAX ||
        row->interval > UINT64_MAX / buckets->interval_ns - 1 || dft_op_class(row->op) == DFT_CLASS_MARK)
        return 0;
    *piece = (struct dft_piece){.call = row->subject,
                                .op = row->op,
                                .io = row->io,
                                .start_ns = row->interval * buckets->interval_ns + (uint64_t)shift,
                                .samples = m->samples,
                                .count = m->count,
                                .errors = m->errors,
                                .ns = m->dur_sum,
                                .max_ns = m->dur_max,
                                .bytes = m->bytes,
                                .data = m->data,
                                .first_ns = m->first_start < UINT64_MAX ? m->first_start + (uint64_t)shift : UINT64_MAX,
                                .last_ns = m->first_start < UINT64_MAX ? m->last_end + (uint64_t)shift : 0,
                                .edge_ns = m->edge,
                                .step = m->step};
    piece->middle_ns = piece->start_ns + buckets->interval_ns / 2;
    return 1;
}
