/* SPDX-License-Identifier: MIT */
/* The ranks of dftmerge-mpi. */
#ifndef DFT_MPI_COMM_MPI_COLLECTIVES_H
#define DFT_MPI_COMM_MPI_COLLECTIVES_H

#include "mpi/comm_mpi.h"

/* Every collective begins here, and no rank leaves before all ranks have come. `value`: what the
 * rank contributes. Returns the lowest value of all ranks when one is negative, else the highest. A
 * rank that failed comes to another collective than the others, or comes to the end alone. All
 * ranks then end. */
int64_t dft_mpi_meet(enum dft_collective collective, int64_t value);
void dft_mpi_meet_begin(struct dft_meeting *meeting, enum dft_collective collective, int64_t value);
int dft_mpi_meet_try(struct dft_meeting *meeting);

#endif
