#!/usr/bin/env python3
"""tools/JSON.md: every member that a command gives is in its section, and every one that is there is in the program. CSV titles, too."""

import json
import pathlib
import re

from pfw_files import Writer
from tooltest import BUILD, DFTMERGE, ROOT, dftmerge, main, make, run

TEXT = (ROOT / "tools" / "JSON.md").read_text()
ANY_NAME = {"dropped", "args", "types", "columns", "rank_sample_counts", "alignment_offsets_ns"}  # what is in them has names of its own
EXAMPLE = pathlib.Path(__file__).resolve().parent / "telemetry" / "in_lead.json"


def section(command):
    return re.search(rf"^## {command}$(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL).group(1)


def documented(command):
    return set(re.findall(r"`([a-z][a-z0-9_]*)`", section(command))) | {"notes"}


def members(value, found, inside=None):
    if isinstance(value, dict):
        for key, below in value.items():
            if inside not in ANY_NAME:
                found.add(key)
            members(below, found, key if inside not in ANY_NAME else None)
    elif isinstance(value, list):
        for below in value:
            members(below, found, None)
    return found


def inputs(where):
    make(where / "native", ranks=1, processes=3, events=300)
    make(where / "one", ranks=1, processes=3, events=300, seed=2)
    assert run(BUILD / "bin" / "make_ranks", where / "ranks", "ranks=6", "seconds=40", "slow=2", "at=15", "skip=1").code == 0
    assert run(BUILD / "bin" / "make_ranks", where / "stuck", "ranks=6", "seconds=40", "late=2", "by=20000").code == 0
    writer = Writer("1.0.8", rank=1)
    for i in range(9):
        writer.call("POSIX", "write", 1_700_000_000_000_000 + i, 5, "/data/x", ret=3, fd=4, user="x")
    (where / "foreign").mkdir()
    (where / "foreign" / "x.pfw").write_text(writer.text())
    return where


def every_member_is_documented(where):
    inputs(where)
    keys = "call region file time,rank pattern op,class dir,host,pid tid,process,program stack line".split()
    asked = [(["summary", "--by", k], d) for k in keys for d in ("native", "foreign")]
    asked += [([c], d) for c in ("ps", "check", "stat", "ranks") for d in ("native", "foreign", "ranks", "stuck")]
    for command, folder in asked:
        answer = json.loads(dftmerge(command[0], "--json", *command[1:], where / folder).out)
        more = members(answer, set()) - documented(command[0])
        assert not more, (command, folder, more)
    for folder in ("native", "foreign", "ranks"):
        for line in dftmerge("dump", "--json", where / folder).out.splitlines():
            assert not members(json.loads(line), set()) - documented("dump"), line
    comparison = json.loads(dftmerge("compare", "--json", where / "native", where / "one").out)
    assert not members(comparison, set()) - documented("compare"), members(comparison, set()) - documented("compare")
    worse = json.loads(dftmerge("compare", "--json", "--fail-over", "1%", "--metric", "count", where / "foreign", where / "ranks", expect=1).out)
    assert worse["worse"] and not members(worse, set()) - documented("compare")
    assert not members(json.loads(dftmerge("calls", "--json").out), set()) - documented("calls")
    done = run(DFTMERGE, "ranks", "--json", EXAMPLE)
    if done.code == 0:  # built with json-c
        telemetry = json.loads(done.out)
        assert telemetry["first_cause_suspects"] and not members(telemetry, set()) - documented("ranks")
    else:
        assert "json-c" in done.err, done.err
    assert section("ranks").index("Of telemetry") < section("ranks").index("phase_attribution")


def nothing_is_documented_that_is_not(_where):
    program = "".join(p.read_text() for folder in ("tools", "format") for p in sorted((ROOT / folder).glob("*.[ch]")))
    for command in ("summary", "dump", "ranks", "compare", "ps", "check", "stat", "calls"):
        assert len(documented(command)) > 5, command
        for name in documented(command):
            assert f'"{name}"' in program or f'"{name},' in program, (command, name)


def titles_of_csv(where):
    inputs(where)
    titles = dftmerge("summary", "--csv", "--by", "time,call", where / "native").out.splitlines()[0].decode().split(",")
    assert not set(titles) - documented("summary") and len(set(titles)) == len(titles)
    titles = dftmerge("compare", "--csv", where / "native", where / "one").out.splitlines()[0].decode().split(",")
    assert not {re.sub("_(a|b|spread)$", "", t) for t in titles} - documented("compare"), titles
    assert dftmerge("calls", "--csv").out.splitlines()[0].decode().split(",") == ["entry_point", "cat", "name", "op", "class", "bytes"]


def keys_are_listed(where):
    """--help and the message about a wrong key name all of them."""
    inputs(where)
    wrong = dftmerge("summary", "--by", "nosuch", where / "native", expect=2).err
    listed = re.findall(r"[a-z]+", wrong.split("There are")[1])
    usage = dftmerge("summary", "--help").out.decode()
    assert {"stack", "line", "pattern", "call"} <= set(listed)
    for key in listed:
        assert key in usage
        dftmerge("summary", "--by", key, where / "native")


if __name__ == "__main__":
    main([every_member_is_documented, nothing_is_documented_that_is_not, titles_of_csv, keys_are_listed])
