# SPDX-License-Identifier: MIT
"""dftrun --doctor: each planted trouble is found and named, with what to do; a healthy set-up has nothing wrong."""

import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios

import pytest

from tracing import BUILD, DFTMERGE, DFTRUN, LIBRARY, ROOT, SECONDS, environment, equal, need, run, true

try:
    import jsonschema
except ImportError:  # the list is held against what is printed all the same
    jsonschema = None

SCHEMA = json.loads((ROOT / "docs" / "schema" / "doctor.json").read_text())
SOURCE = "#include <stdio.h>\nint main(void) { fclose(fopen(\"in\", \"r\")); return 7; }\n"
GO = """
asm(".section .note.go.buildid,\\"a\\",@note\\n.long 4\\n.long 4\\n.long 4\\n.asciz \\"Go\\"\\n.byte 0\\n.long 1\\n.previous\\n");
"""


def doctor(directory, *arguments, limits="", **variables):
    """Exit code, verdict, and the checks as (kind, topic, found, advice); the same as in the JSON."""
    words = [DFTRUN, "--doctor", "--json", "doctor.json", *arguments]
    if limits:
        words = ["sh", "-c", f'{limits}; exec "$@"', "sh", *words]
    done = run(words, cwd=directory, env=environment(**variables))
    text = done.out.decode()
    true(text, f"{arguments}: {done}")
    answer = json.loads((directory / "doctor.json").read_text())
    (directory / "doctor.json").unlink()
    if jsonschema:
        jsonschema.validate(answer, SCHEMA)
    checks = [(c["kind"], c["topic"], c["found"], c["advice"]) for c in answer["checks"]]
    lines = text.splitlines()
    equal((lines[0], lines[1]), (answer["verdict"], ""), "the first lines")
    shown = []
    for line in lines[2:]:
        kind, topic, found = re.fullmatch(r"(ok|note|WRONG) +(\S.*?)  +(.*)|.*", line).groups()
        if kind:
            shown.append((kind.lower(), topic, found, None))
        else:
            shown[-1] = (*shown[-1][:3], line.split("-> ", 1)[1])
    equal(shown, checks, "text and JSON")
    equal(done.code, int(any(c[0] == "wrong" for c in checks)), "exit code")
    true(all((c[0] == "ok") == (c[3] is None) for c in checks), f"advice of all that is not ok: {checks}")
    return done, answer["verdict"], checks


def finds(directory, kind, topic, found, advice, *arguments, **more):
    done, verdict, checks = doctor(directory, *arguments, **more)
    true(any(c[0] == kind and c[1] == topic and found in c[2] and advice in (c[3] or "") for c in checks),
         f"{arguments} {more}: no {kind} {topic} '{found}' -> '{advice}' in {done.out.decode()}{done.err.decode()}")
    return done, verdict, checks


def prepare(directory):
    need("gcc")
    (directory / "in").write_text("1")
    (directory / "a.c").write_text(SOURCE)
    (directory / "go.c").write_text(SOURCE + GO)
    run(["gcc", "-o", "dynamic", "a.c"], cwd=directory)
    run(["gcc", "-static", "-o", "static", "a.c"], cwd=directory)
    run(["gcc", "-static", "-Wl,--build-id=none", "-o", "go", "go.c"], cwd=directory)


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)


def test_a_healthy_set_up(directory):
    prepare(directory)
    done, verdict, checks = doctor(directory)
    true(verdict.startswith("Everything is in order") and done.code == 0, verdict)
    true(any(c[1] == "library" and "left a trace" in c[2] for c in checks), f"{checks}")
    release = os.confstr("CS_GNU_LIBC_VERSION")
    if release:
        true(any(c[1] == "system" and c[2].startswith(release + ", Linux ") for c in checks), f"{release}: {checks}")
    done, verdict, checks = finds(directory, "ok", "run", "'./dynamic' ended with exit code 7", "", "--", "./dynamic")
    true(any(c[1] == "trace" and re.match(r"[\d,]+ events? of 1 process$", c[2]) for c in checks), f"{checks}")
    doctor(directory, "--", "sh", "-c", "cd /; cat in; :", TMPDIR=".")
    done, _, checks = doctor(directory, "--", "sh", "-c", "cat in; echo to stderr >&2; echo; cat in")
    equal(done.err.decode().split(), ["1to", "stderr", "1"], "what COMMAND prints goes to standard error")
    equal(sorted(p.name for p in directory.iterdir()), ["a.c", "dynamic", "go", "go.c", "in", "static"], "nothing is left")


def test_usage(directory):
    for arguments, why in ((["--doctor", "--top", "3"], "--doctor and --top"), (["--doctor", "--report", "x"], "--doctor and --report"),
                           (["--doctor", "--quiet", "ls"], "--doctor and --quiet"), (["--doctor", "--json", "-"], "the name of a file"),
                           (["--doctr"], "Did you mean --doctor?")):
        done = run([DFTRUN, *arguments], cwd=directory)
        equal((done.code, done.out), (2, b""), f"{arguments}")
        true(why in done.err.decode(), f"{arguments}: {done.err.decode()}")
    done = run([DFTRUN, "--doctor", "--json", "no/file"], cwd=directory)
    true(done.code == 125 and b"no/file cannot be written" in done.err, f"{done}")


def test_a_command_that_is_not_there(directory):
    (directory / "text").write_text("no program")
    (directory / "progrm").write_text("#!/bin/sh\ntouch it-ran\n")
    script(directory / "strange", "#!/no/such/shell -x\n")
    script(directory / "stranger", "#!/usr/bin/env no-such-language\n")
    for words, found, advice in ((["grpe"], "'grpe' cannot be run: No such file", "Did you mean grep?"), (["./program"], "No such file", "Did you mean ./progrm?"),
                                 (["./text"], "Permission denied", "chmod +x"), (["."], "Permission denied", "directory"), ([""], "No such file", "spelled"),
                                 (["text"], "No such file", "./ before"), (["./strange"], "begins with '#!/no/such/shell -x'", "Install the interpreter"),
                                 (["./stranger"], "no-such-language", "Install the interpreter")):
        _, verdict, checks = finds(directory, "wrong", "COMMAND", found, advice, "--", *words)
        true("cannot be run" in verdict and not any(c[1] == "run" for c in checks), f"{words}: {verdict}")
    true(not (directory / "it-ran").exists(), "nothing has run")


def test_programs_that_cannot_be_traced(directory):
    prepare(directory)
    script(directory / "script", f"#!{directory}/static\n")
    for words, found, advice in ((["./static"], "statically linked", "-static"), (["./go"], "a Go program", "strace"),
                                 (["./script"], "statically linked", "-static"), (["timeout", "9", "./static"], "statically linked", "-static")):
        _, verdict, checks = finds(directory, "wrong", "COMMAND", found, advice, "--", *words)
        true(("cannot be traced" in verdict) and not any(c[1] == "run" for c in checks), f"{words}: {verdict}")
    if os.uname().machine == "x86_64":
        (directory / "musl").write_bytes((directory / "dynamic").read_bytes().replace(b"/ld-linux-x86-64.so.2", b"/ld-musl-x86_64.so.1\0"))
        (directory / "musl").chmod(0o755)
        finds(directory, "wrong", "COMMAND", "musl", "glibc", "--", "./musl")
        other = bytearray((directory / "dynamic").read_bytes())
        other[18:20] = (183).to_bytes(2, "little")  # e_machine: 64-bit ARM
        (directory / "arm").write_bytes(other)
        (directory / "arm").chmod(0o755)
        finds(directory, "wrong", "COMMAND", "another kind of machine", "for this machine", "--", "./arm")
        other[4] = 1  # 32 bits
        (directory / "arm").write_bytes(other)
        finds(directory, "wrong", "COMMAND", "32-bit", "64 bits", "--", "./arm")


def test_a_program_with_other_rights(directory):
    if os.geteuid():
        pytest.skip("only root can make a program of another user's")
    directory.chmod(0o755)
    shutil.copy("/usr/bin/cat", directory / "cat")
    os.chown(directory / "cat", 65534, 65534)
    (directory / "cat").chmod(0o4755)
    finds(directory, "wrong", "COMMAND", "set-user-id", "copy", "--", "./cat", "in")


def test_children_that_cannot_be_traced(directory):
    prepare(directory)
    _, verdict, checks = finds(directory, "wrong", "child", f"{directory}/static was not traced: it is statically linked", "-static",
                               "--", "sh", "-c", "cat in; ./static; ./static; /bin/true; :")
    true(f"{directory}/static" in verdict, verdict)
    equal(sum(c[1] == "child" and "static" in c[2] for c in checks), 1, "each program once")
    true(any(c[:2] == ("note", "child") and "/bin/true" in c[2] for c in checks), f"a program without I/O: {checks}")
    script(directory / "python", f"#!{sys.executable}\nimport subprocess\nsubprocess.run(['./go'], check=False)\n")
    finds(directory, "wrong", "child", "a Go program", "strace", "--", "./python")


def test_no_events(directory):
    prepare(directory)
    finds(directory, "note", "trace", "the library was loaded, and no file I/O was seen in 'true'", "/proc", "--", "true")
    finds(directory, "note", "trace", "without events", "DATA_DIR", "--data-dir", "/nowhere", "--", "cat", "in")
    finds(directory, "note", "run", "was ended by signal 11", "without dftrun", "--", "sh", "-c", "kill -SEGV $$")
    run(["gcc", "-static", "-no-pie", "-o", "loader", "a.c"], cwd=directory)
    run(["gcc", f"-Wl,--dynamic-linker={directory}/loader", "-o", "odd", "a.c"], cwd=directory)
    shutil.copytree(BUILD / "lib", directory / "own" / "lib", ignore=lambda _, names: [n for n in names if n != "libdftrace.so"])
    (directory / "own" / "bin").mkdir()
    for name in ("dftrun", "dftmerge"):
        shutil.copy(BUILD / "bin" / name, directory / "own" / "bin")
    done = run([directory / "own" / "bin" / "dftrun", "--doctor", "--", "./odd"], cwd=directory)  # nobody else opens this library
    true(done.code == 1 and b"WRONG  trace " in done.out and b"the library was not loaded into './odd'" in done.out, f"a strange loader: {done}")


def test_a_program_in_the_background(directory):
    (directory / "in").write_text("1")
    line = "(read line <in; echo >ready; sleep 900; :) >/dev/null 2>&1 & echo $! >pid; while [ ! -s ready ]; do :; done"
    try:
        finds(directory, "note", "trace", "still running", "while they run", "--", "sh", "-c", line)
    finally:
        os.kill(int((directory / "pid").read_text()), signal.SIGKILL)


def test_on_a_terminal(directory):
    ours, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 60, 0, 0))
    for more, colour in (({}, True), ({"NO_COLOR": 1}, False)):
        with subprocess.Popen([DFTRUN, "--doctor", "-o", "/proc/x"], cwd=directory, stdout=terminal, env=environment(TERM="xterm", **more)) as process:
            equal(process.wait(SECONDS), 1, "exit code")
        text = os.read(ours, 65536).decode()
        true(("\033[1;31mWRONG" in text) == colour and "WRONG" in text, text)
        lines = re.sub(r"\033\[[\d;]*m", "", text).split("\r\n")
        true(max(map(len, lines)) <= 60, f"lines fit: {lines}")
        true(all(re.match(r"(ok|note|WRONG) +\S+ +\S| {10,}\S", line) for line in lines[lines.index("") + 1:-1]), f"columns: {lines}")
    os.close(ours)
    os.close(terminal)


def test_odd_input(directory):
    """Nothing crashes, and nothing disturbs the terminal."""
    doctor(directory, **{"DFTRACER_" + "A" * 300: "1"})
    _, _, checks = doctor(directory, "--", "\033[1m\x01", DFTRACER_X="\033[1m\n\x01" + "7" * 5000, DFTRACER_="1", LD_PRELOAD="x" * 5000, DFTRACER_DATA_DIR=":::/" + "a" * 5000)
    true(not any(ord(c) < 32 for check in checks for text in check if text for c in text), f"{checks}")
    for place in ("/tmp/" + "a" * 5900, "a" * 300):
        done = run([DFTRUN, "--doctor", "-o", place], cwd=directory)
        true(done.code in (1, 125) and b"File name too long" in done.out + done.err, f"{done}")
    doctor(directory, "--", "a" * 5000)
    finds(directory, "note", "library", "could not be tried", "TMPDIR", TMPDIR="/no/where")
    finds(directory, "note", "library", "`cat` cannot show whether it works: it is not there", "a program of yours", PATH="/no/where")
    with open("/dev/full", "w") as full:
        done = subprocess.run([DFTRUN, "--doctor"], cwd=directory, env=environment(), stdout=full, stderr=subprocess.PIPE, check=False)
    true(done.returncode == 125 and b"cannot be printed: No space left" in done.stderr, f"{done}")
    done = run([DFTRUN, "--doctor", "--", "cat", "in"], cwd=directory, env={})
    true(b"ok     library " in done.out, f"an empty environment: {done}")


def test_who_cleans_the_environment(directory):
    (directory / "in").write_text("1")
    script(directory / "script", "#!/bin/sh\ncat in\nexec env -i cat in\n")
    _, verdict, _ = finds(directory, "wrong", "environment", "'env -i' in the command", "DFTRACER_FOLLOW_EXEC=1", "--", "env", "-i", "cat", "in")
    true("is not traced" in verdict, verdict)
    _, verdict, checks = finds(directory, "note", "environment", "'env -i' in ./script", "DFTRACER_FOLLOW_EXEC=1", "--", "./script")
    true(re.match(r"Everything is in order, but for \d notes: environment: 'env -i' in ./script takes LD_PRELOAD away", verdict), verdict)
    true(any(c[1] == "child" and re.fullmatch(r"1 program left no trace: what .*env ran", c[2]) for c in checks), f"{checks}")
    true(any(c[1] == "trace" and c[2].endswith(" of 2 processes") for c in checks), f"a process that runs several programs is one: {checks}")
    finds(directory, "wrong", "environment", "'unset LD_PRELOAD'", "dftrun", "--", "sh", "-c", "unset LD_PRELOAD; cat in")
    script(directory / "sudo", "#!/bin/sh\n")
    finds(directory, "wrong", "environment", "'sudo' in the command", "sudo dftrun", "--", "sh", "-c", "sudo cat in")
    done, verdict, _ = doctor(directory, "--", "env", "-i", "cat", "in", DFTRACER_FOLLOW_EXEC=1)
    true(done.code == 0, f"what it advises helps: {done.out.decode()}")
    (directory / "conda" / "etc" / "conda" / "activate.d").mkdir(parents=True)
    (directory / "conda" / "etc" / "conda" / "activate.d" / "a.sh").write_text("unset LD_PRELOAD\n")
    finds(directory, "note", "conda", "a.sh", "after the activation", "--", "cat", "in", CONDA_PREFIX=directory / "conda")


def test_who_runs_programs_elsewhere(directory):
    """None of these is run, but launchers."""
    for name in ("docker", "apptainer", "kubectl", "ssh", "sbatch", "mpirun", "srun"):
        script(directory / name, "#!/bin/sh\ntouch it-ran\n")
    for name, found, advice in (("docker", "in a container", "--container docker"), ("apptainer", "in a container", "--container apptainer"),
                                ("kubectl", "other machines", "--container kubernetes"), ("ssh", "another machine", "ssh HOST dftrun"),
                                ("sbatch", "a service", "into the script")):
        _, verdict, _ = finds(directory, "wrong", "COMMAND", found, advice, "--", f"./{name}", "run", "image", "ls")
        true("is not traced" in verdict and not (directory / "it-ran").exists(), verdict)
        doctor(directory, "--", "timeout", "5", f"./{name}", "run", "image", "ls")
        true(not (directory / "it-ran").exists(), f"{name} behind another program")
    for name in ("mpirun", "srun"):
        finds(directory, "note", "COMMAND", "", f"{name} ", "--", f"./{name}", "-n", "2", "./app")
        true((directory / "it-ran").exists(), "launchers run")
        (directory / "it-ran").unlink()
        done, _, _ = finds(directory, "ok", "COMMAND", "is told what to trace", "", "--", f"./{name}", "-n", "2", "dftrun", "./app")
        true(done.code == 0, done.out.decode())
    done, _, _ = doctor(directory, "--", "./docker", "run", "--env", f"LD_PRELOAD={LIBRARY}", "image", "ls")
    equal(done.code, 0, "flags that name the library")
    script(directory / "script", "#!/bin/sh\n# docker\n./docker run\n")
    finds(directory, "note", "COMMAND", "'docker' runs its program in a container", "--container", "--", "./script")
    finds(directory, "note", "python", "'-I'", "all the same", "--", "python3", "-I", "-c", "1")


def test_variables(directory):
    for name, value, found, advice in (("DFTRACER_TIME_METRIC", "MINUTES", "MINUTES: the value is not understood", "Correct it"),
                                       ("DFTRACER_ENABLE", "ture", "neither yes nor no", "Set it to 1"), ("DFTRACER_DISABLE_IO", "1", "annotations alone", "Unset it"),
                                       ("DFTRACER_LIVE_DIR", "/proc/x", "No such file", "or unset it"), ("DFTRACER_LOG_LEVEL", "LOUD", "not understood", "Correct it"),
                                       ("DFTRACER_CONFIGURATION", "/none.yaml", "No such file", "Correct it"), ("DFTRACER_STACK", "-1", "not understood", "Correct it")):
        finds(directory, "wrong", name, found, advice, **{name: value})
    for name, nearest in (("DFTRACER_STAK", "DFTRACER_STACK"), ("DFTRACE_ENABEL", "DFTRACER_ENABLE"), ("DFTRACER_DATA_DRI", "DFTRACER_DATA_DIR")):
        _, verdict, checks = finds(directory, "wrong", "variable", f"{name}=1", f"Did you mean {nearest}?", **{name: 1})
        equal(str(checks).count(nearest), 1, f"the nearest name is told once: {checks}")
    _, verdict, _ = doctor(directory, DFTRACER_STAK=1, DFTRACER_STACK="x")
    true(verdict.startswith("Something is wrong: ") and verdict.endswith("; and 1 more"), verdict)
    finds(directory, "wrong", "DFTRACER_MAX_TRACE_BYTES", "no events to stop", "Correct it", DFTRACER_MAX_TRACE_BYTES=1 << 20, DFTRACER_ENABLE_AGGREGATION=1)
    finds(directory, "note", "variable", "DFTRACER_GOTCHA_PRIORITY=1", "DFTracer", DFTRACER_GOTCHA_PRIORITY=1)
    finds(directory, "note", "DFTRACER_ENABLE", "0", "LD_PRELOAD alone", DFTRACER_ENABLE=0)
    finds(directory, "note", "DFTRACER_DATA_DIR", "/no/where", "Correct the path", DFTRACER_DATA_DIR="/no/where:all")
    finds(directory, "ok", "DFTRACER_STACK", "5", "", DFTRACER_STACK=5)
    finds(directory, "wrong", "DFTRACER_TIME_METRIC", "not understood", "Correct it", DFTRACER_TIME_METRIC="MINUTES", SLURM_PROCID=3, DFTRACER_ENABLE=0)


def test_what_is_preloaded(directory):
    need("gcc")
    finds(directory, "wrong", "LD_PRELOAD", "/no/such.so: No such file", "Correct the path", LD_PRELOAD="/no/such.so")
    finds(directory, "wrong", "LD_PRELOAD", "libnosuch.so: cannot open shared object file", "Give its path", LD_PRELOAD="libnosuch.so")
    (directory / "other.c").write_text("int other(void);\nint other(void) { return 1; }\n")
    run(["gcc", "-shared", "-fPIC", "-o", "libdarshan.so", "other.c"], cwd=directory)
    finds(directory, "note", "LD_PRELOAD", "Darshan", "take it out", LD_PRELOAD=directory / "libdarshan.so")
    finds(directory, "ok", "LD_PRELOAD", str(LIBRARY), "", LD_PRELOAD=LIBRARY)
    shutil.copy(LIBRARY, directory / "libdftrace.so")
    finds(directory, "note", "LD_PRELOAD", "another library than", "Take it out", LD_PRELOAD=directory / "libdftrace.so")
    finds(directory, "ok", "LD_LIBRARY_PATH", "/somewhere", "", LD_LIBRARY_PATH="/somewhere")


def test_the_directory(directory):
    (directory / "file").write_text("")
    for place, found, advice in (("file/deep", "Not a directory", "is a file"), ("/proc/x", "No such file", "-o")):
        _, verdict, _ = finds(directory, "wrong", "directory", found, advice, "-o", place)
        true(place in verdict and found in verdict, verdict)
    done = run([DFTRUN, "--doctor"], cwd="/")
    true(re.search(r"directory +(no trace can be written to ')?/traces", done.out.decode()), f"a directory of / has one slash: {done}")
    finds(directory, "note", "directory", "tmpfs", "copy", "-o", "/dev/shm/dftrun-doctor-test")
    true(not os.path.exists("/dev/shm/dftrun-doctor-test"), "it is not made")
    if os.geteuid() == 0 and shutil.which("setpriv"):
        (directory / "closed").mkdir(mode=0o700)
        directory.chmod(0o755)
        done = run(["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", DFTRUN, "--doctor", "-o", "closed/t"], cwd=directory)
        true(done.code in (1, 126) and (done.code == 126 or b"Permission denied" in done.out), f"{done}")


def test_full_and_read_only_disks(directory):
    disk = directory / "disk"
    disk.mkdir()
    if run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]).code:
        pytest.skip("no file system can be mounted here")
    try:
        finds(directory, "note", "directory", " KiB are free", "free some space", "-o", "disk/t")
        run(["sh", "-c", "cat /dev/zero > disk/filler"], cwd=directory)
        finds(directory, "wrong", "directory", "No space left", "Free space", "-o", "disk")
        (disk / "filler").unlink()
        run(["mount", "-o", "remount,nr_inodes=20", disk])
        finds(directory, "note", "directory", "more files fit", "remove some", "-o", "disk/t")
        run(["mount", "-o", "remount,ro", disk])
        finds(directory, "wrong", "directory", "Read-only", "-o", "-o", "disk/t")
    finally:
        run(["umount", "-l", disk])


def test_low_limits(directory):
    finds(directory, "note", "limits", "open files: 20", "ulimit -n", limits="ulimit -n 20")
    finds(directory, "note", "limits", "file size: 1.00 MiB, which is low", "ulimit -f", limits="ulimit -f 2048")
    finds(directory, "note", "limits", "address space: 195 MiB, which is low", "ulimit -v", limits="ulimit -v 200000")


def installed(directory, *names):
    place = directory / "opt"
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BUILD / name, place / name)
    return place


def test_the_library(directory):
    place = installed(directory, "bin/dftrun", "bin/dftmerge")
    done = run([place / "bin" / "dftrun", "--doctor", "--", "ls"], cwd=directory)
    if not os.path.exists("/usr/local/lib/libdftrace.so"):
        true(done.code == 1 and re.search(r"WRONG +library .*libdftrace.so is not around", done.out.decode()), f"{done}")
    (place / "lib").mkdir()
    (place / "lib" / "libdftrace.so").write_text("no library\n" * 100)
    done = run([place / "bin" / "dftrun", "--doctor", "--", "ls"], cwd=directory)
    true(done.code == 1 and re.search(r"WRONG +library .*does not get into `cat`: .*invalid ELF header", done.out.decode()), f"{done}")
    shutil.rmtree(place / "lib")
    (directory / "noexec").mkdir()
    if run(["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", directory / "noexec"]).code:
        pytest.skip("no file system can be mounted here")
    try:
        shutil.copy(LIBRARY, directory / "noexec")
        (place / "lib").symlink_to(directory / "noexec")
        done = run([place / "bin" / "dftrun", "--doctor"], cwd=directory)
        true(done.code == 1 and re.search(r"WRONG +library .*noexec", done.out.decode()), f"{done}")
    finally:
        run(["umount", "-l", directory / "noexec"])
    place = installed(directory / "a b", "bin/dftrun", "lib/libdftrace.so")
    done = run([place / "bin" / "dftrun", "--doctor"], cwd=directory)
    true(done.code == 1 and b"a space or a colon" in done.out, f"{done}")


def test_who_points_to_it(directory):
    (directory / "empty").mkdir()
    done = run([DFTMERGE, directory / "empty"])
    true(done.code == 1 and b"dftrun --doctor -- COMMAND" in done.err, f"{done}")
    (directory / "in").write_text("1")
    done = run([DFTRUN, "--data-dir", "/nowhere", "--quiet", "cat", "in"], cwd=directory)
    done = run([DFTMERGE, "dump", "traces"], cwd=directory)
    true(done.code == 0 and b"dftrun --doctor -- COMMAND" in done.err, f"a trace without events: {done}")
    done = run([DFTRUN, "true"], cwd=directory)
    true(b"More: dftrun --doctor -- COMMAND" in done.err, f"{done}")
