# SPDX-License-Identifier: MIT
"""64-bit ARM, for tests/run.sh --full: the cross build with warnings as errors, and its programs under qemu's user
mode.

Packages of that machine are fetched with a state of apt of their own, and unpacked in the build folder: this machine's
dpkg learns nothing of them. The library is ARM's, and what reads its traces is this machine's dftmerge. qemu's user
mode keeps nearly all of this machine's order of memory, so passing here does not show that a weaker order would do
(docs/design.md)."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import system_calls
from tracing import BUILD, ROOT, SECONDS, dftmerge, dump, equal, need, run, run_checked, tracing, true

HERE = pathlib.Path(__file__).resolve().parent
PLACE = BUILD / "aarch64"
SYSROOT, FOLDER, EMULATED = PLACE / "root", PLACE / "build", PLACE / "emulated"
JOBS = os.environ.get("JOBS", "2")
# What is linked, or needed by the headers of what is; and programs to trace.
PACKAGES = ("libc6-dev zlib1g-dev libdeflate-dev liburcu-dev libyaml-dev libunwind-dev libffi-dev libdw-dev libjson-c-dev libsqlite3-dev "
            "libzstd-dev libedit-dev libcunit1-dev libaio-dev coreutils tar grep").split()
UNITS = "format live_copy format_corpus aggregator forwarding syscall outstanding maps rules governor rows text clock"

# Cases of tests/preload/guest_test.py in which qemu's user mode is in the way.
EXEC = "what is run by exec is no longer emulated"
WIPE = "memory is not wiped on fork, and a vfork is one"
CLONE = "clones that share memory fail untraced, too"
NOT_UNDER_QEMU = {
    "directories_of_a_walk_are_known": EXEC, "offsets_that_the_program_asked_about": EXEC, "paths_are_looked_up_once": EXEC,
    "variables_up_to_an_edge": EXEC, "vfork_children_that_exec": EXEC, "spawned_programs": EXEC, "every_form_of_exec": EXEC,
    "exec_from_a_thread": EXEC, "ends_while_others_write": EXEC,
    "paths_without_an_end": "qemu reads a path beyond what the kernel would",
    "programs_without_an_end": "qemu reads arguments itself, and dies of bad ones",
    "a_signal_before_vfork_has_returned": WIPE, "a_vfork_child_takes_every_number": WIPE, "children_of_clone": WIPE,
    "vfork_children_that_fail": WIPE, "calls_before_a_child_ends": WIPE, "a_child_outlives_its_parent": WIPE,
    "a_child_makes_the_first_call": WIPE, "children_past_every_wrapper": WIPE,
    "children_of_clone_take_every_number": CLONE, "clone_that_shares_descriptors": CLONE, "clone_that_borrows_memory": CLONE,
    "children_on_stacks_of_their_own": CLONE,
}


def apt(*command):
    """apt-get with a state of its own, of the sources that this machine has."""
    state = PLACE / "apt"
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    (state / "state" / "status").touch()
    (state / "conf").write_text(f'Dir::State "{state}/state";\nDir::State::status "{state}/state/status";\nDir::Cache "{state}/cache";\n'
                                'APT::Architecture "arm64";\nAPT::Architectures { "arm64"; };\nAPT::Install-Recommends "false";\n'
                                'Acquire::Languages "none";\nAPT::Sandbox::User "root";\n')
    return run(["env", f"APT_CONFIG={state}/conf", "apt-get", "-qq", *command])


def sysroot():
    """Unpacks the packages, once."""
    if (SYSROOT / "whole").exists():
        return
    need("apt-get", "dpkg-deb")
    for command in (["update"], ["install", "-y", "--download-only", *PACKAGES]):
        done = apt(*command)
        if done.code:
            pytest.skip(f"packages of arm64 cannot be had: {done.err.decode(errors='replace').strip()[:300]}")
    shutil.rmtree(SYSROOT, ignore_errors=True)
    SYSROOT.mkdir(parents=True)
    for package in sorted((PLACE / "apt" / "cache" / "archives").glob("*.deb")):
        run_checked(["dpkg-deb", "-x", package, SYSROOT])
    (SYSROOT / "whole").touch()


def ready():
    """The build, or a word why there is none."""
    need("aarch64-linux-gnu-gcc", "qemu-aarch64")
    if not (FOLDER / "lib" / "libdftrace.so").exists():
        pytest.skip("it was not built")


def test_build_with_warnings_as_errors(directory):
    del directory
    need("aarch64-linux-gnu-gcc", "qemu-aarch64", "cmake", "ninja")
    sysroot()
    run_checked(["cmake", "-S", ROOT, "-B", FOLDER, "-G", "Ninja", "-DDFT_WERROR=ON", f"-DCMAKE_SYSROOT={SYSROOT}",
                 f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/aarch64-linux-gnu.cmake"])
    done = run(["cmake", "--build", FOLDER, "-j", JOBS])
    true(done.code == 0, f"the build: {done.out.decode(errors='replace')[-3000:]}")


def test_unit_tests(directory):
    del directory
    ready()
    done = run(["ctest", "--test-dir", FOLDER, "--timeout", "600", "-R", f"^({'|'.join(UNITS.split())})$"])
    text = done.out.decode(errors="replace")
    true(done.code == 0, f"ctest: {text[-3000:]}")
    equal(re.findall(r"tests failed out of (\d+)", text), [str(len(UNITS.split()))], "tests that ran")


def emulated(*programs):
    """A folder like the build's, whose programs run under qemu, with ARM's library in them alone."""
    ready()
    for name in ("bin", "lib"):
        (EMULATED / name).mkdir(parents=True, exist_ok=True)
    launcher = EMULATED / "launcher"
    run_checked(["gcc", "-O1", "-static", f'-DQEMU="{shutil.which("qemu-aarch64")}"', f'-DROOT="{SYSROOT}"', "-o", launcher,
                 HERE / "emulated.c"])
    shutil.copy(FOLDER / "lib" / "libdftrace.so", EMULATED / "lib")
    shutil.copy(BUILD / "bin" / "dftmerge", EMULATED / "bin")
    for program in programs:
        shutil.copy(launcher, EMULATED / "bin" / program.name)
        shutil.copy(program, EMULATED / "bin" / f"{program.name}.aarch64")


def driver(script, *cases):
    """Cases of a file of tests/preload, with programs of ARM."""
    env = {**os.environ, "DFT_BUILD": str(EMULATED)}
    file = ROOT / "tests" / "preload" / script
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", *(f"{file}::test_{case}" for case in cases)], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    text = done.stdout.decode(errors="replace")
    equal(done.returncode, 0, f"{script}: {text[-3000:]}")
    equal(sum(int(count) for count in re.findall(r"(\d+) (?:passed|skipped)", text.splitlines()[-1])), len(cases), f"{script}: cases that ran")


def test_good_guest(directory):
    del directory
    emulated(FOLDER / "bin" / "guest")
    names = re.findall(r"^def test_(\w+)", (ROOT / "tests" / "preload" / "guest_test.py").read_text(), re.M)
    equal([name for name in NOT_UNDER_QEMU if name not in names], [], "cases that are left out, and are no more")
    driver("guest_test.py", *(name for name in names if name not in NOT_UNDER_QEMU))


def test_storms_of_signals(directory):
    """Eight threads, whose calls and whose handlers' calls are counted by the program: the trace has each once."""
    del directory
    emulated(FOLDER / "bin" / "storm")
    driver("ring_test.py", "signals_whose_handlers_make_calls", "handlers_that_jump_out")


def test_five_hundred_threads(directory):
    del directory
    emulated(FOLDER / "bin" / "guest")
    driver("threads_test.py", "threads_that_wait_sleep", "killed_amid_them")


def made(directory):
    tree = directory / "tree"
    for number in range(20):
        (tree / f"d{number % 3}").mkdir(parents=True, exist_ok=True)
        (tree / f"d{number % 3}" / f"f{number}").write_text(f"line {number}\n" * (1 << number % 12))
    return tree


def test_programs_of_debian(directory):
    """cat, cp, tar and grep of ARM: the calls that strace counts of this machine's."""
    tools = [SYSROOT / "bin" / name for name in ("cat", "cp", "tar", "grep")]
    emulated(*tools)
    tree, said = made(directory), []
    for tool, arguments in (("cat", [tree / "d0" / "f0", tree / "d1" / "f19"]), ("cp", ["-r", tree, "copy"]),
                            ("tar", ["cf", "all.tar", "-C", tree, "."]), ("grep", ["-r", "line 7", tree])):
        work = directory / f"{tool}-work"
        work.mkdir()
        native, reader = system_calls.strace([f"/bin/{tool}", *arguments], work, directory)
        shutil.rmtree(work)
        work.mkdir()
        env = {**tracing(directory / tool / "t"), "LD_PRELOAD": str(EMULATED / "lib" / "libdftrace.so")}
        done = run([EMULATED / "bin" / tool, *arguments], cwd=work, env=env)
        equal((done.code, done.out), (native.code, native.out), f"{tool}: exit code and output ({done.err.decode()[-600:]})")
        # The loader of the one looks into other folders than that of the other, and qemu changes some paths.
        reader.calls = [call for call in reader.calls if str(call.path).startswith((str(tree), str(work)))]
        events = [event for event in dump(directory / tool) if str(event.get("file", "")).startswith((str(tree), str(work)))]
        wrong, compared = system_calls.differences(reader, events)
        true(not wrong and compared > 2, f"{tool}: {compared} calls; {'; '.join(wrong[:6])}")
        said.append(f"{tool} {compared}")
    print("calls of " + ", ".join(said))


def test_read_while_it_runs(directory):
    """The storm's live file is read again and again meanwhile: no snapshot has what makes no sense, and counts never go
    down."""
    emulated(FOLDER / "bin" / "storm")
    work = directory / "work"
    work.mkdir()
    env = {**tracing(directory / "traces" / "t", DATA_DIR=work), "LD_PRELOAD": str(EMULATED / "lib" / "libdftrace.so")}
    storm = subprocess.Popen([EMULATED / "bin" / "storm", work, "plain", "100000"], cwd=work, env=env, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    last, rounds = collections.Counter(), 0
    try:
        while storm.poll() is None:
            done = dftmerge("summary", "--json", "--by", "name", directory / "traces")
            if done.code and not rounds:  # its files are just being made
                continue
            equal(done.code, 0, f"dftmerge summary: {done.err.decode()[-900:]}")
            counts = collections.Counter({group["name"]: group["count"] for group in json.loads(done.out)["groups"]})
            fewer = {name: (last[name], counts[name]) for name in last if counts[name] < last[name]}
            true(not fewer, f"counts that went down: {fewer}")
            last, rounds = counts, rounds + 1
    finally:
        storm.kill()
        storm.communicate()
    true(rounds > 3 and last["pwrite"], f"{rounds} snapshots, {dict(last)}")
    equal(dftmerge("check", "-q", directory / "traces").code, 0, "dftmerge check")
    print(f"{rounds} snapshots")
