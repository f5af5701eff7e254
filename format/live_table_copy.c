/* SPDX-License-Identifier: MIT */
/* Copies of the tables of live files: of processes that are gone, or go on meanwhile. */
#include "format/live_table.h"

#include <errno.h>
#include <string.h>

#include "format/live_format.h"
#include "live_table_inside.h"

#define COPY_TRIES 256

const struct dft_live_table *dft_live_table_find(const void *bytes, size_t length, size_t *offset)
{
    if (*offset < DFT_LIVE_PAGE)
        *offset = DFT_LIVE_PAGE;
    for (; *offset + DFT_LIVE_TABLE_BYTES <= length; *offset += DFT_LIVE_PAGE) {
        const struct dft_live_table *table = (const struct dft_live_table *)((const char *)bytes + *offset);

        if (table->magic != DFT_LIVE_TABLE_MAGIC || table->bytes != DFT_LIVE_TABLE_BYTES)
            continue;
        *offset += DFT_LIVE_TABLE_BYTES;
        return table;
    }
    return NULL;
}

static uint64_t get(const _Atomic uint64_t *number)
{
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)number, memory_order_acquire);
}

/* One copy. Returns 0, or -EAGAIN when the owner has come further meanwhile. */
static int copy_once(struct dft_live_table *to, const struct dft_live_table *from)
{
    uint64_t events = get(&from->events), ticket = get(&from->ticket), applying = get(&from->applying);

    memcpy(to, from, DFT_LIVE_TABLE_BYTES);
    atomic_thread_fence(memory_order_acquire);
    if (get(&from->events) != events || get(&from->ticket) != ticket || get(&from->applying) != applying ||
        get(&from->calls_first) != get(&to->calls_first) || get(&from->files_first) != get(&to->files_first))
        return -EAGAIN;
    return 0;
}

/* Does the step refer to what is there? */
static int step_fits(const struct dft_live_table *table)
{
    const struct dft_live_step *step = &table->step;
    uint32_t low = atomic_load((_Atomic uint32_t *)(uintptr_t)&table->low);

    if (!dft_live_is_place(table, step->row, sizeof(struct dft_live_row)) || step->nfurther > DFT_LIVE_FURTHER ||
        step->end_ns < step->start_ns)
        return 0;
    if ((step->file && !dft_live_is_object(table, step->file, DFT_LIVE_FILE, sizeof(struct dft_live_file))) ||
        (step->data && !dft_live_is_object(table, step->data, DFT_LIVE_DATA, sizeof(struct dft_live_data))) ||
        (step->pattern &&
         (!dft_live_is_object(table, step->pattern, DFT_LIVE_PATTERN, sizeof(struct dft_live_pattern)) ||
          ((const struct dft_live_pattern *)dft_live_at(table, step->pattern))->touched.shift > 63)))
        return 0;
    for (int i = 0; i < DFT_LIVE_BINS; i++)
        if (step->counters[i] && (step->counters[i] < 2 * DFT_LIVE_ARENA || step->counters[i] >= 2 * low))
            return 0;
    for (uint32_t i = 0; i < step->nfurther; i++)
        if (!dft_live_is_place(table, step->further[i].place,
                               step->further[i].is_file ? sizeof(struct dft_live_file) : sizeof(struct dft_live_row)))
            return 0;
    return 1;
}

int dft_live_table_copy(struct dft_live_table *to, const struct dft_live_table *from, size_t bytes)
{
    int tries = 0, status;

    if (bytes < DFT_LIVE_TABLE_BYTES)
        return -EBADMSG;
    do
        status = copy_once(to, from);
    while (status && ++tries < COPY_TRIES);
    if (status)
        return status;
    if (to->magic != DFT_LIVE_TABLE_MAGIC || to->bytes != DFT_LIVE_TABLE_BYTES || !to->width_ns)
        return -EBADMSG;
    if (get(&to->ticket) == get(&to->events) || get(&to->applying) != get(&to->ticket))
        return 0;
    if (!step_fits(to))
        return -EBADMSG;
    dft_live_apply(to);
    atomic_store(&to->events, get(&to->ticket));
    return 0;
}
