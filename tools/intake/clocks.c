/* SPDX-License-Identifier: MIT */
/* Clocks of hosts, from CLOCK records; see clocks.h. */
#include "intake/clocks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/event.h"
#include "object/source_inside.h"
#include "base/saturate.h"
#include "base/write_text.h"

#define JUMP_NS       INT64_C(1000000000) /* larger jumps between processes mean another clock */
#define DRIFT_MAX     1e-3                /* no computer's clock is worse; NTP slews by 5e-4 */
/* two readings nearer in time tell nothing about the drift */
#define DRIFT_SPAN_NS INT64_C(1000000000)

/* --- which processes share a clock ------------------------------------------------------------ */

static int compare_texts(struct dft_text a, struct dft_text b)
{
    uint32_t n = a.length < b.length ? a.length : b.length;
    int order = n ? memcmp(a.bytes, b.bytes, n) : 0;

    return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

static int by_clock(const void *left, const void *right)
{
    const struct dft_source_process *a = *(const struct dft_source_process *const *)left;
    const struct dft_source_process *b = *(const struct dft_source_process *const *)right;
    int order = compare_texts(a->process.host, b->process.host);

    if (order)
        return order;
    if (a->process.clock_offset != b->process.clock_offset)
        return a->process.clock_offset < b->process.clock_offset ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

int dft_clocks_hosts(struct dft_clocks *clocks, struct dft_source *source)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(source, &count), **sorted;

    clocks->source = source;
    clocks->hosts = calloc(count + 1u, sizeof *clocks->hosts);
    clocks->host_of = calloc(count + 1u, sizeof *clocks->host_of);
    sorted = malloc((count + 1u) * sizeof *sorted);
    if (!clocks->hosts || !clocks->host_of || !sorted) {
        free(sorted);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &processes[i];
    qsort(sorted, count, sizeof *sorted, by_clock);
    for (uint32_t i = 0; i < count; i++) {
        if (!i || compare_texts(sorted[i]->process.host, sorted[i - 1]->process.host) ||
            (double)sorted[i]->process.clock_offset - (double)sorted[i - 1]->process.clock_offset > (double)JUMP_NS)
            clocks->hosts[clocks->nhosts++].host = sorted[i]->process.host;
        clocks->host_of[sorted[i]->number] = clocks->nhosts - 1;
        clocks->hosts[clocks->nhosts - 1].processes++;
    }
    free(sorted);
    return 0;
}

/* --- fitting ---------------------------------------------------------------------------------- */

void dft_clock_fit(struct dft_clock_of_host *host, const struct dft_clock_point *points, size_t count, int with_drift)
{
    double n = (double)count, sx = 0, sy = 0, sxx = 0, sxy = 0, low = 0, high = 0, squares = 0, offset;
    int64_t base = points->x, level = points->y;

    host->drift = 0;
    for (size_t i = 0; i < count; i++) {
        double x = (double)dft_clock_difference(points[i].x, base);
        double y = (double)dft_clock_difference(points[i].y, level);

        sx += x;
        sy += y;
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    for (size_t i = 0; i < count; i++) {
        double x = (double)dft_clock_difference(points[i].x, base) - sx / n;
        double y = (double)dft_clock_difference(points[i].y, level) - sy / n;

        sxx += x * x;
        sxy += x * y;
    }
    if (with_drift && high - low >= (double)DRIFT_SPAN_NS && sxx > 0 && fabs(sxy / sxx) <= DRIFT_MAX)
        host->drift = sxy / sxx;
    offset = sy / n;
    host->points = (uint32_t)count;
    host->base_ns = dft_clock_sum(base, llround(sx / n));
    host->offset_ns = dft_clock_sum(level, llround(offset));
    host->residual_max_ns = 0;
    for (size_t i = 0; i < count; i++) {
        double left = (double)dft_clock_difference(points[i].y, host->offset_ns) -
                      host->drift * (double)dft_clock_difference(points[i].x, host->base_ns);

        squares += left * left;
        if (llround(fabs(left)) > host->residual_max_ns)
            host->residual_max_ns = llround(fabs(left));
    }
    host->residual_rms = sqrt(squares / n);
}

int64_t dft_clocks_shift(const struct dft_clocks *clocks, uint32_t process, uint64_t time_ns)
{
    const struct dft_clock_of_host *host;
    uint32_t count;
    int64_t x = (int64_t)time_ns, own;

    if (clocks->kind == DFT_CLOCKS_NONE)
        return 0;
    if (clocks->kind == DFT_CLOCKS_FIRST)
        return clocks->first_shift[process];
    host = &clocks->hosts[clocks->host_of[process]];
    if (!host->points)
        return 0;
    own = dft_source_processes(clocks->source, &count)[process].process.clock_offset;
    x = dft_clock_difference(x, own);
    x = dft_clock_difference(x, host->base_ns);
    return dft_clock_difference(dft_clock_sum(host->offset_ns, llround(host->drift * (double)x)), own);
}

void dft_clocks_range(struct dft_clocks *clocks)
{
    uint32_t count;
    const struct dft_source_process *processes = dft_source_processes(clocks->source, &count);

    for (uint32_t h = 0; h < clocks->nhosts; h++) {
        clocks->hosts[h].shift_low_ns = INT64_MAX;
        clocks->hosts[h].shift_high_ns = INT64_MIN;
    }
    clocks->without = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct dft_clock_of_host *host = &clocks->hosts[clocks->host_of[i]];

        clocks->without += !host->points;
        for (int end = 0; end < 2; end++) {
            uint64_t time = end ? processes[i].end_ns : processes[i].start_ns;
            int64_t shift;

            if (!time) /* the clock has no events */
                continue;
            shift = dft_clocks_shift(clocks, i, time);
            host->shift_low_ns = shift < host->shift_low_ns ? shift : host->shift_low_ns;
            host->shift_high_ns = shift > host->shift_high_ns ? shift : host->shift_high_ns;
        }
    }
    for (uint32_t h = 0; h < clocks->nhosts; h++)
        if (clocks->hosts[h].shift_low_ns > clocks->hosts[h].shift_high_ns)
            clocks->hosts[h].shift_low_ns = clocks->hosts[h].shift_high_ns = 0;
}

void dft_clocks_fini(struct dft_clocks *clocks)
{
    free(clocks->hosts);
    free(clocks->host_of);
    free(clocks->first_shift);
    memset(clocks, 0, sizeof *clocks);
}

/* --- for people ------------------------------------------------------------------------------- */

static void put_signed(FILE *out, int64_t ns)
{
    char text[DFT_TEXT_ROOM];

    fprintf(out, "%s%s", ns < 0 ? "-" : ns ? "+" : "", dft_text_ns(text, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns));
}

static void put_fit(FILE *out, const struct dft_clocks *clocks)
{
    int64_t low = INT64_MAX, high = INT64_MIN, residual = 0;
    double drift = 0, squares = 0;
    char text[DFT_TEXT_ROOM];
    uint32_t known = 0;

    for (uint32_t h = 0; h < clocks->nhosts; h++) {
        const struct dft_clock_of_host *host = &clocks->hosts[h];

        if (!host->points)
            continue;
        known++;
        low = host->shift_low_ns < low ? host->shift_low_ns : low;
        high = host->shift_high_ns > high ? host->shift_high_ns : high;
        drift = fabs(host->drift) > drift ? fabs(host->drift) : drift;
        residual = host->residual_max_ns > residual ? host->residual_max_ns : residual;
        squares += host->residual_rms * host->residual_rms;
    }
    if (!known)
        return;
    fprintf(out, ": moved by ");
    put_signed(out, low);
    fprintf(out, " to ");
    put_signed(out, high);
    fprintf(out, ", drift up to %.3g ppm, residual %s rms", drift * 1e6,
            dft_text_ns(text, dft_uint_of(round(sqrt(squares / known)))));
    fprintf(out, ", %s at most", dft_text_ns(text, (uint64_t)residual));
    if (known > 1 && clocks->kind == DFT_CLOCKS_ANCHORS)
        fputs(", on each by itself: how far they are apart from each other no trace says", out);
}

char *dft_clocks_text(const struct dft_clocks *clocks)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int any = 0;

    if (!out)
        return NULL;
    for (uint32_t h = 0; h < clocks->nhosts; h++)
        any |= clocks->hosts[h].points != 0;
    switch (clocks->kind) {
    case DFT_CLOCKS_NONE:
        fprintf(out, "times as recorded");
        break;
    case DFT_CLOCKS_FIRST:
        fprintf(out, "times moved so that all ranks begin together; what they began apart is not seen");
        break;
    case DFT_CLOCKS_EVENT:
        fputs("times aligned on the end of ", out);
        dft_text_escape(out, clocks->event, strlen(clocks->event));
        fprintf(out, " (%" PRIu32 " a rank), %" PRIu32 " clock%s", clocks->events, clocks->nhosts,
                clocks->nhosts == 1 ? "" : "s");
        put_fit(out, clocks);
        break;
    case DFT_CLOCKS_ANCHORS:
        if (!any) {
            fprintf(out, "times as recorded: there are no CLOCK records to correct them by");
            break;
        }
        fprintf(out, "times corrected by the hosts' clocks, %" PRIu32 " clock%s", clocks->nhosts,
                clocks->nhosts == 1 ? "" : "s");
        put_fit(out, clocks);
        break;
    }
    if (clocks->without && clocks->kind != DFT_CLOCKS_FIRST && clocks->kind != DFT_CLOCKS_NONE && any)
        fprintf(out, "; nothing known of the clock%s of %" PRIu32 " process%s, whose times are as recorded",
                clocks->without == 1 ? "" : "s", clocks->without, clocks->without == 1 ? "" : "es");
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* --- on a source ------------------------------------------------------------------------------ */

static void move_known(const struct dft_clocks *clocks, uint32_t process, uint64_t *time)
{
    if (*time)
        *time += (uint64_t)dft_clocks_shift(clocks, process, *time);
}

static void move_span(const struct dft_clocks *clocks, uint32_t process, uint64_t *start, uint64_t *end)
{
    *start += (uint64_t)dft_clocks_shift(clocks, process, *start);
    *end += (uint64_t)dft_clocks_shift(clocks, process, *end);
    if (*end < *start)
        *end = *start;
}

void dft_source_align(struct dft_source *source, const struct dft_clocks *clocks)
{
    uint64_t start = UINT64_MAX, end = 0;

    for (size_t i = 0; i < source->nblocks; i++) {
        struct dft_block *block = &source->blocks[i];

        if (!block->start || (block->type != DFT_BLOCK_EVENTS && block->type != DFT_BLOCK_BUCKETS))
            continue;
        move_span(clocks, block->process, &block->start, &block->end);
        if (!block->use)
            continue;
        start = block->start < start ? block->start : start;
        end = block->end > end ? block->end : end;
    }
    for (uint32_t i = 0; i < source->nprocesses; i++) {
        struct dft_source_process *process = &source->processes[i];

        if (process->start_ns)
            move_span(clocks, i, &process->start_ns, &process->end_ns);
        move_known(clocks, i, &process->process.start_ns);
        move_known(clocks, i, &process->end.time_ns);
    }
    if (start <= end) {
        source->start_ns = start;
        source->end_ns = end;
    }
    source->clocks = clocks;
}
