/* SPDX-License-Identifier: MIT */
/* What the files of comm_mpi share: the ranks, and messages between two ranks. */
#ifndef DFT_COMM_MPI_H
#define DFT_COMM_MPI_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <mpi.h>

/* MPI counts in int, and allocates as much as it reduces */
#define DFT_MPI_PIECE_BYTES ((size_t)1 << 22)

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
    FILE *errors;           /* standard error, also on ranks that write nothing else there */
    pthread_mutex_t asking; /* lets one thread ask at a time */
};
extern struct dft_world dft_world;

/* Ends all ranks with a message about this rank. No other function ends all ranks. */
_Noreturn void dft_mpi_give_up(const char *reason);

/* Does the same in two steps. The second step returns 0 while ranks are missing. */
struct dft_meeting {
    int64_t mine[4], all[4];
    MPI_Request request;
};

#endif
