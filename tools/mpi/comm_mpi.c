/* The ranks of dftmerge-mpi, over MPI: how they begin and end. Messages and collectives have files of their own. */
#include "mpi/comm_mpi.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/write_text.h"
#include "mpi/comm.h"

struct dft_world dft_world = {.size = 1, .asking = PTHREAD_MUTEX_INITIALIZER};

unsigned dft_comm_rank(void)
{
    return dft_world.rank;
}

unsigned dft_comm_size(void)
{
    return dft_world.size;
}

static unsigned all_ranks;

int dft_comm_alone(const char *command, int quiet)
{
    if (!quiet && !dft_world.rank)
        fprintf(stderr, "dftmerge-mpi: %s is not done in parallel: one rank does it\n", command);
    if (dft_world.rank)
        return 0;
    dft_world.size = 1;
    return 1;
}

/* All are through. Each tells its neighbours before it waits for them: whoever still waits for something else of a rank
 * that failed finds out. */
static void end_together(void)
{
    unsigned low = 1;

    while (low < dft_world.size && !(dft_world.rank & low))
        low *= 2;
    if (dft_world.rank)
        dft_mpi_put(dft_world.rank - low, DFT_KIND_END, NULL, 0);
    for (unsigned step = 1; step < low; step *= 2)
        if (dft_world.rank + step < dft_world.size)
            dft_mpi_put(dft_world.rank + step, DFT_KIND_END, NULL, 0);
    if (dft_world.rank)
        dft_mpi_get_exactly(dft_world.rank - low, DFT_KIND_END, NULL, 0);
    for (unsigned step = 1; step < low; step *= 2)
        if (dft_world.rank + step < dft_world.size)
            dft_mpi_get_exactly(dft_world.rank + step, DFT_KIND_END, NULL, 0);
}

/* Only rank 0 writes. What others have to say when they cannot go on they say by themselves. */
static void be_silent(void)
{
    int copy = dup(STDERR_FILENO);

    dft_world.errors = copy < 0 ? NULL : fdopen(copy, "w");
    if (!dft_world.errors || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        MPI_Abort(MPI_COMM_WORLD, 1);
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
    dft_world.size = all_ranks = (unsigned)size;
    dft_world.errors = stderr;
    if (provided < MPI_THREAD_SERIALIZED) {
        fputs("dftmerge-mpi: this MPI cannot be used by programs with threads\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank)
        be_silent();
    code = run(argc, argv);
    dft_world.size = all_ranks;
    fflush(stdout);
    end_together();
    MPI_Comm_free(&dft_world.comm);
    MPI_Finalize();
    return code;
}
