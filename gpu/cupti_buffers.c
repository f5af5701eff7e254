/* SPDX-License-Identifier: MIT */
/* Owns the buffers that CUPTI fills: a fixed number. When all are away CUPTI drops records and counts them. */
#include <stdlib.h>

#include "cupti_module.h"

#define BUFFERS      16u
#define BUFFER_BYTES ((size_t)1 << 20)
#define ALIGNMENT    ((size_t)8) /* that CUPTI asks for */

enum { HERE, AWAY };
static struct {
    uint8_t *bytes; /* NULL: not yet; kept for good */
    int state;
} buffers[BUFFERS];

static uint64_t dropped, unreadable;
static int stopped;

static int take(unsigned i)
{
    int here = HERE;

    return __atomic_compare_exchange_n(&buffers[i].state, &here, AWAY, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void give_back(unsigned i)
{
    __atomic_store_n(&buffers[i].state, HERE, __ATOMIC_RELEASE);
}

void CUPTIAPI dft_cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = NULL;
    *size = *most = 0;
    for (unsigned i = 0; !*buffer && i < BUFFERS; i++) {
        if (!take(i))
            continue;
        if (!buffers[i].bytes)
            buffers[i].bytes = aligned_alloc(ALIGNMENT, BUFFER_BYTES);
        if (!buffers[i].bytes) {
            give_back(i);
            return;
        }
        *buffer = buffers[i].bytes;
        *size = BUFFER_BYTES;
    }
}

static void read_buffer(const struct dftrace_api *api, uint8_t *buffer, size_t valid)
{
    const struct dft_cupti_clock clock = dft_cupti_clock_now();
    CUpti_Activity *record = NULL;
    size_t next = 0; /* a record lies behind the one before, or reading might never end */
    CUptiResult result;

    while ((result = dft_cupti.get_next_record(buffer, valid, &record)) == CUPTI_SUCCESS) {
        size_t at = (size_t)((uint8_t *)record - buffer);

        if (at >= valid || at < next)
            break;
        next = at + 1;
        dft_cupti_record(api, &clock, record, valid - at);
    }
    if (result != CUPTI_ERROR_MAX_LIMIT_REACHED)
        __atomic_add_fetch(&unreadable, 1, __ATOMIC_RELAXED);
}

void CUPTIAPI dft_cupti_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    const struct dftrace_api *api = dftrace_get();
    size_t lost = 0;

    if (buffer && valid && valid <= size && api && !__atomic_load_n(&stopped, __ATOMIC_RELAXED))
        read_buffer(api, buffer, valid);
    if (dft_cupti.get_dropped(context, stream, &lost) == CUPTI_SUCCESS)
        __atomic_add_fetch(&dropped, lost, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < BUFFERS; i++)
        if (buffer && buffers[i].bytes == buffer)
            give_back(i);
}

void dft_cupti_buffers_stop(void)
{
    __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
}

void dft_cupti_buffers_report(void)
{
    uint64_t away = 0, lost = __atomic_load_n(&dropped, __ATOMIC_RELAXED), unread = dft_cupti_unread();
    uint64_t broken = __atomic_load_n(&unreadable, __ATOMIC_RELAXED);

    for (unsigned i = 0; i < BUFFERS; i++)
        away += __atomic_load_n(&buffers[i].state, __ATOMIC_RELAXED) == AWAY;
    if (lost)
        dft_cupti_say_count("dropped", lost, "activities were dropped by CUPTI: the trace has fewer than there were");
    if (unread)
        dft_cupti_say_count("unread", unread, "activities have no times, or are of an unknown kind; they are left out");
    if (broken)
        dft_cupti_say_count("unreadable", broken, "buffers of CUPTI could not be read to their end");
    if (away)
        dft_cupti_say_count("away", away,
                            "buffers were not given back: another profiler has CUPTI, or the GPU still works");
}
