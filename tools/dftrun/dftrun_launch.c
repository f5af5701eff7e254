/* SPDX-License-Identifier: MIT */
/* What the launcher of a job tells its ranks, by its variables: which rank, of how many, of which
 * launch. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* --- a launcher without a name ---------------------------------------------------------------- */

/* The parent of a process, and when the process began: fields 4 and 22 of /proc/PID/stat. Returns 0
 * if not known. */
static int parent_of(int pid, unsigned long long *start)
{
    char path[64], line[1024], *at;
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(line, sizeof line, file) || !(at = strrchr(line, ')')) ||
        sscanf(at + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &parent,
               start) != 2)
        parent = 0;
    fclose(file);
    return parent;
}

/* Was the process told a rank? Returns -1 if not known. */
static int has_rank(int pid)
{
    char path[64], *entry = NULL;
    size_t capacity = 0;
    int found = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    file = fopen(path, "re");
    if (!file)
        return -1;
    while (!found && getdelim(&entry, &capacity, 0, file) > 0)
        found = strncmp(entry, "PMI_RANK=", 9) == 0;
    free(entry);
    fclose(file);
    return found;
}

/* Hydra (MPICH, Intel MPI) names no launch. Its process on a node starts the ranks of one launch
 * there. That process is the nearest ancestor that was told no rank: shells may stand between. */
static void put_launcher(char *id, size_t size)
{
    unsigned long long start = 0;
    int pid = (int)getpid(), ranked = 1;
    char host[65] = "";

    while (pid > 1 && ranked == 1) {
        pid = parent_of(pid, &start);
        ranked = pid > 1 ? has_rank(pid) : -1;
    }
    if (ranked || !parent_of(pid, &start))
        return;
    gethostname(host, sizeof host - 1);
    snprintf(id, size, "%s-%d-%llu", host, pid, start);
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
    if (!*launch->id && dft_run_variable("PMI_RANK") && launch->size && launch->local_size == launch->size)
        put_launcher(launch->id, sizeof launch->id);
}
