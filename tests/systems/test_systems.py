# SPDX-License-Identifier: MIT
"""The portable tarball in file systems of other systems: see README.md beside this file."""

import atexit
import collections
import ctypes
import json
import os
import pathlib
import re
import shutil
import tempfile

import pytest

from tracing import BUILD, environment, equal, need, run, run_checked, true

HERE = pathlib.Path(__file__).resolve().parent
System = collections.namedtuple("System", "name title glibc keyring")
DEBIAN, UBUNTU = "debian-archive-keyring.gpg", "ubuntu-archive-keyring.gpg"
SYSTEMS = [System("xenial", "Ubuntu 16.04", "2.23", UBUNTU), System("bionic", "Ubuntu 18.04", "2.27", UBUNTU),
           System("bullseye", "Debian 11", "2.31", DEBIAN), System("bookworm", "Debian 12", "2.36", DEBIAN),
           System("trixie", "Debian 13", "2.41", DEBIAN)]
TOP = "/opt/dftrace"  # the tarball
CLONE_NEWNS = 0x20000  # unshare: mounts
GROWN_MOST = 100  # pages: far less than one thread's state a thread

# What runs plain and traced, each in a folder with a file `data` and a folder `tree`.
PROGRAMS = {
    "ls": "ls -lnR --time-style=+ tree",
    "cat": "cat data data",
    "tar": "tar cf all.tar --mtime=@1000000000 tree data && tar tf all.tar",
    "grep": "grep -rc 1 tree; grep -n 777 data",
    "dd": "dd if=data of=copy bs=100 2>/dev/null; cksum copy",
    "find": "find tree -type f -exec cksum {} + | sort",
    "sed": "sed -i s/1/one/ tree/5 && cat tree/5",
    "gzip": "gzip -nk data && gzip -dc data.gz | cksum",
    "cp": "cp -r tree other && ls -1 other && rm -r other",
    "pipes": "cat data | tr 0-9 a-j | sort -r | head -n 50 | tee tail | cksum",
    "loop": 'i=0; while [ $i -lt 20 ]; do echo "line $i" >>lines; read -r line <lines; i=$((i + 1)); done; cat lines; echo "$line"',
    "failing": "cat nothing; ls nowhere; exit 3",
    "subshells": "(cd tree && cat 1 2 3) & wait; x=$(cat tree/4); echo $x | wc -c",
    "perl": "perl -e 'open F, \"<data\" or die; while (<F>) { $n += length } print \"$n\\n\"; print `echo from perl`; "
            "open G, \">made\"; print G \"x\" x 9999; close G; rename \"made\", \"renamed\"; print -s \"renamed\", \"\\n\"'",
    "perl-fork": "perl -e 'for (1..5) { if (!fork) { open F, \">f$_\"; print F $_; exit $_ } } while (wait > 0) { $s += $? >> 8 } print $s'",
}
# Read by read(2) alone: their calls on `data` are those that strace counts.
COUNTED = {"cat": "cat data", "dd": "dd if=data of=/dev/null bs=10 2>/dev/null", "tar": "tar cf /dev/null --null data; tar cf x.tar data",
           "gzip": "gzip -c data >/dev/null", "grep": "grep -c 7 data",
           "perl": "perl -e 'open F, \"<data\"; sysread F, $x, 7 for 1..30; sysseek F, 0, 0; 1 while sysread F, $x, 1000'"}


# --- file systems ---------------------------------------------------------------------------------

def remove(folder):
    for root in folder.iterdir():
        run(["umount", "-l", root / "proc"])
    shutil.rmtree(folder, ignore_errors=True)


def systems_folder(made=[]):
    """Where they lie: kept where DFT_SYSTEMS says, else removed at the end."""
    if not made:
        folder = os.environ.get("DFT_SYSTEMS")
        made.append(pathlib.Path(folder or tempfile.mkdtemp(prefix="dft-systems-")).resolve())
        made[0].mkdir(parents=True, exist_ok=True)
        if not folder:
            atexit.register(remove, made[0])
    return made[0]


def bootstrap(system):
    """Makes the file system. One that is there is whole: it gets its name at the end."""
    root = systems_folder() / system.name
    if root.exists():
        return root
    need("debootstrap", "strace", "gcc")
    if os.getuid() != 0:
        pytest.skip("debootstrap and chroot need root")
    unsigned = not (pathlib.Path("/usr/share/keyrings") / system.keyring).exists()
    if unsigned and not os.environ.get("DFT_SYSTEMS_UNSIGNED"):
        pytest.skip(f"the keyring {system.keyring} is not installed; DFT_SYSTEMS_UNSIGNED=1 goes without")
    part = systems_folder() / f"{system.name}.part"
    shutil.rmtree(part, ignore_errors=True)
    done = run(["debootstrap", *(["--no-check-gpg"] if unsigned else []), "--variant=minbase", system.name, part])
    if done.code:
        pytest.skip(f"debootstrap cannot make {system.title}: {(done.out + done.err).decode(errors='replace').splitlines()[-1:]}")
    return part.rename(root)


def tarball(made=[]):
    if not made:
        done = run(["cmake", "--build", BUILD, "--target", "portable"], env={**os.environ, "LC_ALL": "C"})
        if done.code and b"unknown target" in done.out + done.err:
            pytest.skip("this build makes no portable tarball: static libraries are missing (cmake says which)")
        equal(done.code, 0, (done.out + done.err).decode(errors="replace")[-2000:])
        made.append(max(BUILD.glob("dftrace-*-linux-*.tar.gz"), key=lambda path: path.stat().st_mtime))
    return made[0]


def put_proc(root):
    """Mounts /proc, where that is allowed. The mount goes with our own name space."""
    if not (root / "proc" / "self").exists():
        run(["mount", "-t", "proc", "proc", root / "proc"])


def prepare(system, made={}):
    """The root of the system, with the tarball unpacked and the programs built."""
    if system not in made:
        root = bootstrap(system)
        first = run(["chroot", root, "ldd", "--version"], env=environment()).out.decode().splitlines()[0]
        true(first.endswith(system.glibc), f"{system.title} has another C library: {first}")
        top = root / TOP[1:]
        shutil.rmtree(top, ignore_errors=True)
        top.mkdir(parents=True)
        run_checked(["tar", "xzf", tarball(), "--strip-components=1", "-C", top])
        build_programs(root / "opt" / "programs")
        made[system] = root
    return made[system]


# --- programs -------------------------------------------------------------------------------------

def stub(folder, soname, functions):
    """A library to link with, which has the oldest version of each function."""
    source, versions = folder / "stub.c", folder / "stub.map"
    source.write_text("".join(f"void {function}(void) {{ }}\n" for function in functions))
    versions.write_text("GLIBC_2.2.5 { *; };\n")
    run_checked(["gcc", "-w", "-fno-builtin", "-shared", "-nostdlib", f"-Wl,-soname,{soname}", f"-Wl,--version-script={versions}", "-o",
                 folder / soname, source])
    return folder / soname


def build_programs(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    libc = stub(folder, "libc.so.6", ["__libc_start_main", "open", "read", "write", "close", "printf"])
    pthread = stub(folder, "libpthread.so.0", ["pthread_create", "pthread_join"])
    dl = stub(folder, "libdl.so.2", ["dlopen", "dlsym"])
    for name, source, libraries, flags in (("threads", "threads", [pthread], []), ("late", "threads", [dl], ["-DLATE"]),
                                           ("keys", "threads", [dl], ["-DLATE", "-DKEYS"]),
                                           ("newer", "newer", [dl], [])):
        run_checked(["gcc", "-O1", "-D_GNU_SOURCE", "-U_FORTIFY_SOURCE", "-fno-builtin", "-fno-stack-protector", "-o", folder / name,
                     HERE / "programs" / f"{source}.c", *flags, "-nodefaultlibs", *libraries, libc, "-Wl,--allow-shlib-undefined"])


def fill(place):
    shutil.rmtree(place, ignore_errors=True)
    (place / "tree").mkdir(parents=True)
    (place / "data").write_text("".join(f"{n}\n" for n in range(20000)))
    for n in range(30):
        (place / "tree" / str(n)).write_text(f"{n * n}\n" * n)
    for path in (place, *sorted(place.rglob("*"))):
        os.utime(path, (10**9, 10**9))


def inside(root, place, words, **more):
    return run(["chroot", root, "/usr/bin/env", f"PLACE={place}", "sh", "-c", 'cd "$PLACE" && exec "$@"', "sh", *words],
               env=environment(**more))


def files(place):
    return {str(path.relative_to(place)): path.read_bytes() if path.is_file() else b"" for path in sorted(place.rglob("*"))}


def traced(root, place, traces, words):
    return inside(root, place, [f"{TOP}/bin/dftrun", "-o", traces, "--no-summary", "--", *words])


def dftmerge_inside(root, *words):
    done = inside(root, "/", [f"{TOP}/bin/dftmerge", *words])
    equal(done.code, 0, done.err.decode(errors="replace"))
    return done.out


def events(root, traces):
    return [json.loads(line) for line in dftmerge_inside(root, "dump", "--json", traces).decode().splitlines()]


# --- cases ----------------------------------------------------------------------------------------

def check_programs(system):
    """Plain and traced are the same: answers, messages, ends, files."""
    root = prepare(system)
    put_proc(root)
    for name, line in PROGRAMS.items():
        outcomes = []
        for how in ("plain", "traced"):
            fill(root / "work")
            words = ["sh", "-c", line]
            shutil.rmtree(root / "traces", ignore_errors=True)
            done = inside(root, "/work", words) if how == "plain" else traced(root, "/work", "/traces", words)
            outcomes.append((done.code, done.out, done.err, files(root / "work")))
        for got, expected, what in zip(outcomes[1], outcomes[0], ("exit code", "output", "messages", "files")):
            equal(got, expected, f"{name}: {what}")
        true(any((root / "traces").glob("*.dft")), f"{name}: no trace")
        equal(list((root / "traces").glob("*.live")), [], f"{name}: live files")
        check = inside(root, "/", [f"{TOP}/bin/dftmerge", "check", "/traces"])
        equal(check.code, 0, f"{name}: dftmerge check: {(check.out + check.err).decode()}")


def counts_of_strace(root, line):
    """How often the program reads the file `data`, as the kernel is asked."""
    log = root / "work" / "strace.log"
    done = run(["strace", "-f", "-qq", "-o", log, "-e", "trace=read", "-P", root / "work" / "data", "chroot", root, "sh", "-c",
                f"cd /work && {line}"], env=environment())
    if done.code and b"ptrace" in done.err:
        pytest.skip("strace may not trace here")
    return len(re.findall(r"read\(", log.read_text()))


def check_counts(system):
    root = prepare(system)
    put_proc(root)
    need("strace")
    for name, line in COUNTED.items():
        fill(root / "work")
        expected = counts_of_strace(root, line)
        true(expected > 1, f"{name}: strace saw {expected} reads")
        fill(root / "work")
        shutil.rmtree(root / "traces", ignore_errors=True)
        equal(traced(root, "/work", "/traces", ["sh", "-c", line]).code, 0, f"{name}: exit code")
        got = sum(event["name"] == "read" and event["file"] == "/work/data" for event in events(root, "/traces"))
        equal(got, expected, f"{name}: reads of data")


def check_threads(system):
    """With libpthread from the start, and with one that is loaded later. The state of an ended thread serves the next,
    but where the program has the first keys."""
    root = prepare(system)
    put_proc(root)
    for name in ("threads", "late", "keys"):
        fill(root / "work")
        shutil.rmtree(root / "traces", ignore_errors=True)
        done = traced(root, "/work", "/traces", [f"/opt/programs/{name}"])
        equal((done.code, done.err), (0, b""), name)
        equal((root / "work" / "written").read_bytes(), b"x" * 1005, f"{name}: what was written")
        calls = collections.Counter(event["name"] for event in events(root, "/traces") if event["file"] == "/work/written")
        equal(calls, {"open": 201, "write": 1005, "close": 201}, f"{name}: calls")
        true(name == "keys" or int(done.out) < GROWN_MOST, f"{name}: grown by {done.out} pages")


def check_newer(system):
    """Functions that the C library lacks, and a program finds in ours."""
    root = prepare(system)
    put_proc(root)
    for how in ("plain", "traced"):
        fill(root / "work")
        shutil.rmtree(root / "traces", ignore_errors=True)
        done = inside(root, "/work", ["/opt/programs/newer"]) if how == "plain" else traced(root, "/work", "/traces", ["/opt/programs/newer"])
        equal((done.code, done.out, done.err), (0, b"", b""), how)


def check_tools(system):
    """The static dftmerge answers there what the build's own answers here; dftrun says what it cannot do."""
    root = prepare(system)
    put_proc(root)
    fill(root / "work")
    shutil.rmtree(root / "traces", ignore_errors=True)
    equal(traced(root, "/work", "/traces", ["sh", "-c", PROGRAMS["pipes"]]).code, 0, "exit code")
    for words in (["summary", "--json"], ["summary", "--csv", "--by", "file,name"], ["dump", "--json"], ["timeline", "--json"]):
        here = run([BUILD / "bin" / "dftmerge", *words, root / "traces"])
        equal(here.code, 0, here.err)
        there = dftmerge_inside(root, *words, "/traces")
        equal(there, here.out.replace(str(root).encode(), b""), " ".join(words))
    gpu = root / "dev" / "nvidiactl"
    gpu.touch()
    done = inside(root, "/work", [f"{TOP}/bin/dftrun", "--node", "-o", "/traces/node", "--no-summary", "--", "true"])
    gpu.unlink()
    equal(done.code, 0, done.err)
    true(b"GPUs are not sampled" in done.err and b"statically linked" in done.err, done.err)


def check_weave(system):
    """libffi of another version, loaded by what that C library has to load it."""
    root = prepare(system)
    put_proc(root)
    if not list(root.glob("usr/lib/x86_64-linux-gnu/libffi.so.*")):
        pytest.skip("this file system has no libffi")
    fill(root / "work")
    shutil.rmtree(root / "traces", ignore_errors=True)
    (root / "work" / "rules.weave").write_text("libselinux.so*  int is_selinux_enabled(void)  cat=SELINUX\n")
    done = run(["chroot", root, "/usr/bin/env", "DFTRACER_WEAVE=/work/rules.weave", f"{TOP}/bin/dftrun", "-o", "/traces", "--no-summary", "--",
                "cp", "-a", "/work/data", "/work/copy"], env=environment())
    equal((done.code, done.err), (0, b""), "cp")
    regions = [event for event in events(root, "/traces") if event["cat"] == "SELINUX"]
    true(regions and all(event["args"] == {"ret": 0} for event in regions), f"regions: {regions}")


def check_stacks(system):
    """Before 2.35 the C library does not tell which library an address lies in."""
    root = prepare(system)
    put_proc(root)
    fill(root / "work")
    shutil.rmtree(root / "traces", ignore_errors=True)
    done = inside(root, "/work", [f"{TOP}/bin/dftrun", "--stack", "8", "-o", "/traces", "--no-summary", "--", "cat", "data"])
    equal((done.code, done.err), (0, b""), "cat")
    stacks = [event.get("stack", []) for event in events(root, "/traces") if event["name"] == "read"]
    true(stacks and all(len(stack) >= 2 and any("libc_start_main" in frame for frame in stack) for stack in stacks), f"stacks: {stacks[:3]}")


def check_bare(system):
    """Without /proc."""
    root = prepare(system)
    run(["umount", root / "proc"])
    fill(root / "work")
    shutil.rmtree(root / "traces", ignore_errors=True)
    done = traced(root, "/work", "/traces", ["dd", "if=data", "of=copy", "bs=1000"])
    equal(done.code, 0, done.err)
    equal((root / "work" / "copy").read_bytes(), (root / "work" / "data").read_bytes(), "what dd wrote")
    writes = sum(event["name"] == "write" and event["file"].endswith("copy") for event in events(root, "/traces"))
    equal(writes, (len((root / "work" / "data").read_bytes()) + 999) // 1000, "writes of dd")


@pytest.fixture(scope="module", autouse=True)
def mounts_of_its_own():
    """They vanish with the test."""
    if os.getuid() == 0 and ctypes.CDLL(None).unshare(CLONE_NEWNS) == 0:
        run(["mount", "--make-rprivate", "/"])


@pytest.mark.parametrize("check", (check_programs, check_counts, check_threads, check_newer, check_tools, check_weave, check_stacks, check_bare),
                         ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_system(system, check):
    check(system)
