/* SPDX-License-Identifier: MIT */
/* Every rank writes and reads its own blocks of one file: MPI-IO over POSIX. */
#include <mpi.h>
#include <string.h>

enum { BLOCK = 65536, BLOCKS = 10 };

int main(int argc, char **argv)
{
    static char block[BLOCK];
    MPI_File file;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    memset(block, 'a' + rank, sizeof block);
    for (int i = 0; i < BLOCKS; i++)
        MPI_File_write_at(file, (MPI_Offset)(i * size + rank) * BLOCK, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    for (int i = 0; i < BLOCKS; i++)
        MPI_File_read_at(file, (MPI_Offset)(i * size + rank) * BLOCK, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return block[BLOCK - 1] != 'a' + rank;
}
