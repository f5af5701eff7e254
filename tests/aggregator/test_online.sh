#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces real programs, and compares the rows that they wrote with rows made from their events (online.c).
#   test_online.sh PROGRAM_OF_ONLINE_C LIBRARY
set -u
online=$1
library=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0
failed=0

# Each in a folder of its own: title, bucket width in ms, program.
check() {
    title=$1
    width=$2
    shift 2
    mkdir "$tmp/traces"
    LD_PRELOAD=$library DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$tmp/traces/trace DFTRACER_TRACE_INTERVAL_MS=$width \
        "$@" >/dev/null 2>"$tmp/errors"
    if "$online" "$tmp"/traces/*.dft >"$tmp/out"; then
        passed=$((passed + 1))
        echo "ok: $title: $(grep -c equal "$tmp/out") files"
    else
        failed=$((failed + 1))
        echo "FAILED: $title"
        grep -v equal "$tmp/out"
        cat "$tmp/errors"
    fi
    rm -rf "$tmp/traces"
}

cat >"$tmp/threads.py" <<'PYTHON'
import os, sys, tempfile, threading, time
def work(n):
    for i in range(300):
        with tempfile.TemporaryFile() as f:
            f.write(b"x" * (1000 * n + i)); f.seek(0); f.read(); os.fstat(f.fileno())
        if i % 50 == 0:
            time.sleep(0.005)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
PYTHON

check "tar" 1000 tar -cf "$tmp/out.tar" -C / usr/include
check "tar, narrow buckets" 1 tar -cf "$tmp/out.tar" -C / usr/include
check "grep -r" 10 grep -r "no such words" /usr/include
check "four threads" 1 python3 "$tmp/threads.py"
check "forks, pipes and exec" 5 sh -c 'for i in 1 2 3; do ls -lR /etc 2>/dev/null | sort | wc -l; done'
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
