/* SPDX-License-Identifier: MIT */
/* Clocks: the fit of a line, against solving its equations with more digits; shifts; and which
 * processes share a clock. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "intake/clocks.h"
#include "object/source_inside.h"
#include "suites.h"

#define SECOND INT64_C(1000000000)

static void by_hand(void)
{
    /* One second apart, the second clock gains 1000 ns in each: a drift of a millionth. */
    const struct dft_clock_point line[3] = {{5 * SECOND, 100}, {6 * SECOND, 1100}, {7 * SECOND, 2100}};
    const struct dft_clock_point bent[3] = {{0, 0}, {SECOND, 300}, {2 * SECOND, 0}},
                                 near[2] = {{0, 0}, {SECOND - 1, 10}};
    const struct dft_clock_point steep[2] = {{0, 0}, {SECOND, SECOND / 500}};
    struct dft_clock_of_host host = {0};

    dft_clock_fit(&host, line, 3, 1);
    CU_ASSERT(host.points == 3 && host.base_ns == 6 * SECOND && host.offset_ns == 1100);
    CU_ASSERT_DOUBLE_EQUAL(host.drift, 1e-6, 1e-15);
    CU_ASSERT(host.residual_max_ns == 0 && host.residual_rms < 1e-6);
    dft_clock_fit(&host, line, 3, 0);
    CU_ASSERT(host.drift == 0 && host.offset_ns == 1100 && host.residual_max_ns == 1000);
    CU_ASSERT_DOUBLE_EQUAL(host.residual_rms, sqrt(2e6 / 3), 1e-6);
    dft_clock_fit(&host, bent, 3, 1);
    CU_ASSERT(host.drift == 0 && host.offset_ns == 100 && host.residual_max_ns == 200);
    dft_clock_fit(&host, near, 2, 1); /* less than a second tells nothing of the drift */
    CU_ASSERT(host.drift == 0 && host.offset_ns == 5);
    dft_clock_fit(&host, steep, 2, 1); /* no clock is off by a five-hundredth */
    CU_ASSERT(host.drift == 0 && host.offset_ns == SECOND / 1000);
}

/* Least squares by the normal equations, in long double, around the first point. */
static void slow_fit(const struct dft_clock_point *points, uint32_t n, long double *slope, long double *at_first)
{
    long double sx = 0, sy = 0, sxx = 0, sxy = 0;

    for (uint32_t i = 0; i < n; i++) {
        long double x = (long double)(points[i].x - points[0].x), y = (long double)(points[i].y - points[0].y);

        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    *slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    *at_first = (long double)points[0].y + (sy - *slope * sx) / n;
}

static void normal_equations(void)
{
    unsigned differ = 0;

    for (int round = 0; round < 5000; round++) {
        int64_t start = (int64_t)roll(1000000) * SECOND, offset = INT64_C(1700000000) * SECOND + roll(1000000);
        int32_t drift = (int32_t)roll(1000) - 500; /* in millionths */
        uint32_t n = 2 + roll(40);
        struct dft_clock_point points[42];
        struct dft_clock_of_host host = {0};
        long double slope, at_first, squares = 0;

        for (uint32_t i = 0; i < n; i++) {
            int64_t x = (int64_t)i * SECOND + roll(1000000000);

            points[i] =
                (struct dft_clock_point){start + x, offset + x * drift / 1000000 + (int64_t)roll(20001) - 10000};
        }
        points[n - 1].x += SECOND;
        slow_fit(points, n, &slope, &at_first);
        dft_clock_fit(&host, points, n, 1);
        differ += fabsl((long double)host.drift - slope) > 1e-12L;
        for (uint32_t i = 0; i < n; i++) {
            long double x = (long double)(points[i].x - points[0].x),
                        left = (long double)points[i].y - at_first - slope * x;
            long double got = (long double)host.offset_ns + (long double)host.drift * (points[i].x - host.base_ns);

            squares += left * left;
            differ += fabsl(got - (at_first + slope * x)) > 2;
            differ += fabsl(left) > (long double)host.residual_max_ns + 2;
        }
        differ += fabsl((long double)host.residual_rms - sqrtl(squares / n)) > 2;
    }
    CU_ASSERT_EQUAL(differ, 0);
}

static struct dft_source *source_of(const struct dft_process *processes, uint32_t count)
{
    struct dft_source_options options = {.threads = 1};
    struct dft_source *source = dft_source_create(&options);

    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    source->processes = calloc(count, sizeof *source->processes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source->processes);
    for (uint32_t i = 0; i < count; i++)
        source->processes[i] = (struct dft_source_process){.process = processes[i], .number = i};
    source->nprocesses = count;
    return source;
}

#define HOST(name)                                                                                                     \
    {                                                                                                                  \
        name, sizeof name - 1                                                                                          \
    }

static void hosts(void)
{
    const struct dft_process processes[] = {
        {.host = HOST("b"), .clock_offset = 100 * SECOND}, {.host = HOST("a"), .clock_offset = 50 * SECOND + 900},
        {.host = HOST("b"), .clock_offset = 102 * SECOND}, {.host = HOST("a"), .clock_offset = 50 * SECOND},
        {.host = HOST("b"), .clock_offset = 101 * SECOND}, {.host = HOST("b"), .clock_offset = 103 * SECOND + 1},
    };
    static const uint32_t expected[] = {1, 0, 1, 0, 1, 2}; /* of one clock as long as no step is over a second */
    struct dft_source *source = source_of(processes, 6);
    struct dft_clocks clocks = {0};

    CU_ASSERT_EQUAL_FATAL(dft_clocks_hosts(&clocks, source), 0);
    CU_ASSERT_EQUAL(clocks.nhosts, 3);
    CU_ASSERT(!memcmp(clocks.host_of, expected, sizeof expected));
    CU_ASSERT(clocks.hosts[0].processes == 2 && clocks.hosts[1].processes == 3 && clocks.hosts[2].processes == 1);
    dft_clocks_fini(&clocks);
    dft_source_close(source);
}

/* A time moves onto the line of its host, and two times never change places. */
static void shifts(void)
{
    const struct dft_process process = {.host = HOST("a"), .clock_offset = 1000 * SECOND};
    struct dft_source *source = source_of(&process, 1);
    struct dft_clocks clocks = {.kind = DFT_CLOCKS_ANCHORS};
    unsigned wrong = 0;

    CU_ASSERT_EQUAL_FATAL(dft_clocks_hosts(&clocks, source), 0);
    CU_ASSERT_EQUAL(dft_clocks_shift(&clocks, 0, 5), 0); /* nothing is known of its clock */
    clocks.hosts[0].points = 2;
    clocks.hosts[0].base_ns = 10 * SECOND;
    clocks.hosts[0].offset_ns = 1000 * SECOND + 7;
    CU_ASSERT_EQUAL(dft_clocks_shift(&clocks, 0, 1010 * SECOND), 7);
    clocks.hosts[0].drift = 1e-6;
    CU_ASSERT_EQUAL(dft_clocks_shift(&clocks, 0, 1012 * SECOND), 2007);
    clocks.hosts[0].drift = -1e-3;
    for (int i = 0; i < 100000; i++) {
        uint64_t time = 1010 * SECOND + roll(UINT32_MAX), later = time + roll(3000);

        wrong +=
            later + (uint64_t)dft_clocks_shift(&clocks, 0, later) < time + (uint64_t)dft_clocks_shift(&clocks, 0, time);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    clocks.kind = DFT_CLOCKS_NONE;
    CU_ASSERT_EQUAL(dft_clocks_shift(&clocks, 0, 1012 * SECOND), 0);
    dft_clocks_fini(&clocks);
    dft_source_close(source);
}

int suite_clocks(void)
{
    CU_TestInfo tests[] = {{"by hand", by_hand},
                           {"normal equations", normal_equations},
                           {"hosts", hosts},
                           {"shifts", shifts},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"clocks", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites);
}
