/* SPDX-License-Identifier: MIT */
/* Decides which slices are kept and which join a run; see export_lanes.h. */
#include "export/export_lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* A slice that may enclose the next one. */
struct around {
    uint64_t end_ns, dur_ns;
};

struct dft_lane {
    enum dft_lane_kind kind;
    struct around *around; /* innermost last */
    size_t depth, capacity;
    char *runs; /* by level */
};

static struct dft_run *run_of(const struct dft_lanes *lanes, const struct dft_lane *lane, unsigned level)
{
    return (struct dft_run *)(void *)(lane->runs + level * lanes->run_bytes);
}

/* Ends a run, which may reach `limit_ns`. It reaches farther only where slices do not nest. */
static int end_run(struct dft_lanes *lanes, struct dft_lane *lane, unsigned level, uint64_t limit_ns)
{
    struct dft_run *run = run_of(lanes, lane, level);
    int rc;

    if (!run->slices)
        return 0;
    run->end_ns = run->end_ns > limit_ns ? limit_ns : run->end_ns;
    rc = lanes->end(lanes->context, level, lane->kind, run);
    memset(run, 0, lanes->run_bytes);
    return rc;
}

static struct dft_lane *lane_of(struct dft_lanes *lanes, enum dft_lane_kind kind, uint64_t key)
{
    uint64_t *number = dft_map_put(&lanes->numbers[kind], key);
    struct dft_lane lane = {.kind = kind};

    if (!number)
        return NULL;
    if (*number)
        return &lanes->list[*number - 1];
    lane.runs = calloc(lanes->count, lanes->run_bytes);
    if (!lane.runs || DFT_ARRAY_PUSH(lanes->list, lanes->capacity, lanes->nlanes, lane)) {
        free(lane.runs);
        return NULL;
    }
    *number = lanes->nlanes;
    return &lanes->list[lanes->nlanes - 1];
}

/* Leaves slices that have ended, and ends the runs in them. */
static int leave(struct dft_lanes *lanes, struct dft_lane *lane, uint64_t start_ns)
{
    int rc = 0;

    while (!rc && lane->depth && lane->around[lane->depth - 1].end_ns <= start_ns) {
        const struct around *left = &lane->around[--lane->depth];

        for (unsigned level = lanes->first; !rc && level < lanes->count && lanes->least_ns[level] <= left->dur_ns;
             level++)
            rc = end_run(lanes, lane, level, left->end_ns);
    }
    return rc;
}

static int decide(struct dft_lanes *lanes, struct dft_lane *lane, unsigned level, uint64_t start_ns, uint64_t dur_ns)
{
    struct dft_run *run = run_of(lanes, lane, level);
    uint64_t least_ns = lanes->least_ns[level], end_ns = start_ns + dur_ns;
    int rc = 0;

    if (dur_ns >= least_ns) {
        if (lane->kind == DFT_LANE_SLICES)
            rc = end_run(lanes, lane, level, start_ns);
        return rc ? rc : lanes->keep(lanes->context, level);
    }
    if (run->slices && start_ns > run->end_ns && start_ns - run->end_ns > least_ns)
        rc = end_run(lanes, lane, level, start_ns);
    if (!rc)
        rc = lanes->join(lanes->context, level, run);
    run->slices++;
    run->end_ns = run->end_ns > end_ns ? run->end_ns : end_ns;
    return rc;
}

/* A sample that is kept stands for those that follow soon. */
static int decide_sample(struct dft_lanes *lanes, struct dft_lane *lane, unsigned level, uint64_t start_ns)
{
    struct dft_run *run = run_of(lanes, lane, level);

    if (run->slices && start_ns - run->end_ns < lanes->least_ns[level])
        return lanes->leave_out(lanes->context, level);
    run->slices = 1;
    run->end_ns = start_ns;
    return lanes->keep(lanes->context, level);
}

int dft_lanes_put(struct dft_lanes *lanes, enum dft_lane_kind kind, uint64_t key, uint64_t start_ns, uint64_t dur_ns)
{
    struct dft_lane *lane = lane_of(lanes, kind, key);
    int rc = lane ? leave(lanes, lane, start_ns) : -ENOMEM;

    for (unsigned level = lanes->first; !rc && level < lanes->count; level++)
        rc = kind == DFT_LANE_SAMPLES ? decide_sample(lanes, lane, level, start_ns)
                                      : decide(lanes, lane, level, start_ns, dur_ns);
    if (!rc && kind == DFT_LANE_SLICES && dur_ns)
        rc = DFT_ARRAY_PUSH(lane->around, lane->capacity, lane->depth, (struct around){start_ns + dur_ns, dur_ns});
    return rc;
}

static struct dft_lane *thread(const struct dft_lanes *lanes, uint64_t key)
{
    const uint64_t *number = dft_map_find(&lanes->numbers[DFT_LANE_SLICES], key);

    return number && *number ? &lanes->list[*number - 1] : NULL;
}

int dft_lanes_cut(struct dft_lanes *lanes, uint64_t key)
{
    struct dft_lane *lane = thread(lanes, key);
    int rc = 0;

    for (unsigned level = lanes->first; lane && !rc && level < lanes->count; level++)
        rc = end_run(lanes, lane, level, UINT64_MAX);
    return rc;
}

struct dft_run *dft_lanes_run(const struct dft_lanes *lanes, uint64_t key, unsigned level)
{
    const struct dft_lane *lane = thread(lanes, key);
    struct dft_run *run = lane ? run_of(lanes, lane, level) : NULL;

    return run && run->slices ? run : NULL;
}

int dft_lanes_finish(struct dft_lanes *lanes)
{
    int rc = 0;

    for (size_t i = 0; i < lanes->nlanes; i++) {
        struct dft_lane *lane = &lanes->list[i];

        for (unsigned level = lanes->first; !rc && lane->kind != DFT_LANE_SAMPLES && level < lanes->count; level++)
            rc = end_run(lanes, lane, level, UINT64_MAX);
        lane->depth = 0;
        if (!rc)
            memset(lane->runs, 0, lanes->count * lanes->run_bytes);
    }
    return rc;
}

void dft_lanes_each(const struct dft_lanes *lanes, void (*give)(struct dft_run *run))
{
    for (size_t i = 0; i < lanes->nlanes; i++)
        give(run_of(lanes, &lanes->list[i], 0));
}

void dft_lanes_fini(struct dft_lanes *lanes)
{
    for (size_t i = 0; i < lanes->nlanes; i++) {
        free(lanes->list[i].around);
        free(lanes->list[i].runs);
    }
    for (unsigned kind = 0; kind < DFT_LANE_KINDS; kind++)
        dft_map_fini(&lanes->numbers[kind]);
    free(lanes->list);
}
