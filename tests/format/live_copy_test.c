/* SPDX-License-Identifier: MIT */
/* A ring's head, copied while its owner goes on: the call in flight is whole or absent, and an open
 * region is neither one that has its record already nor a later one. The owner stores in the order
 * in which libdftrace.so does. */
#include <CUnit/Basic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "format/live_read.h"

#define CYCLES  40000u
#define FLIGHTS 3u
#define FACTOR  7u
#define CALL    1u

static _Alignas(DFT_LIVE_PAGE) union {
    struct dft_ring ring;
    char all[DFT_LIVE_PAGE];
} page;
#define ring (page.ring)
static _Atomic int is_over;
static uint64_t seed = 1;

/* The reader needs some time in which nothing changes, and some in which something does. */
static void linger(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    for (volatile unsigned i = 0; i < seed >> 52; i++)
        ;
}

static void fly(uint64_t start)
{
    atomic_thread_fence(memory_order_release);
    __atomic_store_n(&ring.flight_start, start, __ATOMIC_RELAXED);
    linger();
    __atomic_store_n(&ring.flight_file, start * FACTOR, __ATOMIC_RELAXED);
    __atomic_store_n(&ring.flight_fd, (int32_t)start, __ATOMIC_RELAXED);
    atomic_store_explicit(&ring.flight_call, CALL, memory_order_release);
    linger();
    atomic_store_explicit(&ring.flight_call, 0, memory_order_relaxed);
}

/* A region with some calls, and its record. */
static void *own(void *unused)
{
    for (uint64_t cycle = 1; cycle <= CYCLES; cycle++) {
        atomic_thread_fence(memory_order_release);
        __atomic_store_n(&ring.regions[0].name, cycle, __ATOMIC_RELAXED);
        __atomic_store_n(&ring.regions[0].start, cycle, __ATOMIC_RELAXED);
        atomic_store_explicit(&ring.depth, 1, memory_order_release);
        for (uint64_t i = 0; i < FLIGHTS; i++)
            fly(cycle * FLIGHTS + i);
        atomic_store_explicit(&ring.depth, 0, memory_order_release);
        atomic_fetch_add_explicit(&ring.head, 1, memory_order_release);
    }
    atomic_store(&is_over, 1);
    return unused;
}

/* Returns 1 when the owner made no record meanwhile, so that the copy is one. */
static int look(struct dft_ring *copy, unsigned *wrong)
{
    uint64_t head = atomic_load(&ring.head);

    dft_live_copy_head(copy, &ring);
    if (atomic_load(&ring.head) != head)
        return 0;
    *wrong += atomic_load(&copy->head) != head;
    if (atomic_load(&copy->depth))
        *wrong += copy->regions[0].name != head + 1 || copy->regions[0].start != head + 1;
    if (atomic_load(&copy->flight_call))
        *wrong += copy->flight_start / FLIGHTS != head + 1 || copy->flight_file != copy->flight_start * FACTOR ||
                  copy->flight_fd != (int32_t)copy->flight_start;
    return 1;
}

static void test_head(void)
{
    struct dft_ring *copy = aligned_alloc(64, DFT_LIVE_PAGE);
    unsigned copies = 0, flights = 0, wrong = 0;
    pthread_t owner;

    CU_ASSERT_FATAL(copy && pthread_create(&owner, NULL, own, NULL) == 0);
    while (!atomic_load(&is_over)) {
        copies += (unsigned)look(copy, &wrong);
        flights += atomic_load(&copy->flight_call) != 0;
    }
    CU_ASSERT_EQUAL(pthread_join(owner, NULL), 0);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(look(copy, &wrong) && atomic_load(&copy->head) == CYCLES && !wrong);
    CU_ASSERT(copies > 0 && flights > 0);
    printf("%u copies, %u with a call in flight, %u wrong ... ", copies, flights, wrong);
    free(copy);
}

int main(void)
{
    CU_pSuite suite;
    unsigned failed;

    if (CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    suite = CU_add_suite("live_copy", NULL, NULL);
    if (!suite || !CU_add_test(suite, "head", test_head))
        return 2;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failed = CU_get_number_of_tests_failed();
    printf("%u passed, %u failed\n", CU_get_number_of_tests_run() - failed, failed);
    CU_cleanup_registry();
    return failed ? 1 : 0;
}
