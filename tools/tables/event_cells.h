/* SPDX-License-Identifier: MIT */
/* What event_cells.def computes the cells of an event with: which events have which cells. */
#ifndef DFT_TABLES_EVENT_CELLS_H
#define DFT_TABLES_EVENT_CELLS_H

#include <fcntl.h>

#include "base/facet_words.h"
#include "format/event.h"
#include "format/io.h"
#include "format/ops.h"
#include "object/object.h"
#include "tables/columns.h"

/* For a call that has only begun: how long it has lasted when it was in flight; the others have no duration. */
static inline uint64_t dft_event_dur(const struct dft_event_at *at)
{
    return at->event->phase == DFT_PHASE_BEGIN && !(at->event->bits & DFT_BIT_OPEN) ? 0 : at->event->dur_ns;
}

static inline uint8_t dft_event_access(const struct dft_event_at *at)
{
    return dft_facets_access(dft_event_facets(at->event, at->op));
}

/* Calls have results, unless they did not return. The result of an exit is its status argument. */
static inline int dft_event_has_result(const struct dft_event_at *at)
{
    return at->event->phase == DFT_PHASE_COMPLETE && !(at->event->bits & DFT_BIT_OPEN) && at->op != DFT_OP_REGION &&
           dft_op_class(at->op) != DFT_CLASS_MARK && at->event->result != DFT_RESULT_UNKNOWN;
}

/* Regions may say a size, too. */
static inline int dft_event_has_size(const struct dft_event_at *at)
{
    return at->event->size || (dft_op_is_data(at->op) && dft_event_has_result(at));
}

static inline int dft_event_has_bytes(const struct dft_event_at *at)
{
    return dft_op_is_data(at->op) && dft_event_has_result(at) && !at->event->err;
}

static inline int dft_event_has_flags(const struct dft_event_at *at)
{
    int always = at->op == DFT_OP_OPEN || (at->op == DFT_OP_FOPEN && at->event->mode) || at->op == DFT_OP_SEEK ||
                 at->op == DFT_OP_FSEEK || at->op == DFT_OP_CONTROL;

    return at->event->flags || (always && dft_event_has_result(at));
}

static inline int dft_event_has_mode(const struct dft_event_at *at)
{
    return at->event->mode || (at->op == DFT_OP_MKDIR && dft_event_has_result(at)) ||
           (at->op == DFT_OP_OPEN && (at->event->flags & O_CREAT));
}

#endif
