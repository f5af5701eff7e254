# SPDX-License-Identifier: MIT
"""Calls that make, await and end processes: the trace has each with its result, status and command, as the program saw it and as strace
counts it; `dftmerge ps` draws the tree; every process ends clean, however it was made."""

import collections
import json
import os
import re
import sys

from tracing import (SECONDS, compile_program, dftmerge, dump, equal, environment, live_files, need, run, run_checked, tracing,
                     true)


WAITS = {"wait", "wait3", "wait4", "waitid", "waitpid", "pclose"}
MAKES = {"fork", "vfork", "forkpty", "posix_spawn", "posix_spawnp", "system", "popen", "wordexp"}


def processes(directory):
    done = dftmerge("ps", "--json", directory)
    equal(done.code, 0, f"ps: {done.err.decode()}")
    return json.loads(done.out)["processes"]


def family(directory, *arguments, expect, traced=True):
    program = compile_program("family.c", directory / "family", "-lutil")
    work = directory / ("traced" if traced else "plain")
    work.mkdir()
    env = tracing(directory / "out" / "t", DATA_DIR=work) if traced else environment()
    env["PWD"] = str(work)  # a shell looks whether that is true: so each that is started has a call to its name
    done = run([program, *arguments], cwd=work, env=env)
    equal(done.code, expect, f"exit code: {done.err.decode()}")
    return done.out.decode(), sorted(p.name for p in work.iterdir())


def clean(directory):
    """All blocks good, no live file, nothing lost."""
    equal(live_files(directory / "out"), [], "live files")
    equal(dftmerge("check", directory / "out").code, 0, "check")
    equal([p["dropped"] for p in processes(directory / "out") if p["dropped"]], [], "lost")


def test_every_call_with_its_result(directory):
    said, _ = family(directory, expect=14)
    clean(directory)
    expected = [tuple(line.split()) for line in said.splitlines()]
    events = [e for e in dump(directory / "out") if e["cat"] == "PROCESS"]
    parent = next(p["pid"] for p in processes(directory / "out") if p["command"][0].endswith("family"))
    found = [(e["name"], str(e["ret"]), str(e.get("args", {}).get("status", "-"))) for e in events
             if e["pid"] == parent and e["name"] in WAITS | MAKES]
    equal(found, expected, "calls")
    commands = {e["name"]: e["args"]["command"] for e in events if "command" in e.get("args", {})}
    equal(commands, {"posix_spawnp": "sh", "system": "exit 7", "popen": "echo one; exit 8", "wordexp": "a $(echo b c)"}, "commands")
    spawned = [(e.get("file"), e.get("errno")) for e in events if e["name"] == "posix_spawn"]
    equal(spawned, [("/bin/sh", None), ("/no/such/program", 2)], "programs of posix_spawn")
    equal([e["ret"] for e in events if e["name"] == "exit" and e["pid"] == parent], [14], "exit")


def test_the_tree_has_all_that_exec(directory):
    family(directory, expect=14)
    found = processes(directory / "out")
    top = found[0]
    commands = [(p["depth"], " ".join(p["command"][-2:])) for p in found]
    equal(commands[1:], [(1, "-c exit 6"), (1, "-c exit 6"), (1, "-c exit 7"), (1, "-c exit 0"), (1, "-c echo one; exit 8"),
                         (1, "-c echo b c"), (1, str(directory / "family"))], "children with their command lines; the last is that of vfork")
    equal({p["child_of"] for p in found[1:]}, {top["key"]}, "parent")
    # dash leaves by _exit; what it says is what the parent saw
    equal([(p["ended"], p["status"]) for p in found], [("exit", 14)] + [("_exit", s) for s in (6, 6, 7, 0, 8, 0, 10)], "ends")


def test_programs_that_run_are_files_that_are_asked_about(directory):
    """Also where aggregates alone are kept, whose rows must be there before the exec."""
    text = """import os
os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
try:
    os.execv("/no/such/program", ["program"])
except OSError:
    pass
child = os.fork()
if not child:
    os.execv("/bin/true", ["true"])
os.waitpid(child, 0)
os.execv("/bin/true", ["true"])"""
    for mode in ({}, {"ENABLE_AGGREGATION": 1}):
        place = directory / f"out{len(mode)}"
        run_checked([sys.executable, "-c", text], env=tracing(place / "t", DATA_DIR="/bin:/no", **mode))  # rows have no room for all
        done = dftmerge("summary", "--json", "--by", "file,class", "--file", "/bin/true,/no/such/*", place)
        groups = {(g["file"], g["class"]): (g["count"], g["errors"]) for g in json.loads(done.out)["groups"]}
        equal(groups, {("/bin/true", "none"): (2, 0), ("/bin/true", "wait"): (1, 0), ("/no/such/program", "none"): (1, 1)}, f"{mode}")


def test_a_daemon_and_its_parent(directory):
    _, files = family(directory, "daemon", expect=0)
    for _ in range(SECONDS * 20):  # the daemon runs on
        found = processes(directory / "out")
        if len(found) == 2 and found[1]["ended"] == "exit" and not live_files(directory / "out"):  # its last step
            break
        os.sched_yield()
        run(["sleep", "0.05"])
    clean(directory)
    equal([(p["ended"], p["status"], p["depth"]) for p in found], [("_exit", 0, 0), ("exit", 11, 1)], "both ended")
    equal(found[1]["parent_key"], found[0]["key"], "the daemon's parent")
    written = {(os.path.basename(e["file"]), e["pid"]) for e in dump(directory / "out") if e["name"] == "write"}
    equal(written, {("before", found[0]["pid"]), ("daemon", found[1]["pid"]), ("at_exit", found[1]["pid"])}, "who wrote what")
    true("at_exit" not in files or len(files) >= 2, "files")


def test_quick_exit_ends_clean(directory):
    plain = family(directory, "quick", expect=12, traced=False)
    equal(family(directory, "quick", expect=12), plain, "output and files")
    clean(directory)
    found = processes(directory / "out")
    equal([(p["ended"], p["status"]) for p in found], [("_exit", 12)], "end")
    events = dump(directory / "out")
    equal([os.path.basename(e["file"]) for e in events if e["name"] == "write"], ["before", "at_quick_exit"], "writes")
    equal([e["ret"] for e in events if e["name"] == "quick_exit"], [12], "the call")


def test_abort_is_seen(directory):
    family(directory, "abort", expect=-6)
    found = processes(directory / "out")
    equal([p["ended"] for p in found], ["killed"], "end")
    equal([e["name"] for e in dump(directory / "out") if e["cat"] == "PROCESS"], ["abort"], "events")


def test_abort_that_does_not(directory):
    plain = family(directory, "abort_caught", expect=13, traced=False)
    equal(family(directory, "abort_caught", expect=13), plain, "output and files")
    clean(directory)
    equal([(p["ended"], p["status"]) for p in processes(directory / "out")], [("exit", 13)], "end")
    names = [e["name"] for e in dump(directory / "out") if e["cat"] == "PROCESS"]
    equal(names, ["abort", "exit"], "events")


def strace_counts(command, cwd, directory):
    """Processes made and waited for, by the kernel's own count."""
    need("strace")
    output = directory / "strace.txt"
    plain = run(["strace", "-f", "-o", output, "-e", "trace=clone,clone3,fork,vfork,wait4,waitid,execve", "-e", "signal=none", "--",
                 *command], cwd=cwd, env=environment())
    made = waited = ran = 0
    for line in output.read_text(errors="replace").splitlines():
        if "CLONE_THREAD" in line or "<unfinished" in line:
            continue
        call = re.search(r"(?:^\d+ +|<\.\.\. )(clone3?|v?fork|wait4|waitid|execve)\b.* = (-?\d+)", line)
        if not call:
            continue
        name, result = call.group(1), int(call.group(2))
        made += name in ("clone", "clone3", "fork", "vfork") and result > 0
        waited += name == "wait4" and result > 0
        ran += name == "execve" and result == 0
    return plain, made, waited, ran


SCRIPT = ("for i in 1 2 3; do (echo $i | cat | wc -c); done; x=$(ls / | head -1); cat <(echo $x) > /dev/null; "
          "sleep 0.01 & wait; /bin/true; sh -c 'true; true' | cat")
PYTHON = ("import subprocess, os\n"
          "for i in range(4): subprocess.run(['true'], check=True)\n"
          "subprocess.check_output('echo x | cat', shell=True)\n"
          "os.system('true')\n"
          "with os.popen('echo y') as p: p.read()\n"
          "pid = os.fork()\n"
          "if not pid: os._exit(3)\n"
          "os.waitpid(pid, 0)\n"
          "os.waitpid(os.posix_spawn('/bin/true', ['true'], os.environ), 0)\n")


def test_counts_are_those_of_strace(directory):
    need("bash")
    for number, command in enumerate((["bash", "-c", SCRIPT], [sys.executable, "-S", "-c", PYTHON])):
        place = directory / str(number)
        place.mkdir()
        plain, made, waited, ran = strace_counts(command, place, place)
        done = run(command, cwd=place, env=tracing(place / "out" / "t"))
        equal((done.code, done.out), (plain.code, plain.out), f"{command[0]}: code and output")
        equal(live_files(place / "out"), [], "live files")
        events = [e for e in dump(place / "out") if e["cat"] == "PROCESS"]
        children = sum(e["name"] in MAKES and e.get("ret", -1) >= 0 for e in events)
        equal(children, made, f"{command[0]}: children made")
        # system and pclose wait within
        awaited = sum(e["name"] in WAITS | {"system"} and e.get("ret", 0) >= 0 and "status" in e.get("args", {}) for e in events)
        equal(awaited, waited, f"{command[0]}: children waited for")
        images = sum(e["name"].startswith("exec") and e.get("phase") == "begin" for e in events)
        images += sum(e["name"] in ("posix_spawn", "posix_spawnp", "system", "popen") and e.get("ret", -1) >= 0 for e in events)
        equal(images, ran - 1, f"{command[0]}: programs run, beyond the first")


def test_ps_draws_a_make(directory):
    need("make")
    (directory / "Makefile").write_text("all: a b\n\t@cat a b > c\na b:\n\t@sh -c 'echo $@; exit 0' > $@\n")
    run_checked(["make", "-s", "-j2"], cwd=directory, env=tracing(directory / "out" / "t"))
    found = processes(directory / "out")
    equal(found[0]["command"][:1], ["make"], "first")
    lines = collections.Counter(" ".join(p["command"]) for p in found[1:] if p["depth"] == 1)
    true(any("echo a" in line for line in lines) and any("echo b" in line for line in lines) and
         any("cat a b" in line for line in lines), f"children of make: {dict(lines)}")
    equal([p["ended"] for p in found if p["ended"] not in ("exit", "_exit", "exec")], [], "ends that are not clean")


def test_no_price_for_descriptors_that_no_child_has(directory):
    """Python's descriptors close at exec: after a subprocess their offsets are still this process's alone, and nobody asks the kernel."""
    need("strace")
    (directory / "data").write_bytes(b"x" * 100000)
    script = ("import os, subprocess\n"
              "fd = os.open('data', os.O_RDONLY)\n"
              "os.read(fd, 10)\n"
              "subprocess.run(['true'], check=True)\n"
              "os.system('true')\n"
              "for i in range(500): os.read(fd, 10)\n")
    env = [f"{k}={v}" for k, v in tracing(directory / "out" / "t").items() if k.startswith(("LD_PRELOAD", "DFTRACER"))]
    run_checked(["strace", "-o", directory / "strace", "-e", "trace=lseek,read", "env", *env, sys.executable, "-S", "-c", script],
                cwd=directory)
    lines = (directory / "strace").read_text().splitlines()
    lines = lines[next(i for i, line in enumerate(lines) if re.match(r'read\(\d+, "x+", 10\)', line)):]
    equal(sum(bool(re.match(r'read\(\d+, "x+", 10\) += 10$', line)) for line in lines), 501, "reads")
    true(sum(line.startswith("lseek(") for line in lines) < 250, "calls of lseek, by the imports between")
    reads = [e["offset"] for e in dump(directory / "out") if e.get("file") == str(directory / "data") and e["name"] == "read"]
    equal(reads, [10 * i for i in range(501)], "offsets")


def test_descriptors_that_a_child_has_are_asked_about(directory):
    """Handed on by dup2 in the child (stdin=), by name (pass_fds=), and without close-on-exec: the child moves the offset."""
    (directory / "data").write_bytes(b"x" * 1000)
    script = ("import os, subprocess\n"
              "def go(**more):\n"
              "    fd = os.open('data', os.O_RDONLY)\n"
              "    os.read(fd, 10)\n"
              "    number = more.pop('number', 0)\n"
              "    if number: more['pass_fds'] = [fd]\n"
              "    else: more['stdin'] = fd\n"
              "    code = f'import os; os.read({fd if number else 0}, 20)'\n"
              "    subprocess.run(['/usr/bin/env', '-i', 'python3', '-S', '-c', code], check=True, **more)\n"
              "    os.read(fd, 10)\n"
              "    os.close(fd)\n"
              "go()\n"
              "go(number=1)\n"
              "fd = os.open('data', os.O_RDONLY)\n"
              "os.set_inheritable(fd, True)\n"
              "os.read(fd, 10)\n"
              "os.system(f'env -i head -c 20 <&{fd} > /dev/null')\n"
              "os.read(fd, 10)\n")
    run_checked([sys.executable, "-S", "-c", script], cwd=directory, env=tracing(directory / "out" / "t"))
    parent = processes(directory / "out")[0]["pid"]
    reads = [e["offset"] for e in dump(directory / "out")
             if e.get("file") == str(directory / "data") and e["name"] == "read" and e["pid"] == parent]
    equal(reads, [0, 30] * 3, "offsets of the parent")


FOLLOW = """
import os, subprocess, sys
kind, program, env = sys.argv[1], sys.argv[2], '/usr/bin/env'
some = {'A': 'b', 'PATH': '/bin', 'EMPTY': '', 'Z': 'y' * 5000}
if kind == 'execve': os.execve(program, ['showenv'], some)
if kind == 'execve_empty': os.execve(program, ['showenv'], {})
if kind == 'preload': os.execve(program, ['showenv'], {'B': '1', 'LD_PRELOAD': 'libm.so.6:libdl.so.2', 'C': '2'})
if kind == 'execv':
    os.environ.clear()
    os.execv(program, ['showenv'])
if kind == 'execvp':
    for name in [n for n in os.environ if n.startswith(('LD_', 'DFT'))]: del os.environ[name]
    os.execvp('showenv', ['showenv'])
if kind == 'fexecve': os.execve(os.open(program, os.O_RDONLY), ['showenv'], some)
if kind == 'spawn': os.waitpid(os.posix_spawn(program, ['showenv'], some), 0)
if kind == 'spawnp': os.waitpid(os.posix_spawnp('showenv', ['showenv'], some), 0)
if kind == 'subprocess': subprocess.run([program], env=some, check=True)
if kind == 'chain': subprocess.run([env, '-i', 'D=e', env, '-i', 'F=g', program], env=some, check=True)
if kind == 'kept': subprocess.run([program], check=True)
if kind == 'off': subprocess.run([program], env={'DFTRACER_ENABLE': '0'}, check=True)
"""


def test_cleaned_environments_are_followed(directory):
    (directory / "follow.py").write_text(FOLLOW)
    program = compile_program("showenv.c", directory / "showenv")
    for kind, images in (("execve", 1), ("execve_empty", 1), ("preload", 1), ("execv", 1), ("execvp", 1), ("fexecve", 1), ("spawn", 1),
                         ("spawnp", 1), ("subprocess", 1), ("chain", 1), ("kept", 1), ("off", 0)):
        place = directory / kind
        more = {"PATH": f"{directory}:/usr/bin:/bin"}
        command = [sys.executable, "-S", directory / "follow.py", kind, program]
        plain = run(command, env={**environment(), **more})
        settings = {**tracing(place / "t", FOLLOW_EXEC=1), **more}
        done = run(command, env=settings)
        equal((done.code, done.err), (0, b""), f"{kind}: exit code, messages")
        expected = set(plain.out.split(b"\0"))
        if kind == "kept":
            expected |= {f"{k}={v}".encode() for k, v in settings.items() if k.startswith(("LD_PRELOAD", "DFTRACER_"))}
            equal(set(done.out.split(b"\0")), expected, "kept: an environment with our variables stays as it is")
        else:
            equal(done.out, plain.out, f"{kind}: the environment that the program sees")
        found = [p for p in processes(place) if os.path.basename(p["exe"]) == "showenv"]
        equal(len(found), images, f"{kind}: traced images")
        if kind == "chain":
            equal(sum(os.path.basename(p["exe"]) == "env" for p in processes(place)), 2, "images in between")
        equal([p["ended"] for p in found if p["ended"] not in ("exit", "exec")], [], f"{kind}: ends")


def test_what_just_fits_still_runs_where_it_is_followed(directory):
    """To the byte, for a program and for a script; what has room for our variables is traced."""
    program = compile_program("largest_environment.c", directory / "largest")
    (directory / "script").write_text("#!/bin/sh\nexit 0\n")
    (directory / "script").chmod(0o755)
    for runs in ("/bin/true", directory / "script"):
        plain = run([program, runs])
        equal(plain.code, 0, plain.err)
        for follow in (0, 1):
            place = directory / f"out-{follow}"
            equal(run([program, runs], env=tracing(place / "t", FOLLOW_EXEC=follow)), plain, f"{runs}, followed: {follow}")
            found = [p for p in processes(place) if os.path.basename(p["exe"]) in ("sh", "dash", "bash")]
            equal(len(found) > 50, bool(follow) and runs != "/bin/true", f"{runs}: traced ones, followed: {follow}: {len(found)}")


def test_not_followed_by_default(directory):
    (directory / "follow.py").write_text(FOLLOW)
    program = compile_program("showenv.c", directory / "showenv")
    run_checked([sys.executable, "-S", directory / "follow.py", "subprocess", program], env=tracing(directory / "out" / "t"))
    equal([p for p in processes(directory / "out") if os.path.basename(p["exe"]) == "showenv"], [], "images")


def test_following_leaks_nothing(directory):
    """What leaks grows each time; what is mapped once, when a ring fills, does not."""
    script = ("import os, subprocess\n"
              "def go(n):\n"
              "    for i in range(n):\n"
              "        subprocess.run(['/bin/true'], env={}, check=True)\n"
              "        try: subprocess.run(['/no/such/program'], env={})\n"
              "        except FileNotFoundError: pass\n"
              "        try: os.execve('/etc/passwd', ['x'], {})\n"
              "        except OSError: pass\n"
              "        try: os.posix_spawn('/etc/passwd', ['x'], {})\n"
              "        except OSError: pass\n"
              "def maps(): return int(open('/proc/self/statm').read().split()[0])\n"
              "go(20); before = maps(); go(50); between = maps(); go(50); print(min(between - before, maps() - between))\n")
    done = run([sys.executable, "-S", "-c", script], env=tracing(directory / "out" / "t", FOLLOW_EXEC=1))
    equal((done.code, done.err), (0, b""), "exit code, messages")
    true(int(done.out) < 150, f"{int(done.out)} pages more after each 200 calls")
