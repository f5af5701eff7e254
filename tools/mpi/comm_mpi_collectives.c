/* SPDX-License-Identifier: MIT */
/* The ranks of dftmerge-mpi: collectives.
 *
 * A rank that failed would leave the others waiting for ever in a collective of MPI. So all ranks
 * first tell each other which collective they are in. They do so in one small reduction, which is
 * the same for all collectives. All ranks end when they differ. */
#include "mpi/comm_mpi_collectives.h"

#include <stdlib.h>

#include "mpi/comm.h"
#include "mpi/comm_mpi_messages.h"

/* --- all ranks come --------------------------------------------------------------------------- */

void dft_mpi_meet_begin(struct dft_meeting *meeting, enum dft_collective collective, int64_t value)
{
    meeting->mine[0] = collective;
    meeting->mine[1] = -(int64_t)collective;
    meeting->mine[2] = value;
    meeting->mine[3] = -value;
    MPI_Iallreduce(meeting->mine, meeting->all, 4, MPI_INT64_T, MPI_MAX, dft_world.comm, &meeting->request);
}

int dft_mpi_meet_try(struct dft_meeting *meeting)
{
    int done;

    MPI_Test(&meeting->request, &done, MPI_STATUS_IGNORE);
    if (done && meeting->all[0] != -meeting->all[1])
        dft_mpi_give_up("another rank has failed, or is elsewhere in its work");
    return done;
}

int64_t dft_mpi_meet(enum dft_collective collective, int64_t value)
{
    struct dft_meeting meeting;

    if (dft_world.size == 1)
        return value;
    dft_mpi_meet_begin(&meeting, collective, value);
    for (unsigned tries = 0; !dft_mpi_meet_try(&meeting); tries++)
        dft_mpi_pause(tries);
    return meeting.all[3] > 0 ? -meeting.all[3] : meeting.all[2];
}

/* --- collectives ------------------------------------------------------------------------------ */

int dft_comm_agree(int result)
{
    return (int)dft_mpi_meet(DFT_COLLECTIVE_AGREE, result);
}

void dft_comm_sum(uint64_t *numbers, size_t count)
{
    const size_t most = DFT_MPI_PIECE_BYTES / sizeof *numbers;
    MPI_Request request;

    dft_mpi_meet(DFT_COLLECTIVE_SUM, 0);
    for (size_t at = 0; at < count && dft_world.size > 1; at += most) {
        MPI_Iallreduce(MPI_IN_PLACE, numbers + at, (int)(count - at < most ? count - at : most), MPI_UINT64_T, MPI_SUM,
                       dft_world.comm, &request);
        dft_mpi_wait(&request);
    }
}

/* Copies bytes from one rank to all ranks. */
static void broadcast(unsigned from, void *bytes, size_t length)
{
    MPI_Request request;

    for (size_t at = 0; at < length && dft_world.size > 1; at += DFT_MPI_PIECE_BYTES) {
        size_t n = length - at < DFT_MPI_PIECE_BYTES ? length - at : DFT_MPI_PIECE_BYTES;

        MPI_Ibcast((char *)bytes + at, (int)n, MPI_BYTE, (int)from, dft_world.comm, &request);
        dft_mpi_wait(&request);
    }
}

void dft_comm_broadcast(void *bytes, size_t length)
{
    dft_mpi_meet(DFT_COLLECTIVE_BROADCAST, 0);
    broadcast(0, bytes, length);
}

int dft_comm_gather(const void *bytes, size_t length, dft_comm_take_fn *take, void *context)
{
    int rc = 0;

    dft_mpi_meet(DFT_COLLECTIVE_GATHER, 0);
    if (dft_world.rank)
        dft_mpi_send(0, bytes, length);
    else
        rc = take(context, 0, bytes, length);
    for (unsigned rank = 1; rank < dft_world.size && !dft_world.rank; rank++) {
        void *received = dft_mpi_receive(rank, &length);

        rc = rc ? rc : take(context, rank, received, length);
        free(received);
    }
    return dft_comm_agree(rc);
}

/* The ranks broadcast their bytes in turn. A rank thus holds the bytes of one other rank at
 * most. */
int dft_comm_exchange(const void *bytes, size_t length, dft_comm_take_fn *take, void *context)
{
    const size_t most = (size_t)dft_mpi_meet(DFT_COLLECTIVE_EXCHANGE, (int64_t)length);
    char *others = malloc(most + 1);
    int rc = 0;

    if (!others)
        dft_mpi_give_up("no memory for what other ranks send");
    for (unsigned rank = 0; rank < dft_world.size; rank++) {
        const int is_mine = rank == dft_world.rank;
        uint64_t n = length;

        broadcast(rank, &n, sizeof n);
        broadcast(rank, is_mine ? (void *)(uintptr_t)bytes : others, n);
        rc = rc ? rc : take(context, rank, is_mine ? bytes : others, n);
    }
    free(others);
    return dft_comm_agree(rc);
}

/* Builds the tree itself: MPI_Reduce combines only values of a fixed length. */
int dft_comm_reduce(dft_comm_pack_fn *pack, dft_comm_take_fn *take, void *context)
{
    int rc = 0;

    dft_mpi_meet(DFT_COLLECTIVE_REDUCE, 0);
    for (unsigned step = 1; step < dft_world.size; step *= 2) {
        void *bytes = NULL;
        size_t length = 0;

        if (dft_world.rank & step) {
            if (!rc)
                rc = pack(context, &bytes, &length);
            dft_mpi_send(dft_world.rank - step, bytes, rc ? 0 : length);
            free(bytes);
            break;
        }
        if (dft_world.rank + step >= dft_world.size)
            continue;
        bytes = dft_mpi_receive(dft_world.rank + step, &length);
        if (!rc && length)
            rc = take(context, dft_world.rank + step, bytes, length);
        free(bytes);
    }
    return dft_comm_agree(rc);
}
