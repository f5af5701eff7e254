# SPDX-License-Identifier: MIT
"""docs/schema/*.json: what every command prints fits its schema, with no member besides; each member is in the program. CSV titles, too."""

import json
import pathlib
import re

import pytest

from pfw_files import Writer
from test_spans import chance, database
from tooltest import BUILD, DFTMERGE, ROOT, dftmerge, make, run

jsonschema = pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed: no schema is held against what is printed")
SCHEMAS = {path.stem: json.loads(path.read_text()) for path in sorted((ROOT / "docs" / "schema").glob("*.json"))}
EXAMPLE = pathlib.Path(__file__).resolve().parent / "telemetry" / "in_lead.json"


def strict(schema):
    """The same schema, which allows no member that it does not name."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict):
        closed["additionalProperties"] = False
    return closed


VALIDATORS = {name: jsonschema.Draft7Validator(strict(schema)) for name, schema in SCHEMAS.items()}


def fits(name, answer, what=""):
    for error in VALIDATORS[name].iter_errors(answer):
        raise AssertionError(f"{name} {what}: {'/'.join(map(str, error.absolute_path))}: {error.message[:500]}")


def documented(schema):
    """The names of all members that a schema has."""
    names = set()
    if isinstance(schema, dict):
        names.update(schema["properties"] if isinstance(schema.get("properties"), dict) else ())
        for part in schema.values():
            names |= documented(part)
    elif isinstance(schema, list):
        for part in schema:
            names |= documented(part)
    return names


def inputs(where):
    make(where / "native", ranks=1, processes=3, events=300)
    make(where / "one", ranks=1, processes=3, events=300, seed=2)
    make(where / "live", processes=2, threads=2, events=60, live=1)
    assert run(BUILD / "bin" / "make_ranks", where / "ranks", "ranks=6", "seconds=40", "slow=2", "at=15", "skip=1").code == 0
    assert run(BUILD / "bin" / "make_ranks", where / "stuck", "ranks=6", "seconds=40", "late=2", "by=20000").code == 0
    writer = Writer("1.0.8", rank=1)
    for i in range(9):
        writer.call("POSIX", "write", 1_700_000_000_000_000 + i, 5, "/data/x", ret=3, fd=4, user="x")
    (where / "foreign").mkdir()
    (where / "foreign" / "x.pfw").write_text(writer.text())
    return where


def answer_of(command, *arguments, expect=0):
    return json.loads(dftmerge(command, "--json", *arguments, expect=expect).out)


def test_every_answer_fits_its_schema(where):
    inputs(where)
    keys = "call region file time,rank pattern op,class dir,host,pid tid,process,program stack line run ext mount role,size access,errno job".split()
    for folder in ("native", "live", "foreign"):
        for key in keys:
            fits("summary", answer_of("summary", "--by", key, where / folder), (key, folder))
            fits("summary", answer_of("summary", "--events", "--by", key, where / folder), (key, folder, "events"))
            if "time" not in key:
                fits("summary", answer_of("summary", "--hist", "--by", key, where / folder), (key, folder, "hist"))
    for folder in ("native", "live", "foreign", "ranks"):
        for words in ((), ("--events",), ("--heat",), ("--by", "class"), ("--by", "process", "--of", "calls", "--interval", "1")):
            fits("timeline", answer_of("timeline", *words, where / folder), (words, folder))
    for folder in ("native", "live", "foreign", "ranks"):
        for words in ((), ("--aggregates",), ("--step", "write*,solve", "--epoch", "step", "--compute", "pack")):
            fits("overlap", answer_of("overlap", *words, where / folder), (words, folder))
        for preset in ("posix", "dlio", "generic", "torch"):
            view = "time,process,rank,host,file,directory,pattern"
            fits("layers", answer_of("layers", "--preset", preset, "--view", view, where / folder), (preset, folder))
    for folder in ("native", "live", "foreign"):
        fits("instances", answer_of("summary", "--by", "instance", where / folder), folder)
    for command in ("ps", "check", "stat", "ranks"):
        for folder in ("native", "live", "foreign", "ranks", "stuck"):
            expect = 1 if (command, folder) == ("check", "live") else 0  # something was left in a live file
            fits(command, answer_of(command, where / folder, expect=expect), folder)
    for key in ("call", "file", "rank", "process", "class"):
        for folder in ("native", "live"):
            fits("top", json.loads(dftmerge("top", "--once", "--json", "--by", key, where / folder).out), (folder, key))
    told = run(DFTMERGE, "control", "--json", where / "live", "pause")
    assert told.code == 1 and b"nothing is changed" in told.err.encode(), told.err
    fits("control", json.loads(told.out))
    for folder in ("native", "live", "foreign", "ranks"):
        lines = dftmerge("dump", "--json", where / folder).out.splitlines()
        assert lines
        for line in lines:
            fits("dump", json.loads(line), line)
    fits("compare", answer_of("compare", where / "native", where / "one"))
    worse = answer_of("compare", "--fail-over", "1%", "--metric", "count", where / "foreign", where / "ranks", expect=1)
    assert worse["worse"]
    fits("compare", worse)
    fits("calls", answer_of("calls"))
    fits("counters", answer_of("counters", where / "native"))
    fits("lineage", answer_of("lineage", where / "native"))
    for folder in ("native", "live", "foreign", "ranks"):
        fits("replay", answer_of("replay", "--dry-run", where / folder), folder)
        for table in ("events", "rows", "files", "processes", "regions", "counters", "jobs", "notes", "by_call", "bandwidth"):
            fits("sql", answer_of("sql", where / folder, f"select * from {table}"), (folder, table))
    (where / "root").mkdir()
    fits("replay", answer_of("replay", "--root", where / "root", "--speed", "max", where / "foreign"), "after a replay")
    for folder in ("native", "live", "foreign"):
        fits("findings", answer_of("findings", where / folder))
    done = run(DFTMERGE, "ranks", "--json", EXAMPLE)
    if done.code == 0:  # built with json-c
        telemetry = json.loads(done.out)
        assert telemetry["first_cause_suspects"]
        fits("telemetry", telemetry)
    else:
        assert "json-c" in done.err, done.err


def test_answers_about_spans_fit(where):
    if "without SQLite" in dftmerge("spans", "types", "x.db", expect=None).err:
        return
    few = {"spans-types": [], "spans-sequences": ["--root", "t"], "spans-states": ["--root", "t"], "spans-graph": []}
    path = database(where / "few.db", [("s", "t")])
    for name, words in few.items():
        fits(name, json.loads(dftmerge(*name.split("-"), path, "--json", *words).out))
    path = chance(where / "many.db", 3)
    words = {**few, "spans-sequences": ["--root", "task", "--all"], "spans-states": ["--root", "task"], "spans-rate": ["--event", "task/in"],
             "spans-between": ["--root", "task", "--from", "task/in", "--to", "task/out"]}
    for name, more in words.items():
        fits(name, json.loads(dftmerge(*name.split("-"), path, "--json", *more).out))
    fits("spans-between", json.loads(dftmerge("spans", "between", path, "--json", "--root", "flow", "--from", "task/in", "--to", "done").out))


def test_the_whole_page(where):
    """Each section has the groups that --by has, each finding the members that `findings` has."""
    inputs(where)
    group = jsonschema.Draft7Validator(strict(SCHEMAS["summary"]["properties"]["groups"]["items"]))
    keys = {"calls": "call,class", "classes": "class", "sizes": "size,class", "by_rank": "rank", "files": "file", "patterns": "pattern"}
    for folder in ("native", "live", "foreign", "ranks"):
        page = answer_of("summary", "--all", where / folder)
        fits("summary", page, folder)
        assert page["findings"] == answer_of("findings", where / folder)["findings"], folder
        for name, found in page["found"].items():
            assert found == len(page[name]) and all(group.is_valid(g) for g in page[name]), (folder, name)
            if name not in ("sizes", "by_rank", "regions"):  # these are of some classes
                wanted = answer_of("summary", "--by", keys[name], where / folder)["groups"]
                assert [(g["count"], g["time_ns"]) for g in page[name]] == [(g["count"], g["time_ns"]) for g in wanted], (folder, name)
        io = sum(g["time_ns"] for g in page["classes"] if g["class"] not in ("wait", "none"))
        assert io == sum(g["time_ns"] for g in page["sizes"]) == sum(g["time_ns"] for g in page["by_rank"])
    assert answer_of("summary", "--all", "--top", "1", where / "native")["found"]["files"] > 1
    for wrong in (["--all"], ["--all", "--json", "--by", "file"], ["--all", "--csv"]):
        assert "--all --json, without --by" in dftmerge("summary", *wrong, where / "native", expect=2).err, wrong


def test_no_schema_has_a_member_that_is_not():
    written = [*(p for folder in ("tools", "format") for p in sorted((ROOT / folder).rglob("*.[ch]"))), ROOT / "tools" / "tables" / "tables.def"]
    program = "".join(p.read_text() for p in written)
    for name, schema in SCHEMAS.items():
        jsonschema.Draft7Validator.check_schema(schema)
        assert len(documented(schema)) > 5 or name == "sql", name  # its members are those of the query
        for member in documented(schema):
            assert f'"{member}"' in program or f'"{member},' in program, (name, member)


def test_titles_of_csv(where):
    inputs(where)
    titles = dftmerge("summary", "--csv", "--by", "time,call", where / "native").out.splitlines()[0].decode().split(",")
    assert not set(titles) - documented(SCHEMAS["summary"]) and len(set(titles)) == len(titles)
    titles = dftmerge("compare", "--csv", where / "native", where / "one").out.splitlines()[0].decode().split(",")
    assert not {re.sub("_(a|b|spread)$", "", t) for t in titles} - documented(SCHEMAS["compare"]), titles
    assert dftmerge("debug", "calls", "--csv").out.splitlines()[0].decode().split(",") == ["entry_point", "cat", "name", "op", "class", "bytes"]


def test_keys_are_listed(where):
    """--help and the message about a wrong key name all of them."""
    inputs(where)
    wrong = dftmerge("summary", "--by", "nosuch", where / "native", expect=2).err
    listed = re.findall(r"[a-z]+", wrong.split("There are")[1])
    usage = dftmerge("summary", "--help").out.decode()
    assert {"stack", "line", "pattern", "call"} <= set(listed)
    for key in listed:
        assert key in usage
        dftmerge("summary", "--by", key, where / "native")
