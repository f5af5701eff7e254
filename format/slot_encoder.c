/* SPDX-License-Identifier: MIT */
/* Records of one slot that do not say the same as the last one of their call, and ends of
 * repeats. */
#include "format/slot_encoder.h"

#include "encoder.h"

/* Flags of fields that an event has as they were in one that says the same, and flags that are
 * found anew for each event. */
#define CHANGES                                                                                                        \
    (DFT_F_SIZE | DFT_F_FLAGS | DFT_F_MODE | DFT_F_REGION | DFT_F_DEPTH | DFT_F_UNIT | DFT_F_CALLS | DFT_F_FILE2 |     \
     DFT_F_STACK | DFT_F_ID)
#define FOUND (DFT_F_BACK | DFT_F_FD | 7u << DFT_F_FILE_SHIFT | 3u << DFT_F_OFFSET_SHIFT | DFT_SLOT_KIND_FREE)

void dft_slot_call_init(struct dft_slot_call *call, const struct dft_call *named, uint32_t index)
{
    enum dft_class class = dft_op_class(named->op);

    dft_events_call(&call->state, index, named->op);
    call->subject = named->text.bytes ? 0 : named->id;
    call->kind = 0;
    call->meaning = dft_meaning_of(named->op);
    call->is_data = class == DFT_CLASS_READ || class == DFT_CLASS_WRITE;
    call->is_mark = class == DFT_CLASS_MARK;
}

void dft_slot_to_event(const struct dft_slot_call *call, const struct dft_slot *slot, uint64_t start_ns,
                       uint64_t dur_ns, struct dft_event *event)
{
    dft_slot_event(slot, event, call->meaning);
    if (dft_slot_number(slot->call) >= DFT_CALL_ANNOTATION)
        dft_slot_annotation(event, call->state.op);
    event->call = call->state.index;
    event->start_ns = start_ns;
    event->dur_ns = dur_ns;
}

/* Notes what the next record of this call is compared with. Records that are no complete event, or
 * whose unit is in their result, are never the same again. */
static void remember(struct dft_slot_call *call, const struct dft_slot *slot, uint64_t bytes)
{
    uint32_t flags = call->state.shape_flags & ~(CHANGES | FOUND);
    int is_common = !call->is_mark && !(flags & DFT_F_UNKNOWN) &&
                    !(slot->bits & (DFT_SLOT_UNIT | DFT_BIT_OPEN | 3u << DFT_SLOT_PHASE_SHIFT));

    if ((flags >> DFT_F_ERRNO_SHIFT & 3) == DFT_ERRNO_EXPLICIT)
        flags ^= (uint32_t)(DFT_ERRNO_EXPLICIT ^ DFT_ERRNO_LAST) << DFT_F_ERRNO_SHIFT;
    call->again_flags = flags;
    call->kind = is_common ? dft_slot_kind(slot) : 0;
    call->size = slot->size;
    call->result = slot->result;
    call->mode = slot->offset;
    call->bytes = bytes;
    call->err = slot->err;
}

/* As dft_events_put_result, of a record. */
void dft_slot_put_changes(struct dft_events_encoder *p, struct dft_slot_call *call, const struct dft_slot *slot,
                          uint64_t bytes)
{
    struct dft_event event = {.size = call->meaning.flags ? 0 : slot->size,
                              .result = slot->result,
                              .unit = call->state.unit,
                              .err = slot->err};
    uint32_t flags = call->again_flags & ~(3u << DFT_F_RESULT_SHIFT | 3u << DFT_F_ERRNO_SHIFT), now;

    now = dft_events_put_result(p, &event, &call->state);
    call->changed_flags = flags | now;
    if (call->meaning.flags && slot->size != call->state.flags) {
        call->changed_flags |= DFT_F_FLAGS;
        dft_events_column(p, DFT_EV_FLAGS, slot->size);
        call->state.flags = slot->size;
    }
    if ((now >> DFT_F_ERRNO_SHIFT & 3) == DFT_ERRNO_EXPLICIT)
        now ^= (uint32_t)(DFT_ERRNO_EXPLICIT ^ DFT_ERRNO_LAST) << DFT_F_ERRNO_SHIFT;
    call->again_flags = flags | (now & ~CHANGES);
    if (now & DFT_F_UNKNOWN)
        call->kind = 0;
    call->size = slot->size;
    call->result = slot->result;
    call->bytes = bytes;
    call->err = slot->err;
}

int dft_slot_put_event(struct dft_events_encoder *p, struct dft_slot_call *call, const struct dft_slot *slot,
                       const struct dft_event *event)
{
    uint64_t bytes = dft_event_bytes_by(event, call->state.bytes);

    if (dft_events_put(p, &call->state, event, bytes))
        return -E2BIG;
    remember(call, slot, bytes);
    return 0;
}

void dft_slot_put_repeat(struct dft_events_encoder *p, struct dft_slot_call *call, const struct dft_slot *first,
                         uint32_t count, uint64_t end_ns)
{
    uint32_t n = count;

    if (first->offset != -1)
        p->recent[0]->end += count * call->bytes;
    while (n-- > 0)
        dft_events_column(p, DFT_EV_SHAPE, call->state.shape);
    p->count += count;
    p->previous_end = end_ns;
}
