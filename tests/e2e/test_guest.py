# SPDX-License-Identifier: MIT
"""A good guest: what programs do that a tracer in the same process easily breaks. Same behaviour, every write in
the trace."""

import json
import re
import subprocess
import sys

import pytest

from tracing import SECONDS, compile_program, dftmerge, dump, equal, live_files, need, run, tracing, true

CASES = ("plain", "handler_writes", "handler_on_its_own_stack", "handler_jumps_out_of_calls", "tiny_stacks",
         "many_short_threads",
         "cancelled_threads", "threads_at_exit", "fork_with_threads", "closes_everything", "takes_every_number",
         "few_descriptors", "reuses_numbers", "keeps_errno_and_rounding", "faulty_pointers", "no_memory",
         "clone_with_shared_memory", "clone_takes_free_number", "raw_fork", "in_atexit")
# Cases in which a call is left before it returns (a jump out of it, cancellation, exit of the process under it): the
# file has
# it, the program did not count it, and the trace may have it or not.
LEFT_IN_CALLS = {"handler_jumps_out_of_calls", "cancelled_threads", "threads_at_exit", "fork_with_threads"}
# Cases that do a number of writes that depends on time.
TIMED = LEFT_IN_CALLS | {"handler_writes", "handler_on_its_own_stack"}

# Cases that take memory or descriptors away from the trace as well.
MAY_LOSE = {"no_memory", "few_descriptors", "takes_every_number"}


@pytest.mark.parametrize("case", CASES)
def test_rude(directory, case):
    program = compile_program("rude.c", directory / "rude", "-lpthread", "-lm")
    file = directory / "file"
    plain = run([program, case, file])
    equal(plain.code, 0, f"exit code without the library ({plain.err.decode()})")
    file.unlink()
    done = run([program, case, file], env=tracing(directory / "out" / "t"))
    equal((done.code, done.err), (plain.code, plain.err), "exit code and standard error")
    if case not in TIMED:
        equal(done.out, plain.out, "output")
    counted = 10 * int(re.search(rb"writes (\d+)", done.out).group(1))
    written = file.stat().st_size
    traced = sum(e["bytes"] for e in dump(directory / "out") if e["name"] == "write" and e.get("file") == str(file)
                 and "errno" not in e)
    if case in LEFT_IN_CALLS:
        true(counted <= traced <= written,
             f"bytes in the trace: {traced}, counted {counted}, in the file {written}")
    else:
        equal((traced, counted), (written, written), "bytes in the trace, and counted by the program")
    equal(live_files(directory / "out"), [], "live files")
    lost = [p["dropped"] for p in json.loads(dftmerge("ps", "--json", directory / "out").out)["processes"] if p["dropped"]]
    if case not in MAY_LOSE:
        equal(lost, [], "lost events")


def test_no_case_is_forgotten(directory):
    program = compile_program("rude.c", directory / "rude", "-lpthread", "-lm")
    names = run([program, "list"]).out.decode().split()
    equal(set(names) - set(CASES), set(), "cases of rude.c that are not run")


def same(directory, command, stdin=None, **settings):
    """The same output and exit code with and without the library, in a directory of its own each time."""
    results = []
    for kind in ("plain", "traced"):
        work = directory / "work"
        if work.exists():
            run(["rm", "-rf", work])
        work.mkdir()
        env = tracing(directory / "out" / "t") if kind == "traced" else None
        results.append(run(command, cwd=work, stdin=stdin, env=env))
    equal(results[1], results[0], "code, output and errors")
    return results[0]


def test_python_processes_and_threads(directory):
    program = ("import concurrent.futures, multiprocessing as m, os, subprocess, sys\n"
               "def work(i):\n"
               "    with open(f'f{i}', 'w') as f: f.write('x' * i)\n"
               "    return os.path.getsize(f'f{i}')\n"
               "if __name__ == '__main__':\n"
               "    for kind in ('fork', 'spawn', 'forkserver'):\n"
               "        with m.get_context(kind).Pool(3) as pool: print(kind, sum(pool.map(work, range(20))))\n"
               "    with concurrent.futures.ThreadPoolExecutor(4) as pool: print(sum(pool.map(work, range(100))))\n"
               "    pipe = subprocess.PIPE\n"
               "    print(subprocess.run(['cat'], input=b'through cat', stdout=pipe, close_fds=True).stdout)\n"
               "    print(subprocess.run('echo $((1+2)); exit 3', shell=True, stdout=pipe, start_new_session=True))\n")
    (directory / "program.py").write_text(program)
    done = same(directory, [sys.executable, directory / "program.py"])
    equal(done.code, 0, f"exit code ({done.err.decode()})")
    files = {e["file"].rsplit("/", 1)[-1] for e in dump(directory / "out") if e["name"] == "write"
             and e.get("file", "").startswith(str(directory))}
    true(len(files) >= 99, f"files written by workers: {len(files)}")


def test_shells_with_odd_redirections(directory):
    need("bash")
    done = same(directory,
                ["bash", "-c", "exec 9>a 200>b 300>c; echo 1 >&9; echo 2 >&200; echo 3 >&300; exec 9>&- 200>&- 300>&-; "
                            "coproc cat; echo hello >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo \"$x\"; "
                            "cat <(echo one) <(echo two); eval \"exec ${COPROC[1]}>&-\"; wait; cat a b c; "
                            "ulimit -n 30; cat a; "
                            "(exec env -i /bin/cat b); trap 'cat c' EXIT; kill -l 9; exit 5"])
    equal(done.code, 5, "exit code")


def test_pipelines_of_many_programs(directory):
    same(directory,
         ["sh", "-c", "seq 1 20000 > n; grep 7 n | sort -rn | uniq | head -n 500 | awk '{s += $1} END {print s}'; "
                     "tar c n | gzip -n | gunzip | tar t; find . -type f -exec wc -c {} +; ls -l n | cut -c1-10; "
                     "xargs -P 4 -n 50 echo < n | wc -c; yes | head -n 1000 | wc -l; cp n m; cmp n m; "
                     "sed -i s/1/one/ m; diff n m | wc -l; od -c n | tail -n 2; split -l 1000 n part; cat part* | md5sum; "
                      "touch t; rm -r part* t"])


def test_a_closed_standard_descriptor(directory):
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        results = []
        for env in (None, tracing(directory / "out" / "t")):
            results.append(run(["sh", "-c", f"cat /etc/hostname {closed}; echo $? >> codes"], cwd=directory, env=env))
        equal(results[1], results[0], f"with {closed}")
    codes = (directory / "codes").read_text().split()
    equal(codes[::2], codes[1::2], "exit codes")


def test_a_broken_pipe_kills_as_before(directory):
    for env in (None, tracing(directory / "out" / "t")):
        done = run(["bash", "-c", "cat /dev/zero | head -c 10 | wc -c; echo ${PIPESTATUS[0]}"], env=env)
        equal(done.out.split(), [b"10", b"141"], "output")
    process = subprocess.Popen(["cat", "/bin/bash"], stdout=subprocess.PIPE, env=tracing(directory / "out" / "t"))
    process.stdout.close()
    equal(process.wait(SECONDS), -13, "cat dies of SIGPIPE")


def test_the_environment_is_left_alone(directory):
    env = tracing(directory / "out" / "t")
    done = run(["env"], env=env)
    got = dict(line.split("=", 1) for line in done.out.decode("utf-8", "surrogateescape").splitlines() if "=" in line)
    equal({k: got.get(k) for k in env if "\n" not in env[k]}, {k: v for k, v in env.items() if "\n" not in v},
          "the environment")
    equal(set(got) - set(env), set(), "variables that were added")
