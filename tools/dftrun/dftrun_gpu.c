/* SPDX-License-Identifier: MIT */
/* Owns --gpu: CUDA's driver loads the library that a variable names, in every program that uses CUDA. */
#include "dftrun/dftrun_gpu.h"
#include "dftrun/dftrun_launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "CUDA_INJECTION64_PATH"
#define MODULE   "libdftcupti.so"

/* It lies beside libdftrace.so. Returns 0 or -ENAMETOOLONG. */
static int put_path(const struct dft_run *run, char *path, size_t capacity)
{
    int folder = (int)(strrchr(run->library, '/') - run->library);
    int n = snprintf(path, capacity, "%.*s/%s", folder, run->library, MODULE);

    return n > 0 && (size_t)n < capacity ? 0 : -ENAMETOOLONG;
}

int dft_gpu_check(const struct dft_run *run)
{
    const char *other = dft_run_variable(VARIABLE);
    char path[PATH_MAX];

    if (!run->gpu)
        return 0;
    if (put_path(run, path, sizeof path) || access(path, R_OK)) {
        fprintf(stderr,
                "dftrun: --gpu: there is no %s: build dftrace where the headers of CUPTI are (cmake says whether they "
                "are found), or run without --gpu\n",
                path);
        return DFTRUN_OWN;
    }
    if (other && strcmp(other, path) != 0) {
        fprintf(stderr, "dftrun: --gpu and %s=%s contradict each other: CUDA loads one library; unset the variable\n",
                VARIABLE, other);
        return DFTRUN_USAGE;
    }
    return 0;
}

int dft_gpu_set(const struct dft_run *run)
{
    char path[PATH_MAX];
    int rc = put_path(run, path, sizeof path);

    return rc ? rc : setenv(VARIABLE, path, 1) ? -errno : 0;
}
