/* SPDX-License-Identifier: MIT */
/* Every rank writes pieces of a shared file: FILE PIECES SIZE LATE_US collective|independent. Rank
 * 0 comes so many microseconds later to each piece. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank, size, collective, length = atoi(argv[3]), failed = 0;
    char *piece = calloc(1, (size_t)length);
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    collective = !strcmp(argv[argc - 1], "collective");
    failed |= MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int i = 0; i < atoi(argv[2]); i++) {
        const struct timespec late = {0, rank ? 0 : atol(argv[4]) * 1000};
        MPI_Offset offset = ((MPI_Offset)i * size + rank) * length;

        nanosleep(&late, NULL);
        failed |= collective ? MPI_File_write_at_all(file, offset, piece, length, MPI_BYTE, MPI_STATUS_IGNORE)
                             : MPI_File_write_at(file, offset, piece, length, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    failed |= MPI_File_close(&file);
    free(piece);
    MPI_Finalize();
    return failed != MPI_SUCCESS;
}
