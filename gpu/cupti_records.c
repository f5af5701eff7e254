/* SPDX-License-Identifier: MIT */
/* Owns what records of CUPTI mean. Newer versions add fields at the end of a record: the fields that are read here have
 * had their places since CUDA 9.0, in records of these kinds. */
#include <stdio.h>

#include "cupti_module.h"

#define CATEGORY  "CUPTI"
#define NO_STREAM UINT32_MAX /* of a synchronisation */

static uint64_t unread;

struct span {
    const char *name;
    uint64_t start, end, bytes;
    struct dftrace_arg args[5];
    uint32_t count;
};

static void add_number(struct span *span, const char *key, int64_t value)
{
    span->args[span->count].key = key;
    span->args[span->count].type = 0;
    span->args[span->count++].value.integer = value;
}

static void add_text(struct span *span, const char *key, const char *value)
{
    span->args[span->count].key = key;
    span->args[span->count].type = 2;
    span->args[span->count++].value.string = value;
}

static void put(const struct dftrace_api *api, const struct dft_cupti_clock *clock, const struct span *span)
{
    struct dftrace_site site = {.category = CATEGORY, .name = span->name};
    uint64_t start, end;

    if (!span->start && !span->end) { /* CUPTI could not tell */
        __atomic_add_fetch(&unread, 1, __ATOMIC_RELAXED);
        return;
    }
    start = dft_cupti_clock_convert(clock, span->start);
    end = dft_cupti_clock_convert(clock, span->end);
    api->span_event(&site, start, end > start ? end - start : 0, span->bytes, span->args, span->count);
}

static void put_kernel(const struct dftrace_api *api, const struct dft_cupti_clock *clock,
                       const CUpti_ActivityKernel4 *record)
{
    struct span span = {.name = record->name ? record->name : "kernel", .start = record->start, .end = record->end};
    char grid[40], block[40];

    snprintf(grid, sizeof grid, "%dx%dx%d", record->gridX, record->gridY, record->gridZ);
    snprintf(block, sizeof block, "%dx%dx%d", record->blockX, record->blockY, record->blockZ);
    add_number(&span, "device", record->deviceId);
    add_number(&span, "stream", record->streamId);
    add_text(&span, "grid", grid);
    add_text(&span, "block", block);
    put(api, clock, &span);
}

/* The name, and behind its blank the direction. Arrays are memory of the device. */
static const char *copy_name(uint8_t kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
        return "memcpy host-device";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
        return "memcpy device-host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
        return "memcpy host-host";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return "memcpy device-device";
    default:
        return "memcpy unknown";
    }
}

static struct span copy_of(uint8_t kind, uint64_t start, uint64_t end, uint64_t bytes)
{
    struct span span = {.name = copy_name(kind), .start = start, .end = end, .bytes = bytes};

    add_text(&span, "direction", span.name + sizeof "memcpy");
    return span;
}

static void put_copy(const struct dftrace_api *api, const struct dft_cupti_clock *clock,
                     const CUpti_ActivityMemcpy *record)
{
    struct span span = copy_of(record->copyKind, record->start, record->end, record->bytes);

    add_number(&span, "device", record->deviceId);
    add_number(&span, "stream", record->streamId);
    put(api, clock, &span);
}

/* Between devices. */
static void put_peer_copy(const struct dftrace_api *api, const struct dft_cupti_clock *clock,
                          const CUpti_ActivityMemcpyPtoP *record)
{
    struct span span = copy_of(record->copyKind, record->start, record->end, record->bytes);

    add_number(&span, "device", record->deviceId);
    add_number(&span, "stream", record->streamId);
    add_number(&span, "from", record->srcDeviceId);
    add_number(&span, "to", record->dstDeviceId);
    put(api, clock, &span);
}

static void put_fill(const struct dftrace_api *api, const struct dft_cupti_clock *clock,
                     const CUpti_ActivityMemset *record)
{
    struct span span = {.name = "memset", .start = record->start, .end = record->end, .bytes = record->bytes};

    add_number(&span, "device", record->deviceId);
    add_number(&span, "stream", record->streamId);
    put(api, clock, &span);
}

static void put_wait(const struct dftrace_api *api, const struct dft_cupti_clock *clock,
                     const CUpti_ActivitySynchronization *record)
{
    static const char *const names[] = {"sync unknown", "sync event", "sync stream-event", "sync stream",
                                        "sync context"};
    uint32_t type = (uint32_t)record->type;
    struct span span = {
        .name = names[type < sizeof names / sizeof *names ? type : 0], .start = record->start, .end = record->end};

    if (record->streamId != NO_STREAM)
        add_number(&span, "stream", record->streamId);
    put(api, clock, &span);
}

#define READABLE(type, last) (bytes >= offsetof(type, last) + sizeof((const type *)0)->last)

void dft_cupti_record(const struct dftrace_api *api, const struct dft_cupti_clock *clock, const CUpti_Activity *record,
                      size_t bytes)
{
    if (!READABLE(CUpti_Activity, kind))
        __atomic_add_fetch(&unread, 1, __ATOMIC_RELAXED);
    else if ((record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record->kind == CUPTI_ACTIVITY_KIND_KERNEL) &&
             READABLE(CUpti_ActivityKernel4, name))
        put_kernel(api, clock, (const void *)record);
    else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY && READABLE(CUpti_ActivityMemcpy, streamId))
        put_copy(api, clock, (const void *)record);
    else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2 && READABLE(CUpti_ActivityMemcpyPtoP, dstDeviceId))
        put_peer_copy(api, clock, (const void *)record);
    else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET && READABLE(CUpti_ActivityMemset, streamId))
        put_fill(api, clock, (const void *)record);
    else if (record->kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION && READABLE(CUpti_ActivitySynchronization, streamId))
        put_wait(api, clock, (const void *)record);
    else
        __atomic_add_fetch(&unread, 1, __ATOMIC_RELAXED);
}

uint64_t dft_cupti_unread(void)
{
    return __atomic_load_n(&unread, __ATOMIC_RELAXED);
}
