/* SPDX-License-Identifier: MIT */
/* What the files of comm_mpi share: the ranks, and messages between two of them. */
#ifndef DFT_COMM_MPI_H
#define DFT_COMM_MPI_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <mpi.h>

#define DFT_MPI_PIECE_BYTES ((size_t)1 << 22) /* MPI counts in int, and allocates as much as it reduces */

/* The collectives of comm.h. */
enum dft_collective {
    DFT_COLLECTIVE_AGREE = 1,
    DFT_COLLECTIVE_SUM,
    DFT_COLLECTIVE_BROADCAST,
    DFT_COLLECTIVE_GATHER,
    DFT_COLLECTIVE_EXCHANGE,
    DFT_COLLECTIVE_REDUCE,
    DFT_COLLECTIVE_SERVE,
    DFT_COLLECTIVE_END
};

struct dft_world {
    unsigned rank, size;
    MPI_Comm comm;
    FILE *errors;           /* standard error, also of the ranks that write nothing there otherwise */
    pthread_mutex_t asking; /* one question at a time */
};
extern struct dft_world dft_world;

/* Ends all ranks with a message about this one. The only place that does. */
_Noreturn void dft_mpi_give_up(const char *reason);

/* Every collective begins here, and no rank leaves before all have come. `value`: what the rank brings. Returns the
 * lowest value of all ranks when one is negative, else the highest. A rank that has failed comes to another collective
 * than the others, or to none but the end: then all ranks end. */
int64_t dft_mpi_meet(enum dft_collective collective, int64_t value);
/* The same in two steps. The second returns 0 while ranks are missing. */
struct dft_meeting {
    int64_t mine[4], all[4];
    MPI_Request request;
};
void dft_mpi_meet_begin(struct dft_meeting *meeting, enum dft_collective collective, int64_t value);
int dft_mpi_meet_try(struct dft_meeting *meeting);

/* A rank that waits: sleeps a little longer each time. `tries`: so far. MPI's own waiting keeps a processor busy. */
void dft_mpi_pause(unsigned tries);
void dft_mpi_wait(MPI_Request *request);

/* Between two ranks inside a collective. What is received is from malloc. */
void dft_mpi_send(unsigned to, const void *bytes, size_t length);
void *dft_mpi_receive(unsigned from, size_t *length);

#endif
