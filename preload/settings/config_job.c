/* SPDX-License-Identifier: MIT */
/* Owns the place of this process in its job, from our variables and those of launchers. */
#include "format/launch.h"
#include "settings/config_inside.h"
#include "settings/config_init.h"

#define PREFIX DFT_CONFIG_PREFIX

struct dft_config_job dft_config_job = {-1, -1, 0, ""};

static const char *get(const void *context, const char *name)
{
    return dft_config_find_own((char *const *)context, name);
}

/* Takes our own variable if its value makes sense, else the launcher's. */
static void find_number(char *const *environment, const char *name, enum dft_told what, int32_t *number)
{
    const char *value = *name ? dft_config_find_own(environment, name) : NULL;
    uint64_t n;

    if (value && !(dft_config_number(value, &n) && n <= INT32_MAX)) {
        dft_config_doubt(environment, name, DFT_CONFIG_NOT_UNDERSTOOD);
        value = NULL;
    }
    if (!value)
        value = dft_told(what, get, environment);
    if (value && dft_config_number(value, &n) && n <= INT32_MAX)
        *number = (int32_t)n;
}

/* A job that was requeued, or a launch that was restarted, keeps its id, and is another run. */
static void find_ids(char *const *environment)
{
    char id[256];
    size_t length = 0;

    if (*dft_config.job_id)
        dft_config_job.job_id = dft_config.job_id;
    else if ((length = dft_told_job(id, sizeof id, get, environment)))
        dft_config_job.job_id = dft_config_keep(id);
    if (length && !*dft_config.run_id && dft_told_restarts(id, sizeof id, get, environment) > length)
        dft_config.run_id = dft_config_keep(id);
}

void dft_config_find_job(char *const *environment)
{
    int32_t size = 0;

    find_number(environment, PREFIX "RANK", DFT_TOLD_RANK, &dft_config_job.rank);
    find_number(environment, "", DFT_TOLD_LOCAL_RANK, &dft_config_job.local_rank);
    find_number(environment, PREFIX "WORLD_SIZE", DFT_TOLD_SIZE, &size);
    dft_config_job.world_size = (uint32_t)size;
    find_ids(environment);
}
