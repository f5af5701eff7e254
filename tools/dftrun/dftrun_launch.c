/* SPDX-License-Identifier: MIT */
/* What the launcher of a job tells its ranks, by its variables: which rank, of how many, of which launch. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dftrun/dftrun.h"

#define NAMES(list) list, sizeof list / sizeof *list

static const char *const rank_names[] = {"DFTRACER_RANK",  "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                         "PMI_RANK",       "MV2_COMM_WORLD_RANK",  "SLURM_PROCID",
                                         "FLUX_TASK_RANK", "JSM_NAMESPACE_RANK"};
static const char *const size_names[] = {"DFTRACER_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                         "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE",
                                         "JSM_NAMESPACE_SIZE"};
static const char *const local_names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE",
                                          "LOCAL_WORLD_SIZE"};
static const char *const launch_names[] = {"PMIX_NAMESPACE", "FLUX_JOB_ID", "LSB_JOBID", "PBS_JOBID",
                                           "TORCHELASTIC_RUN_ID"};

const char *dft_run_variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static const char *first_of(const char *const *names, size_t count)
{
    const char *value = NULL;

    for (size_t i = 0; !value && i < count; i++)
        value = dft_run_variable(names[i]);
    return value;
}

static int number_of(const char *text, int other)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : -1;

    return n >= 0 && n <= INT_MAX && end != text && !*end ? (int)n : other;
}

/* A batch script of Slurm is no rank, though it is told the number of one. */
static int is_batch_script(void)
{
    const char *rank = first_of(NAMES(rank_names));

    return rank && rank == dft_run_variable("SLURM_PROCID") && dft_run_variable("SLURM_JOB_ID") &&
           !dft_run_variable("SLURM_STEP_ID") && !dft_run_variable("SLURM_STEP_NUM_TASKS");
}

/* Ranks on this node: "4" and "4(x2)" of Slurm say so, "4,3" does not. */
static int local_size(void)
{
    const char *slurm = dft_run_variable("SLURM_STEP_TASKS_PER_NODE");
    int size = number_of(first_of(NAMES(local_names)), 0);

    if (!size && slurm && !strchr(slurm, ','))
        size = atoi(slurm);
    return size;
}

/* All ranks of a launch must find the same name. They take the launcher's name of the launch, or
 * none. torchrun calls each launch "none", unless it is told a name: where the ranks meet tells
 * launches apart. */
static void put_id(char *id, size_t size)
{
    const char *job = dft_run_variable("SLURM_JOB_ID"), *step = dft_run_variable("SLURM_STEP_ID");
    const char *launch = first_of(NAMES(launch_names)), *torch = dft_run_variable("TORCHELASTIC_RUN_ID");
    const char *host = dft_run_variable("MASTER_ADDR"), *port = dft_run_variable("MASTER_PORT");

    if (launch && launch == torch && host && port)
        snprintf(id, size, "%s-%s-%s", launch, host, port);
    else if (!launch && job && step)
        snprintf(id, size, "%s.%s", job, step);
    else
        snprintf(id, size, "%s", launch ? launch : job ? job : "");
}

void dft_launch_find(struct dft_launch *launch)
{
    const char *rank = is_batch_script() ? NULL : first_of(NAMES(rank_names));

    *launch = (struct dft_launch){.rank = -1, .size = number_of(first_of(NAMES(size_names)), 0)};
    if (!rank && dft_run_variable("WORLD_SIZE")) { /* torchrun: it must confirm a name as plain as RANK */
        rank = dft_run_variable("RANK");
        launch->size = number_of(dft_run_variable("WORLD_SIZE"), launch->size);
    }
    if (!rank)
        return;
    launch->rank = number_of(rank, 0);
    launch->local_size = local_size();
    put_id(launch->id, sizeof launch->id);
}
