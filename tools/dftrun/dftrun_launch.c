/* SPDX-License-Identifier: MIT */
/* What the launcher of a job tells its ranks, by its variables: which rank, of how many, of which
 * launch. */
#include "dftrun/dftrun_launch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/launch.h"

const char *dft_run_variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static const char *get(const void *context, const char *name)
{
    (void)context;
    return dft_run_variable(name);
}

/* Ours, else the launcher's. */
static const char *told(enum dft_told what, const char *own)
{
    const char *value = own ? dft_run_variable(own) : NULL;

    return value ? value : dft_told(what, get, NULL);
}

static int number_of(const char *text, int other)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : -1;

    return n >= 0 && n <= INT_MAX && end != text && !*end ? (int)n : other;
}

/* Ranks on this node: "4" and "4(x2)" of Slurm say so, "4,3" does not. */
static int local_size(void)
{
    const char *slurm = dft_run_variable("SLURM_STEP_TASKS_PER_NODE");
    int size = number_of(told(DFT_TOLD_LOCAL_SIZE, NULL), 0);

    if (!size && slurm && !strchr(slurm, ','))
        size = atoi(slurm);
    return size;
}

/* torchrun calls each launch "none", unless a name is specified: where the ranks meet distinguishes launches. */
static void put_torch(char *id, size_t size)
{
    const char *job = dft_run_variable("SLURM_JOB_ID"), *name = dft_run_variable("TORCHELASTIC_RUN_ID");
    const char *host = dft_run_variable("MASTER_ADDR"), *port = dft_run_variable("MASTER_PORT");

    snprintf(id, size, "%s%s%s%s%s%s%s", job ? job : "", job ? "-" : "", name, host && port ? "-" : "",
             host && port ? host : "", host && port ? "-" : "", host && port ? port : "");
}

/* All ranks of a launch must find the same name, and other launches another one. They take the
 * launcher's name of the launch, or none. A name of Slurm's, or of torchrun's, is the same after a
 * restart. */
static void put_id(char *id, size_t size)
{
    const char *job = dft_run_variable("SLURM_JOB_ID"), *step = dft_run_variable("SLURM_STEP_ID");
    const char *namespace = dft_run_variable("PMIX_NAMESPACE"), *flux = dft_run_variable("FLUX_JOB_ID");
    int restarts = 0;

    if (dft_run_variable("TORCHELASTIC_RUN_ID") && dft_run_variable("RANK")) {
        put_torch(id, size);
        restarts = 1;
    } else if (namespace || flux) {
        snprintf(id, size, "%s", namespace ? namespace : flux);
        restarts = !strncmp(id, "slurm", 5);
    } else if (job) {
        snprintf(id, size, "%s%s%s", job, step ? "." : "", step ? step : "");
        restarts = 1;
    } else if (!dft_told_job(id, size, get, NULL) && dft_run_variable("DFTRACER_JOB_ID")) {
        snprintf(id, size, "%s", dft_run_variable("DFTRACER_JOB_ID"));
    }
    if (restarts)
        dft_told_restarts(id, size, get, NULL);
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

/* Does the process have a rank? Returns -1 if not known. */
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
 * there. That process is the nearest ancestor that has no rank: shells may stand between. */
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
    const char *rank = told(DFT_TOLD_RANK, "DFTRACER_RANK");

    *launch = (struct dft_launch){.rank = -1, .size = number_of(told(DFT_TOLD_SIZE, "DFTRACER_WORLD_SIZE"), 0)};
    if (!rank)
        return;
    launch->rank = number_of(rank, 0);
    launch->local_size = local_size();
    put_id(launch->id, sizeof launch->id);
    if (!*launch->id && dft_run_variable("PMI_RANK") && launch->size && launch->local_size == launch->size)
        put_launcher(launch->id, sizeof launch->id);
}
