/* SPDX-License-Identifier: MIT */
/* Every rank writes its rows of a dataset, collectively, and reads those of its neighbour: HDF5
 * over MPI-IO over POSIX. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        if ((x) < 0) {                                                                                                 \
            fprintf(stderr, "%s failed\n", #x);                                                                        \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                              \
        }                                                                                                              \
    } while (0)

enum { ROWS = 100, COLUMNS = 1000, ROUNDS = 3 };

static void select_rows(hid_t space, int rank)
{
    const hsize_t start[2] = {(hsize_t)rank * ROWS, 0}, count[2] = {ROWS, COLUMNS};

    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
}

int main(int argc, char **argv)
{
    static double rows[ROWS][COLUMNS], back[ROWS][COLUMNS];
    int rank, size;
    hid_t access, file, space, memory, dataset, transfer;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(access = H5Pcreate(H5P_FILE_ACCESS));
    CHECK(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL));
    CHECK(file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access));
    CHECK(space = H5Screate_simple(2, (const hsize_t[]){(hsize_t)size * ROWS, COLUMNS}, NULL));
    CHECK(memory = H5Screate_simple(2, (const hsize_t[]){ROWS, COLUMNS}, NULL));
    CHECK(transfer = H5Pcreate(H5P_DATASET_XFER));
    CHECK(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE));
    for (int round = 0; round < ROUNDS; round++) {
        char name[20];

        snprintf(name, sizeof name, "data%d", round);
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < COLUMNS; k++)
                rows[i][k] = rank + round + i * k;
        CHECK(dataset = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        select_rows(space, rank);
        CHECK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, rows));
        CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL));
        select_rows(space, (rank + 1) % size);
        CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer, back));
        if (back[7][9] != (rank + 1) % size + round + 63)
            MPI_Abort(MPI_COMM_WORLD, 2);
        CHECK(H5Dclose(dataset));
    }
    CHECK(H5Oexists_by_name(file, "data0", H5P_DEFAULT));
    CHECK(H5Idec_ref(file)); /* as h5py closes files, and all else */
    MPI_Finalize();
    return 0;
}
