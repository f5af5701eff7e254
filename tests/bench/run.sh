#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints what tracing costs on this machine, beside the goals. README.md says how to read it.
#
#   tests/bench/run.sh [--rounds N] [--only WORD] [--preload LIBRARY]
#
# Builds into build/ what is not up to date (DFT_BUILD names another folder).
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${DFT_BUILD:-$top/build}
[ -f "$build/CMakeCache.txt" ] || cmake -S "$top" -B "$build" -G Ninja >/dev/null
cmake --build "$build" >/dev/null
exec python3 "$top/tests/bench/run.py" --build "$build" "$@"
