# SPDX-License-Identifier: MIT
"""The command line of dftmerge as a whole: groups of commands, help, what stands where, and what is refused."""

import re

from tooltest import BUILD, dftmerge, make, run

FILTERS = ("--from", "--rank", "--name", "--file", "--errno", "--slower-than", "--job", "--threads")


def commands():
    """{group: [its commands]} of --help."""
    groups = {}
    for line in dftmerge("--help").out.decode().partition("Commands:\n")[2].partition("\n\n")[0].splitlines():
        title, name = re.match(r"(\w*) +(\w+)  +[A-Z]", line).groups()
        if title:
            groups[title] = []
        groups[list(groups)[-1]].append(name)
    return groups


def test_help_has_groups(where):
    assert list(commands()) == ["Look", "Now", "Pictures", "Data", "Traces", "Workflows"], commands()
    assert commands()["Look"] == ["summary", "findings", "ranks", "compare", "timeline", "overlap", "layers"]
    text = dftmerge("--help", env={"COLUMNS": "80"}).out.decode()
    assert max(map(len, text.splitlines())) <= 80 and len(text.splitlines()) < 42, text
    assert not {"stat", "calls", "debug"} & {name for names in commands().values() for name in names}


def test_help_of_commands_is_short(where):
    """An example and the own options come first; filters are names in a line or two."""
    for name in [name for names in commands().values() for name in names]:
        text = dftmerge(name, "--help", env={"COLUMNS": "80"}).out.decode()
        sentences = [line for line in re.findall(r"^ +-.*?  +(.*)$", text, re.M) if not line.startswith("--")]
        assert all(not line[0].islower() or line.startswith("...") for line in sentences), (name, sentences)
        assert text.index("Usage: ") == 0 and text.index("Example:") < text.index("Options:" if name != "spans" else "Verbs:"), name
        assert text.count("--threads") <= 1 and "--rank LIST" not in text, name
        if "--rank" in text:
            assert "dftmerge help filters" in text, name


def test_help_of_filters(where):
    text = dftmerge("help", "filters").out.decode()
    assert all(re.search(rf"^ +{option} ?", text, re.M) for option in FILTERS) and "Example" in text


def test_debug_has_what_few_need(where):
    make(where / "t")
    assert b"stat" in dftmerge("debug", "--help").out and b"calls" in dftmerge("debug", "--help").out
    for name, paths in (("stat", [where / "t"]), ("calls", [])):
        answer = dftmerge("debug", name, *paths).out
        assert answer and answer == dftmerge(name, *paths).out == dftmerge("-q", "debug", name, *paths).out, "the former name"
        assert dftmerge("help", "debug", name).out == dftmerge("debug", name, "--help").out
    assert "Did you mean stat?" in dftmerge("debug", "stats", where / "t", expect=2).err
    assert "which verb" in dftmerge("debug", expect=2).err


def test_alone_it_takes_what_is_here(where):
    done = dftmerge(expect=2, cwd=where)
    assert "Commands:" in done.out.decode() and "no directory traces here" in done.err and "dftrun" in done.err
    make(where / "traces")
    done = dftmerge(cwd=where)
    assert done.out == dftmerge("summary", "traces", cwd=where).out and "summary of traces" in done.err
    (where / "logs").mkdir()
    make(where / "logs" / "run7")
    (where / "traces").rename(where / "others")
    named = {"DFTRACER_LOG_FILE": str(where / "logs" / "run7" / "trace")}
    assert dftmerge(cwd=where, env=named).out == dftmerge("summary", where / "logs" / "run7", cwd=where).out
    assert dftmerge(expect=2, cwd=where, env={"DFTRACER_LOG_FILE": "trace"}).code == 2


def test_more_is_refused(where):
    """What nobody looks at is no secret: an argument too many is named, and nothing is done."""
    make(where / "t")
    for words in (["help", "summary", "extra"], ["-V", "extra"], ["--help", "summary", "extra"], ["help", "filters", "extra"],
                  ["debug", "calls", "extra"], ["help", "debug", "stat", "extra"], ["control", "1", "pause", "extra"]):
        done = dftmerge(*words, expect=2)
        assert done.out == b"" and ("extra" in done.err or words[0] == "control"), (words, done)


def test_lines_fit(where):
    """In a pipe with COLUMNS as on a terminal. Lines for programs stay whole (dump, lists of limits and rules)."""
    done = run(BUILD / "bin" / "make_ranks", where / "ranks", "ranks=20", "hosts=3", "seconds=40", "slow=3", "at=10", "others=20")
    assert done.code == 0, done.err
    make(where / "calls", ranks=1, processes=4)
    screens = [[name] for name in ("summary", "findings", "ranks", "timeline", "overlap", "layers", "ps", "counters", "check", "lineage")]
    screens += [["summary", *more] for more in (["--by", "file"], ["--by", "dir,name,class"], ["--by", "time"], ["--by", "process"], ["--tree"], ["--hist"])]
    screens += [["timeline", "--heat"], ["timeline", "--by", "class"], ["top", "--once"], ["debug", "stat"]]
    for columns in ("60", "80", "200"):
        for screen in screens[:-1] if columns == "60" else screens:
            for traces in ("ranks", "calls"):
                text = dftmerge(*screen, where / traces, env={"COLUMNS": columns}, expect=None).out.decode()
                wide = [line for line in text.splitlines() if len(line) > int(columns)]
                assert not wide, (screen, traces, columns, wide[:3])
        text = dftmerge("compare", where / "ranks", where / "calls", env={"COLUMNS": columns}, expect=None).out.decode()
        assert text and all(len(line) <= int(columns) for line in text.splitlines()), text
        for words in (["debug", "calls"], ["--help"], ["help", "filters"], *([name, "--help"] for names in commands().values() for name in names)):
            text = dftmerge(*words, env={"COLUMNS": columns}).out.decode()
            wide = [line for line in text.splitlines() if len(line) > int(columns) and not line.startswith("  dftmerge ")]
            assert not [line for line in wide if "&&" not in line], (words, columns, wide)


def test_columns_is_a_number(where):
    make(where)
    usual = dftmerge("summary", where).out
    for word in ("", "0", "-80", "wide", "80x", " ", "99999999999999999999x"):
        assert dftmerge("summary", where, env={"COLUMNS": word}).out == usual, word
    assert dftmerge("summary", where, env={"COLUMNS": "7"}).out == dftmerge("summary", where, env={"COLUMNS": "40"}).out
    assert dftmerge("summary", where, env={"COLUMNS": "9" * 30}).out == dftmerge("summary", where, env={"COLUMNS": "1000"}).out
