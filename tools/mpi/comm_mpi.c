/* SPDX-License-Identifier: MIT */
/* The ranks of dftmerge-mpi, over MPI: how they begin and end. Collectives and messages have files
 * of their own. */
#include "mpi/comm_mpi.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/write_text.h"
#include "mpi/comm.h"
#include "mpi/comm_mpi_collectives.h"

struct dft_world dft_world = {.size = 1, .asking = PTHREAD_MUTEX_INITIALIZER};

unsigned dft_comm_rank(void)
{
    return dft_world.rank;
}

unsigned dft_comm_size(void)
{
    return dft_world.size;
}

int dft_comm_alone(const char *command, int quiet)
{
    if (!quiet && !dft_world.rank && dft_world.size > 1)
        fprintf(stderr, "dftmerge-mpi: %s is not done in parallel: one rank does it\n", command);
    if (dft_world.rank)
        return 0;
    dft_world.size = 1;
    return 1;
}

void dft_mpi_give_up(const char *reason)
{
    fprintf(dft_world.errors, "dftmerge-mpi: rank %u: %s; all ranks end\n", dft_world.rank, reason);
    fflush(dft_world.errors);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* Silences this rank: only rank 0 writes. The other ranks write only why they give up. */
static void be_silent(void)
{
    int copy = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    FILE *errors = copy < 0 ? NULL : fdopen(copy, "w");

    if (errors)
        dft_world.errors = errors;
    /* stderr itself is guarded, and has no descriptor to open anew */
    if (!errors || nowhere < 0 || dup2(nowhere, STDERR_FILENO) < 0 || !freopen("/dev/null", "w", stdout))
        dft_mpi_give_up("cannot open /dev/null");
    close(nowhere);
}

int dft_comm_main(int argc, char **argv, int (*run)(int argc, char **argv))
{
    int provided, rank, size, code;

    dft_terminal_deny();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &dft_world.comm);
    MPI_Comm_rank(dft_world.comm, &rank);
    MPI_Comm_size(dft_world.comm, &size);
    dft_world.rank = (unsigned)rank;
    dft_world.size = (unsigned)size;
    dft_world.errors = stderr;
    if (provided < MPI_THREAD_SERIALIZED)
        dft_mpi_give_up("this MPI cannot be used by programs with threads");
    if (rank)
        be_silent();
    code = run(argc, argv);
    dft_world.size = (unsigned)size;
    fflush(stdout);
    dft_mpi_meet(DFT_COLLECTIVE_END, 0);
    MPI_Comm_free(&dft_world.comm);
    MPI_Finalize();
    return code;
}
