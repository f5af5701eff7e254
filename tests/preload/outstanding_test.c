/* SPDX-License-Identifier: MIT */
/* The table of outstanding requests: what is put in comes out once, whole, whatever threads and
 * signal handlers do. */
#include "tables/outstanding.h"

#include <CUnit/Basic.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "os/sys.h"

/* --- what the library has elsewhere ----------------------------------------------------------- */

int dft_sandbox;

int dft_is_sandboxed(void)
{
    return 0;
}

/* Every field follows from the key, so that a mixture of two requests is noticed. */
static struct dft_request make(uint64_t context, uint64_t block, uint64_t data)
{
    uint64_t all = context * 3 + block * 5 + data * 7;
    struct dft_request request = {.key = {context, block, data},
                                  .start = all + 1,
                                  .file = all + 2,
                                  .region = all + 3,
                                  .size = all + 4,
                                  .offset = (int64_t)(all + 5),
                                  .flags = (uint32_t)all + 6,
                                  .fd = (int)((all + 7) & INT32_MAX),
                                  .call = (uint16_t)(all + 8),
                                  .depth = (uint16_t)(all + 9),
                                  .bits = (uint8_t)(all + 10)};

    return request;
}

static int is_whole(const struct dft_request *request)
{
    struct dft_request same = make(request->key.context, request->key.block, request->key.data);

    same.number = request->number;
    return memcmp(&same, request, sizeof same) == 0;
}

static int put(uint64_t context, uint64_t block, uint64_t data)
{
    struct dft_request request = make(context, block, data);

    return dft_outstanding_put(&request);
}

static int find(uint64_t context, uint64_t block, uint64_t data, struct dft_request_at *at)
{
    const struct dft_request_key key = {context, block, data};

    return dft_outstanding_find(&key, DFT_REQUEST_OLDEST, at);
}

static int take(uint64_t context, uint64_t block, uint64_t data, struct dft_request *request)
{
    struct dft_request_at at;

    return find(context, block, data, &at) && dft_outstanding_take(at, request);
}

static void test_one(void)
{
    struct dft_request request = make(1, 2, 3);
    struct dft_request_at at, again;

    dft_outstanding_forget();
    CU_ASSERT(!find(1, 2, 3, &at));
    CU_ASSERT_EQUAL(dft_outstanding_put(&request), 0);
    CU_ASSERT_EQUAL(request.number, 1);
    CU_ASSERT_EQUAL(dft_outstanding_last(), 1);
    CU_ASSERT(!find(0, 2, 3, &at));
    CU_ASSERT(!find(1, 3, 3, &at));
    CU_ASSERT(!find(1, 2, 0, &at));
    CU_ASSERT(find(1, 2, 3, &at));
    CU_ASSERT(find(1, 2, 3, &again));
    memset(&request, 0, sizeof request);
    CU_ASSERT(dft_outstanding_take(at, &request));
    CU_ASSERT(is_whole(&request));
    CU_ASSERT_EQUAL(request.number, 1);
    CU_ASSERT(!dft_outstanding_take(again, &request));
    CU_ASSERT(!find(1, 2, 3, &at));
}

/* A block that is used again: who found the old request does not take the new one. */
static void test_used_again(void)
{
    struct dft_request request;
    struct dft_request_at old, now;

    dft_outstanding_forget();
    for (int i = 0; i < 1000; i++) {
        CU_ASSERT_EQUAL(put(0, 64, 0), 0);
        CU_ASSERT(find(0, 64, 0, &old));
        CU_ASSERT(take(0, 64, 0, &request));
        CU_ASSERT_EQUAL(put(0, 64, 0), 0);
        CU_ASSERT(find(0, 64, 0, &now));
        CU_ASSERT(!dft_outstanding_take(old, &request));
        CU_ASSERT(dft_outstanding_take(now, &request));
    }
}

/* The same block many times at once (libaio copies it): in order of submission. */
static void test_same_key(void)
{
    const struct dft_request_key key = {7, 8, 9};
    struct dft_request request;
    struct dft_request_at at;

    dft_outstanding_forget();
    for (int i = 0; i < 10; i++)
        CU_ASSERT_EQUAL(put(7, 8, 9), 0);
    CU_ASSERT(dft_outstanding_find(&key, DFT_REQUEST_NEWEST, &at));
    CU_ASSERT(dft_outstanding_take(at, &request));
    CU_ASSERT_EQUAL(request.number, 10);
    for (uint64_t number = 1; number < 10; number++) {
        CU_ASSERT(dft_outstanding_find(&key, DFT_REQUEST_OLDEST, &at));
        CU_ASSERT(dft_outstanding_take(at, &request));
        CU_ASSERT_EQUAL(request.number, number);
    }
    CU_ASSERT(!find(7, 8, 9, &at));
}

static uint64_t count_left(uint64_t context, uint64_t last)
{
    struct dft_request request;
    uint64_t n = 0;

    for (uint32_t place = 0; dft_outstanding_take_next(context, last, &place, &request); n++)
        if (!is_whole(&request))
            CU_FAIL("a request is not whole");
    return n;
}

/* Blocks that lie in an array: nearly all places are used before there is no room; then nothing is
 * overwritten. */
static void test_full(void)
{
    struct dft_request request;
    uint64_t n = 0;

    dft_outstanding_forget();
    while (put(0, 0x7f0000001000 + 168 * n, 0) == 0)
        n++;
    CU_ASSERT(n >= DFT_OUTSTANDING_MAX * 3 / 4);
    CU_ASSERT(n <= DFT_OUTSTANDING_MAX);
    CU_ASSERT_EQUAL(put(0, 0x7f0000001000 + 168 * n, 0), -ENOSPC);
    for (uint64_t i = 0; i < n; i++)
        if (!take(0, 0x7f0000001000 + 168 * i, 0, &request) || !is_whole(&request))
            CU_FAIL("a request is lost");
    CU_ASSERT_EQUAL(count_left(0, UINT64_MAX), 0);
    CU_ASSERT_EQUAL(put(0, 1, 0), 0);
    dft_outstanding_forget();
    CU_ASSERT_EQUAL(count_left(0, UINT64_MAX), 0);
}

static void test_contexts(void)
{
    dft_outstanding_forget();
    for (uint64_t i = 0; i < 300; i++)
        CU_ASSERT_EQUAL(put(1 + i % 3, 64 * i, i), 0);
    CU_ASSERT_EQUAL(count_left(2, 30), 10); /* of numbers 1 to 30 */
    CU_ASSERT_EQUAL(count_left(2, UINT64_MAX), 90);
    CU_ASSERT_EQUAL(count_left(4, UINT64_MAX), 0);
    CU_ASSERT_EQUAL(count_left(0, UINT64_MAX), 200);
}

/* --- threads and handlers --------------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS  60000u
#define BLOCKS  512u /* shared by all threads: they take each other's requests */

static _Atomic uint64_t were_put, were_taken, sum_put, sum_taken, broken;

static void put_one(uint64_t block, uint64_t data)
{
    struct dft_request request = make(1, block, data);

    if (dft_outstanding_put(&request))
        return;
    atomic_fetch_add(&were_put, 1);
    atomic_fetch_add(&sum_put, request.number);
}

static void take_one(uint64_t block, uint64_t data)
{
    struct dft_request request;

    if (!take(1, block, data, &request))
        return;
    atomic_fetch_add(&were_taken, 1);
    atomic_fetch_add(&sum_taken, request.number);
    if (!is_whole(&request) || request.key.block != block || request.key.data != data)
        atomic_fetch_add(&broken, 1);
}

static void *storm(void *seed)
{
    unsigned state = (unsigned)(uintptr_t)seed;

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t block = (uint64_t)(rand_r(&state) % BLOCKS) * 64, data = (uint64_t)(rand_r(&state) % 2);

        if (rand_r(&state) % 2)
            put_one(block, data);
        else
            take_one(block, data);
    }
    return NULL;
}

static void handler(int number)
{
    (void)number;
    put_one(BLOCKS * 64, 5);
    put_one(BLOCKS * 64, 5);
    take_one(BLOCKS * 64, 5);
    take_one(0, 0);
}

static void test_storm(void)
{
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct dft_request request;
    pthread_t threads[THREADS];

    dft_outstanding_forget();
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, storm, (void *)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
    for (uint32_t place = 0; dft_outstanding_take_next(0, UINT64_MAX, &place, &request);) {
        atomic_fetch_add(&were_taken, 1);
        atomic_fetch_add(&sum_taken, request.number);
        broken += !is_whole(&request);
    }
    CU_ASSERT(were_put > ROUNDS);
    CU_ASSERT_EQUAL(were_put, were_taken);
    CU_ASSERT_EQUAL(sum_put, sum_taken);
    CU_ASSERT_EQUAL(broken, 0);
}

int main(void)
{
    unsigned failures;
    CU_pSuite suite;

    if (CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    suite = CU_add_suite("outstanding requests", NULL, NULL);
    CU_add_test(suite, "one request", test_one);
    CU_add_test(suite, "a block that is used again", test_used_again);
    CU_add_test(suite, "a block that is there many times", test_same_key);
    CU_add_test(suite, "full", test_full);
    CU_add_test(suite, "contexts", test_contexts);
    CU_add_test(suite, "a storm of threads and handlers", test_storm);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - CU_get_number_of_tests_failed(),
           CU_get_number_of_tests_failed());
    CU_cleanup_registry();
    return failures != 0;
}
