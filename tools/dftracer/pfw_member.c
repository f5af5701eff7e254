/* SPDX-License-Identifier: MIT */
/* Whole gzip members in memory; see pfw_member.h. The memory of all threads together is bounded. */
#include "dftracer/pfw_member.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/inflate.h"

#define TEXT_MIN   ((size_t)4 << 20)
#define TOTAL_MAX  ((size_t)256 << 20)
#define HUGE_BYTES ((size_t)2 << 20)

static _Atomic size_t total; /* capacities of all members in use */

static void release(struct dft_member *member)
{
    free(member->text);
    atomic_fetch_sub(&total, member->capacity);
    member->text = NULL;
    member->capacity = 0;
}

void dft_member_fini(struct dft_member *member)
{
    dft_inflate_destroy(member->inflate);
    release(member);
}

static int reserve(struct dft_member *member, size_t capacity)
{
    capacity = (capacity + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
    if (capacity <= member->capacity)
        return 0;
    release(member);
    if (atomic_fetch_add(&total, capacity) + capacity <= TOTAL_MAX)
        member->text = aligned_alloc(HUGE_BYTES, capacity);
    if (!member->text) {
        atomic_fetch_sub(&total, capacity);
        return -ENOMEM;
    }
    madvise(member->text, capacity, MADV_HUGEPAGE); /* else a fifth of the time goes into faults of small pages */
    member->capacity = capacity;
    return 0;
}

/* The size of a text, as the end of its member says: of the last member, which most often is the
 * only one. */
static size_t size_of_last(const uint8_t *input, size_t length)
{
    const uint8_t *at = input + length - 4;

    return length < 4 ? 0 : at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
}

int dft_member_inflate(struct dft_member *member, const uint8_t *input, size_t length, int at_end, size_t *used)
{
    size_t wanted = at_end ? size_of_last(input, length) : 0;
    int rc;

    if (!member->inflate && !(member->inflate = dft_inflate_create()))
        return -ENOMEM;
    member->at = member->end = 0;
    if (wanted > DFT_MEMBER_TEXT_MAX)
        return -ENOSPC;
    wanted = wanted < TEXT_MIN ? TEXT_MIN : wanted;
    for (;; wanted = 4 * member->capacity < DFT_MEMBER_TEXT_MAX ? 4 * member->capacity : DFT_MEMBER_TEXT_MAX) {
        rc = reserve(member, wanted);
        if (!rc)
            rc = dft_inflate_gzip(member->inflate, input, length, used, member->text, member->capacity, &member->end);
        if (rc != -ENOSPC || member->capacity == DFT_MEMBER_TEXT_MAX)
            break;
    }
    if (rc)
        member->end = 0;
    return rc;
}

size_t dft_member_copy(struct dft_member *member, char *to, size_t capacity)
{
    size_t left = member->end - member->at, n = left < capacity ? left : capacity;

    if (n)
        memcpy(to, member->text + member->at, n);
    member->at += n;
    return n;
}
