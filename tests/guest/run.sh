#!/bin/sh
# SPDX-License-Identifier: MIT
# Real programs plain and traced. Without arguments the short form (about a minute, part of tests/run.sh).
#
#   tests/guest/run.sh                      builds if need be, installs what is missing, the short form
#   tests/guest/run.sh --full               everything (an hour and more)
#   tests/guest/run.sh [--full] python      one of the suites: the name of a file test_*.py
#   tests/guest/run.sh [--full] python test_os ...    cases of it
#   DFT_BUILD=folder tests/guest/run.sh     another build; nothing is built or installed then
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 2

if [ "${1:-}" = --full ]; then
    DFT_GUEST=full
    export DFT_GUEST
    shift
fi
if [ -z "${DFT_BUILD:-}" ]; then
    . tests/packages.sh
    need_packages build guest || exit 2
    DFT_BUILD=$PWD/build
    { cmake -S . -B "$DFT_BUILD" -G Ninja -DDFT_TESTS=ON && cmake --build "$DFT_BUILD"; } >/dev/null || exit 2
fi
export DFT_BUILD

if [ $# != 0 ]; then
    suite=$here/test_$1.py
    shift
    exec python3 "$suite" "$@"
fi
status=0
for suite in "$here"/test_*.py; do
    echo "$(basename "$suite" .py):"
    python3 "$suite" || status=1
done
exit $status
