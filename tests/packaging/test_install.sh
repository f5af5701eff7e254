#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the given build into a temporary tree, moves the tree, and uses it as a stranger would: an annotated
# program built with pkg-config and one with find_package, run alone and under the installed library.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

passed=0
skipped=0
ok() {
    passed=$((passed + 1))
    echo "ok: $1"
}

cmake --install "$build" --prefix "$tmp/first" >"$tmp/log" || { cat "$tmp/log"; exit 1; }
mv "$tmp/first" "$tmp/moved"
ok "installs, and can be moved"

# With lowdown there is a manual of every command, which names the command and has no faults.
if [ -d "$build/man" ]; then
    for page in "$here"/../../docs/commands/*.md; do
        name=$(basename "$page" .md)
        manual=$tmp/moved/share/man/man1/$name.1
        grep -qi "^\.TH \"$name\" \"1\"" "$manual"
        grep -q "^$name - " "$manual"
        ! command -v mandoc >/dev/null || mandoc -Tlint -Werror "$manual"
        if grep '<#' "$manual"; then
            echo "$name.1 has links to sections, which lead nowhere"
            exit 1
        fi
    done
    ok "a manual page for each command"
else
    echo "skipped: no lowdown, no manual pages"
    skipped=1
fi

cmake -S "$here/../.." -B "$tmp/without" -DDFT_LOWDOWN= -DDFT_MPI=OFF -DDFT_TESTS=OFF >"$tmp/log" || { cat "$tmp/log"; exit 1; }
grep -q "man pages: none (install lowdown: lowdown)" "$tmp/log"
ok "without lowdown a build says what to install"

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

# The same source as C++, with both ways to find the header.
cp "$here/annotated.c" "$tmp/project/annotated.cpp"
sed -i -e 's/(stranger C)/(stranger CXX)/' -e 's/annotated\.c)/annotated.cpp)/' "$tmp/project/CMakeLists.txt"
cmake -S "$tmp/project" -B "$tmp/project/plus" -DCMAKE_PREFIX_PATH="$tmp/moved" >"$tmp/log" 2>&1 &&
    cmake --build "$tmp/project/plus" >>"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
"$tmp/project/plus/annotated" "$tmp/data" | cmp - "$tmp/alone"
# shellcheck disable=SC2046  # the flags are words
c++ -Wall -Wextra -Werror "$tmp/project/annotated.cpp" $(pkg-config --cflags --libs dftrace) -o "$tmp/plus"
LD_PRELOAD=$library DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=$tmp/plus.trace "$tmp/plus" "$tmp/data" | cmp - "$tmp/alone"
"$tmp/moved/bin/dftmerge" dump --json "$tmp"/plus.trace*.dft >"$tmp/dump"
grep -q '"region": *"installed"' "$tmp/dump"
ok "from C++, too"

# A version that is not there is refused, and the one that is there is named. What is there is enough for what was asked
# before.
refused() {
    ! "$@" || { echo "not refused: $*"; exit 1; }
}
for name in dftrace dftracer; do
    refused pkg-config --exists --print-errors "$name >= 99" >"$tmp/log" 2>&1
    grep -q "version .*$(pkg-config --modversion "$name")" "$tmp/log"
done
pkg-config "dftrace >= 0.1" "dftracer >= 1.0"
asks() { # find_package's words
    mkdir -p "$tmp/asks"
    printf 'cmake_minimum_required(VERSION 3.20)\nproject(asks C)\nfind_package(%s REQUIRED)\n' "$1" >"$tmp/asks/CMakeLists.txt"
    cmake -S "$tmp/asks" -B "$tmp/asks/build" -DCMAKE_PREFIX_PATH="$tmp/moved" >"$tmp/log" 2>&1
}
refused asks "dftrace 99"
grep -q "version: $(pkg-config --modversion dftrace)" "$tmp/log"
refused asks "dftracer 99"
grep -q "version: $(pkg-config --modversion dftracer)" "$tmp/log"
asks "dftrace 0.1"
asks "dftracer 1.0.9"
ok "a version that is not there is refused, by its name"

# A program that was written, and is built, for DFTracer: linked, and told where the trace goes by its own INIT.
lib=$(dirname "$library")
program() {
    mkdir "$tmp/$1.data"
    DFTRACER_ENABLE=1 "$2" "$tmp/$1.data" "$tmp/$1.trace/t" "$tmp/$1.data" bind
    "$tmp/moved/bin/dftmerge" dump --json "$tmp/$1.trace" >"$tmp/dump"
    test "$(grep -c '"region": *"ONE"' "$tmp/dump")" = 5
    ok "$3"
}
cc -I"$tmp/moved/include" "$here/../preload/dftracer_c.c" -L"$lib" -ldftracer_core -Wl,-rpath,"$lib" -o "$tmp/core"
program core "$tmp/core" "DFTracer's program, with -ldftracer_core"
# shellcheck disable=SC2046  # the flags are words
cc "$here/../preload/dftracer_c.c" $(pkg-config --cflags --libs dftracer) -Wl,-rpath,"$lib" -o "$tmp/pkg"
program pkg "$tmp/pkg" "with pkg-config dftracer"
mkdir "$tmp/theirs"
cp "$here/../preload/dftracer_c.c" "$tmp/theirs/"
cat >"$tmp/theirs/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.20)
project(theirs C)
find_package(dftracer REQUIRED)
add_executable(theirs dftracer_c.c)
target_include_directories(theirs PRIVATE ${DFTRACER_INCLUDE_DIRS})
target_link_libraries(theirs PRIVATE ${DFTRACER_LIBRARIES})
PROJECT
cmake -S "$tmp/theirs" -B "$tmp/theirs/build" -DCMAKE_PREFIX_PATH="$tmp/moved" >"$tmp/log" 2>&1 &&
    cmake --build "$tmp/theirs/build" >>"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
program found "$tmp/theirs/build/theirs" "with find_package(dftracer)"

echo "$passed passed, 0 failed, $skipped skipped"
