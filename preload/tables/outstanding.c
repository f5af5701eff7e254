/* SPDX-License-Identifier: MIT */
/* Owns the table of outstanding requests.
 *
 * A word per place tells its owner: hash << 32 | number << 2 | state. A place goes FREE -> BUSY ->
 * READY -> BUSY -> FREE by compare-and-swap of its word. The thread that made a place busy owns the
 * request alone. The number in the word tells a refilled place from the earlier one. A reader who
 * does not own the request trusts the fields only if the word is unchanged afterwards. */
#include "tables/outstanding.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "os/bulk.h"
#include "os/sys.h"
#include "format/live_format.h"

#define BUCKETS DFT_OUTSTANDING_BUCKETS
#define PLACES  DFT_OUTSTANDING_PLACES

enum state { FREE = 0, BUSY = 1, READY = 2 };

#define REQUEST_WORDS (sizeof(struct dft_request) / 8)
#define KEY_WORDS     (sizeof(struct dft_request_key) / 8)

static _Atomic uint64_t words[DFT_OUTSTANDING_MAX] DFT_BULK;
/* Mapped by the first request: few programs make one, and a program may lock all its memory. */
static _Atomic uint64_t (*requests)[REQUEST_WORDS];
static _Atomic uint64_t numbers; /* 0: no request was ever put in */

static _Atomic(struct dft_slot *) shown; /* NULL: requests are not shown */

void dft_outstanding_show_in(struct dft_slot *slots)
{
    atomic_store_explicit(&shown, slots, memory_order_release);
}

/* The caller owns the place. */
static void show(uint32_t place, const struct dft_request *request)
{
    struct dft_slot *slots = atomic_load_explicit(&shown, memory_order_acquire), *slot = slots + place;

    if (!slots)
        return;
    slot->size = (uint32_t)request->size;
    slot->err = (uint16_t)(request->size >> 32);
    slot->start = request->start;
    slot->duration = request->tid;
    slot->call = request->call;
    slot->bits = request->bits;
    slot->slots = 1;
    slot->file = request->file;
    slot->result = (int64_t)request->number;
    slot->offset = request->offset;
    slot->region = request->region;
    slot->fd = request->fd;
    slot->depth = request->depth;
    atomic_store_explicit(&slot->marker, (uint32_t)request->number << 2 | DFT_SLOT_VALID, memory_order_release);
}

static void hide(uint32_t place)
{
    struct dft_slot *slots = atomic_load_explicit(&shown, memory_order_acquire);

    if (slots)
        atomic_store_explicit(&slots[place].marker, DFT_SLOT_FREE, memory_order_relaxed);
}

static uint32_t hash_of(const struct dft_request_key *key)
{
    uint64_t hash = (key->block ^ key->context << 17 ^ key->context >> 23) * UINT64_C(0x9e3779b97f4a7c15);

    hash = (hash ^ hash >> 32 ^ key->data) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(hash >> 32);
}

/* Finds the first places of the two buckets. The two buckets always differ. */
static void buckets_of(uint32_t hash, uint32_t first[2])
{
    uint32_t one = hash % BUCKETS, other = (one + 1 + (hash >> 16) % (BUCKETS - 1)) % BUCKETS;

    first[0] = one * PLACES;
    first[1] = other * PLACES;
}

static uint32_t count_free(uint32_t first)
{
    uint32_t n = 0;

    for (uint32_t i = first; i < first + PLACES; i++)
        n += atomic_load_explicit(&words[i], memory_order_relaxed) == FREE;
    return n;
}

static int fill(uint32_t first, uint32_t hash, const struct dft_request *request, const uint64_t *from)
{
    const uint64_t word = (uint64_t)hash << 32 | ((from[KEY_WORDS] << 2) & UINT32_MAX) | READY;

    for (uint32_t i = first; i < first + PLACES; i++) {
        uint64_t free_word = FREE;

        if (atomic_load_explicit(&words[i], memory_order_relaxed) != FREE ||
            !atomic_compare_exchange_strong_explicit(&words[i], &free_word, BUSY, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        atomic_thread_fence(memory_order_release); /* busy before it changes */
        for (uint32_t k = 0; k < REQUEST_WORDS; k++)
            atomic_store_explicit(&requests[i][k], from[k], memory_order_relaxed);
        show(i, request);
        atomic_store_explicit(&words[i], word, memory_order_release);
        return 1;
    }
    return 0;
}

/* Any thread, any handler. Returns 0 or -1. */
static int make_room(void)
{
    const size_t bytes = DFT_OUTSTANDING_MAX * sizeof *requests;
    void *none = NULL, *room;

    if (__atomic_load_n(&requests, __ATOMIC_ACQUIRE))
        return 0;
    room = dft_sys_map(bytes);
    if (room && !__atomic_compare_exchange_n((void **)&requests, &none, room, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        DFT_SYS(munmap, room, bytes, 0, 0, 0, 0);
    return room ? 0 : -1;
}

int dft_outstanding_put(struct dft_request *request)
{
    uint32_t hash = hash_of(&request->key), first[2], emptier;
    uint64_t from[REQUEST_WORDS];

    _Static_assert(__builtin_offsetof(struct dft_request, number) == 8 * KEY_WORDS, "the number follows the key");
    request->number = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
    if (make_room())
        return -ENOSPC;
    memcpy(from, request, sizeof from);
    buckets_of(hash, first);
    emptier = count_free(first[1]) > count_free(first[0]);
    return fill(first[emptier], hash, request, from) || fill(first[!emptier], hash, request, from) ? 0 : -ENOSPC;
}

/* The number of the request at a place, if the request has this key; else 0. The word was READY. */
static uint64_t number_if(uint32_t place, uint64_t word, const struct dft_request_key *key)
{
    uint64_t block = atomic_load_explicit(&requests[place][1], memory_order_relaxed);
    uint64_t context = atomic_load_explicit(&requests[place][0], memory_order_relaxed);
    uint64_t data = atomic_load_explicit(&requests[place][2], memory_order_relaxed);
    uint64_t number = atomic_load_explicit(&requests[place][KEY_WORDS], memory_order_relaxed);

    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&words[place], memory_order_relaxed) != word)
        return 0;
    return context == key->context && block == key->block && data == key->data ? number : 0;
}

int dft_outstanding_find(const struct dft_request_key *key, enum dft_request_order order, struct dft_request_at *at)
{
    uint32_t hash = hash_of(key), first[2];
    uint64_t best = 0;

    if (!atomic_load_explicit(&numbers, memory_order_relaxed))
        return 0;
    buckets_of(hash, first);
    for (uint32_t i = 0; i < 2 * PLACES; i++) {
        uint32_t place = first[i / PLACES] + i % PLACES;
        uint64_t word = atomic_load_explicit(&words[place], memory_order_acquire), number;

        if (word >> 32 != hash || (word & 3) != READY)
            continue;
        number = number_if(place, word, key);
        if (!number || (best && (number > best) != (order == DFT_REQUEST_NEWEST)))
            continue;
        best = number;
        *at = (struct dft_request_at){.place = place, .word = word};
    }
    return best != 0;
}

int dft_outstanding_take(struct dft_request_at at, struct dft_request *request)
{
    uint64_t to[REQUEST_WORDS];

    if (!atomic_compare_exchange_strong_explicit(&words[at.place], &at.word, BUSY, memory_order_acquire,
                                                 memory_order_relaxed))
        return 0;
    for (uint32_t k = 0; k < REQUEST_WORDS; k++)
        to[k] = atomic_load_explicit(&requests[at.place][k], memory_order_relaxed);
    hide(at.place);
    atomic_store_explicit(&words[at.place], FREE, memory_order_release);
    memcpy(request, to, sizeof *request);
    return 1;
}

int dft_outstanding_read_next(uint32_t *place, struct dft_request *request)
{
    if (!dft_outstanding_last())
        return 0;
    while (*place < DFT_OUTSTANDING_MAX) {
        uint32_t i = (*place)++;
        uint64_t word = atomic_load_explicit(&words[i], memory_order_acquire), to[REQUEST_WORDS];

        if ((word & 3) != READY)
            continue;
        for (uint32_t k = 0; k < REQUEST_WORDS; k++)
            to[k] = atomic_load_explicit(&requests[i][k], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&words[i], memory_order_relaxed) != word)
            continue;
        memcpy(request, to, sizeof *request);
        return 1;
    }
    return 0;
}

uint64_t dft_outstanding_last(void)
{
    return atomic_load_explicit(&numbers, memory_order_relaxed);
}

int dft_outstanding_take_next(uint64_t context, uint64_t last, uint32_t *place, struct dft_request *request)
{
    if (!dft_outstanding_last())
        return 0;
    for (; *place < DFT_OUTSTANDING_MAX; ++*place) {
        uint64_t word = atomic_load_explicit(&words[*place], memory_order_acquire);

        if ((word & 3) == READY &&
            (!context || atomic_load_explicit(&requests[*place][0], memory_order_relaxed) == context) &&
            atomic_load_explicit(&requests[*place][KEY_WORDS], memory_order_relaxed) <= last &&
            dft_outstanding_take((struct dft_request_at){.place = *place, .word = word}, request))
            return 1;
    }
    return 0;
}

void dft_outstanding_forget(void)
{
    dft_outstanding_show_in(NULL);
    if (!atomic_load_explicit(&numbers, memory_order_relaxed))
        return;
    for (uint32_t i = 0; i < DFT_OUTSTANDING_MAX; i++)
        if (atomic_load_explicit(&words[i], memory_order_relaxed) != FREE)
            atomic_store_explicit(&words[i], FREE, memory_order_relaxed);
    atomic_store_explicit(&numbers, 0, memory_order_relaxed);
}
