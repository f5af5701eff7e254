/* SPDX-License-Identifier: MIT */
/* Owns the choice by the rules, record by record. */
#include "rows/keep.h"

#include <string.h>

#include "settings/rules.h"
#include "thread/append.h"

static int takes(const struct dft_thread *self, const struct dft_slot *record, uint64_t duration, uint64_t size)
{
    uint32_t call = dft_slot_number(record->call);
    enum dft_rules_answer answer = dft_rules_of(call);
    struct dft_rule_facts facts;

    if (answer != DFT_RULES_DEPENDS)
        return (int)answer;
    facts =
        (struct dft_rule_facts){.dur_ns = (uint64_t)((__uint128_t)duration * dft_live->clock.mult >> 32),
                                .size = size,
                                .result = record->bits & DFT_SLOT_UNIT ? record->result & UINT32_MAX : record->result,
                                .offset = record->offset,
                                .name = record->file,
                                .files = call < DFT_CALL_COUNT ? dft_rules_files_of(record->file) : 0,
                                .fd = record->fd,
                                .tid = self->home->tid,
                                .call = (uint16_t)call,
                                .err = record->err};
    return dft_rules_decide(&facts);
}

int dft_mode_keeps(struct dft_thread *self, const struct dft_slot *record)
{
    return (self->mode == DFT_MODE_ROWS || takes(self, record, record->duration, record->size)) &&
           dft_rows_take(self, record);
}

/* An item of eight bytes, in one piece with its tag or in the piece behind its tag; else `otherwise`. */
static uint64_t item_of(const struct dft_pieces *items, uint8_t tag, uint64_t otherwise)
{
    for (uint32_t i = 0; i < items->count; i++) {
        const uint8_t *at = items->at[i];

        if (items->length[i] == 9 && *at == tag)
            memcpy(&otherwise, at + 1, 8);
        else if (items->length[i] == 1 && *at == tag && i + 1 < items->count && items->length[i + 1] == 8)
            memcpy(&otherwise, items->at[i + 1], 8);
    }
    return otherwise;
}

int dft_mode_keeps_long(struct dft_thread *self, const struct dft_slot *record, const struct dft_pieces *items)
{
    return (self->mode == DFT_MODE_ROWS || takes(self, record, item_of(items, DFT_ITEM_DURATION, record->duration),
                                                 item_of(items, DFT_ITEM_SIZE, record->size))) &&
           dft_rows_take_long(self, record, items);
}

int dft_mode_keeps_burst(struct dft_thread *self, const struct dft_slot *record, const struct dft_burst *run,
                         struct dft_burst *open)
{
    uint32_t calls = dft_burst_calls(run);

    return (self->mode == DFT_MODE_ROWS ||
            takes(self, record, run->duration, dft_burst_bytes(run) / (calls ? calls : 1))) &&
           dft_rows_take_burst(self, run, open);
}
