# SPDX-License-Identifier: MIT
# A job of three ranks. The last rank to end prints the page of all.
tar xzf "$DOWNLOADS"/dftrace-*-linux-*.tar.gz
PATH=$(echo "$PWD"/dftrace-*/bin):$PATH
srun -n 3 dftrun -o traces -- sh -c './job.sh work.$SLURM_PROCID'
dftmerge summary --by rank,name --top 5 traces
dftmerge ranks traces
