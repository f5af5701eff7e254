# SPDX-License-Identifier: MIT
"""Processes: fork, exec, every way to end, what stays of a killed one, which files are traced, and no traces where there
is nothing to say."""

import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from tracing import (SECONDS, compile_program, dftmerge, dump, environment, equal, live_files, need, run, run_checked, traces,
                     tracing, true)


def endings(directory):
    return compile_program("endings.c", directory / "endings")


def start_hanging(directory, count):
    """A process that has written and now waits."""
    program = endings(directory)
    process = subprocess.Popen([program, "hang", directory / "file", str(count)], stdout=subprocess.PIPE,
                               env={k: str(v) for k, v in tracing(directory / "out" / "t").items()})
    equal(process.stdout.readline(), b"ready\n", "the program's word")
    return process


def writes_to(events, path):
    return [e for e in events if e["name"] == "write" and e.get("file") == str(path)]


def processes(*paths):
    done = dftmerge("ps", "--json", *paths)
    true(done.code in (0, 1), f"ps: exit code {done.code}: {done.err}")
    return json.loads(done.out)["processes"]


def test_every_ending_keeps_every_event(directory):
    program = endings(directory)
    kept_live = []
    for how, code in (("return", 0), ("exit", 3), ("_exit", 4), ("abort", -6), ("segv", -11), ("kill", -9), ("exec", 0),
                      ("vfork", 0), ("handler", 7), ("raw", 5), ("syscall", 6)):
        out, file = directory / how, directory / f"{how}.txt"
        plain = run([program, how, file, "1000"])
        done = run([program, how, file, "1000"], env=tracing(out / "t"))
        equal((done.code, done.out, done.err), (plain.code, plain.out, plain.err), f"{how}: code and output")
        equal(done.code, code, f"{how}: exit code")
        events = dump(out)
        mine = writes_to(events, file)
        equal(len(mine), 1000, f"{how}: writes")
        equal(sum(e["bytes"] for e in mine), 10000, f"{how}: bytes")
        equal([e["offset"] for e in mine], list(range(0, 10000, 10)), f"{how}: offsets")
        if how == "exec":
            equal(sum(e["bytes"] for e in events if e["name"] == "read" and e["file"] == str(file)), 10000,
                  "read by cat")
        if live_files(out):
            kept_live.append(how)
    equal(kept_live, ["abort", "segv", "kill", "raw"], "endings that leave a live file")


def test_an_exit_before_main(directory):
    """In a constructor of a library: no destructor is called then."""
    library = compile_program("leaves_early.c", directory / "libearly.so", "-shared", "-fPIC")
    program = compile_program("endings.c", directory / "early", "-Wl,--no-as-needed", library, f"-Wl,-rpath,{directory}")
    for name, code, ended in (("LEAVES_BY_EXIT", 3, "exit"), ("LEAVES_QUICKLY", 4, "_exit")):
        out, variables = directory / name, {"LEAVES_EARLY": str(directory / "file"), name: "1"}
        equal(run([program], env=environment(**variables)).code, code, f"{name}: exit code, plain")
        equal(run([program], env={**tracing(out / "t"), **variables}).code, code, f"{name}: exit code")
        equal([(p["ended"], p["status"]) for p in processes(out)], [(ended, code)], f"{name}: end")
        equal([e["name"] for e in dump(out) if e["cat"] == "POSIX"], ["open", "write", "close"], f"{name}: calls")
        equal(live_files(out), [], f"{name}: live files")


def test_traces_are_called_what_was_run(directory):
    """A link by its own name, not that of its target; a script by its name; what is run by a descriptor by its file. The `exe` is the file."""
    program = endings(directory)
    link, script = directory / "server", directory / "start.script"
    link.symlink_to(program)
    script.write_text(f"#!{program} return\n")
    script.chmod(0o755)
    by_descriptor = ("import os, sys; fd = os.open(sys.argv[1], os.O_RDONLY); "
                     "os.execve(fd, ['title of its own', 'return', sys.argv[2], '5'], os.environ)")
    for called, command in (("endings", [program, "return", directory / "f", 5]), ("server", [link, "return", directory / "f", 5]),
                            ("start.script", [script, 5]), ("endings", [sys.executable, "-c", by_descriptor, program, directory / "f"])):
        out = directory / f"{called}-{len(command)}"
        equal(run(command, env=tracing(out / "t", DATA_DIR=f"{directory}/f:{script}")).code, 0, f"{called}: exit code")
        files = [path.name for path in traces(out) if not path.name.startswith("t-python")]
        equal([name.split("-")[1] for name in files], [called], f"{command}: name")
        equal({p["exe"] for p in processes(*[out / name for name in files])}, {str(program)}, f"{called}: exe")


def test_killed_while_it_waits(directory):
    process = start_hanging(directory, 5000)
    running = dump(directory / "out")
    equal(len(writes_to(running, directory / "file")), 5000, "writes, seen while it runs")
    equal([p["ended"] for p in processes(directory / "out")], ["running"], "how it ended, while it runs")
    process.kill()
    process.wait()
    equal(len(live_files(directory / "out")), 1, "live files")
    before = dump(directory / "out")
    equal(len(writes_to(before, directory / "file")), 5000, "writes after kill -9")
    equal([p["ended"] for p in processes(directory / "out")], ["killed"], "how it ended")
    checked = dftmerge("check", directory / "out")
    equal(checked.code, 1, "check finds a live file")
    recovered = dftmerge("check", "--recover", directory / "out")
    equal(live_files(directory / "out"), [], f"live files after --recover ({recovered.out.decode()})")
    equal(dump(directory / "out"), before, "events after --recover")
    equal(dftmerge("check", directory / "out").code, 0, "check after --recover")


def test_killed_before_the_offset_is_known(directory):
    program = compile_program("killed_after.c", directory / "program")
    done = run([program, directory / "file"], env=tracing(directory / "out" / "trace"))
    equal(((directory / "file").read_bytes(), done.code), (b"onetwo", -signal.SIGSYS), "what was written, and the end")
    writes = [(e.get("bytes"), e.get("open")) for e in dump(directory / "out") if e["name"] == "write"]
    true(writes in ([(3, None), (None, True)], [(3, None), (3, None)]), f"the write that was under way is in the trace: {writes}")


def test_killed_where_pages_are_large(directory):
    """A file can be mapped from whole pages on alone: rings begin there, and are found."""
    program, pages = endings(directory), compile_program("large_pages.c", directory / "pages.so", "-shared", "-fPIC")
    env = tracing(directory / "out" / "t")
    env["LD_PRELOAD"] = f"{pages}:{env['LD_PRELOAD']}"
    done = run([program, "kill", directory / "file", "5000"], env=env)
    equal((done.code, done.err), (-9, b""), "how it ended, and messages")
    equal(len(writes_to(dump(directory / "out"), directory / "file")), 5000, "writes")
    content = live_files(directory / "out")[0].read_bytes()
    rings = [at for at in range(0, len(content), 4096) if content[at:at + 8] == b"\0dftring"]
    true(len(rings) > 1 and all(at % 65536 == 0 for at in rings), f"where rings begin: {rings}")
    equal(len(content) % 65536, 0, "bytes of the last page that are not there")


def test_recover_leaves_a_running_process_alone(directory):
    process = start_hanging(directory, 50)
    try:
        dftmerge("check", "--recover", directory / "out")
        equal(len(live_files(directory / "out")), 1, "live files")
    finally:
        process.terminate()
        process.wait()
    equal(len(writes_to(dump(directory / "out"), directory / "file")), 50, "writes")


def test_processes_may_end_while_their_files_are_listed(directory):
    """A live file that is gone when it is its turn is no damage, and what ended meanwhile has its end: its trace has all."""
    script = "while [ ! -e stop ]; do cat /etc/hostname; done"
    shells = [subprocess.Popen(["sh", "-c", script], cwd=directory, stdout=subprocess.DEVNULL,
                               env={k: str(v) for k, v in tracing(directory / "out" / "t").items()}) for _ in range(3)]
    try:
        while len(traces(directory / "out")) < 6:  # so one of the shells has gone on from its start
            time.sleep(0.01)
        checks = [dftmerge("check", directory / "out") for _ in range(40)]
    finally:
        (directory / "stop").touch()
        for shell in shells:
            shell.wait()
    equal([(done.out, done.err) for done in checks if done.code or b"No such file" in done.err], [], "checks that complain")
    equal(dftmerge("check", directory / "out").code, 0, "check when all have ended")


def life_of(directory):
    """What a process leaves at each moment: its names, its live file, its trace without and with END. The process goes
    on, untraced."""
    process = subprocess.Popen(["sh", "-c", "echo > file; read x && exec env -i sleep 900"], cwd=directory, stdin=subprocess.PIPE,
                               env={k: str(v) for k, v in tracing(directory / "life" / "t").items()})
    while not (live := live_files(directory / "life")) or not (trace := traces(directory / "life")[0]).stat().st_size:
        time.sleep(0.01)
    live_bytes, begun = live[0].read_bytes(), trace.read_bytes()
    process.stdin.write(b"x\n")
    process.stdin.flush()
    while live[0].exists():
        time.sleep(0.01)
    return process, trace.name, live_bytes, begun, trace.read_bytes()


def test_processes_may_begin_and_end_at_any_look(directory):
    """A trace that was empty is one of a running process later, while the live file of another process has gone: three
    are listed, with two looks each."""
    library = compile_program("steps_meanwhile.c", directory / "steps.so", "-shared", "-fPIC")
    equal(run(["sh", "-c", "echo > file"], cwd=directory, env=tracing(directory / "other" / "t")).code, 0, "another process")
    other = traces(directory / "other")[0].read_bytes()
    process, name, live, begun, ended = life_of(directory)
    out, wrong = directory / "out", []
    try:
        for begins, lasts in [(look, lasts) for look in range(1, 41) for lasts in (7, 1000)]:
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            for path, content in ((out / "a.dft", other), (out / "a.dft.live", live), (out / name, b""),
                                  (directory / "live", live), (directory / "begun", begun), (directory / "ended", ended)):
                path.write_bytes(content)
            steps = [f"7 {out}/a.dft.live", f"{begins} {directory}/live {out}/{name}.live", f"{begins} {directory}/begun {out}/{name}",
                     f"{begins + lasts} {directory}/ended {out}/{name}", f"{begins + lasts} {out}/{name}.live"]
            done = dftmerge("check", out, env=environment(LD_PRELOAD=library, STEPS="\n".join(steps), STEPS_IN=f"{out}/"))
            if done.code:
                wrong.append((begins, lasts, done.code, done.err))
    finally:
        process.kill()
        process.wait()
    equal(wrong, [], "begin, time to the end, and what check complains of")


def test_forked_children_have_files_of_their_own(directory):
    script = "echo a > f1; (echo b > f2; (echo c > f3)); echo d > f4 & wait"
    done = run(["bash", "-c", script], cwd=directory, env=tracing(directory / "out" / "t"))
    equal(done.code, 0, "exit code")
    events = dump(directory / "out")
    writers = {os.path.basename(e["file"]): e["pid"] for e in events
               if e.get("bytes") and e.get("file", "").startswith(str(directory / "f"))}
    equal(sorted(writers), ["f1", "f2", "f3", "f4"], "files written")
    true(len(set(writers.values())) >= 3, f"writers {writers}")
    found = processes(directory / "out")
    keys = {p["key"] for p in found}
    equal(len(keys), len(found), "keys of processes differ")
    equal(len(traces(directory / "out")), len(found), "one file for each process")
    children = [p for p in found if p["parent_key"] in keys]
    true(len(children) >= len(found) - 1, "all but the first know their parent")


def test_a_child_gets_a_file_late(directory):
    """A file that closes on exec belongs to its process alone, until that is changed. Nothing is asked about it once more for each
    child before."""
    program, more = compile_program("shared_later.c", directory / "shared_later"), 200
    done = run([program, more], cwd=directory, env=tracing(directory / "out" / "t"))
    equal((done.code, done.err), (0, b""), "the program")
    events = [e for e in dump(directory / "out") if e["name"] == "write" and e.get("bytes") == 4]
    for name in ("setfd", "ioctl", "copied", "forked", "late"):
        equal((directory / name).read_text(), "1234child\n56785678", f"what is in {name}")
        mine = [e.get("offset") for e in events if e.get("file") == str(directory / name)]
        equal(mine, [0, 10, 14], f"where the writes to {name} happened")
    need("strace")
    env = tracing(directory / "out" / "t")
    run_checked(["strace", "-o", directory / "calls", *(word for name, value in env.items() for word in ("-E", f"{name}={value}")),
                 program, more], cwd=directory)
    asked = len(re.findall(r"^fcntl\(\d+, F_GETFD\)", (directory / "calls").read_text(), flags=re.M))
    true(asked <= 3 * more, f"questions whether a descriptor closes on exec, in nine children: {asked}")


def test_exec_begins_a_new_image(directory):
    program = endings(directory)
    done = run([program, "exec", directory / "file", "10"], env=tracing(directory / "out" / "t"))
    equal((done.code, done.out), (0, b"0123456789" * 10), "cat's output")
    found = processes(directory / "out")
    equal(sorted((os.path.basename(p["exe"]), p["ended"]) for p in found), [("cat", "exit"), ("endings", "exec")],
          "images")
    equal(len({p["pid"] for p in found}), 1, "one pid")


def test_exit_status_is_known(directory):
    """Of exit(), of a return from main, of _exit(), with handlers and destructors, and as much of it as the parent sees."""
    for number, (program, status) in enumerate([
            ("import sys; sys.exit(7)", 7), ("import os; os._exit(5)", 5), ("open('/etc/passwd')", 0),
            ("import sys; sys.exit(259)", 3), ("import atexit, sys; atexit.register(open, '/etc/passwd'); sys.exit(8)", 8),
            ("import os, sys; os.fork() or sys.exit(9); sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))", 9)]):
        out = directory / f"out{number}"
        equal(run([sys.executable, "-c", program], env=tracing(out / "t")).code, status, f"{program}: exit code")
        equal({p["status"] for p in processes(out)}, {status}, f"{program}: status in the trace")
        equal(live_files(out), [], "live files")


def test_nothing_to_say_nothing_written(directory):
    program = endings(directory)
    out = directory / "out"
    done = run([program, "none", directory / "file", "0"], env=tracing(out / "t"))
    equal((done.code, done.out, done.err), (0, b"", b""), "a program without I/O")
    true(not out.exists(), f"it left {list(out.rglob('*')) if out.exists() else ''}")
    run(["true"], env=tracing(out / "t"))
    run(["cat", "/proc/self/status", "/dev/null"], env=tracing(out / "t"))
    true(not out.exists(), "true, and cat of /proc and /dev, left files")


def test_switched_off_leaves_nothing(directory):
    out = directory / "out"
    for value in ("0", "no", "OFF", None):
        env = tracing(out / "t")
        env.pop("DFTRACER_ENABLE")
        if value:
            env["DFTRACER_ENABLE"] = value
        equal(run(["cat", "/etc/hostname"], env=env).code, 0, "exit code")
        true(not out.exists(), f"DFTRACER_ENABLE={value} wrote files")


def test_data_dir_chooses_files(directory):
    for name in ("data", "data/sub", "data/private", "database", "other"):
        (directory / name).mkdir()
        (directory / name / "f").write_text(name)
    files = [directory / name / "f" for name in ("data", "data/sub", "data/private", "database", "other")]

    def seen(setting):
        out = pathlib.Path(tempfile.mkdtemp(dir=directory)) / "out"
        equal(run(["cat", *files], env=tracing(out / "t", DATA_DIR=setting)).code, 0, "exit code")
        if not out.exists():
            return []
        found = {e["file"] for e in dump(out) if e["file"].startswith(str(directory))}
        return sorted(os.path.relpath(f, directory) for f in found)

    d = str(directory)
    equal(seen(f"{d}/data"), ["data/f", "data/private/f", "data/sub/f"], "one directory: whole components")
    equal(seen(f"{d}/data:{d}/other"), ["data/f", "data/private/f", "data/sub/f", "other/f"], "two directories")
    equal(seen(f"{d}/data:!{d}/data/private"), ["data/f", "data/sub/f"], "with an exclusion")
    equal(seen(f"all:!{d}/data"), ["database/f", "other/f"], "all but one")
    equal(seen(f"{d}/nowhere"), [], "a directory that nothing touches")
    equal(len(seen("all")), 5, "all")
    equal(seen(f"!{d}/data"), ["database/f", "other/f"], "an exclusion alone: all but that")
    equal(seen(f"!{d}/data:{d}/data/sub:{d}/other"), ["data/sub/f", "other/f"], "an exclusion, and what is traced")
    equal(seen("!all"), [], "nothing")
    equal(len(seen("")), 5, "an empty list")
    equal(len(seen("pipe:")), 5, "pipes alone are more than the default")


def test_what_data_dir_leaves_out_is_counted(directory):
    (directory / "in").mkdir()
    files = [directory / "in" / "file", *(directory / f"out{i}" for i in range(3))]
    for file in files:
        file.write_text("text")

    def left_out(name, command, setting):
        done = run(command, env=tracing(directory / name / "t", DATA_DIR=setting))
        equal(done.code, 0, f"{command}: exit code")
        job = json.loads(dftmerge("summary", "--json", directory / name).out)
        said = [re.match(r"(\d+) calls? outside DFTRACER_DATA_DIR left out, in (\d+) process", n) for n in job["notes"]]
        return job["events"], [(int(n[1]), int(n[2])) for n in said if n]

    events, said = left_out("some", ["cat", *files, "/proc/self/stat"], directory / "in")
    equal((events > 0, said), (True, [(3, 1)]), "three of four files")
    equal(left_out("nothing", ["cat", *files], directory / "nowhere"), (0, [(4, 1)]), "all files")
    equal(left_out("all", ["cat", *files, "/proc/self/stat"], "all")[1], [], "what is never traced is not left out")
    script = f"import os; f = open('{files[1]}'); pid = os.fork(); pid or (open('{files[2]}'), os._exit(0)); os.waitpid(pid, 0)"
    equal(left_out("fork", [sys.executable, "-S", "-E", "-c", script], f"!{directory}")[1], [(2, 2)], "a child counts its own")
    run(["true"], env=tracing(directory / "none" / "t", DATA_DIR=directory))
    true(not (directory / "none").exists(), "a program that does nothing leaves nothing")


def test_what_could_never_be_created_is_told_at_the_end(directory):
    """Descriptors may come free until then, so the line waits."""
    (directory / "file").write_text("")
    script = ("import os, resource\n"
              "resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))\n"
              "try:\n"
              "    while True: os.open('/dev/null', os.O_RDONLY)\n"
              "except OSError: pass\n"
              f"os.stat('{directory / 'file'}')\n"
              "os._exit(0)\n")
    done = run([sys.executable, "-S", "-E", "-c", script], env=tracing(directory / "out" / "t", DATA_DIR=directory))
    equal((done.code, done.out, done.err.count(b"\n")), (0, b"", 1), f"one line: {done.err.decode()}")
    true(b"nothing is recorded" in done.err and b"EMFILE" in done.err, f"the reason: {done.err.decode()}")
    true(not traces(directory / "out"), "no trace")


def test_proc_sys_dev_are_not_traced(directory):
    place = tempfile.mkdtemp(prefix="dft-e2e-", dir="/dev/shm")
    shm = f"{place}/file"
    script = ("cat /proc/self/status /sys/kernel/mm/transparent_hugepage/enabled > /dev/null 2>&1; "
              f"echo x > {shm}; cat {shm}; rm -r {place}")
    done = run(["sh", "-c", script], env=tracing(directory / "out" / "t"))
    equal((done.code, done.out), (0, b"x\n"), "code and output")
    files = {e["file"] for e in dump(directory / "out") if "file" in e}
    true(shm in files, "/dev/shm is traced")
    bad = [f for f in files if f.startswith(("/proc", "/sys", "/dev")) and not f.startswith(place)]
    equal(bad, [], "files of /proc, /sys and /dev")


def test_cat_of_traces_counts_nothing_twice(directory):
    for name in ("a", "b"):
        equal(run(["cp", "-r", "/etc/apt", directory / f"copy-{name}"], env=tracing(directory / name / "t")).code, 0,
              "cp")
    a, b = traces(directory / "a"), traces(directory / "b")
    joined = directory / "joined.dft"
    joined.write_bytes(b"".join(p.read_bytes() for p in (*a, *b, *a)))
    equal(dump(joined), dump(*a, *b), "events of cat a b a")
    equal(dump(joined, *a, joined), dump(*a, *b), "events of the same files named again")
    summaries = []
    for paths in ([joined], [*a, *b], [*a, *b, *a]):
        done = dftmerge("summary", "--json", *paths)
        equal(done.code, 0, "exit code of summary")
        summaries.append(json.loads(done.out))
    equal(summaries[0]["groups"], summaries[1]["groups"], "groups of cat a b a")
    equal(summaries[2]["groups"], summaries[1]["groups"], "groups of a, b and a")


def test_the_program_cannot_close_or_see_the_trace(directory):
    """A shell that closes every descriptor, and a program that lists its own."""
    script = ("import os\n"
              "before = set(os.listdir('/proc/self/fd'))\n"
              "open('x', 'w').write('a')\n"
              "os.closerange(3, 1024)\n"
              "for i in range(100): os.stat('x')\n"
              "fd = os.open('x', os.O_RDONLY)\n"
              "print(fd, os.read(fd, 10))\n")
    plain = run([sys.executable, "-S", "-c", script], cwd=directory)
    done = run([sys.executable, "-S", "-c", script], cwd=directory, env=tracing(directory / "out" / "t"))
    equal((done.code, done.out, done.err), (plain.code, plain.out, plain.err), "code and output")
    events = [e for e in dump(directory / "out") if e.get("file") == str(directory / "x")]
    names = collections.Counter(e["name"] for e in events)
    true(names["stat"] + names["fstatat"] >= 100 and names["read"] == 1, f"events after closing everything: {names}")


def test_a_full_or_missing_directory_harms_nobody(directory):
    blocked = directory / "blocked"
    blocked.write_text("a file where a directory should be")
    done = run(["cat", blocked], env=tracing(blocked / "t"))
    equal((done.code, done.out), (0, b"a file where a directory should be"), "code and output")
    if os.path.exists("/dev/full"):
        done = run(["sh", "-c", "ulimit -f 0; cat blocked"], cwd=directory, env=tracing(directory / "out" / "t"))
        equal((done.code, done.out), (0, b"a file where a directory should be"), "with no room for a trace")


def test_many_processes_at_once(directory):
    script = ("for i in 1 2 3 4 5 6 7 8; do (for j in 1 2 3 4 5; do dd if=in of=o$i-$j bs=64 status=none; done) & done; "
              "wait")
    (directory / "in").write_bytes(b"x" * 1000)
    done = run(["bash", "-c", script], cwd=directory, env=tracing(directory / "out" / "t"))
    equal((done.code, done.out, done.err), (0, b"", b""), "code and output")
    events = dump(directory / "out")
    read = sum(e["bytes"] for e in events if e["name"] == "read" and e["file"] == str(directory / "in"))
    equal(read, 40 * 1000, "bytes read by 40 copies")
    written = sum(e["bytes"] for e in events if e["name"] == "write" and e["file"].startswith(str(directory / "o")))
    equal(written, read, "bytes written by 40 copies")
    equal(len({e["pid"] for e in events if e["name"] == "write" and e["file"].startswith(str(directory / "o"))}), 40,
          "writers")
    equal(live_files(directory / "out"), [], "live files")


def test_a_mask_that_takes_all_rights(directory):
    """It is for the program's files: the trace's owner can read it, and the library can open it again."""
    work, out = directory / "work", directory / "new" / "out"
    work.mkdir()
    done = run(["sh", "-c", "umask 777; echo x > file; kill -9 $$"], cwd=work, env=tracing(out / "t", DATA_DIR=work))
    equal((done.code, (work / "file").stat().st_mode & 0o777), (-9, 0), "exit code, and rights of the program's file")
    made = [out.parent, out, *traces(out), *live_files(out)]
    equal([path.stat().st_mode & 0o777 for path in made], [0o700, 0o700, 0o600, 0o600], "rights of what the library made")


def test_signals_still_arrive(directory):
    process = start_hanging(directory, 10)
    process.send_signal(signal.SIGTERM)
    equal(process.wait(SECONDS), -signal.SIGTERM, "ends by the signal")
    equal(len(writes_to(dump(directory / "out"), directory / "file")), 10, "writes")
