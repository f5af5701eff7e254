/* SPDX-License-Identifier: MIT */
/* A stand-in for libcupti: the program under test says what the GPU did (stub_*), and records of it go into the buffers of the client.
 *
 *   STUB_VERSION=N      the version that it claims; records have the lengths of that version
 *   STUB_SUBSCRIBE=N    cuptiSubscribe fails with this error
 *   STUB_REGISTER=N     cuptiActivityRegisterCallbacks does
 *   STUB_ENABLE=N       cuptiActivityEnable does, of every kind; STUB_ENABLE_KIND=K: of this kind alone
 *   STUB_CLOCK=1        the clock of the client is refused; its own goes another way
 *   STUB_FLUSH=N        cuptiActivityFlushAll fails with this error
 *   STUB_BROKEN=1       a record cannot be read; 2: a record comes again and again
 *
 * Compiled with -DSTUB_WITHOUT_CLOCK it cannot be given a clock; with -DSTUB_DROPS=N it has dropped so many records. */
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stub_cupti.h"

static CUpti_BuffersCallbackRequestFunc requested;
static CUpti_BuffersCallbackCompleteFunc completed;
static uint64_t (*client_clock)(void);
static uint8_t *buffer;
static size_t room, used;
#ifndef STUB_DROPS
#define STUB_DROPS 0
#endif
static size_t dropped = STUB_DROPS;
static int tells_polls = 1;

static int setting(const char *name, int otherwise)
{
    const char *value = getenv(name);

    return value ? atoi(value) : otherwise;
}

static uint64_t own_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now); /* twice as fast, and from another day */
    return ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) * 2 + 12345678901234u;
}

uint64_t stub_now(void)
{
    return client_clock ? client_clock() : own_clock();
}

/* --- what the client calls -------------------------------------------------------------------- */

CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = (uint32_t)setting("STUB_VERSION", CUPTI_API_VERSION);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    static char name[40];

    snprintf(name, sizeof name, "CUPTI_ERROR_NUMBER_%d", (int)result);
    *text = name;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    *timestamp = stub_now();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *data)
{
    (void)callback, (void)data;
    *subscriber = NULL;
    return (CUptiResult)setting("STUB_SUBSCRIBE", 0);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    (void)subscriber;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete)
{
    int wrong = setting("STUB_REGISTER", 0);

    if (!wrong) {
        requested = request;
        completed = complete;
    }
    return (CUptiResult)wrong;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    return setting("STUB_ENABLE_KIND", (int)kind) == (int)kind ? (CUptiResult)setting("STUB_ENABLE", 0) : CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t ms)
{
    (void)ms;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
    tells_polls = enable;
    return CUPTI_SUCCESS;
}

#ifndef STUB_WITHOUT_CLOCK
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback)
{
    if (setting("STUB_CLOCK", 0))
        return CUPTI_ERROR_NOT_SUPPORTED;
    client_clock = callback;
    return CUPTI_SUCCESS;
}
#endif

/* The length of a record in this version of CUPTI. */
static size_t length_of(CUpti_ActivityKind kind)
{
    int new = setting("STUB_VERSION", CUPTI_API_VERSION) >= 28;

    switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return new ? sizeof(CUpti_ActivityKernel9) : sizeof(CUpti_ActivityKernel4);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return new ? sizeof(CUpti_ActivityMemcpy5) : sizeof(CUpti_ActivityMemcpy);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return new ? sizeof(CUpti_ActivityMemcpyPtoP4) : sizeof(CUpti_ActivityMemcpyPtoP);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return new ? sizeof(CUpti_ActivityMemset4) : sizeof(CUpti_ActivityMemset);
    default:
        return sizeof(CUpti_ActivitySynchronization);
    }
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *from, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + length_of((*record)->kind) : from;

    if (next >= from + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (*record && setting("STUB_BROKEN", 0))
        return setting("STUB_BROKEN", 0) == 2 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *lost)
{
    (void)context, (void)stream;
    *lost = dropped;
    dropped = 0;
    return CUPTI_SUCCESS;
}

static void complete(void)
{
    uint8_t *full = buffer;

    buffer = NULL;
    if (full)
        completed(NULL, 0, full, room, used);
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    complete();
    return (CUptiResult)setting("STUB_FLUSH", 0);
}

/* --- what the GPU does ------------------------------------------------------------------------ */

static void put(const void *record, CUpti_ActivityKind kind)
{
    size_t length = length_of(kind), most;

    if (!completed)
        return;
    if (buffer && used + length > room)
        complete();
    if (!buffer) {
        requested(&buffer, &room, &most);
        used = 0;
    }
    if (!buffer) {
        dropped++;
        return;
    }
    memcpy(buffer + used, record, length);
    used += length;
}

void stub_kernel(const char *name, uint64_t start, uint64_t end, unsigned stream)
{
    CUpti_ActivityKernel9 record = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                    .start = start,
                                    .end = end,
                                    .name = name,
                                    .streamId = stream,
                                    .gridX = 4,
                                    .gridY = 2,
                                    .gridZ = 1,
                                    .blockX = 128,
                                    .blockY = 1,
                                    .blockZ = 1};

    put(&record, record.kind);
}

void stub_copy(int kind, uint64_t bytes, uint64_t start, uint64_t end, unsigned stream)
{
    CUpti_ActivityMemcpy5 record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                    .copyKind = (uint8_t)kind,
                                    .bytes = bytes,
                                    .start = start,
                                    .end = end,
                                    .deviceId = 1,
                                    .streamId = stream};

    put(&record, record.kind);
}

void stub_peer_copy(uint64_t bytes, uint64_t start, uint64_t end)
{
    CUpti_ActivityMemcpyPtoP4 record = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                        .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
                                        .bytes = bytes,
                                        .start = start,
                                        .end = end,
                                        .srcDeviceId = 2,
                                        .dstDeviceId = 3};

    put(&record, record.kind);
}

void stub_fill(uint64_t bytes, uint64_t start, uint64_t end)
{
    CUpti_ActivityMemset4 record = {
        .kind = CUPTI_ACTIVITY_KIND_MEMSET, .bytes = bytes, .start = start, .end = end, .streamId = 7};

    put(&record, record.kind);
}

void stub_wait(int type, uint64_t start, uint64_t end, unsigned stream)
{
    CUpti_ActivitySynchronization record = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                            .type = (CUpti_ActivitySynchronizationType)type,
                                            .start = start,
                                            .end = end,
                                            .streamId = stream};

    put(&record, record.kind);
}

/* A query of an event that has not happened yet. */
void stub_poll(uint64_t start, uint64_t end)
{
    if (tells_polls)
        stub_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, start, end, 5);
}

void stub_unknown(void)
{
    CUpti_ActivitySynchronization record = {.kind = CUPTI_ACTIVITY_KIND_NAME};

    put(&record, record.kind);
}

/* Keeps the buffer for good, as a client that has replaced the functions of another one does. */
void stub_lose(void)
{
    buffer = NULL;
}
