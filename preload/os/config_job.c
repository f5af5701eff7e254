/* SPDX-License-Identifier: MIT */
/* Owns the place of this process in its job, from our variables and those of launchers. */
#include "os/config_inside.h"

#define PREFIX DFT_CONFIG_PREFIX

struct dft_config_job dft_config_job = {-1, -1, 0, ""};

/* The launchers' names. The first name that is set counts. */
static const char *const rank_names[] = {
    "OMPI_COMM_WORLD_RANK", "PMIX_RANK",          "PMI_RANK", "MV2_COMM_WORLD_RANK",
    "FLUX_TASK_RANK",       "JSM_NAMESPACE_RANK", "RANK",     "SLURM_PROCID"};
static const char *const local_names[] = {"OMPI_COMM_WORLD_LOCAL_RANK",
                                          "MPI_LOCALRANKID",
                                          "MV2_COMM_WORLD_LOCAL_RANK",
                                          "FLUX_TASK_LOCAL_ID",
                                          "JSM_NAMESPACE_LOCAL_RANK",
                                          "LOCAL_RANK",
                                          "SLURM_LOCALID"};
static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",   "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE",
                                         "JSM_NAMESPACE_SIZE",   "WORLD_SIZE", "SLURM_NTASKS"};
static const char *const job_names[] = {"SLURM_JOB_ID", "FLUX_JOB_ID",    "LSB_JOBID",
                                        "PBS_JOBID",    "PMIX_NAMESPACE", "TORCHELASTIC_RUN_ID"};

/* Takes our own variable if its value makes sense, else the launcher's. */
static void find_number(char *const *environment, const char *name, const char *const *names, size_t count,
                        int32_t *number)
{
    const char *value = *name ? dft_config_find_own(environment, name) : NULL;
    uint64_t n;

    if (value && !(dft_config_number(value, &n) && n <= INT32_MAX)) {
        dft_config_doubt(environment, name, DFT_CONFIG_NOT_UNDERSTOOD);
        value = NULL;
    }
    if (!value)
        value = dft_config_find(environment, names, count);
    if (value && dft_config_number(value, &n) && n <= INT32_MAX)
        *number = (int32_t)n;
}

#define NAMES(list) list, sizeof list / sizeof *list

void dft_config_find_job(char *const *environment)
{
    int32_t size = 0;
    const char *job = *dft_config.job_id ? dft_config.job_id : dft_config_find(environment, NAMES(job_names));

    find_number(environment, PREFIX "RANK", NAMES(rank_names), &dft_config_job.rank);
    find_number(environment, "", NAMES(local_names), &dft_config_job.local_rank);
    find_number(environment, PREFIX "WORLD_SIZE", NAMES(size_names), &size);
    dft_config_job.world_size = (uint32_t)size;
    if (job)
        dft_config_job.job_id = dft_config_keep(job);
}
