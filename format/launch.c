/* SPDX-License-Identifier: MIT */
/* Looks up what launchers tell. */
#include "format/launch.h"

#include <string.h>

struct row {
    enum dft_told what;
    const char *name, *needs;
};

static const struct row rows[] = {
#define DFT_LAUNCHER(what, name, needs) {DFT_TOLD_##what, name, needs},
#include "format/launchers.def"
#undef DFT_LAUNCHER
};

/* Older versions of Slurm, and people, tell a rank without a step, and without a job. A batch script has
 * a job. */
static int is_met(const char *needs, dft_told_get *get, const void *context)
{
    if (!*needs || get(context, needs))
        return 1;
    return !strcmp(needs, "SLURM_STEP_ID") && (get(context, "SLURM_STEP_NUM_TASKS") || !get(context, "SLURM_JOB_ID"));
}

const char *dft_told(enum dft_told what, dft_told_get *get, const void *context)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *value = rows[i].what == what ? get(context, rows[i].name) : NULL;

        if (value && is_met(rows[i].needs, get, context))
            return value;
    }
    return NULL;
}

static size_t append(char *id, size_t size, size_t used, const char *text)
{
    while (*text && used + 1 < size)
        id[used++] = *text++;
    id[used] = 0;
    return used;
}

size_t dft_told_job(char *id, size_t size, dft_told_get *get, const void *context)
{
    const char *job = dft_told(DFT_TOLD_JOB, get, context), *element = get(context, "LSB_JOBINDEX");
    size_t used = append(id, size, 0, job ? job : "");

    if (used && element && strcmp(element, "0") != 0 && job == get(context, "LSB_JOBID")) {
        used = append(id, size, used, "[");
        used = append(id, size, used, element);
        used = append(id, size, used, "]");
    }
    return used;
}

size_t dft_told_restarts(char *id, size_t size, dft_told_get *get, const void *context)
{
    size_t used = strlen(id);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *restarts = rows[i].what == DFT_TOLD_RESTARTS ? get(context, rows[i].name) : NULL;

        if (!restarts || !strcmp(restarts, "0") || !is_met(rows[i].needs, get, context))
            continue;
        used = append(id, size, used, "-r");
        used = append(id, size, used, restarts);
    }
    return used;
}
