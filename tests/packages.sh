# SPDX-License-Identifier: MIT
# Which Debian packages building and testing need, and installing those that are missing. To be sourced.
#
#   need_packages build          what it takes to build
#   need_packages build test     and to run all tests
#   need_packages guest          programs of tests/guest; what cannot be had is skipped there
#   need_packages faults         file systems of tests/faults; the same
#   need_packages python         what tests/python uses; the same
#   need_packages python-full    and its long form; the same
#   need_packages site           the site of the documentation; without it that is skipped
#   need_packages containers     podman, for the long form of tests/e2e/test_containers.py; the same
#   need_packages report         npm and a browser, for tests/report and tests/readers; the same
#   need_packages full           what only tests/run.sh --full runs; the same
#
# A thing that is there in any way (a command on PATH, a library known to pkg-config) is not installed again.

missing_packages=

lacks() { # package
    case " $missing_packages " in
    *" $1 "*) ;;
    *) missing_packages="$missing_packages $1" ;;
    esac
}

need_command() { # command package
    command -v "$1" >/dev/null 2>&1 || lacks "$2"
}

need_library() { # pkg-config name, package
    pkg-config --exists "$1" 2>/dev/null || lacks "$2"
}

need_file() { # file of /usr/lib, package
    for file in /usr/lib/"$1" /usr/lib/*/"$1"; do
        [ ! -e "$file" ] || return 0
    done
    lacks "$2"
}

# Prints the package with the test modules of Debian's own python3. Another Python that comes first may have only some.
python_testsuite() {
    apt-cache depends python3 2>/dev/null | sed -n 's/^ *Depends: python\(3\.[0-9]*\)$/libpython\1-testsuite/p'
}

need_module() { # module of Debian's python3, package
    /usr/bin/python3 -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('$1'))" 2>/dev/null || lacks "$2"
}

need_packages_of() {
    case $1 in
    build)
        need_command gcc gcc
        need_command cc gcc
        printf '#include <stdio.h>\nint main(void) { return 0; }\n' | cc -x c - -o /dev/null 2>/dev/null ||
            lacks libc6-dev
        need_command make make
        need_command cmake cmake
        need_command ninja ninja-build
        need_command pkg-config pkg-config
        need_command python3 python3
        python3 -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_paths()["include"] + "/Python.h"))' 2>/dev/null ||
            lacks python3-dev
        need_library zlib zlib1g-dev
        need_library liburcu-cds liburcu-dev
        need_file libdeflate.a libdeflate-dev
        need_file libyaml.a libyaml-dev
        need_file libsodium.a libsodium-dev
        need_library libunwind-generic libunwind-dev
        need_library libffi libffi-dev
        need_library libdw libdw-dev
        need_file libbz2.a libbz2-dev
        need_library json-c libjson-c-dev
        need_library sqlite3 libsqlite3-dev
        need_library libzstd libzstd-dev
        need_library libedit libedit-dev
        ;;
    test)
        need_library cunit libcunit1-dev
        need_command g++ g++
        need_command git git
        need_command clang clang
        need_command clang-format clang-format
        need_command lowdown lowdown
        need_command mandoc mandoc
        need_module pytest python3-pytest
        need_module jsonschema python3-jsonschema
        need_command strace strace
        need_command musl-gcc musl-tools
        need_command sqlite3 sqlite3
        need_command fio fio
        need_command mpicc libopenmpi-dev
        need_command mpirun openmpi-bin
        printf '#include <libaio.h>\n' | cc -fsyntax-only -x c - 2>/dev/null || lacks libaio-dev
        printf 'int LLVMFuzzerTestOneInput(void) { return 0; }\n' |
            clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null ||
            lacks libclang-rt-dev
        ;;
    guest)
        need_command git git
        need_command sqlite3 sqlite3
        need_command perl perl
        need_command make make
        need_command g++ g++
        need_command mpicc libopenmpi-dev
        need_command mpirun openmpi-bin
        need_command h5pcc libhdf5-openmpi-dev
        need_command rsync rsync
        need_command stress-ng stress-ng
        need_command ed ed
        need_command patch patch
        need_command setfattr attr
        need_command ps procps
        need_command xz xz-utils
        need_command valgrind valgrind
        need_file libjemalloc.so.2 libjemalloc2
        need_file faketime/libfaketime.so.1 libfaketime
        need_file libtcmalloc_minimal.so.4 libtcmalloc-minimal4
        need_file libmimalloc.so.2 libmimalloc2.0
        need_command eatmydata eatmydata
        need_command fakeroot fakeroot
        need_command gdb gdb
        need_command ltrace ltrace
        need_command perf linux-perf
        need_command rr rr
        python3 tests/guest/python_modules.py || for package in $(python_testsuite); do lacks "$package"; done
        ;;
    faults)
        PATH=$PATH:/usr/sbin:/sbin need_command mkfs.ext4 e2fsprogs
        PATH=$PATH:/usr/sbin:/sbin need_command mkfs.btrfs btrfs-progs
        need_command mount mount
        ;;
    python)
        need_module numpy python3-numpy
        need_module hypothesis python3-hypothesis
        need_module xdist python3-pytest-xdist
        need_module fsspec python3-fsspec
        need_module aiohttp python3-aiohttp
        need_module requests python3-requests
        need_module joblib python3-joblib
        need_module ipykernel python3-ipykernel
        need_module jupyter_client python3-jupyter-client
        need_module pip python3-pip
        need_module ensurepip python3-venv
        need_command mypy mypy
        ;;
    python-full)
        need_module torch python3-torch
        ;;
    site)
        need_command sphinx-build python3-sphinx
        need_module myst_parser python3-myst-parser
        need_module sphinx_copybutton python3-sphinx-copybutton
        need_module furo furo
        ;;
    containers)
        need_command podman podman
        need_command runc runc
        ;;
    report)
        need_command node nodejs
        need_command npm npm
        need_command chromium chromium
        ;;
    full)
        need_command clang-tidy clang-tidy
        need_command shellcheck shellcheck
        PATH=$PATH:/usr/sbin:/sbin need_command debootstrap debootstrap
        need_command gcc-12 gcc-12
        need_command lintian lintian
        need_command rpmbuild rpm
        need_command zsh zsh
        need_command fish fish
        need_command aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
        need_command qemu-aarch64 qemu-user
        ;;
    esac
}

install_packages() { # package...
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# One package that cannot be had is no reason to go without the others.
install_one_by_one() { # package...
    failed_packages=
    for package in "$@"; do
        install_packages "$package" || failed_packages="$failed_packages $package"
    done
    [ -z "$failed_packages" ] || {
        echo "apt-get failed; install these by hand:$failed_packages" >&2
        return 1
    }
}

need_packages() {
    missing_packages=
    for use in "$@"; do
        need_packages_of "$use"
    done
    [ -n "$missing_packages" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "Missing, and there is no apt-get to install it with (Debian's names):$missing_packages" >&2
        return 1
    fi
    as_root=
    if [ "$(id -u)" != 0 ]; then
        as_root=sudo
        command -v sudo >/dev/null 2>&1 || {
            echo "Missing: run as root: apt-get install$missing_packages" >&2
            return 1
        }
    fi
    echo "Installing with apt-get:$missing_packages"
    $as_root apt-get update -qq >/dev/null || echo "apt-get update failed; trying with the lists that are there" >&2
    # shellcheck disable=SC2086  # words on purpose
    install_packages $missing_packages || install_one_by_one $missing_packages
}
