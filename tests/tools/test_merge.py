# SPDX-License-Identifier: MIT
"""dftmerge merge: whatever the inputs, an archive answers every question as they do; so do archives split by rank or
host, and groups of events all together; and a group alone is just its events, and knows of no loss."""

import fnmatch
import json
import os
import random
import shutil

from pfw_files import DIALECTS, write
from test_pfw import sample
from tooltest import DFTMERGE, FULL, dftmerge, dump, make, run, summary

BYS = ("call", "cat,op", "region", "file", "dir,class", "rank", "pid,tid", "host,program", "time", "call,rank,time",
       "region,class", "process")
QUESTIONS = ([["summary", "--json", "--by", by] for by in BYS] +
             [["summary", "--json", "--from", "0.01", "--to", "0.2"], ["summary", "--csv", "--by", "file", "--cat", "POSIX"],
              ["summary", "--json", "--file", "/data/*", "--name", "read,write"], ["summary", "--json", "--rank", "1"],
              ["summary"], ["dump", "--json"], ["dump"], ["dump", "--json", "--file", "/data/in/*"], ["ps", "--json"],
              ["export", "--format", "csv", "-o", "-"], ["export", "--format", "perfetto", "-o", "-"]])


def answers(*paths, recovered=True, expect=0):
    """Of every question; notes name files, and are compared by what they say."""
    found = {}
    for question in QUESTIONS:
        done = run(DFTMERGE, *question, *paths)
        assert done.code == expect, (question, paths, done)
        out = done.out
        if question[0] != "dump" and "--json" in question:
            answer = json.loads(out)
            answer["notes"] = sorted({note.split(": ", 1)[-1] for note in answer.get("notes", ())})
            for process in answer.get("processes", ()) if question[0] == "ps" else ():
                process.pop("file")
                process.pop("live_file")
            if not recovered:  # a live file does not come along: it is not told where events came from
                for key in ("notes", "recovered"):
                    answer.pop(key, None)
            out = answer
        elif question == ["summary"] and not recovered:
            continue
        found[" ".join(question)] = out
    return found


def same(got, wanted, what):
    for question, answer in wanted.items():
        if got[question] != answer:
            one, other = (a if isinstance(a, bytes) else json.dumps(a, indent=1).encode() for a in (got[question], answer))
            lines = [(a, b) for a, b in zip(one.splitlines(), other.splitlines()) if a != b]
            raise AssertionError(f"{what}: {question}: {len(one)} and {len(other)} bytes: {lines[:3]}")


def random_traces(where, seed):
    """Some processes of every kind."""
    chance = random.Random(seed)
    where.mkdir()
    for i in range(chance.randrange(1, 4)):
        settings = dict(processes=chance.randrange(1, 4), threads=chance.randrange(1, 3), events=chance.randrange(5, 400),
                        block=chance.choice([7, 60, 500]), interval_ms=chance.choice([10, 100, 1000]), seed=100 * seed + i,
                        ranks=chance.randrange(2), hosts=chance.randrange(1, 3), start=1700000000 + chance.randrange(2))
        settings.update(chance.choice([{}, {}, {"rows": 0}, {"lossy": 1}, {"slow": 1}, {"same_time": 1}, {"reverse": 1}]))
        make(where / f"n{i}", **settings)
    for i in range(chance.randrange(3)):
        write(where / f"{i}.pfw{chance.choice(['', '.gz'])}", sample(chance.choice(DIALECTS), pid=chance.choice([7, 8])).text())
    return where


SEEDS = range(40 if FULL else 3)


def test_one_archive(where):
    for seed in SEEDS:
        parts = random_traces(where / str(seed), seed)
        wanted = answers(parts)
        archive, again = where / f"{seed}.dft", where / f"{seed}-again.dft"
        dftmerge("merge", "-q", "-o", archive, parts)
        same(answers(archive), wanted, f"seed {seed}: archive")
        files = sorted(p for p in parts.rglob("*.*") if ".dftindex" not in p.parts and p.is_file())
        random.Random(seed).shuffle(files)
        half = where / f"{seed}-half.dft"
        dftmerge("merge", "-q", "-o", half, *files[:len(files) // 2 + 1])
        dftmerge("merge", "-q", "-o", again, archive, half, *files[len(files) // 2:])
        same(answers(again), wanted, f"seed {seed}: archive of archives")
        assert len(again.read_bytes()) <= len(archive.read_bytes()) + 4096, "what was seen twice is in it once"
        assert answers(archive, parts) == wanted, "an archive beside its parts counts nothing twice"


def test_what_was_lost(where):
    """Live files, losses, damage: the archive says it, too."""
    make(where / "a", live=1, ranks=1)
    make(where / "b", lossy=1, seed=2)
    make(where / "c", end=0, seed=3, processes=1)
    archive = where / "all.dft"
    dftmerge("merge", "-o", archive, where / "a", where / "b", where / "c")
    parts, whole = (summary(*paths) for paths in ((where / "a", where / "b", where / "c"), (archive,)))
    for key in ("dropped", "killed", "without_end", "events", "events_kept", "groups", "missing_ranks", "wall_ns"):
        assert whole[key] == parts[key], (key, whole[key], parts[key])
    assert parts["dropped"] and parts["killed"] == 2 and parts["without_end"] == 1
    assert dump(archive) == dump(where / "a", where / "b", where / "c")
    damaged = next((where / "b").glob("*.dft"))
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    done = dftmerge("merge", "-o", where / "damaged.dft", where / "b", expect=1)
    assert damaged.name in done.err and "unreadable" in done.err
    assert dump(where / "damaged.dft") == dump(where / "b", expect=1)


def test_names_of_what_is_left_out(where):
    """Texts that stand only in blocks whose events another block holds, too."""
    make(where / "coarse", processes=1, rows=0, block=500, texts=0)
    make(where / "fine", processes=1, rows=0, block=100)
    wanted = dump(where / "fine")
    assert any(e.get("file", "").startswith("#") for e in dump(where / "coarse"))
    assert dump(where) == wanted
    dftmerge("merge", "-q", "-o", where / "all.dft", where / "coarse", where / "fine")
    assert dump(where / "all.dft") == wanted
    dftmerge("merge", "-q", "-o", where / "out", "--split-by", "rank", where / "coarse", where / "fine")
    assert dump(where / "out") == wanted


# --- one archive for each ------------------------------------------------------------------------------------------------


def test_split(where):
    for seed in SEEDS:
        parts = random_traces(where / str(seed), 1000 + seed)
        wanted = answers(parts)
        archive = where / f"{seed}.dft"
        dftmerge("merge", "-q", "-o", archive, parts)
        for key in ("rank", "host"):
            for source in (parts, archive):
                out = where / f"{seed}-{key}-{source.name}"
                done = dftmerge("merge", "-o", out, "--split-by", key, source)
                assert str(out) in done.err
                same(answers(out), wanted, f"seed {seed}: by {key} of {source.name}")
        everything = dump(parts)
        for path in (where / f"{seed}-rank-{parts.name}").glob("*.dft"):
            rank = None if path.name == "no-rank.dft" else int(path.name[5:-4])
            assert dump(path) == [e for e in everything if e["rank"] == rank], path
            check = json.loads(dftmerge("check", "--json", path, expect=None).out)
            assert check["good"] == (not check["dropped"]) and all("events lost" in note for note in check["notes"]), check


def test_split_of_killed(where):
    make(where / "t", live=1, ranks=1, hosts=2)
    dftmerge("merge", "-q", "-o", where / "out", "--split-by", "rank", where / "t")
    assert sorted(p.name for p in (where / "out").iterdir()) == ["rank-00000.dft", "rank-00001.dft"]
    same(answers(where / "out", recovered=False), answers(where / "t", recovered=False), "killed")
    assert summary(where / "out" / "rank-00001.dft")["killed"] == 1


def test_not_beside_others(where):
    """What would be counted together with other files is not written."""
    make(where / "t")
    before = sorted((p.name, p.read_bytes()) for p in (where / "t").iterdir())
    for more in (["--split-by", "rank"], ["--group", "a: cat=POSIX"]):
        done = dftmerge("merge", "-o", where / "t", *more, where / "t", expect=1)
        assert "empty directory" in done.err
        assert sorted((p.name, p.read_bytes()) for p in (where / "t").iterdir()) == before
        for _ in range(2):  # its own files it replaces
            dftmerge("merge", "-q", "-o", where / f"new{len(more[1])}", *more, where / "t")
    only = where / "only"
    make(only, processes=1, ranks=1)
    os.rename(next(only.glob("*.dft")), only / "rank-00000.dft")
    data = (only / "rank-00000.dft").read_bytes()
    dftmerge("merge", "-o", only, "--split-by", "rank", only, expect=1)
    assert (only / "rank-00000.dft").read_bytes() == data
    for wrong in (["--split-by", "colour"], ["--split-by", "rank", "--group", "a:"], []):
        dftmerge("merge", *(["-o", where / "x"] if wrong else []), *wrong, where / "t", expect=2)


# --- groups --------------------------------------------------------------------------------------------------------------

RULES = """
# the first that fits decides
in: path=/data/in/*,/top cat=POSIX
steps: region=step
"odd
meta: class=meta
with-comma: path="/data/out/with\\,comma*"
in: name=p*,fr[e]ad
"""

def fits(text, *patterns):
    return text is not None and any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns)


def group_of(event):
    """The rules above, by hand."""
    files = [f for f in (event.get("file"), event.get("file2")) if f]
    if event["cat"] == "POSIX" and any(fits(f, "/data/in/*", "/top") for f in files):
        return "in"
    if fits(event.get("region"), "step") or (event["name"] == "step" and event["cat"] in ("APP", "LIB")):
        return "steps"
    if event["class"] == "meta":
        return "meta"
    if any(fits(f, "/data/out/with,comma*") for f in files):
        return "with-comma"
    return "in" if fits(event["name"], "p*", "fread") and event["cat"] not in ("APP", "LIB") or event["name"] == "pack" else "other"


def test_groups(where):
    rules = where / "rules"
    rules.write_text("\n".join(line for line in RULES.splitlines() if not line.startswith('"')))
    for seed in SEEDS:
        parts = random_traces(where / str(seed), 2000 + seed)
        wanted, everything = answers(parts), dump(parts)
        out = where / f"{seed}-groups"
        dftmerge("merge", "-o", out, "--group", rules, parts)
        names = sorted(p.name for p in out.iterdir())
        assert names == ["in.dft", "meta.dft", "other.dft", "steps.dft", "with-comma.dft"], names
        same(answers(out), wanted, f"seed {seed}: all groups")
        one = where / f"{seed}-groups.dft"
        dftmerge("merge", "-q", "-o", one, out)
        same(answers(one), wanted, f"seed {seed}: an archive of all groups")
        same(answers(out, parts), wanted, f"seed {seed}: groups beside what they are of")
        same(answers(out / "in.dft", parts, out / "meta.dft"), wanted, f"seed {seed}: some groups beside what they are of")
        native = all("pfw" not in p.suffixes for p in parts.iterdir()) and not list(parts.glob("*.pfw*"))
        for name in names:
            alone = dump(out / name)
            if native:
                assert alone == [e for e in everything if group_of(e) + ".dft" == name], name
            check = json.loads(dftmerge("check", "--json", out / name, expect=None).out)
            assert check["good"] == (not check["dropped"]) and [n for n in check["notes"] if "lost" not in n and "jobs are together" not in n] == \
                [f"{out / name}: only the group {name[:-4]} of the events, one of 5 (1 is here)"], check
            by_call = {(g["cat"], g["name"]): g["count"] for g in summary(out / name)["groups"]}
            assert sum(by_call.values()) == summary("--by", "host", out / name)["events"]
        assert sum(len(dump(out / name)) for name in names) == len(everything)


def test_groups_of_the_killed(where):
    """What was in flight is in one group, once, also beside the live file itself."""
    make(where / "t", live=1, ranks=1)
    dftmerge("merge", "-q", "-o", where / "out", "--group", "files: path=*; rest: name=*", where / "t")
    wanted = answers(where / "t", recovered=False)
    same(answers(where / "out", recovered=False), wanted, "groups")
    same(answers(where / "out", where / "t", recovered=False), wanted, "beside")
    flying = [e["name"] for e in dump(where / "out" / "files.dft") if e.get("open")]
    assert flying and set(flying) == {"read"}, flying


def test_divided_in_two_ways(where):
    make(where / "t", ranks=1)
    wanted = answers(where / "t")
    dftmerge("merge", "-q", "-o", where / "a", "--group", "posix: cat=POSIX", where / "t")
    dftmerge("merge", "-q", "-o", where / "b", "--group", "in: path=/data/in/*", where / "t")
    same(answers(where / "a", where / "b"), wanted, "both ways, complete")
    same(answers(where / "a", where / "b" / "in.dft"), wanted, "one of them complete")
    done = dftmerge("dump", "--json", where / "a" / "posix.dft", where / "b" / "in.dft", expect=1)
    assert "left out" in done.err
    alone = [dftmerge("dump", "--json", p).out for p in (where / "a" / "posix.dft", where / "b" / "in.dft")]
    assert done.out in alone
    dftmerge("merge", "-o", where / "c", "--group", "x: cat=*", where / "a", expect=1)
    again = where / "again"
    dftmerge("merge", "-q", "-o", again, "--group", "posix: cat=POSIX", "--threads", 7, where / "t")
    for path in (where / "a").iterdir():
        assert (again / path.name).read_bytes() == path.read_bytes(), "the same bytes, whatever the threads"
    dftmerge("merge", "-q", "-o", where / "d", "--split-by", "rank", where / "a")
    same(answers(where / "d"), wanted, "groups, split by rank")


def test_aggregates_cannot_be_organised(where):
    make(where / "t", keep=0, processes=1)
    make(where / "u", processes=1, seed=5)
    done = dftmerge("merge", "-o", where / "out", "--group", "in: path=/data/in/*", where / "t", where / "u")
    calls = summary(where / "t")["events"]
    assert f"{calls} calls are known only as aggregates" in done.err, done.err
    assert sorted(p.name for p in (where / "out").iterdir()) == ["aggregates.dft", "in.dft", "other.dft"]
    assert summary(where / "out" / "aggregates.dft")["events"] == calls
    same(answers(where / "out"), answers(where / "t", where / "u"), "with aggregates")


def test_what_makes_no_rules(where):
    make(where / "t")
    (where / "binary").write_bytes(b"a:\0b")
    (where / "long").write_text("\n".join(f"g{i}: cat=x" for i in range(64)))
    for rules, word in (("a: colour=red", "no such key"), ("nothing", "No such file"), ("a/b: cat=x", "name"),
                        ("aggregates: cat=x", "name"), ("a: path=\"x", "quote"), ("a: cat=,x", "none of them empty"),
                        ("a: class=big", "no class 'big'"), ("a:;b", "NAME"), ("#:", "none"), (where / "binary", "no list"),
                        (where / "long", "too many"), ("ok: cat=POSIX; cat=x", "line 2")):
        done = dftmerge("merge", "-o", where / "out", "--group", rules, where / "t", expect=2)
        assert word in done.err, (rules, done.err)
    assert not (where / "out").exists()
    dftmerge("merge", "-q", "-o", where / "out", "--group", "other: cat=STDIO; all:", where / "t")
    assert sorted(p.name for p in (where / "out").iterdir()) == ["all.dft", "other.dft"]
    assert {e["cat"] for e in dump(where / "out" / "other.dft")} == {"STDIO"}


def test_outputs(directory):
    """OUT that ends in / or is a directory is a directory, for every command and format; what is missing is named."""
    traces, out = make(directory / "in"), directory / "out"
    forms = {"perfetto": "trace.json", "csv": "*.csv", "folded": "stacks.folded", "folded-bytes": "stacks-bytes.folded",
             "pfw": "*.pfw.gz", "perfflow": None}
    commands = [(("export", "--format", form), names) for form, names in forms.items()] + [(("merge",), "*.dft")]
    for command, names in commands:
        for i, where in enumerate((f"{out}/", out, f"{out}/")):  # made, there, there
            dftmerge(*command, "-o", where, traces)
            assert out.is_dir() and not names or sorted(out.glob(names)) == sorted(out.iterdir()) != [], (command, where)
            shutil.rmtree(out)
            if i == 0:
                out.mkdir()
        for where in (out / "no" / "x", f"{out}/no/x/"):
            done = dftmerge(*command, "-o", where, traces, expect=1)
            assert f"there is no directory {out}/no; nothing was written" in done.err, done
        (directory / "file").write_text("")
        assert "Not a directory" in dftmerge(*command, "-o", f"{directory}/file/", traces, expect=1).err
    dftmerge("export", "--format", "csv", "-o", out, traces)
    assert out.is_file()  # neither there nor with a slash
    shutil.copytree(traces, directory / "full")
    assert "is there already" in dftmerge("merge", "-o", directory / "full", traces, expect=1).err
