/* SPDX-License-Identifier: MIT */
/* Clocks of hosts, from CLOCK records; see clocks.h. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "intake/clocks.h"
#include "mpi/comm.h"
#include "intake/source_visit.h"
#include "format/decode.h"

struct anchor {
    uint32_t host;
    struct dft_clock_point point;
};

struct anchoring {
    struct dft_clocks *clocks;
    struct dft_decoder **decoders; /* by worker */
    pthread_mutex_t lock;
    struct anchor *anchors;
    size_t count, capacity;
};

static int add_anchor(struct anchoring *anchoring, const struct anchor *anchor)
{
    return DFT_ARRAY_PUSH(anchoring->anchors, anchoring->capacity, anchoring->count, *anchor);
}

static int add_anchors(void *context, unsigned worker, const struct dft_source_process *process,
                       const struct dft_block *block, const struct dft_block_header *header, const void *payload)
{
    struct anchoring *anchoring = context;
    const uint64_t(*samples)[2];
    const char *reason;
    uint32_t count;
    int rc;

    (void)block;
    if (!anchoring->decoders[worker])
        anchoring->decoders[worker] = dft_decoder_create();
    if (!anchoring->decoders[worker])
        return -ENOMEM;
    rc = dft_decode_clock(anchoring->decoders[worker], header, payload, &samples, &count, &reason);
    pthread_mutex_lock(&anchoring->lock);
    for (uint32_t i = 0; !rc && i < count; i++) {
        struct anchor anchor = {.host = anchoring->clocks->host_of[process->number]};

        if (samples[i][0] >> 62 || samples[i][1] >> 62)
            continue; /* larger values are no clock of this age */
        anchor.point.x = (int64_t)samples[i][0];
        anchor.point.y = (int64_t)samples[i][1] - (int64_t)samples[i][0];
        rc = add_anchor(anchoring, &anchor);
    }
    pthread_mutex_unlock(&anchoring->lock);
    return rc == -ENOMEM ? rc : 0; /* `check` reports what cannot be decoded */
}

static int is_clock(void *context, const struct dft_source_process *process, const struct dft_block *block)
{
    (void)context;
    (void)process;
    return block->type == DFT_BLOCK_CLOCK && block->state == DFT_BLOCK_USED;
}

/* Compares all fields, so that sums do not depend on the order of threads. */
static int by_host_and_time(const void *left, const void *right)
{
    const struct anchor *a = left, *b = right;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->point.x != b->point.x)
        return a->point.x < b->point.x ? -1 : 1;
    return a->point.y < b->point.y ? -1 : a->point.y > b->point.y;
}

static int fit_all(struct dft_clocks *clocks, struct anchoring *anchoring)
{
    struct dft_clock_point *points = malloc((anchoring->count + 1) * sizeof *points);

    if (!points)
        return -ENOMEM;
    if (anchoring->count)
        qsort(anchoring->anchors, anchoring->count, sizeof *anchoring->anchors, by_host_and_time);
    for (size_t i = 0, n; i < anchoring->count; i += n) {
        uint32_t host = anchoring->anchors[i].host;

        for (n = 0; i + n < anchoring->count && anchoring->anchors[i + n].host == host; n++)
            points[n] = anchoring->anchors[i + n].point;
        dft_clock_fit(&clocks->hosts[host], points, n, 1);
    }
    free(points);
    return 0;
}

static int take_anchors(void *context, unsigned rank, const void *bytes, size_t length)
{
    int rc = 0;

    for (size_t at = 0; !rc && rank != dft_comm_rank() && at < length; at += sizeof(struct anchor)) {
        struct anchor anchor;

        memcpy(&anchor, (const char *)bytes + at, sizeof anchor);
        rc = add_anchor(context, &anchor);
    }
    return rc;
}

/* Shares the anchors: all ranks of dftmerge-mpi then have all. */
static int share(struct anchoring *anchoring)
{
    size_t length = anchoring->count * sizeof *anchoring->anchors;
    void *mine;
    int rc;

    if (dft_comm_size() == 1)
        return 0;
    mine = malloc(length + 1);
    if (mine && length)
        memcpy(mine, anchoring->anchors, length);
    rc = dft_comm_agree(mine ? 0 : -ENOMEM);
    if (!rc)
        rc = dft_comm_exchange(mine, length, take_anchors, anchoring);
    free(mine);
    return rc;
}

int dft_clocks_by_anchors(struct dft_clocks *clocks, struct dft_source *source)
{
    struct anchoring anchoring = {.clocks = clocks, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct dft_visit visit = {.context = &anchoring, .select = is_clock, .raw = add_anchors};
    int rc;

    *clocks = (struct dft_clocks){.kind = DFT_CLOCKS_ANCHORS};
    anchoring.decoders = calloc(dft_source_threads(source), sizeof *anchoring.decoders);
    rc = anchoring.decoders ? dft_clocks_hosts(clocks, source) : -ENOMEM;
    if (!rc)
        rc = dft_source_visit(source, &visit);
    if (!rc)
        rc = share(&anchoring);
    if (!rc)
        rc = fit_all(clocks, &anchoring);
    free(anchoring.anchors);
    for (unsigned i = 0; anchoring.decoders && i < dft_source_threads(source); i++)
        dft_decoder_destroy(anchoring.decoders[i]);
    free(anchoring.decoders);
    if (rc)
        dft_clocks_fini(clocks);
    else
        dft_clocks_range(clocks);
    return rc;
}
