#!/bin/sh
# SPDX-License-Identifier: MIT
# All tests, from a clean clone on a Debian machine: installs what is missing, builds with gcc, runs the unit,
# property and end-to-end tests, builds with clang, runs the unit and property tests again under ASan and UBSan,
# fuzzes for a while, and checks the formatting. The last line is 'N passed, N failed[, N skipped]'; the exit code is
# 0 when nothing failed.
#
#   tests/run.sh            all but the long form's steps (40 minutes on two cores)
#   tests/run.sh --quick    what answers within two minutes after an edit, with what is built: rooms, format, aggregator,
#                           wrappers and tables, units of tools, docs
#   tests/run.sh --full     also the Python package with torch, the report and the site in a browser, Parquet in DuckDB
#                           and Polars, file systems of other systems, packages in a system of their own, a container
#                           of podman, unit tests under ThreadSanitizer, clang-tidy, shellcheck, gcc -fanalyzer, and
#                           the build for 64-bit ARM under qemu
#   FUZZ_SECONDS=5 tests/run.sh
#   JOBS=8 tests/run.sh
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 2
JOBS=${JOBS:-$(nproc)}
FUZZ_SECONDS=${FUZZ_SECONDS:-40}
logs=$top/build/logs
passed=0
failed=0
skipped=0
case ${1:-} in
--full) DFT_LONG=1 ;;
*) DFT_LONG= ;;
esac
export DFT_LONG # what tests look at that have a long form

. tests/packages.sh

note() {
    printf '%s  %s\n' "$(date +%T)" "$*"
}

show() { # log
    sed 's/^/    /' "$1" | tail -n "${2:-40}"
}

# One step that is right or wrong as a whole.
step() { # title, command...
    title=$1
    log=$logs/$(printf '%s' "$1" | tr -c 'a-zA-Z0-9\n' '_').log
    shift
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        note "ok      $title"
    else
        failed=$((failed + 1))
        note "FAILED  $title"
        show "$log"
        return 1
    fi
}

build() { # folder, compiler, options...
    folder=$1
    compiler=$2
    shift 2
    CC=$compiler cmake -S . -B "$folder" -G Ninja -DDFT_WERROR=ON -DDFT_TESTS=ON "$@" &&
        cmake --build "$folder" -j "$JOBS"
}

build_library() { # folder, compiler
    CC=$2 cmake -S . -B "$1" -G Ninja -DDFT_WERROR=ON -DDFT_TESTS=ON && cmake --build "$1" -j "$JOBS" --target dftrace
}

# Runs ctest; every test counts as many as its own last line says (pytest's has ' in N s' behind it), one without such a line
# counts as one.
run_ctest() { # folder, title, which tests
    folder=$1
    title=$2
    shift 2
    [ $# != 0 ] || [ -n "$DFT_LONG" ] || set -- -LE long
    log=$logs/ctest-$(basename "$folder").log
    ctest --test-dir "$folder" -V -j "$JOBS" --timeout 1500 "$@" >"$log" 2>&1
    status=$?
    counts=$(awk '
        /^ *[0-9]+: [0-9]+ [a-z]+(, [0-9]+ [a-z]+)*( in [0-9.]+s.*)?$/ {
            n = $1 + 0; pass[n] = fail[n] = skip[n] = 0
            for (i = 2; i < NF && $i + 0 == $i; i += 2) {
                if ($(i + 1) ~ /^(passed|xfailed)/) pass[n] += $i
                else if ($(i + 1) ~ /^(failed|errors?|xpassed)/) fail[n] += $i
                else if ($(i + 1) ~ /^skipped/) skip[n] += $i
            }
        }
        /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
            match($0, /#[0-9]+/); n = substr($0, RSTART + 1, RLENGTH - 1) + 0
            if ($0 ~ / Passed /) { p += (n in pass) ? pass[n] : 1; f += fail[n]; s += skip[n] }
            else if ($0 ~ /\*\*\*Skipped/) s += skip[n] > 0 ? skip[n] : 1
            else { p += pass[n]; s += skip[n]; f += fail[n] > 0 ? fail[n] : 1 }
        }
        END { printf "%d %d %d\n", p, f, s }' "$log")
    # shellcheck disable=SC2086  # words on purpose
    set -- "$title" $counts
    passed=$((passed + $2))
    failed=$((failed + $3))
    skipped=$((skipped + $4))
    if [ "$status" != 0 ] && [ "$3" = 0 ]; then
        failed=$((failed + 1))
        note "FAILED  $1 (ctest itself: $status)"
        show "$log"
    elif [ "$3" != 0 ] || [ "$2" = 0 ]; then
        note "FAILED  $1: $2 passed, $3 failed, $4 skipped"
        for test in $(sed -n 's/^ *[0-9]*\/[0-9]* Test *#\([0-9]*\): .*\*\*\*[^S].*/\1/p' "$log"); do
            sed -n "s/^ *$test: /    /p" "$log" | tail -n 60
        done
        sed -n '/The following tests FAILED/,$p' "$log"
    else
        note "ok      $1: $2 passed, 0 failed, $4 skipped"
    fi
}

# Each fuzz target for its share of the time, from the committed corpus; what it finds new is thrown away.
run_fuzz() {
    targets=$(find build-asan/bin -maxdepth 1 -type f -name 'fuzz_*' -perm -u+x | sort)
    n=$(printf '%s\n' "$targets" | grep -c .)
    [ "$n" != 0 ] || { echo "no fuzz targets were built"; return 1; }
    share=$((FUZZ_SECONDS / n + 1))
    for target in $targets; do
        name=$(basename "$target")
        found=$(mktemp -d)
        corpus=$(find tests -type d -path "*/corpus/${name#fuzz_}" | head -n 1)
        [ -n "$corpus" ] || corpus=tests/format/corpus
        words=
        [ ! -e "$corpus.dict" ] || words=-dict=$corpus.dict
        "$target" -max_total_time=$share -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
            -artifact_prefix="$logs/$name-" $words "$found" "$corpus" || { rm -rf "$found"; return 1; }
        rm -rf "$found"
    done
}

list_sources() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files '*.c' '*.h'
    else
        find . -path './build*' -prune -o \( -name '*.c' -o -name '*.h' \) -print
    fi
}

check_format() {
    list_sources | xargs clang-format --dry-run -Werror
}

# Each shell script, by the shell that runs it.
each_script() { # command for sh, command for bash
    { git ls-files '*.sh' .ci/run 2>/dev/null || echo tests/run.sh; } | {
        wrong=0
        while read -r script; do
            case $(basename "$script") in
            bash.sh) $2 "$script" || wrong=1 ;;
            *) $1 "$script" || wrong=1 ;;
            esac
        done
        [ "$wrong" = 0 ]
    }
}

check_shell() {
    each_script "sh -n" "bash -n"
}

run_shellcheck() {
    each_script "shellcheck -S warning -s sh" "shellcheck -S warning -s bash"
}

run_tidy() {
    cmake -S . -B build-clang -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null || return 1
    sed -n 's/^ *"file": "\(.*\.c\)",*$/\1/p' build-clang/compile_commands.json | sort -u |
        xargs -P "$JOBS" -n 4 clang-tidy -p build-clang --quiet
}

# A step whose tool may be missing: that is said then.
step_with() { # tool, title, command...
    if command -v "$1" >/dev/null 2>&1; then
        shift
        step "$@"
    else
        skipped=$((skipped + 1))
        note "skipped $2: $1 is not installed"
    fi
}

run_long_form() {
    if step "build with ThreadSanitizer" build build-tsan clang -DDFT_SANITIZE=thread; then
        run_ctest build-tsan "unit tests under ThreadSanitizer" -R '^(format|aggregator|tools_unit|tools_scan)$'
    fi
    step_with clang-tidy "clang-tidy" run_tidy
    step_with shellcheck "shellcheck" run_shellcheck
}

run_quick() {
    need_packages build test || exit 2
    mkdir -p "$logs"
    ! step "build with gcc, warnings are errors" build build gcc || run_ctest build "quick tests" -L quick
}

main() {
    need_packages build test || exit 2
    need_packages guest || note "some of tests/guest will be skipped"
    need_packages faults || note "some of tests/faults will be skipped"
    need_packages site || note "the site of the documentation will be skipped"
    need_packages python || note "some of tests/python will be skipped"
    [ "$1" != --full ] || need_packages full || note "some of the long form will be skipped"
    [ "$1" != --full ] || need_packages python-full || note "some of the long form's tests/python will be skipped"
    [ "$1" != --full ] || need_packages report || note "some of tests/report, tests/readers and tests/docs will be skipped"
    [ "$1" != --full ] || need_packages containers || note "podman is left out of tests/e2e/test_containers.py"
    mkdir -p "$logs"
    note "logs are in build/logs"
    if step "build with gcc, warnings are errors" build build gcc; then
        run_ctest build "tests"
    fi
    if [ "$1" = --full ]; then
        step "build with clang, warnings are errors" build build-clang clang
    else # the sanitizers' build has everything else
        step "build the library with clang, warnings are errors" build_library build-clang clang
    fi
    if step "build with ASan, UBSan and the fuzz targets" build build-asan clang -DDFT_SANITIZE=address,undefined \
        -DDFT_FUZZ=ON; then
        run_ctest build-asan "tests under ASan and UBSan"
        step "fuzz the readers for $FUZZ_SECONDS s" run_fuzz
    fi
    step "clang-format" check_format
    step "shell scripts parse" check_shell
    if [ "$1" = --full ]; then
        run_long_form
    else
        skipped=$((skipped + 1))
        note "skipped the long form (browsers, other systems, ARM, the slowest tests under sanitizers): tests/run.sh --full"
    fi
}

if [ "${1:-}" = --quick ]; then
    run_quick
else
    main "${1:-}"
fi
if [ "$skipped" != 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" = 0 ]
