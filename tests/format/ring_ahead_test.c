/* SPDX-License-Identifier: MIT */
/* A drain of a whole ring whose owner goes on: what the owner has put behind the head that the drain saw stands
 * in slots of the oldest numbers, and waits for the next drain. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "format/ring_decode.h"
#include "suites.h"

#define SLOTS 64u
#define SHIFT 6u
#define HEAD  (SLOTS * 5u + 10u)

static struct dft_event events[SLOTS];
static struct dft_call calls[SLOTS];
static uint32_t call_of[DFT_RING_DECODER_HASH];
static uint64_t taken[1];

static void put(struct dft_ring *ring, uint64_t number, enum dft_slot_state state)
{
    struct dft_slot *slot = dft_ring_slot(ring, number);

    *slot = (struct dft_slot){.call = DFT_CALL_write, .slots = 1, .fd = 3, .start = number, .duration = 1};
    atomic_store(&slot->marker, dft_ring_marker(ring, number, state));
}

/* Every number of the lap before the head is drained, but two. */
static struct dft_ring *make_ring(void)
{
    struct dft_ring *ring = aligned_alloc(64, dft_ring_bytes(SLOTS));

    CU_ASSERT_FATAL(ring != NULL);
    memset(ring, 0, dft_ring_bytes(SLOTS));
    ring->stream = 3;
    ring->capacity = SLOTS;
    ring->shift = SHIFT;
    atomic_store(&ring->head, HEAD);
    for (uint64_t i = HEAD - SLOTS; i < HEAD; i++)
        put(ring, i, i == HEAD - 50 || i == HEAD - 1 ? DFT_SLOT_VALID : DFT_SLOT_FREE);
    return ring;
}

/* The numbers of all events, by a drain that begins at the oldest record that the ring can hold. */
static uint32_t decode(const struct dft_ring *ring, uint64_t numbers[SLOTS])
{
    struct dft_clock clock = {.mult = UINT64_C(1) << 32};
    struct dft_ring_decoder decoder = {
        .events = events, .calls = calls, .taken = taken, .call_of = call_of, .clock = &clock, .events_max = SLOTS};
    uint64_t sequence = HEAD - SLOTS;
    uint32_t count = 0;

    taken[0] = 0;
    for (uint32_t turn = 0; sequence < HEAD; turn++) {
        struct dft_batch batch;

        CU_ASSERT_FATAL(turn < SLOTS);
        dft_ring_decode(ring, &sequence, HEAD, &decoder, &batch);
        CU_ASSERT(batch.last + 1 == batch.first || (batch.first >= HEAD - SLOTS && batch.last < HEAD));
        for (uint32_t i = 0; i < batch.count && count < SLOTS; i++)
            numbers[count++] = dft_batch_number(&batch, i);
    }
    return count;
}

static void test_ahead(void)
{
    struct dft_ring *ring = make_ring();
    uint64_t numbers[SLOTS];

    for (uint64_t i = HEAD; i < HEAD + 5; i++)
        put(ring, i, i == HEAD + 3 ? DFT_SLOT_BUSY : DFT_SLOT_VALID);
    CU_ASSERT_EQUAL(decode(ring, numbers), 2);
    CU_ASSERT(numbers[0] == HEAD - 50 && numbers[1] == HEAD - 1);
    CU_ASSERT_EQUAL(taken[0], UINT64_C(1) << (HEAD - 50) % SLOTS | UINT64_C(1) << (HEAD - 1) % SLOTS);
    free(ring);
}

int suite_ring_ahead(void)
{
    CU_TestInfo tests[] = {{"records behind the head that a drain saw wait for the next one", test_ahead},
                           CU_TEST_INFO_NULL};
    CU_SuiteInfo suites[] = {{"ring_ahead", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

    return CU_register_suites(suites) != CUE_SUCCESS;
}
