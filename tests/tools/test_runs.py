# SPDX-License-Identifier: MIT
"""Several runs in one folder: told apart by what their processes say, never by guesses; the page takes the newest, all else takes all."""

import json
import re

from pfw_files import Writer
from tooltest import DFTMERGE, LIBRARY, dftmerge, dump, make, need_library, run, summary


def runs(*arguments):
    return [(r["name"], r["processes"], r["left_out"]) for r in json.loads(dftmerge("ps", "--json", *arguments).out)["runs"]]


def page(*arguments):
    return dftmerge("summary", *arguments, env={"COLUMNS": "200"}).out.decode()


def told(text, what):
    return re.findall(rf"^{what} +(.*)$", text, re.M)


def behind_the_table(text):
    """The page of several runs without the table of them, which stands first."""
    return text.partition("\n\n")[2]


def two_runs(where):
    make(where, processes=2, seed=1, run=1)
    make(where, processes=3, seed=2, run=2, start=1700000060)
    return where


def test_the_page_takes_the_newest(where):
    make(where / "new", processes=3, seed=2, run=2, start=1700000060)
    two_runs(where / "both")
    text, alone = page(where / "both"), page(where / "new")
    assert told(behind_the_table(text), "run")[0].startswith("run-2, the newest of 2 (--run all"), text
    assert not told(alone, "runs?"), alone
    assert re.sub(r"^run .*\n(      .*\n)*", "", behind_the_table(text), flags=re.M) == alone
    assert told(page("--run", "run-1", where / "both"), "run")[0].startswith("run-1, one of 2")
    assert page("--run", "newest", where / "both") == text
    for command in ("findings", "timeline", "layers", "overlap"):  # each in its first line
        text = dftmerge(command, where / "both", env={"COLUMNS": "200"}).out.decode()
        assert text.startswith("run   run-2, the newest of 2 (--run all"), text
        for words in (("--run", "all", where / "both"), ("--run", "run-2", where / "both"), (where / "new",)):
            assert not told(dftmerge(command, *words).out.decode(), "run"), (command, words)
    done = dftmerge("plot", "--kind", "bandwidth", "-o", where / "plot.svg", where / "both")
    assert "run-2 is the newest of 2 runs" in done.err, done.err
    every = page("--run", "all", where / "both")
    assert told(behind_the_table(every), "job")[0].startswith("2 runs, the first: "), every
    assert ", 3 processes (5 programs), together " in told(every, "time")[0] and told(behind_the_table(every), "run")[0].startswith("2 runs, counted together"), every


def test_all_else_takes_all(where):
    two_runs(where / "both")
    make(where / "old", processes=2, seed=1, run=1)
    answer = summary(where / "both")
    assert answer["processes"] == 5 == summary("--run", "all", where / "both")["processes"]
    assert [r["name"] for r in answer["runs"]] == ["run-1", "run-2"] and any("2 runs are together" in n for n in answer["notes"])
    for command in (["dump"], ["ps"], ["check"], ["stat"], ["summary", "--csv"]):
        assert "2 runs are together here: run-1 (2 processes, from 2023-11-14" in dftmerge(*command, where / "both").err, command
        assert "runs are together" not in dftmerge(*command, "--run", "run-2", where / "both").err, command
    assert "\nrun    processes  from (UTC) " in dftmerge("ps", where / "both").out.decode()
    assert runs(where / "both") == [("run-1", 2, False), ("run-2", 3, False)]
    assert runs("--run", "run-1", where / "both") == [("run-1", 2, False), ("run-2", 3, True)]
    assert dump("--run", "run-1", where / "both") == dump(where / "old")
    for by in ("call", "file", "time"):
        a, b = summary("--by", by, "--run", "run-1", where / "both"), summary("--by", by, where / "old")
        assert a.pop("runs") != b.pop("runs") and a == b, by
    assert dump("--run", "newest", where / "both") == dump("--run", "run-2", where / "both")
    answer = summary("--run", "newest", where / "both")
    assert answer["processes"] == 3 and any("run-2 is the newest of 2 runs" in n for n in answer["notes"]), answer["notes"]
    assert not any("newest" in n for n in summary("--run", "newest", where / "old")["notes"])
    assert dump("--run", "run-*", where / "both") == dump(where / "both")
    answer = json.loads(dftmerge("compare", "--json", "--run-a", "run-1", "--run-b", "run-2", where / "both", where / "both").out)
    assert (answer["a"]["processes"], answer["b"]["processes"]) == (2, 3)
    dftmerge("merge", "--run", "run-2", "-o", where / "one.dft", where / "both")
    assert runs(where / "one.dft") == [("run-2", 3, False)]


def test_by_run(where):
    two_runs(where)
    make(where, processes=1, seed=3)
    groups = {g["run"]: g for g in summary("--by", "run", where)["groups"]}
    assert set(groups) == {None, "run-1", "run-2"}
    for name in ("run-1", "run-2"):
        (alone,) = summary("--by", "run", "--run", name, where)["groups"]
        assert groups[name] == alone
    (alone,) = summary("--by", "run", "--run", "unnamed", where)["groups"]
    assert groups[None] == alone
    assert summary("--by", "run,call", where)["events"] == summary(where)["events"]


def test_the_launchers_job_is_a_run(where):
    make(where, ranks=1, processes=2, seed=1, job=11)
    make(where, ranks=1, processes=3, seed=2, job=12, start=1700003600)
    assert runs(where) == [("11", 2, False), ("12", 3, False)]
    assert told(page(where), "run")[0].startswith("12, the newest of 2")
    assert not told(page("--job", "11", where), "run") and re.search("2 processes.*, 2 of 3 ranks", told(page("--job", "11", where), "time")[0])
    make(where, ranks=1, processes=1, seed=3, job=11, run=5, start=1700007200)  # dftrun's word is the closer one
    assert runs(where)[2] == ("run-5", 1, False)


def test_what_says_nothing_is_never_hidden(where):
    make(where, processes=1, seed=1)
    assert not told(page(where), "runs?")
    make(where, processes=2, seed=2, start=1700000500)
    (line,) = told(page(where), "run")
    assert "2 groups of processes, apart in time, are counted together as one run" in line, line
    assert ", 2 processes (3 programs), together" in told(page(where), "time")[0]  # pids come again
    assert runs(where) == [(None, 3, False)]
    make(where, processes=1, seed=3, run=1, start=1700000100)
    make(where, processes=1, seed=4, run=2, start=1700000200)
    text = page(where)
    assert told(behind_the_table(text), "run")[0].startswith("run-2, the newest of 2") and "with 3 processes of no run" in text, text
    assert "of no run; nothing says what is one run of these: 2 groups" in re.sub(r"\s+", " ", text), text
    assert summary(where)["processes"] == 5 and summary("--run", "run-2", where)["processes"] == 1


def test_a_launcher_is_of_the_run_that_it_started(where):
    """It has no id, and neither has what else it started."""
    make(where / "one", processes=7, tree=2, ranks=1)
    assert runs(where / "one") == [("4711", 7, False)] and not told(page(where / "one"), "runs?")
    make(where / "two", processes=7, tree=2, ranks=1, job=11)
    make(where / "two", processes=3, tree=2, ranks=1, job=12, seed=2, start=1700000060)
    assert runs(where / "two") == [("11", 7, False), ("12", 3, False)]
    assert summary("--run", "12", where / "two")["processes"] == 3


def test_a_script_above_two_launches_is_of_neither(where):
    need_library()
    script = "env DFTRACER_RUN_ID=a cat /etc/passwd; env DFTRACER_RUN_ID=b sh -c 'cat /etc/passwd; cat /etc/group'"
    traced(where / "script", "sh", "-c", script)
    got = {name: processes for name, processes, _ in runs(where / "script")}
    assert set(got) == {None, "a", "b"} and got[None] == 1, got  # of its children also what they were before they were env


def traced(where, *command, code=0, **more):
    env = {"LD_PRELOAD": str(LIBRARY), "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(where / "t"), **more}
    done = run(*command, env=env)
    assert done.code == code, done.err


def test_which_runs_ended_badly(where):
    """Each has a first process of its own, unless a script that has seen its status began it."""
    need_library()
    for name, code in (("a", 0), ("b", 4), ("c", 4)):
        traced(where / "all", "sh", "-c", f"cat /etc/passwd; exit {code}", code=code, DFTRACER_RUN_ID=name)
    ended = "ended badly: 2 of 3 runs (b, c): exit 4"
    for command in ("findings", "summary"):
        assert ended in dftmerge(command, "--run", "all", where / "all").out.decode().splitlines(), command
    assert dftmerge("findings", where / "all").out.decode().splitlines()[1] == "ended badly: exit 4"
    assert "badly" not in dftmerge("findings", "--run", "a", where / "all").out.decode()
    assert (whole := summary("--all", where / "all"))["ended"]["failed"] == 2 and whole["verdict"]["line"] == ended, whole["ended"]
    traced(where / "all", "sh", "-c", "cat /etc/passwd; kill -SEGV $$", code=-11, DFTRACER_RUN_ID="d")
    text = dftmerge("findings", "--run", "all", where / "all").out.decode()
    assert "ended badly: 3 of 4 runs (b, c, d): " in text and "1 process killed" in text, text
    script = "env DFTRACER_RUN_ID=a sh -c 'cat /etc/passwd; exit 4'; env DFTRACER_RUN_ID=b cat /etc/passwd"
    traced(where / "script", "sh", "-c", script)
    assert "badly" not in dftmerge("findings", "--run", "all", where / "script").out.decode()


def test_a_tree_is_one_group_of_processes(where):
    """What execs goes on, and children may come one after the other: time between them is no sign of another run."""
    need_library()
    traced(where / "t", "sh", "-c", "cat /etc/passwd; sleep 0.1; exec sh -c 'cat /etc/group; exec cat /etc/group'")
    assert runs(where / "t")[0][1] > 5 and not told(page(where / "t"), "run")
    traced(where / "t", "cat", "/etc/passwd")
    assert "2 groups of processes, apart in time" in told(page(where / "t"), "run")[0]


def test_by_run_shows_all_runs(where):
    two_runs(where)
    for by in ("run", "run,call", "job", "pid,run"):
        assert page("--by", by, where) == page("--by", by, "--run", "all", where), by
    text = page("--by", "run", where)
    assert re.search("^run-1 ", text, re.M) and re.search("^run-2 ", text, re.M), text
    assert not re.search("^run-1 ", page("--by", "run", "--run", "newest", where), re.M)


def test_imported_traces_are_one_run(where):
    where = where / "t"
    where.mkdir()
    for rank, start in enumerate((0, 100)):
        writer = Writer("1.0.8", pid=100 + rank, rank=rank)
        writer.call("POSIX", "read", (1_700_000_000 + start) * 1_000_000, 10, "/data/x", ret=1)
        (where / f"{rank}.pfw").write_text(writer.text())
    assert runs("--no-index", where) == [(None, 2, False)]
    assert "2 groups of processes" in told(page("--no-index", where), "run")[0]


def test_a_run_that_is_not_there(where):
    two_runs(where)
    done = run(DFTMERGE, "summary", "--run", "run-3", where)
    assert done.code == 1 and "no run run-3 is here; there are run-1 (2 processes" in done.err and "run-2" in done.err, done.err
