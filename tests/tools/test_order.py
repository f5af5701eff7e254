# SPDX-License-Identifier: MIT
"""Equal events have equal answers: the keys of processes are random, and decide nothing that a user sees. Nor do the
names of the files."""

import json
import random

from tooltest import dftmerge, make

COMPUTE = ("--compute", "APP:solve")
COMMANDS = (
    ["overlap", "--json", *COMPUTE], ["overlap", "--run", "all", *COMPUTE], ["overlap", "--by", "process", "--run", "all", *COMPUTE],
    ["overlap", "--json", "--aggregates", *COMPUTE], ["overlap", "--json"],
    ["summary", "--run", "all"], ["summary", "--all", "--run", "all"], ["summary", "--json", "--by", "process"],
    ["summary", "--csv", "--by", "process,call", "--sort", "failed"], ["summary", "--json", "--by", "pid,host", "--sort", "failed"],
    ["summary", "--by", "process", "--run", "all"], ["summary", "--tree", "--run", "all"],
    ["summary", "--by", "file", "--json"], ["summary", "--by", "instance", "--run", "all"], ["summary", "--hist", "--json"],
    ["ps"], ["ps", "--json"], ["findings", "--json"], ["findings", "--run", "all"], ["ranks", "--json"], ["ranks"],
    ["layers", "--json"], ["timeline", "--run", "all"], ["timeline", "--json"], ["timeline", "--heat", "--run", "all"],
    ["counters", "--json"], ["lineage", "--json"], ["lineage"],
    ["dump", "--json"], ["sql", "SELECT * FROM processes"], ["sql", "SELECT pid, count(*) FROM events GROUP BY pid"],
    ["export", "--format", "perfetto", "-o", "-"], ["export", "--format", "csv", "-o", "-"],
    ["export", "--format", "folded", "-o", "-"], ["export", "--format", "fio", "-o", "-"], ["export", "--format", "dlio", "-o", "-"],
    ["report", "-o", "-"])
SHAPES = (
    {"processes": 3, "tree": 5}, {"processes": 3, "tree": 5, "together": 1}, {"processes": 7, "tree": 2, "ranks": 1},
    {"processes": 7, "tree": 2, "ranks": 1, "together": 1, "keep": 0}, {"processes": 6, "hosts": 3, "together": 1, "same_time": 1},
    {"processes": 5, "ranks": 1, "hosts": 2, "together": 1, "end": 0, "job": 0})


def made(where, salt, **shape):
    """The traces of a shape, with other keys and other names of files for each salt."""
    where = make(where / "t", salt=salt, events=60, **shape)
    names = sorted(path.name for path in where.glob("*.dft"))
    others = [f"x{number}.dft" for number in range(len(names))]
    random.Random(salt).shuffle(others)
    for name, other in zip(names, others) if salt else ():
        (where / name).rename(where / other)
    return where


def answers(where):
    """What each command says, with the pid for the key of a process, and no name of a file."""
    keys = {p["key"]: f"process {p['pid']}" for p in json.loads(dftmerge("ps", "--json", "t", cwd=where).out)["processes"]}
    files = {path.name for path in (where / "t").glob("*.dft")}
    found = {}
    for command in COMMANDS:
        text = dftmerge(*command, "t", cwd=where, expect=None).out.decode(errors="surrogateescape")
        for key, pid in keys.items():
            text = text.replace(key, pid)
        for name in files:
            text = text.replace(name, "FILE")
        found[" ".join(command)] = text
    return found


def test_keys_and_names_of_files_decide_nothing(where):
    for number, shape in enumerate(SHAPES):
        wanted = None
        for salt in range(4):
            here = where / f"{number}-{salt}"
            here.mkdir()
            made(here, salt, **shape)
            got = answers(here)
            wanted = wanted or got
            for command, text in got.items():
                assert text == wanted[command], f"{shape}, salt {salt}: {command}\n{text[:2000]}\nnot\n{wanted[command][:2000]}"


def test_names_of_hosts_decide_nothing(where):
    def without_hosts(answer):
        return {**answer, "processes": [{k: v for k, v in p.items() if k != "host"} for p in answer["processes"]]}

    for number, shape in enumerate(SHAPES):
        wanted = None
        for turn in range(3):
            path = make(where / f"{number}-{turn}", **{"hosts": 3, **shape}, turn=turn, salt=turn, events=60)
            for command in (["overlap", *COMPUTE], ["overlap"]):
                got = without_hosts(json.loads(dftmerge(*command, "--json", path).out))
                wanted = wanted or {}
                assert wanted.setdefault(tuple(command), got) == got, (shape, turn, command)
