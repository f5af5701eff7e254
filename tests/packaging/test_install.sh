#!/bin/sh
# Installs the given build into a temporary tree, moves the tree, and uses it as a stranger would: an annotated
# program built with pkg-config and one with find_package, run alone and under the installed library.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

passed=0
ok() {
    passed=$((passed + 1))
    echo "ok: $1"
}

cmake --install "$build" --prefix "$tmp/first" >"$tmp/log" || { cat "$tmp/log"; exit 1; }
mv "$tmp/first" "$tmp/moved"
ok "installs, and can be moved"

pc=$(dirname "$(find "$tmp/moved" -name dftrace.pc)")
export PKG_CONFIG_PATH="$pc"
# shellcheck disable=SC2046  # the flags are words
cc -Wall -Wextra -Werror "$here/annotated.c" $(pkg-config --cflags --libs dftrace) -o "$tmp/annotated"
library=$(pkg-config --variable=preload dftrace)
test -f "$library"
ok "pkg-config finds header and library"

"$tmp/annotated" "$tmp/data" >"$tmp/alone"
LD_PRELOAD=$library DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$tmp/trace "$tmp/annotated" "$tmp/data" >"$tmp/traced"
cmp "$tmp/alone" "$tmp/traced"
ok "the annotated program does the same alone and traced"

"$tmp/moved/bin/dftmerge" dump --json "$tmp"/trace*.dft >"$tmp/dump"
grep -q '"name": *"installed"' "$tmp/dump"
grep -q '"region": *"installed"' "$tmp/dump"
ok "its region and the calls inside are in the trace"

mkdir "$tmp/project"
cp "$here/annotated.c" "$tmp/project/"
cat >"$tmp/project/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.20)
project(stranger C)
find_package(dftrace 0.1 REQUIRED)
add_executable(annotated annotated.c)
target_link_libraries(annotated PRIVATE dftrace::dftrace)
file(WRITE ${CMAKE_BINARY_DIR}/library.txt ${dftrace_PRELOAD_LIBRARY})
PROJECT
cmake -S "$tmp/project" -B "$tmp/project/build" -DCMAKE_PREFIX_PATH="$tmp/moved" >"$tmp/log" 2>&1 &&
    cmake --build "$tmp/project/build" >>"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
test -f "$(cat "$tmp/project/build/library.txt")"
"$tmp/project/build/annotated" "$tmp/data" | cmp - "$tmp/alone"
ok "find_package finds both"

echo "$passed passed, 0 failed"
