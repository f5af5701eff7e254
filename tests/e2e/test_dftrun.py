# SPDX-License-Identifier: MIT
"""dftrun: the program's output, exit code and signals are its own; the summary goes to standard error."""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from tracing import (BUILD, DFTRUN, LIBRARY, SECONDS, dump, environment, equal, need, run, traces,
                     true)


def dftrun(directory, *arguments, **more):
    return run([DFTRUN, *arguments], cwd=directory, **more)


def test_traces_and_prints_a_summary(directory):
    (directory / "in").write_text("some text\n")
    done = dftrun(directory, "-o", "out", "--", "cp", "--reflink=never", "in", "copy")
    equal((done.code, done.out), (0, b""), "exit code and standard output")
    true(b"Calls" in done.err and b" by time\n" in done.err and b"out" in done.err, f"the summary, on standard error: {done.err.decode()}")
    equal((directory / "copy").read_text(), "some text\n", "what cp did")
    true(any(e.get("file") == str(directory / "in") for e in dump(directory / "out")), "the trace")


def test_output_stays_the_programs_own(directory):
    done = dftrun(directory, "--no-summary", "--", "sh", "-c", "echo to stdout; echo to stderr >&2; cat",
                  stdin=b"from stdin")
    equal((done.code, done.out, done.err), (0, b"to stdout\nfrom stdin", b"to stderr\n"), "code and output")
    true(traces(directory / "traces"), "the default directory is traces")


def test_exit_codes_pass_through(directory):
    for code in (0, 1, 2, 7, 125, 126, 127, 255):
        equal(dftrun(directory, "--no-summary", "sh", "-c", f"exit {code}").code, code, "exit code")
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGPIPE):
        done = dftrun(directory, "--no-summary", "sh", "-c", f"kill -{int(number)} $$")
        equal(done.code, -number, "the signal that it died of")
    equal(dftrun(directory, "no-such-program").code, 127, "a program that is not there")
    (directory / "text").write_text("no program")
    equal(dftrun(directory, "./text").code, 126, "a file that cannot be run")


def test_usage(directory):
    for arguments, why in (([], "dftrun -- ls"), (["--"], "which command"), (["--no-such-option", "ls"], "--help"),
                           (["--stack=many", "ls"], "number of frames"), (["--stack", "129", "ls"], "at most 128"),
                           (["-o"], "--help"), (["-o", "", "ls"], "-o . is the working directory"), (["--top", "x", "ls"], "number"),
                           (["--quiet", "--by", "file", "ls"], "--quiet and --by"), (["--json", "-", "ls"], "the name of a file"),
                           (["--no-summary", "--top", "3", "ls"], "--no-summary and --top"),
                           (["--stack", "--aggregate", "ls"], "--stack and --aggregate"), (["--json", ".", "ls"], "directory"),
                           (["--report", "-", "ls"], "the name of a file"), (["--report", ".", "ls"], "directory"),
                           (["--json", "x", "--report", "x", "ls"], "--json and --report"),
                           (["--outptu", "x", "ls"], "there is no option --outptu. Did you mean --output?"),
                           (["--quiet=1", "ls"], "--quiet takes no value"), (["-xq", "ls"], "no option -x"),
                           (["--by", "fiel", "touch", "it-ran"], "fiel")):
        done = dftrun(directory, *arguments)
        equal((done.code, done.out), (2, b""), f"usage: {arguments}")
        true(why in done.err.decode(), f"{arguments}: {done.err.decode()}")
    done = dftrun(directory, "--version")
    true(done.code == 0 and done.out.startswith(b"dftrun ") and not done.err, f"--version: {done}")
    done = dftrun(directory, "--help")
    equal((done.code, done.err), (0, b""), "--help")
    true(b"Example" in done.out and b"dftrun -o" in done.out, "--help has an example")
    equal(list(directory.iterdir()), [], "files left")


def test_options_reach_the_program(directory):
    done = dftrun(directory, "-o", "a b/c", "--data-dir", "/x:!/x/y", "--stack", "5", "--no-summary", "--", "env",
                  env=environment(DFTRACER_ENABLE_AGGREGATION=1))
    settings = dict(line.split("=", 1) for line in done.out.decode().splitlines()
                    if line.startswith(("DFTRACER_", "LD_")))
    prefix = settings.pop("DFTRACER_LOG_FILE")
    true(prefix.startswith(str(directory / "a b/c") + "/"), f"DFTRACER_LOG_FILE is {prefix}")
    true(settings.pop("DFTRACER_RUN_ID"), "DFTRACER_RUN_ID")
    equal(settings, {"DFTRACER_ENABLE": "1", "DFTRACER_ENABLE_AGGREGATION": "0", "DFTRACER_DATA_DIR": "/x:!/x/y",
                     "DFTRACER_STACK": "5", "LD_PRELOAD": str(LIBRARY.resolve())}, "the program's environment")


def test_how_many_frames(directory):
    for options, frames in ((["--stack"], "16"), (["--stack=3"], "3"), (["--stack", "3"], "3"), (["--stack", "128"], "128"), (["--aggregate"], "")):
        done = dftrun(directory, *options, "--quiet", "sh", "-c", "echo $DFTRACER_STACK $DFTRACER_ENABLE_AGGREGATION")
        equal(done.out.decode().split(), [frames, "0"] if frames else ["1"], f"{options}")


def test_the_page_has_the_asked_shape(directory):
    (directory / "in").write_text("1")
    done = dftrun(directory, "--by", "file,name", "--top", "1", "cat", "in")
    true(b"/in " in done.err and b"(the first 1 of " in done.err, f"--by file,name --top 1: {done.err.decode()}")
    done = dftrun(directory, "--by", "file,name", "--top", "0", "sh", "-c", "cat in; exit 7")
    true(done.code == 7 and b"/in " in done.err and b"the first" not in done.err, f"--top 0 is all of them: {done}")
    for wrong in (["--top", "99999999999"], ["--by", "file,fiel"]):
        done = dftrun(directory, *wrong, "touch", "it-ran")
        equal((done.code, (directory / "it-ran").exists()), (2, False), f"{wrong} is refused before the program runs")


def test_report_of_the_page(directory):
    (directory / "in").write_bytes(b"x" * 4096)
    done = dftrun(directory, "--report", "page.html", "sh", "-c", "cat in; exit 3")
    equal(done.code, 3, "the exit code is the command's")
    true(b"Report: page.html" in done.err, done.err.decode())
    true(b'id="dftrace-data"' in (directory / "page.html").read_bytes(), "the page")
    done = dftrun(directory, "--quiet", "--report", "page.html", "cat", "in")
    equal(done.err, b"", "nothing is printed")
    equal(sorted(p.name for p in directory.iterdir()), ["in", "page.html", "traces"], "what is there")
    done = dftrun(directory, "cat", "in")
    true(b"To look at: dftmerge report -o report.html " in done.err, done.err.decode())
    done = dftrun(directory, "--report", "no/page.html", "touch", "it-ran")
    equal((done.code, (directory / "it-ran").exists()), (125, False), "nothing ran")
    true(b"no/page.html" in done.err, done.err.decode())
    done = run(["sh", "-c", 'exec "$0" --quiet --report closed.html cp in copy >&-', DFTRUN], cwd=directory)
    equal((done.err, (directory / "closed.html").exists()), (b"", True), "without a standard output")
    with (directory / "log").open("wb") as log:
        subprocess.run([DFTRUN, "--quiet", "--report", "/dev/stdout", "--json", "/dev/fd/1", "cat", "in"], cwd=directory, stdout=log, check=True)
    log = (directory / "log").read_bytes()
    true(log.startswith(b"x" * 4096 + b"{") and b'id="dftrace-data"' in log, "all goes where the program's output went")
    for path, command in (("/dev/full", "cat in"), ("page.html", "cat in; rm page.html; mkdir page.html")):
        done = dftrun(directory, "--report", path, "sh", "-c", command)
        true(f"{path} was not written".encode() in done.err and b"Report: " not in done.err, done.err.decode())


def test_json_of_the_page(directory):
    (directory / "in").write_text("1")
    done = dftrun(directory, "--json", "page.json", "sh", "-c", "cat in; exit 3")
    equal((done.code, done.out), (3, b"1"), "code and output")
    true(b"Calls" in done.err and b" by time\n" in done.err, f"the page: {done.err.decode()}")
    page = json.loads((directory / "page.json").read_text())
    true(page["processes"] >= 2 and "findings" in page and page["calls"] and page["files"], "the page in JSON")
    done = dftrun(directory, "--quiet", "--json", "page.json", "cat", "in")
    equal((done.code, done.out, done.err), (0, b"1", b""), "--quiet")
    equal(json.loads((directory / "page.json").read_text())["processes"], 1, "the file is replaced")
    equal(sorted(p.name for p in directory.iterdir()), ["in", "page.json", "traces"], "what is there")
    done = dftrun(directory, "--json", "no/page.json", "touch", "it-ran")
    equal((done.code, (directory / "it-ran").exists()), (125, False), "a folder that is not there")
    true(b"no/page.json" in done.err, done.err.decode())
    os.mkfifo(directory / "pipe")
    with subprocess.Popen(["cat", "pipe"], cwd=directory, stdout=subprocess.PIPE) as reader:
        dftrun(directory, "--quiet", "--json", "pipe", "cat", "in")
        equal(json.loads(reader.stdout.read())["processes"], 1, "JSON through a pipe")


def run_id(directory, **variables):
    done = dftrun(directory, "--no-summary", "--", "sh", "-c", "echo $DFTRACER_RUN_ID", env=environment(**variables))
    return done.out.decode().strip()


def test_each_run_has_an_identity(directory):
    """Unique, inherited, and the same for all ranks of a launch, where the launcher names it."""
    first, second = run_id(directory), run_id(directory)
    true(first and second and first != second, f"two runs: {first}, {second}")
    equal(run_id(directory, DFTRACER_RUN_ID="mine"), "mine", "inside another dftrun")
    for rank in "01":
        equal(run_id(directory, PMIX_RANK=rank, PMIX_NAMESPACE="prterun-7@1", SLURM_JOB_ID="4"), "prterun-7@1", "under mpirun")
        equal(run_id(directory, SLURM_PROCID=rank, SLURM_JOB_ID="4", SLURM_STEP_ID="2"), "4.2", "a step of Slurm's")
        equal(run_id(directory, PMI_RANK=rank), "", "a launcher that names nothing")
    true(run_id(directory, SLURM_JOB_ID="4", PMIX_NAMESPACE="x") not in ("4", "x"), "no rank: a run of its own")


def test_two_runs_in_one_folder(directory):
    """The page at the end is of this run alone, whatever is there; children are of the run of their parents."""
    (directory / "in").write_text("some text\n")
    for done in (dftrun(directory, "--", "sh", "-c", "cat in; sh -c 'cat in; :'; :") for _ in range(2)):
        true(b"counted together" not in done.err and b"newest of" not in done.err, done.err.decode())
    page = run([BUILD / "bin" / "dftmerge", directory / "traces"])
    true(b", the newest of 2 (" in page.out, page.out.decode())
    processes = json.loads(run([BUILD / "bin" / "dftmerge", "ps", "--json", directory / "traces"]).out)["processes"]
    counts = collections.Counter(p["run"] for p in processes)
    true(len(counts) == 2 and None not in counts and len(set(counts.values())) == 1 and len(processes) >= 4, f"{counts}")


def test_preloads_of_others_stay(directory):
    need("gcc")
    (directory / "other.c").write_text("int other(void);\nint other(void) { return 1; }\n")
    run(["gcc", "-shared", "-fPIC", "-o", "other.so", "other.c"], cwd=directory)
    done = dftrun(directory, "--no-summary", "--", "sh", "-c", "echo $LD_PRELOAD",
                  env=environment(LD_PRELOAD=directory / "other.so"))
    equal(done.out.decode().strip(), f"{LIBRARY.resolve()}:{directory / 'other.so'}", "LD_PRELOAD")


def test_another_copy_of_the_library_is_left_out(directory):
    copy, link = shutil.copy(LIBRARY, directory / "libdftrace.so"), directory / "libdftrace.so.1"
    link.symlink_to(LIBRARY)
    (directory / "in").write_text("some\nlines\n")
    for quiet in ((), ("-q",)):
        done = dftrun(directory, "--no-summary", *quiet, "--", "sh", "-c", "echo $LD_PRELOAD; cat in", env=environment(LD_PRELOAD=f"{copy}:{link}"))
        equal(done.out.decode(), f"{LIBRARY.resolve()}\nsome\nlines\n", "LD_PRELOAD")
        equal(done.err.decode(), "" if quiet else f"dftrun: LD_PRELOAD names another copy of the library: {copy} is left out\n", "what is said")


def test_two_runs_in_one_directory_are_told_apart(directory):
    (directory / "first").write_text("1")
    (directory / "second").write_text("2")
    dftrun(directory, "cat", "first")
    done = dftrun(directory, "cat", "second")
    true(re.search(b"^second ", done.err, re.M) and not re.search(b"^first ", done.err, re.M),
         f"the summary is of the second run alone: {done.err.decode()}")
    files = {e.get("file") for e in dump(directory / "traces")}
    true({str(directory / "first"), str(directory / "second")} <= files, "both are in the directory")


def test_a_directory_with_glob_characters(directory):
    (directory / "in").write_text("1")
    done = dftrun(directory, "-o", "a[1]*?\\x", "cat", "in")
    equal((done.code, done.out), (0, b"1"), "code and output")
    true(b"Calls" in done.err and b" by time\n" in done.err, f"the summary: {done.err.decode()}")


def test_signals_are_passed_on(directory):
    script = "trap 'echo got it; exit 9' TERM INT USR1; echo ready; while :; do sleep 0.05; done"
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        process = subprocess.Popen([DFTRUN, "--no-summary", "--", "sh", "-c", script], cwd=directory, env=environment(),
                                   stdout=subprocess.PIPE)
        equal(process.stdout.readline(), b"ready\n", "the program's first word")
        process.send_signal(number)
        equal((process.stdout.read(), process.wait(SECONDS)), (b"got it\n", 9), f"after {number.name}")


def is_pending(pid, number):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        masks = [int(line.split()[1], 16) for line in status if line.startswith(("SigPnd", "ShdPnd"))]
    return any(mask >> number - 1 & 1 for mask in masks)


def test_a_terminals_interrupt_arrives_once(directory):
    """Ctrl-C goes to the whole process group: passing it on as well would make it two."""
    script = ("import signal\n"
              "wanted = {signal.SIGINT, signal.SIGUSR1}\n"
              "signal.pthread_sigmask(signal.SIG_BLOCK, wanted)\n"
              "print('ready', flush=True)\n"
              "count = 0\n"
              "while signal.sigwait(wanted) == signal.SIGINT:\n"
              "    count += 1\n"
              "    print('it came', flush=True)\n"
              "print('interrupts', count, flush=True)\n")
    pid, terminal = os.forkpty()
    if pid == 0:
        os.chdir(directory)
        os.execve(DFTRUN, [str(DFTRUN), "--no-summary", "--", sys.executable, "-S", "-c", script], environment())
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 1000)
    os.kill(pid, signal.SIGSTOP)  # so that two would not become one before the program has had the first
    os.waitpid(pid, os.WUNTRACED)
    os.write(terminal, b"\x03")
    while b"it came" not in seen:
        seen += os.read(terminal, 1000)
    os.kill(pid, signal.SIGCONT)
    while is_pending(pid, signal.SIGINT):
        pass
    os.kill(pid, signal.SIGUSR1)  # passed on behind whatever it has made of the interrupt
    try:
        while b"interrupts" not in seen or not seen.endswith(b"\n"):
            seen += os.read(terminal, 1000)
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    true(b"interrupts 1" in seen, f"what it printed: {seen}")
    equal(os.waitstatus_to_exitcode(status), 0, "exit code")


def test_rank_0_speaks_where_the_launcher_tells_only_ranks(directory):
    (directory / "in").write_text("1")
    for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "FLUX_TASK_RANK",
                 "MV2_COMM_WORLD_RANK"):
        quiet = dftrun(directory, "cat", "in", env=environment(**{name: 3}))
        equal((quiet.code, quiet.out, quiet.err), (0, b"1", b""), f"{name}=3")
        loud = dftrun(directory, "cat", "in", env=environment(**{name: 0}))
        true(b"rank 0 of this job has ended" in loud.err, f"{name}=0: {loud.err.decode()}")


GO = """
asm(".section .note.go.buildid,\\"a\\",@note\\n.long 4\\n.long 4\\n.long 4\\n.asciz \\"Go\\"\\n.byte 0\\n.long 1\\n.previous\\n");
"""


def nothing(directory, *arguments, **more):
    """Standard error of a run of which nothing was recorded; the last two lines say why, and what to do."""
    done = dftrun(directory, *arguments, **more)
    true(not (directory / "traces").exists(), f"{arguments}: nothing was written")
    return done.code, done.err.decode().splitlines()[-2:]


def test_says_why_nothing_was_recorded(directory):
    need("gcc")
    (directory / "in").write_text("1")
    (directory / "a.c").write_text("#include <stdio.h>\nint main(void) { fclose(fopen(\"in\", \"r\")); return 7; }\n")
    (directory / "go.c").write_text((directory / "a.c").read_text() + GO)
    run(["gcc", "-o", "dynamic", "a.c"], cwd=directory)
    run(["gcc", "-static", "-o", "static", "a.c"], cwd=directory)
    run(["gcc", "-static", "-Wl,--build-id=none", "-o", "go", "go.c"], cwd=directory)
    (directory / "script").write_text(f"#!{directory}/static\n")
    (directory / "script").chmod(0o755)
    for name, why, remedy in (("./static", "statically linked", "-static"), ("./script", "statically linked", "-static"),
                              ("./go", "a Go program", "strace")):
        code, said = nothing(directory, name)
        equal(code, 7, "exit code")
        true(f"nothing was recorded: '{name}'" in said[0] and why in said[0] and remedy in said[1], f"{name}: {said}")
    (directory / "musl").write_bytes((directory / "dynamic").read_bytes().replace(b"/ld-linux-x86-64.so.2", b"/ld-musl-x86_64.so.1\0"))
    (directory / "musl").chmod(0o755)
    if os.uname().machine == "x86_64":
        true(b"its C library is musl" in dftrun(directory, "./musl").err, "a program of another C library")
    code, said = nothing(directory, "true")
    true(code == 0 and "no file I/O was seen in 'true'" in said[0] and "/proc" in said[1], f"a program without I/O: {said}")
    code, said = nothing(directory, "cat", "in", env=environment(DFTRACER_DISABLE_IO=1))
    true("DFTRACER_DISABLE_IO is set" in said[0] and "Unset" in said[1], f"calls that are not wanted: {said}")
    for option in ("--quiet", "--no-summary"):
        true("statically linked" in nothing(directory, option, "./static")[1][0], f"{option}: the reason is always said")
    for words in (["timeout", "9", "./static"], ["nice", "./go"], ["sh", "-c", "./static; exit 7"]):
        done = dftrun(directory, *words)
        equal(done.code, 7, "exit code")
        true(b"statically linked" in done.err or b"a Go program" in done.err, f"{words}: {done.err.decode()}")
    true(b"statically linked" not in dftrun(directory, "cat", "./static").err, "a file that is read")


def test_says_that_other_rights_forbid_it(directory):
    if os.geteuid():
        pytest.skip("only root can make a program of another user's")
    directory.chmod(0o755)
    (directory / "in").write_text("1")
    shutil.copy("/usr/bin/cat", directory / "cat")
    os.chown(directory / "cat", 65534, 65534)
    (directory / "cat").chmod(0o4755)
    code, said = nothing(directory, "./cat", "in")
    true(code == 0 and "set-user-id" in said[0] and "copy" in said[1], f"a set-user-id program: {said}")
    shutil.copy(directory / "cat", directory / "copy")
    true(b"Calls" in dftrun(directory, "./copy", "in").err, "what it advises helps")


def test_says_who_cleans_the_environment(directory):
    (directory / "in").write_text("1")
    (directory / "script").write_text("#!/bin/sh\n# unset LD_PRELOAD\nexec env -i cat in\n")
    (directory / "script").chmod(0o755)
    for words, where in ((["env", "-i", "cat", "in"], "'env -i' in the command"), (["./script"], "'env -i' in ./script"),
                         (["sh", "script"], "'env -i' in script"),
                         (["sh", "-c", "unset LD_PRELOAD; cat in"], "'unset LD_PRELOAD' in the command")):
        done = dftrun(directory, *words)
        equal((done.code, done.out), (0, b"1"), "code and output")
        true(where in done.err.decode() and b"DFTRACER_FOLLOW_EXEC=1" in done.err, f"{words}: {done.err.decode()}")
        done = dftrun(directory, *words, env=environment(DFTRACER_FOLLOW_EXEC=1))
        true(b"were not traced" not in done.err and b"in the command" not in done.err, f"followed: {done.err.decode()}")
        true(re.search("^in |/in ", done.err.decode(), re.M), f"what it advises helps: {done.err.decode()}")
    done = dftrun(directory, "--quiet", "env", "-i", "cat", "in")
    true(b"'env -i' in the command" in done.err, f"it is said without a page, too: {done.err.decode()}")
    done = dftrun(directory, "grep", "env -i", "script")
    true(done.code == 0 and b"not traced" not in done.err, f"only words of an argument: {done.err.decode()}")


def test_says_why_a_program_cannot_be_run(directory):
    (directory / "here").write_text("#!/bin/sh\n")
    (directory / "strange").write_text("#!/no/such/shell\n")
    (directory / "strange").chmod(0o755)
    for name, code, remedy in (("here", 127, "write ./ before"), ("./here", 126, "chmod +x"), ("./strange", 127, "names as interpreter"),
                               ("/no/where", 127, "path spelled"), ("no-such-program", 127, "not in PATH"), (".", 126, "directory")):
        got, said = nothing(directory, name)
        equal(got, code, f"{name}: exit code")
        true(f"cannot run '{name}'" in said[0] and remedy in said[1], f"{name}: {said}")


def test_tries_the_folder_before_the_program_runs(directory):
    (directory / "file").write_text("")
    for place, why in (("file", "Not a directory"), ("file/deep", "Not a directory"), ("/proc/nowhere", "No such file"),
                       ("x" * 300, "File name too long")):
        done = dftrun(directory, "-o", place, "--no-summary", "--", "touch", "it-ran")
        equal((done.code, done.out, done.err.count(b"\n")), (125, b"", 1), f"{place}: exit code, and one line")
        true(place.encode() in done.err and why.encode() in done.err, f"{place}: {done.err.decode()}")
    equal(sorted(p.name for p in directory.iterdir()), ["file"], "the program has not run, and nothing is left")
    done = dftrun(directory, "-o", "deep/er", "--", "sh", "-c", "[ -e deep ]; echo $?")
    equal((done.code, done.out), (0, b"1\n"), "the folder is not there before there is something to write")
    true(traces(directory / "deep" / "er"), "then it is")


def test_tries_a_full_disk(directory):
    disk = directory / "disk"
    disk.mkdir()
    if run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]).code:
        pytest.skip("no file system can be mounted here")
    try:
        (disk / "data").mkdir()
        run(["sh", "-c", "cat /dev/zero > disk/filler"], cwd=directory)
        done = dftrun(directory, "-o", "disk/data", "--", "touch", "it-ran")
        equal((done.code, (directory / "it-ran").exists()), (125, False), "a full disk")
        true(b"No space left" in done.err, f"it says why: {done.err.decode()}")
        (disk / "filler").unlink()
        fill = ("f = open('disk/filler', 'wb', buffering=0)\n"
                "try:\n"
                "    while True: f.write(bytes(4096))\n"
                "except OSError: pass")
        done = dftrun(directory, "-o", "disk/data", "--data-dir", "/nowhere", "--", sys.executable, "-S", "-E", "-c", fill)
        equal(done.code, 0, f"a program that fills the disk: {done.err.decode()}")
        true(b"No space left" in done.err and b"no file I/O" not in done.err, f"a disk that is full by then: {done.err.decode()}")
    finally:
        run(["umount", "-l", disk])


def test_says_what_data_dir_left_out(directory):
    (directory / "in").write_text("1")
    for setting in (directory / "nowhere", f"!{directory}"):
        done = dftrun(directory, "--data-dir", setting, "--", "cat", "in")
        equal((done.code, done.out), (0, b"1"), "code and output")
        true(b"1 call outside DFTRACER_DATA_DIR" in done.err and b"no file I/O" not in done.err, done.err.decode())
    done = dftrun(directory, "--data-dir", "!/nowhere", "--", "cat", "in")
    true(b"Calls" in done.err and b" by time\n" in done.err, f"an exclusion alone leaves the rest: {done.err.decode()}")


def test_programs_with_a_sanitizer_run(directory):
    need("gcc")
    (directory / "a.c").write_text("#include <stdio.h>\n#include <stdlib.h>\n"
                                   "int main(void) { char *p = malloc(10); FILE *f = fopen(\"in\", \"r\");"
                                   " int c = getc(f);"
                                   " fclose(f); free(p); printf(\"%c\\n\", c); return 0; }\n")
    (directory / "in").write_text("z")
    if run(["gcc", "-fsanitize=address", "-o", "asan", "a.c"], cwd=directory).code:
        pytest.skip("no ASan runtime")
    plain = run(["./asan"], cwd=directory)
    if plain.code:
        pytest.skip(f"ASan does not run here: {plain.err.decode()}")
    done = dftrun(directory, "--no-summary", "./asan")
    equal((done.code, done.out, done.err), (plain.code, plain.out, plain.err), "code and output")


def test_works_when_installed(directory):
    """bin and lib beside each other somewhere else."""
    place = directory / "opt" / "dftrace"
    for name in ("bin/dftrun", "bin/dftmerge", "lib/libdftrace.so"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BUILD / name, place / name)
    (directory / "in").write_text("1")
    done = run([place / "bin" / "dftrun", "cat", "in"], cwd=directory)
    equal((done.code, done.out), (0, b"1"), "code and output")
    true(b"Calls" in done.err and b" by time\n" in done.err, f"the summary: {done.err.decode()}")
    (place / "lib" / "libdftrace.so").unlink()
    (place / "lib").rmdir()
    done = run([place / "bin" / "dftrun", "cat", "in"], cwd=directory)
    if not os.path.exists("/usr/local/lib/libdftrace.so"):
        equal((done.code, done.out), (125, b""), "without the library")


def test_the_programs_descriptors_are_its_own(directory):
    """Nothing of dftrun's is open in the program; the library's own descriptor lies at 256 or above, out of the way."""
    done = dftrun(directory, "--no-summary", "--", "ls", "/proc/self/fd")
    plain = run(["ls", "/proc/self/fd"], cwd=directory)
    equal([n for n in done.out.split() if int(n) < 256], plain.out.split(), "descriptors")
    true(len(done.out.split()) <= len(plain.out.split()) + 1, f"descriptors of the library: {done.out.split()}")
