# SPDX-License-Identifier: MIT
"""--from --to --rank --pid --cat --name --file: of summary, against filtering a dump; of dump, against filtering the whole dump."""

import contextlib
import fcntl
import fnmatch
import json
import os
import pty
import re
import struct
import subprocess
import termios

from tooltest import BUILD, DFTMERGE, counts, dftmerge, dump, groups, make, run, same_groups, summary


def fits(text, *patterns):
    return text is not None and any(fnmatch.fnmatchcase(text, p) for p in patterns)


def test_processes(where):
    make(where, ranks=1, processes=5, events=200)
    events = dump(where)
    for options, keep in ((["--rank", "1"], {1}), (["--rank", "0,3-4"], {0, 3, 4}), (["--pid", "1002"], {2}),
                          (["--rank", "1", "--rank", "2"], {1, 2}), (["--rank", "1,2", "--pid", "1002-1004"], {2})):
        chosen = [e for e in events if e["rank"] in keep]
        assert dump(*options, where) == chosen
        answer = summary(*options, where)
        assert answer["source"] == "buckets" and answer["events"] == sum(e.get("calls", 1) for e in chosen if counts(e))
        same_groups(answer["groups"], groups(chosen, ["cat", "name"]), options)
    assert summary("--rank", "77", where)["groups"] == []


def test_ranks_need_a_rank(where):
    make(where, ranks=0)
    assert summary("--rank", "0-1000", where)["groups"] == [] and dump("--rank", "0", where) == []


def test_categories_and_names(where):
    make(where, ranks=1)
    events = dump(where)
    for options, passes in (
            (["--cat", "POSIX"], lambda e: e["cat"] == "POSIX"),
            (["--cat", "STDIO,A*"], lambda e: fits(e["cat"], "STDIO", "A*")),
            (["--name", "read,p*"], lambda e: fits(e["name"], "read", "p*")),
            (["--cat", "APP", "--name", "step"], lambda e: (e["cat"], e["name"]) == ("APP", "step")),
            (["--cat", "LIB"], lambda e: e["cat"] == "LIB")):
        assert dump(*options, where) == [e for e in events if passes(e)]
        for by in ("cat,name", "rank", "tid,cat"):
            answer = summary(*options, "--by", by, where)
            assert answer["source"] == "buckets"
            same_groups(answer["groups"], groups(events, by.split(","), passes=passes), (options, by))
        answer = summary(*options, "--by", "file", where)
        same_groups(answer["groups"], groups(events, ["file"], passes=passes, with_union=True), options)


def test_files(where):
    make(where, ranks=1)
    events = dump(where)
    for patterns in (["/data/in/*"], ["*.bin", "/x/?"], ["/top"], ["*\udcff*"], ["/nowhere/*"]):
        def passes(event, patterns=patterns):
            return fits(event.get("file"), *patterns) or fits(event.get("file2"), *patterns)
        options = [o for p in patterns for o in ("--file", p)]
        assert dump(*options, where) == [e for e in events if passes(e)]
        for by in ("cat,name", "file", "dir", "rank,name"):
            answer = summary(*options, "--by", by, where)
            assert answer["source"] == "events"
            same_groups(answer["groups"], groups(events, by.split(","), passes=passes, with_union=True), (patterns, by))
    for option, pattern in ((["--dir", "."], "/data/*"), (["--dir", "./in/"], "/data/in/*"), (["--dir", "../data/./in"], None),
                            (["--dir", "../x"], "/x/*"), (["--dir", "../.."], "/*"), (["--dir", "in"], "*/in/*"),
                            (["--file", "./in/*"], "/data/in/*"), (["--file", "in/*"], "*/in/*"), (["--file", "../top"], "/top")):
        fitting = [e for e in events if pattern and (fits(e.get("file"), pattern) or fits(e.get("file2"), pattern))]
        assert dump(*option, where) == fitting and (fitting or not pattern), option


def test_times(where):
    make(where, ranks=1, slow=1, events=400)
    events = dump(where)
    start = summary(where)["start_ns"]
    for low, high in ((None, 5), (3.5, None), (1.000000001, 20), (0, 1e-9), (2, 2), (50, 10000), (0, None)):
        options = (["--from", f"{low:.9f}"] if low is not None else []) + (["--to", f"{high:.9f}"] if high is not None else [])
        first = start + round((low or 0) * 1e9)
        last = start + round(high * 1e9) if high is not None else 2**64
        chosen = [e for e in events if first <= e["ts"] < last]
        assert dump(*options, where) == chosen, options
        answer = summary(*options, where)
        assert answer["wall_ns"] == summary(where)["wall_ns"]
        same_groups(answer["groups"], groups(chosen, ["cat", "name"], with_union=answer["source"] == "events"), options)
        assert answer["events"] == sum(e.get("calls", 1) for e in chosen if counts(e))


def test_times_on_the_grid_need_no_events(where):
    """A start on the grid of 64 intervals: then call rows and histograms answer."""
    make(where, processes=1, threads=1, slow=1, events=400, same_time=0)
    events = dump(where)
    start = summary(where)["start_ns"]
    wide = 6_400_000_000
    edge = (start // wide + 3) * wide
    options = ["--to", f"{(edge - start) / 1e9:.9f}"]
    answer = summary(*options, where)
    assert answer["source"] == "buckets", answer["source"]
    same_groups(answer["groups"], groups([e for e in events if e["ts"] < edge], ["cat", "name"]), "to the edge")
    options = ["--from", f"{(edge - start) / 1e9:.9f}"]
    answer = summary(*options, where)
    assert answer["source"] == "buckets", answer["source"]
    same_groups(answer["groups"], groups([e for e in events if e["ts"] >= edge], ["cat", "name"]), "from the edge")


def test_aggregates_are_rounded_with_a_note(where):
    """Outward, to whole intervals of 0.1 s."""
    make(where / "rows", processes=1, keep=0, slow=1, block=1000)
    make(where / "all", processes=1, slow=1, block=1000)
    events = dump(where / "all")
    start = summary(where / "all")["start_ns"]
    some = [e["ts"] for e in events if counts(e)]
    low, high = some[len(some) // 3] + 1, some[len(some) // 3 * 2] + 1  # a nanosecond behind an event: in its interval
    grid = 100_000_000
    inside = [e for e in events if low // grid <= e["ts"] // grid <= (high - 1) // grid]
    answer = summary("--from", f"{(low - start) / 1e9:.9f}", "--to", f"{(high - start) / 1e9:.9f}", where / "rows")
    assert any("rounded" in note for note in answer["notes"]), answer["notes"]
    assert answer["source"] == "buckets" and answer["events_kept"] == 0
    assert all(g["busy_union_ns"] is None for g in answer["groups"])
    p99 = {(g["cat"], g["name"]): g["time_p99_ns"] for g in groups(inside, ["cat", "name"])}
    assert all(g["time_p99_ns"] in (None, p99[g["cat"], g["name"]]) for g in answer["groups"])
    assert any(g["time_p99_ns"] is None for g in answer["groups"])
    assert answer["events"] == sum(e.get("calls", 1) for e in inside if counts(e)) > 0
    wanted = {(g["cat"], g["name"]): g["time_ns"] for g in groups(inside, ["cat", "name"])}
    assert {(g["cat"], g["name"]): g["time_ns"] for g in answer["groups"]} == wanted


def test_classes_by_the_words_of_the_page(where):
    make(where)
    for long, short in (("metadata", "meta"), ("Start-up,read", "startup,read")):
        assert summary("--class", long, where)["groups"] == summary("--class", short, where)["groups"], long
    assert summary("--class", "metadata", where)["groups"]


def test_wrong_usage(where):
    make(where)
    for options in (["--from", "x"], ["--to", "1.0000000001"], ["--rank", "5-3"], ["--rank", ""], ["--rank", "1;2"],
                    ["--pid", "-1"], ["--cat", ""], ["--top", "-1"], ["--threads", "none"], ["--by", "colour"],
                    ["--by", ""], ["--width", "0"], ["--nonsense"], ["--json", "--csv"], ["--rank"]):
        done = dftmerge("summary", *options, where, expect=2)
        assert done.out == b"" and "dftmerge summary:" in done.err, (options, done)
    assert dftmerge("summary", expect=2).err
    for command in ("summary", "dump"):
        text = dftmerge(command, "--help").out.decode()
        assert "Example:" in text and "--threads" in text
    assert "Commands:" in dftmerge("--help").out.decode()


def test_nothing_passes(where):
    """It is one line, with the name that was meant, and exit code 1; programs get an empty answer. Never without a
    filter or with an answer."""
    make(where, ranks=1, processes=3)
    for options, said in ((["--rank", "77"], "--rank; there are ranks from 0 to 2"), (["--name", "nosuch", "--pid", "1001"], "--pid --name"),
                          (["--file", "/nowhere"], "--file; files are compared by their absolute paths"),
                          (["--from", "1000000", "--to", "1000001"], "--from --to; times are from 0 to ")):
        assert any(said in note for note in summary(*options, where)["notes"]), options
        found = [["findings"]] if "--name" not in options else []  # findings do not take that
        for command in (["summary"], ["summary", "--csv"], ["summary", "--by", "rank"], ["timeline"], ["dump"], *found):
            code = int("--csv" not in command)
            done = dftmerge(*command, *options, where, expect=code)
            assert done.err.count("no event passes " + said) == 1 and done.err.count("\n") == 1, (command, options, done)
            assert not done.out or not code, (command, options, done)
            assert not dftmerge(*command, "-q", *options, where, expect=code).err
        for command in [["summary", "--all"], *found]:
            answer = json.loads(dftmerge(*command, "--json", *options, where).out)
            assert answer["findings"] == answer["findings_not_looked_for"] == [], (command, options, answer)
    for option, wrong, right in (("--name", "raed", "read"), ("--name", "nosuch,fraed", "fread"), ("--region", "stpe", "step")):
        for command in ("summary", "dump"):
            assert f"did you mean {right}?" in dftmerge(command, option, wrong, where, expect=1).err, (command, option)
    assert "did you mean" not in dftmerge("summary", "--name", "read", "--rank", "77", where, expect=1).err
    assert "no event passes --slower-than (16 m 40 s)" in dftmerge("summary", "--slower-than", "1000", where, expect=1).err
    assert "no event passes --rank" in dftmerge("ps", "--rank", "77", where, expect=1).err
    make(where / "unranked", ranks=0)
    assert "--rank; no process says its rank" in dftmerge("dump", "--rank", "0", where / "unranked", expect=1).err
    for command in ("summary", "dump", "ps"):
        assert "no event passes" not in dftmerge(command, where).err
        assert "no event passes" not in dftmerge(command, "--rank", "1", where).err


def test_commands_and_help(where):
    make(where)
    for wrong in ("sumary", "rank"):
        done = dftmerge(wrong, "--json", where, expect=2)
        assert done.out == b"" and f"'{wrong}' is neither a command nor a file" in done.err and " ranks," in done.err
    assert "Did you mean 'summary'?" in dftmerge("sumary", expect=2).err
    assert "No such file" in dftmerge("elsewhere", expect=1).err  # alone it may be meant as a directory
    make(where / "sumary")
    assert dftmerge("sumary", "--top", "1", cwd=where).out == dftmerge("summary", "sumary", "--top", "1", cwd=where).out
    assert dftmerge("help").out == dftmerge("--help").out
    version = dftmerge("--version").out
    assert version.startswith(b"dftmerge ") and all(version == dftmerge(*words).out for words in (["-V"], ["-q", "-V"], ["--json", "--version"],
                                                                                             ["summary", "-V"], ["-q", "debug", "--version"]))
    for words in (["-o", "-", "export", "--format", "csv"], ["--format", "csv", "-o", "-", "export"]):  # "-" is an option's value, too
        assert dftmerge(*words, where).out == dftmerge("export", "--format", "csv", "-o", "-", where).out, words
    listed = subprocess.run([DFTMERGE, "--files-from", "-", "summary", "--json"], input=f"{where}\n".encode(), capture_output=True, check=True)
    assert listed.stdout == dftmerge("summary", "--json", where).out
    summary_of_one = dftmerge("summary", "--json", "--rank", "1", "--by", "name", where).out
    for words in (["--json", "summary", "--rank", "1", "--by", "name", where], ["--rank", "1", "--json", "summary", "--by=name", where],
                  ["--by", "name", "--json", "--rank=1", "-q", "summary", where], ["-q", "--json", "--rank", "1", "--by", "name", where]):
        assert dftmerge(*words).out == summary_of_one, words
    assert dftmerge("--name", "dump", "--json", where).out == dftmerge("summary", "--name", "dump", "--json", where).out, "an argument is no command"
    assert dftmerge("-q", "ps", where).out == dftmerge("ps", where).out and dftmerge("-q", "help", "ps").out == dftmerge("ps", "--help").out
    assert "no trace" in dftmerge("debug", "calls", where, expect=2).err and "'sumary' is neither" in dftmerge("-q", "sumary", where, expect=2).err
    assert "nothing.db" in dftmerge("-q", "spans", "states", where / "nothing.db", expect=1).err
    for command in ("summary", "ranks", "debug"):
        assert dftmerge("help", command).out == dftmerge(command, "--help").out
    assert "no command 'sumary'. Did you mean 'summary'?" in dftmerge("help", "sumary", expect=2).err
    assert "Did you mean --threads?" in dftmerge("summary", "--thraeds", "2", where, expect=2).err
    assert "several options that begin so: --rank --role" in dftmerge("export", "--r", "2", where, expect=2).err.replace(" --region", "").replace(" --run", "")
    assert "takes no argument" in dftmerge("summary", "--json=2", where, expect=2).err
    text = dftmerge("export", "--help").out.decode()
    assert text.count("--format FORMAT") == 2 and re.search(r"^  (--[a-z-]+ )*--to( --|$)", text, re.M) and "--until" not in text  # the old names work
    text = dftmerge("debug", "calls", "--help").out.decode()
    assert "--json" in text and "--job" not in text and "--threads" not in text  # it reads no traces
    assert "calls does not take --threads" in dftmerge("debug", "calls", "--threads", "2", expect=2).err
    assert "lies before --from" in dftmerge("dump", "--from", "2", "--to", "1", where, expect=2).err


def on_a_terminal(columns, *arguments, **environment):
    pid, terminal = pty.fork()
    if not pid:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(DFTMERGE, ["dftmerge", *map(str, arguments)], {"TERM": "xterm", **environment})
    out = b""
    with contextlib.suppress(OSError):  # EIO: it has ended
        while more := os.read(terminal, 65536):
            out += more
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, out
    return out.decode().replace("\r\n", "\n")


def test_a_terminal_gets_what_fits(where):
    """80 columns are enough, colour is for terminals that want it; in a pipe nothing is cut."""
    done = run(BUILD / "bin" / "make_ranks", where, "ranks=20", "hosts=3", "seconds=40", "slow=3", "at=10", "others=20")
    assert done.code == 0
    for command in ("summary", "ranks", "ps"):
        for columns in (80, 120):
            shown = on_a_terminal(columns, command, "-q", where)
            plain = re.sub("\x1b\\[[0-9;]*m", "", shown)
            assert max(map(len, plain.splitlines())) <= columns, (command, columns, plain)
            assert "\x1b" not in on_a_terminal(columns, command, "-q", where, NO_COLOR="1")
        assert b"\x1b" not in dftmerge(command, where).out
    assert "\x1b" in on_a_terminal(80, "summary", "-q", where)
    make(where / "long", ranks=1, processes=1, events=10)
    command = json.loads(dftmerge("ps", "--json", where / "long").out)["processes"][0]["command"]
    piped = dftmerge("ps", where / "long").out.decode()
    text = " ".join(command).replace("\n", "\\n")
    assert text in piped
    shown = on_a_terminal(70, "ps", "-q", where / "long").splitlines()[2]
    assert len(shown) <= 70 and (text in shown or "..." in shown), shown
    assert piped.startswith("1 process image: I/O "), piped
