/* SPDX-License-Identifier: MIT */
/* The rare parts of putting an event into columns: files that are not the last one, fields that few
 * events have, new shapes. */
#include "encoder.h"
#include "format/events_encoder.h"

/* The entry of the file goes to the front of the recent ones. */
uint32_t dft_events_put_file(struct dft_events_encoder *p, uint64_t id)
{
    struct dft_entry *entry = NULL;
    uint32_t code = 1;

    while (code < DFT_RECENT && p->recent[code]->id != id)
        code++;
    if (code < DFT_RECENT) {
        entry = p->recent[code];
    } else {
        entry = dft_entries_get(p->entries, id);
        if (!entry)
            return UINT32_MAX;
        code = DFT_FILE_EXPLICIT;
        if (entry->position == DFT_NO_POSITION) {
            dft_entries_refer(p->entries, entry);
            code = DFT_FILE_NEW;
        } else {
            dft_events_column(p, DFT_EV_FILE, entry->position);
        }
    }
    for (uint32_t i = code < DFT_RECENT ? code : DFT_RECENT - 1; i > 0; i--)
        p->recent[i] = p->recent[i - 1];
    p->recent[0] = entry;
    return code << DFT_F_FILE_SHIFT;
}

/* Only here do ends go back, too: events without a gap before them end behind all others. */
uint32_t dft_events_put_back(struct dft_events_encoder *p, uint64_t start_ns, uint64_t gap)
{
    p->gaps[p->count] = 0 - gap;
    if (start_ns < p->start_ns)
        p->start_ns = start_ns;
    if (p->previous_end > p->end_ns)
        p->end_ns = p->previous_end;
    return DFT_F_BACK;
}

uint32_t dft_events_put_other_fd(struct dft_events_encoder *p, struct dft_call_state *call, struct dft_entry *file,
                                 int32_t fd, int64_t result)
{
    int is_predicted = fd == dft_fd_predict(call, file->fd, p->block.fd);

    dft_fd_learn(call, fd, result, &file->fd, &p->block.fd);
    if (is_predicted)
        return 0;
    dft_events_column(p, DFT_EV_FD, dft_zigzag((uint64_t)(int64_t)fd));
    return DFT_F_FD;
}

uint32_t dft_events_put_rare(struct dft_events_encoder *p, const struct dft_event *event, struct dft_call_state *call)
{
    struct dft_block_state *block = &p->block;
    struct dft_entry *entry;
    uint32_t flags = 0;

    if (event->region != block->region) {
        entry = event->region ? dft_entries_get(p->entries, event->region) : NULL;
        if (event->region && !entry)
            return UINT32_MAX;
        flags |= DFT_F_REGION;
        dft_events_column(p, DFT_EV_REGION, entry ? dft_entries_refer(p->entries, entry) + 1 : 0);
        block->region = event->region;
    }
    if (event->file2) {
        entry = dft_entries_get(p->entries, event->file2);
        if (!entry)
            return UINT32_MAX;
        flags |= DFT_F_FILE2;
        dft_events_column(p, DFT_EV_FILE2, dft_entries_refer(p->entries, entry));
    }
    if (event->stack) {
        flags |= DFT_F_STACK;
        dft_store64(p->at[DFT_EV_STACK], event->stack);
        p->at[DFT_EV_STACK] += 8;
    }
    if (event->id) {
        flags |= DFT_F_ID;
        dft_events_column(p, DFT_EV_ID, event->id);
    }
#define DFT_EVENT_SAME(NAME, FLAG, type, field, last)                                                                  \
    if (event->field != last) {                                                                                        \
        flags |= DFT_F_##FLAG;                                                                                         \
        dft_events_column(p, DFT_EV_##NAME, event->field);                                                             \
        last = event->field;                                                                                           \
    }
#include "format/events.def"
#undef DFT_EVENT_SAME
    return flags;
}

static uint32_t index_of_shape(struct dft_events_encoder *p, struct dft_call_state *call, uint32_t flags)
{
    struct dft_idmap *map = &p->encoder->shapes;
    struct dft_idmap_slot *slot;
    uint64_t shape;

    if (call->position == DFT_NO_POSITION) {
        p->call_order[p->ncalls] = call->index;
        call->position = p->ncalls++;
    }
    shape = (uint64_t)call->position << 32 | flags;
    slot = dft_idmap_find(map, shape, p->shapes, sizeof *p->shapes);
    if (slot->generation == map->generation)
        return slot->position;
    p->shapes[p->nshapes] = shape;
    dft_idmap_add(map, slot, p->shapes, sizeof *p->shapes);
    return p->nshapes++;
}

/* Many calls have two shapes in turn. */
uint32_t dft_events_find_shape(struct dft_events_encoder *p, struct dft_call_state *call, uint32_t flags)
{
    uint32_t shape = flags == call->other_flags ? call->other_shape : index_of_shape(p, call, flags);

    call->other_flags = call->shape_flags;
    call->other_shape = call->shape;
    call->shape_flags = flags;
    call->shape = shape;
    return shape;
}
