/* What the files of comm_mpi share: the ranks, and messages between two of them. */
#ifndef DFT_COMM_MPI_H
#define DFT_COMM_MPI_H

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

#include <mpi.h>

/* What a message belongs to. */
enum dft_kind {
    DFT_KIND_AGREE = 1,
    DFT_KIND_SUM,
    DFT_KIND_BROADCAST,
    DFT_KIND_GATHER,
    DFT_KIND_REDUCE,
    DFT_KIND_ASK,
    DFT_KIND_ANSWER,
    DFT_KIND_SERVED,
    DFT_KIND_SINGLE,
    DFT_KIND_END
};

struct dft_world {
    unsigned rank, size;
    MPI_Comm comm;
    FILE *errors; /* standard error also of ranks that write nothing there otherwise */
    pthread_mutex_t asking;
};
extern struct dft_world dft_world;

/* Ends all ranks, with a message: `other` is not where it should be. */
void dft_mpi_give_up(unsigned other, const char *why);

void dft_mpi_put(unsigned to, enum dft_kind kind, const void *bytes, size_t length);
/* Until something is there from this rank. */
void dft_mpi_wait(unsigned from);
/* What follows a head. */
void dft_mpi_get_bytes(unsigned from, void *bytes, size_t length);
/* A message of any length, from malloc. */
void *dft_mpi_get(unsigned from, enum dft_kind kind, size_t *length);
/* One of a length that both know. */
void dft_mpi_get_exactly(unsigned from, enum dft_kind kind, void *bytes, size_t length);

#endif
