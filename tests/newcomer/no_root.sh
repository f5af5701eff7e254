# SPDX-License-Identifier: MIT
# An account without rights: a home folder, and the tarball.
tar xzf "$DOWNLOADS"/dftrace-*-linux-*.tar.gz
dftrace-*/bin/dftrun -o traces -- ./job.sh
dftrace-*/bin/dftmerge summary --by file,name --top 5 traces
