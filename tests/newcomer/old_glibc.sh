# SPDX-License-Identifier: MIT
# A system of ten years ago, with its C library: the tarball that was made on a new one.
tar xzf "$DOWNLOADS"/dftrace-*-linux-*.tar.gz
dftrace-*/bin/dftrun -o traces -- ./job.sh
dftrace-*/bin/dftmerge summary --by file,name --top 5 traces
