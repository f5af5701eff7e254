/* SPDX-License-Identifier: MIT */
/* Programs that start others, and do nothing of the work themselves. */
#include "analysis/launchers.h"

#include <string.h>

static const char launchers[] =
    /* shells, and what stands before a command */
    " sh ash bash dash ksh mksh zsh fish csh tcsh busybox env nice nohup setsid stdbuf time timeout sudo su xargs make "
    "numactl taskset dftrun "
    /* of jobs */
    " mpirun mpiexec orterun prterun prun orted prted hydra_pmi_proxy hydra_bstrap_proxy srun slurmstepd jsrun aprun "
    "palsrun flux pbsdsh ssh rsh torchrun ";

int dft_is_launcher(struct dft_text exe)
{
    const char *slash = exe.length ? memrchr(exe.bytes, '/', exe.length) : NULL;
    const char *name = slash ? slash + 1 : exe.bytes;
    size_t length = exe.length ? strnlen(name, (size_t)(exe.bytes + exe.length - name)) : 0;
    const char *dot = length ? memchr(name, '.', length) : NULL; /* mpiexec.hydra, mpirun.openmpi */

    length = dot ? (size_t)(dot - name) : length;
    for (const char *at = launchers + 1; length && *at; at += strcspn(at, " ") + 1)
        if (!strncmp(at, name, length) && at[length] == ' ')
            return 1;
    return 0;
}
