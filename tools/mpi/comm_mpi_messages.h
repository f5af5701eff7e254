/* SPDX-License-Identifier: MIT */
/* The ranks of dftmerge-mpi. */
#ifndef DFT_MPI_COMM_MPI_MESSAGES_H
#define DFT_MPI_COMM_MPI_MESSAGES_H

#include "mpi/comm_mpi.h"

/* Pauses a rank that waits. The rank sleeps a little longer each time. `tries`: the number of
 * pauses before this one. MPI's own waiting keeps a processor busy. */
void dft_mpi_pause(unsigned tries);
void dft_mpi_wait(MPI_Request *request);
/* Messages between two ranks inside a collective. The received bytes are from malloc. */
void dft_mpi_send(unsigned to, const void *bytes, size_t length);
void *dft_mpi_receive(unsigned from, size_t *length);

#endif
