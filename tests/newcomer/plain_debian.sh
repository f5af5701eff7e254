# SPDX-License-Identifier: MIT
# A Debian with nothing but its base, and root: the packages.
apt-get install -y -qq "$DOWNLOADS"/libdftrace_*.deb "$DOWNLOADS"/dftrace-tools_*.deb
dftrun -o traces -- ./job.sh
dftmerge summary --by file,name --top 5 traces
