#!/bin/sh
# SPDX-License-Identifier: MIT
# From a fresh Debian machine to a first answer: installs what is missing, builds into build/, traces a small job of
# many processes (a make of four programs, a tar, a Python script), and prints where its I/O time went.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"

. tests/packages.sh
need_packages build

mkdir -p build
build() {
    [ -f build/build.ninja ] || cmake -S . -B build -G Ninja -DDFT_TESTS=OFF
    cmake --build build --target dftrace dftmerge dftrun
}
[ -x build/bin/dftmerge ] || echo "Building into build/ ..."
build >build/quickstart.log 2>&1 || {
    cat build/quickstart.log
    exit 1
}

job=$(mktemp -d)
trap 'rm -rf "$job"' EXIT
mkdir "$job/src" "$job/traces"

# A job: four programs built by make -j2, packed by tar, and read back by Python.
for n in 1 2 3 4; do
    printf '#include <stdio.h>\nint main(void) { return puts("program %d") < 0; }\n' "$n" >"$job/src/p$n.c"
done
printf 'all: p1 p2 p3 p4\n' >"$job/src/Makefile"
cat >"$job/read.py" <<'PYTHON'
import sys, tarfile
with tarfile.open(sys.argv[1]) as archive:
    print("read back", sum(len(archive.extractfile(m).read()) for m in archive if m.isfile()), "bytes")
PYTHON
cat >"$job/job.sh" <<'JOB'
make -s -j2 -C "$1/src" && tar -C "$1" -cf "$1/out.tar" src && python3 "$1/read.py" "$1/out.tar"
JOB

echo "Tracing: make -j2, tar, python3 ..."
LD_PRELOAD=$top/build/lib/libdftrace.so DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$job/traces/trace sh "$job/job.sh" "$job"
echo
echo "\$ build/bin/dftmerge summary TRACES     ($(find "$job/traces" -name '*.dft' | wc -l) files)"
build/bin/dftmerge summary "$job/traces"
build/bin/dftmerge report -o build/quickstart.html "$job/traces"
cat <<NEXT

The same as a page to look at in a browser: $top/build/quickstart.html

Now your own program:
    build/bin/dftrun -o traces -- ./app        # traces it and prints the summary
    build/bin/dftmerge report -o report.html traces
    build/bin/dftmerge summary --by file traces
    build/bin/dftmerge dump traces | less      # event by event
NEXT
