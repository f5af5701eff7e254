/* SPDX-License-Identifier: MIT */
/* Owns counter tracks with fewer points, and counts their bytes. */
#include "export/export_thin.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "export/export_perfetto_file.h"

#define LEAST_WIDTH_NS UINT64_C(1000000)

/* A track on its way. The value of a point holds until the next point. */
struct thinning {
    struct dft_tracks *thin;
    struct dft_track_point point; /* its process and its track */
    uint64_t base_ns, width_ns;   /* of the intervals */
    uint64_t from_ns, covered_ns; /* of the interval at work: where it has values */
    double area;
    size_t first; /* the track's first point in `thin` */
};

static int add(struct thinning *t, uint64_t time_ns, double value)
{
    struct dft_tracks *thin = t->thin;

    t->point.time_ns = time_ns;
    t->point.value = value;
    return DFT_ARRAY_PUSH(thin->points, thin->capacity, thin->count, t->point);
}

/* Adds a mean. A point that says what the one before says is not needed. */
static int add_mean(struct thinning *t, uint64_t time_ns, double value)
{
    const struct dft_tracks *thin = t->thin;

    return thin->count > t->first && thin->points[thin->count - 1].value == value ? 0 : add(t, time_ns, value);
}

static int close_interval(struct thinning *t)
{
    int rc = t->covered_ns ? add_mean(t, t->from_ns, t->area / (double)t->covered_ns) : 0;

    t->covered_ns = 0;
    t->area = 0;
    return rc;
}

/* A value holds in [from_ns, to_ns). */
static int hold(struct thinning *t, uint64_t from_ns, uint64_t to_ns, double value)
{
    int rc = 0;

    while (!rc && from_ns < to_ns) {
        uint64_t behind = from_ns > t->base_ns ? from_ns - t->base_ns : 0, left = t->width_ns - behind % t->width_ns;
        uint64_t length = left < to_ns - from_ns ? left : to_ns - from_ns;

        if (!t->covered_ns && length == t->width_ns) { /* whole intervals of one value */
            rc = add_mean(t, from_ns, value);
            from_ns += (to_ns - from_ns) / t->width_ns * t->width_ns;
            continue;
        }
        if (!t->covered_ns)
            t->from_ns = from_ns;
        t->covered_ns += length;
        t->area += value * (double)length;
        if (length == left)
            rc = close_interval(t);
        from_ns += length;
    }
    return rc;
}

static int is_before(const struct dft_track_point *point, const struct dft_track_point *track, uint64_t time_ns)
{
    if (point->process != track->process)
        return point->process < track->process;
    return point->track != track->track ? point->track < track->track : point->time_ns < time_ns;
}

/* How many points come before a time of a track. */
static size_t first_at(const struct dft_track_point *points, size_t count, const struct dft_track_point *track,
                       uint64_t time_ns)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (is_before(&points[middle], track, time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds means of the points from..past, of one track. */
static int add_track(struct dft_tracks *thin, const struct dft_track_point *from, const struct dft_track_point *past,
                     uint64_t base_ns, uint64_t width_ns)
{
    struct thinning t = {.thin = thin, .point = *from, .base_ns = base_ns, .width_ns = width_ns, .first = thin->count};
    int rc = 0;

    for (const struct dft_track_point *point = from; !rc && point + 1 < past; point++)
        rc = hold(&t, point->time_ns, point[1].time_ns, point->value);
    rc = rc ? rc : close_interval(&t);
    return rc ? rc : add_mean(&t, past[-1].time_ns, past[-1].value);
}

/* The points with means over intervals of this width; the last point of a track stays. The caller frees thin->points. */
static int make(struct dft_tracks *thin, const struct dft_perfetto *p, uint64_t width_ns)
{
    const struct dft_track_point *points = p->tracks.points;
    uint64_t from_ns = p->export->filter->from_ns, base_ns = from_ns > p->origin_ns ? from_ns : p->origin_ns;
    int rc = 0;

    *thin =
        (struct dft_tracks){.width_ns = p->tracks.width_ns, .series = p->tracks.series, .nseries = p->tracks.nseries};
    for (size_t first = 0, past; !rc && first < p->tracks.count; first = past) {
        past = first + first_at(points + first, p->tracks.count - first, points + first, UINT64_MAX);
        rc = add_track(thin, points + first, points + past, base_ns, width_ns);
    }
    return rc;
}

int dft_thin_put(struct dft_perfetto *p, uint64_t width_ns)
{
    struct dft_tracks thin;
    int rc = 0;

    if (width_ns == UINT64_MAX)
        return 0;
    if (!width_ns) {
        dft_perfetto_put_tracks(p, &p->tracks);
        return 0;
    }
    rc = make(&thin, p, width_ns);
    if (!rc)
        dft_perfetto_put_tracks(p, &thin);
    free(thin.points);
    return rc;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static ssize_t count_bytes(void *cookie, const char *bytes, size_t length)
{
    (void)bytes;
    *(uint64_t *)cookie += length;
    return (ssize_t)length;
}

FILE *dft_thin_counter(uint64_t *bytes)
{
    *bytes = 0;
    return fopencookie(bytes, "w", (cookie_io_functions_t){.write = count_bytes});
}

int dft_thin_bytes(struct dft_perfetto *p, uint64_t width_ns, uint64_t *bytes)
{
    FILE *out = dft_thin_counter(bytes);
    int rc;

    if (!out)
        return -ENOMEM;
    p->export->out = out;
    rc = dft_thin_put(p, width_ns);
    p->export->out = NULL;
    fclose(out);
    return rc;
}

int dft_thin_fit(struct dft_perfetto *p, uint64_t most_bytes, uint64_t *bytes)
{
    uint64_t range_ns = p->end_ns - p->origin_ns, *width_ns = &p->plan.width_ns;
    int rc = dft_thin_bytes(p, 0, bytes);

    if (rc || *bytes <= most_bytes)
        return rc;
    *width_ns = p->tracks.width_ns > LEAST_WIDTH_NS ? p->tracks.width_ns : LEAST_WIDTH_NS;
    while (!rc && *bytes > most_bytes && *width_ns < range_ns) {
        *width_ns *= 2;
        rc = dft_thin_bytes(p, *width_ns, bytes);
    }
    if (*bytes > most_bytes) {
        *width_ns = UINT64_MAX;
        *bytes = 0;
    }
    return rc;
}
