/* The ranks of dftmerge-mpi: collectives, made of messages along a binomial tree to rank 0 and back. With MPI's own a rank
 * that failed would leave the others waiting for ever. */
#include "mpi/comm_mpi.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm.h"
#include "mpi/pack.h"

#define SUM_NUMBERS ((size_t)1 << 18) /* at a time: of many, the first ones are on their way back while others come */

/* To all from rank 0. */
static void down(enum dft_kind kind, void *bytes, size_t length)
{
    unsigned step = 1;

    while (step < dft_world.size && !(dft_world.rank & step))
        step *= 2;
    if (dft_world.rank)
        dft_mpi_get_exactly(dft_world.rank - step, kind, bytes, length);
    for (step /= 2; step; step /= 2)
        if (dft_world.rank + step < dft_world.size)
            dft_mpi_put(dft_world.rank + step, kind, bytes, length);
}

int dft_comm_agree(int result)
{
    for (unsigned step = 1; step < dft_world.size; step *= 2) {
        int other;

        if (dft_world.rank & step) {
            dft_mpi_put(dft_world.rank - step, DFT_KIND_AGREE, &result, sizeof result);
            break;
        }
        if (dft_world.rank + step >= dft_world.size)
            continue;
        dft_mpi_get_exactly(dft_world.rank + step, DFT_KIND_AGREE, &other, sizeof other);
        if (result < 0 || other < 0)
            result = result < other ? result : other;
        else
            result = result > other ? result : other;
    }
    down(DFT_KIND_AGREE, &result, sizeof result);
    return result;
}

static void sum(uint64_t *numbers, size_t count)
{
    uint64_t *other = malloc(count * sizeof *other + 1);

    if (!other)
        dft_mpi_give_up(dft_world.rank, "has no memory");
    for (unsigned step = 1; step < dft_world.size; step *= 2) {
        if (dft_world.rank & step) {
            dft_mpi_put(dft_world.rank - step, DFT_KIND_SUM, numbers, count * sizeof *numbers);
            break;
        }
        if (dft_world.rank + step >= dft_world.size)
            continue;
        dft_mpi_get_exactly(dft_world.rank + step, DFT_KIND_SUM, other, count * sizeof *other);
        for (size_t i = 0; i < count; i++)
            numbers[i] += other[i];
    }
    free(other);
    down(DFT_KIND_SUM, numbers, count * sizeof *numbers);
}

void dft_comm_sum(uint64_t *numbers, size_t count)
{
    for (size_t at = 0; at < count; at += SUM_NUMBERS)
        sum(numbers + at, count - at < SUM_NUMBERS ? count - at : SUM_NUMBERS);
}

void dft_comm_broadcast(void *bytes, size_t length)
{
    down(DFT_KIND_BROADCAST, bytes, length);
}

/* Appends this rank's bytes and those of the ranks below it in the tree, which are the next ones, and passes them on;
 * rank 0 has all. */
static void up(struct dft_pack *all, const void *bytes, size_t length)
{
    uint64_t own = length;

    dft_pack_put(all, &own, sizeof own);
    dft_pack_put(all, bytes, length);
    for (unsigned step = 1; step < dft_world.size; step *= 2) {
        size_t n;
        void *more;

        if (all->rc)
            dft_mpi_give_up(dft_world.rank, "has no memory for what others send");
        if (dft_world.rank & step) {
            dft_mpi_put(dft_world.rank - step, DFT_KIND_GATHER, all->bytes, all->length);
            return;
        }
        if (dft_world.rank + step >= dft_world.size)
            continue;
        more = dft_mpi_get(dft_world.rank + step, DFT_KIND_GATHER, &n);
        dft_pack_put(all, more, n);
        free(more);
    }
    if (all->rc)
        dft_mpi_give_up(dft_world.rank, "has no memory for what others send");
}

static int take_all(const char *bytes, size_t length, dft_comm_take_fn *take, void *context)
{
    struct dft_unpack unpack = {bytes, bytes + length};
    int rc = 0;

    for (unsigned rank = 0; !rc && rank < dft_world.size; rank++) {
        uint64_t n;

        dft_unpack_get(&unpack, &n, sizeof n);
        rc = take(context, rank, dft_unpack_here(&unpack, n), n);
    }
    return rc;
}

int dft_comm_gather(const void *bytes, size_t length, dft_comm_take_fn *take, void *context)
{
    struct dft_pack all = {0};
    int rc = 0;

    up(&all, bytes, length);
    if (!dft_world.rank)
        rc = take_all(all.bytes, all.length, take, context);
    free(all.bytes);
    return dft_comm_agree(rc);
}

int dft_comm_exchange(const void *bytes, size_t length, dft_comm_take_fn *take, void *context)
{
    struct dft_pack all = {0};
    uint64_t total;
    int rc;

    up(&all, bytes, length);
    total = all.length;
    down(DFT_KIND_BROADCAST, &total, sizeof total);
    if (dft_world.rank) {
        free(all.bytes);
        all.bytes = malloc(total + 1);
        if (!all.bytes)
            dft_mpi_give_up(dft_world.rank, "has no memory for what others send");
    }
    down(DFT_KIND_BROADCAST, all.bytes, total);
    rc = take_all(all.bytes, total, take, context);
    free(all.bytes);
    return dft_comm_agree(rc);
}

int dft_comm_reduce(dft_comm_pack_fn *pack, dft_comm_take_fn *take, void *context)
{
    int rc = 0;

    for (unsigned step = 1; step < dft_world.size; step *= 2) {
        void *bytes = NULL;
        size_t length = 0;

        if (dft_world.rank & step) {
            if (!rc)
                rc = pack(context, &bytes, &length);
            dft_mpi_put(dft_world.rank - step, DFT_KIND_REDUCE, bytes, rc ? 0 : length);
            free(bytes);
            break;
        }
        if (dft_world.rank + step >= dft_world.size)
            continue;
        bytes = dft_mpi_get(dft_world.rank + step, DFT_KIND_REDUCE, &length);
        if (!rc && length)
            rc = take(context, dft_world.rank + step, bytes, length);
        free(bytes);
    }
    return dft_comm_agree(rc);
}
