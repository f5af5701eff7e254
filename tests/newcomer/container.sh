# SPDX-License-Identifier: MIT
# A container: another file system, processes that count from 1, and none of our variables. The answer is on the host.
tar xzf "$DOWNLOADS"/dftrace-*-linux-*.tar.gz
PATH=$(echo "$PWD"/dftrace-*/bin):$PATH
docker run --rm --volume "$PWD:/work" $(dftrun --container docker -o traces) image sh -c 'cd /work && ./job.sh'
dftmerge summary --by file,name --top 5 traces
