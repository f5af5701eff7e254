# SPDX-License-Identifier: MIT
"""Keys that put files together: extension, mount point, directory at a depth; and what is said of words that are no keys."""

import csv
import io
import json
import re

from pfw_files import Writer, write
from pfw_files import Writer
from tooltest import DFTMERGE, class_of, dftmerge, directory, dump, counts, make, run, summary


def extension(path):
    if path.endswith("/") and len(path) > 1:
        return "(unknown)"
    name = path.rpartition("/")[2].lstrip(".")
    parts = name.split(".")[1:]
    while parts and re.fullmatch("[0-9]*", parts[-1]):
        parts.pop()
    if parts:
        return "." + parts[-1] if len(parts[-1].encode("utf-8", "surrogateescape")) < 16 else "(none)"
    return ".#" if re.search(r"\.[0-9]", name) else "(none)"


def mount(path, points):
    while path and path not in points:
        path = path.rpartition("/")[0] or ("/" if path != "/" else "")
    return path or "(unknown)"


def depth(path, n):
    parts = directory(path).split("/")
    return "/".join(parts[:n + 1]) or "/"


def by(answer, key):
    return {g[key]: (g["count"], g["time_ns"], g["bytes"]) for g in answer["groups"]}


def recount(events, key_of):
    sums = {}
    for e in events:
        n, t, b = sums.get(key_of(e["file"]), (0, 0, 0))
        sums[key_of(e["file"])] = n + e.get("calls", 1), t + e["dur"], b + (e.get("bytes", 0) if "errno" not in e else 0)
    return sums


POINTS = {"/", "/data", "/data/o", "/x", "/scratch/job"}


def test_files_are_put_together(where):
    make(where / "t", processes=3, mounts=1)
    make(where / "n", processes=1, many=300, mounts=1, seed=5)
    events = [e for e in dump(where) if counts(e) and "file" in e]
    assert by(summary("--by", "ext", where), "ext") == recount(events, extension)
    got = summary("--by", "mount", where)
    assert by(got, "mount") == recount(events, lambda f: mount(f, POINTS))
    types = {g["mount"]: g["fstype"] for g in got["groups"]}
    assert types == {"/": "ext4", "/data": "lustre", "/x": "nfs", "/scratch/job": "beegfs"}, types
    for n in (1, 2, 3, 50):
        assert by(summary("--by", f"dir:{n}", where), "dir") == recount(events, lambda f: depth(f, n)), n
    for other in ("class", "call", "rank", "region"):
        for key in ("ext", "mount", "dir:2"):
            parts = summary("--by", f"{key},{other}", where)["groups"]
            assert sum(g["time_ns"] for g in parts) == sum(e["dur"] for e in events if e.get("calls", 1)), (key, other)
    page = dftmerge("summary", "--by", "mount", where).out.decode()
    assert re.search(r"^/scratch/job \(beegfs\) +[0-9]", page, re.M), page


def test_names_have_one_extension(where):
    for path, wanted in (("/a/libc.so.6", ".so"), ("/a/x.tar.gz", ".gz"), ("/a/.bashrc", "(none)"), ("/a/..b.c", ".c"), ("/a.b/c", "(none)"),
                         ("/a/run.001", ".#"), ("/a/x.", "(none)"), ("/a/x.c.", ".c"), ("/a/b.1.2.3", ".#"), ("/a/1.5.h5", ".h5"),
                         ("/a/b.0123456789abcde", ".0123456789abcde"), ("/a/b.0123456789abcdef", "(none)")):
        assert extension(path) == wanted, (path, extension(path))


def test_aggregates_answer_too(where):
    make(where / "rows", processes=2, keep=0, mounts=1)
    make(where / "all", processes=2, mounts=1)
    for key in ("ext", "mount", "dir:2"):
        rows, every = (summary("--by", key, where / w) for w in ("rows", "all"))
        assert rows["source"] == "files" and by(rows, key[:5].rstrip(":2")) == by(every, key[:5].rstrip(":2")), key


def test_files_beyond_the_room_are_their_directory(where):
    """Sums by directory and mount point stay exact; the page and a note say what is not told apart."""
    make(where / "fold", processes=2, keep=0, mounts=1, fold=1)
    make(where / "rows", processes=2, keep=0, mounts=1)
    for key in ("dir", "mount", "dir:2"):
        a, b = (summary("--by", key, where / w) for w in ("fold", "rows"))
        assert by(a, key[:5].rstrip(":2")) == by(b, key[:5].rstrip(":2")), key
    answer = summary("--by", "file", where / "fold")
    plain = by(summary("--by", "file", where / "rows"), "file")
    beyond = {g["file"]: g["count"] for g in answer["groups"] if g["file"].endswith("/")}
    assert beyond == {"/x/": plain["/x/1"][0] + plain["/x/2"][0], "/x/y/": plain["/x/y/3"][0], "/scratch/job/deep/er/": plain["/scratch/job/deep/er/4"][0]}
    assert any(n.startswith(f"{sum(beyond.values())} calls are on more files than aggregates tell apart") for n in answer["notes"]), answer["notes"]
    page = dftmerge("summary", "--by", "file", where / "fold").out.decode()
    assert re.search(r"^/x/ \(files not told apart\) +[0-9]", page, re.M), page
    assert by(summary("--by", "ext", where / "fold"), "ext")["(unknown)"][0] == sum(beyond.values())
    assert not any("tell apart" in n for n in summary("--by", "file", where / "rows")["notes"])
    one = summary("--by", "file", "--file", "/x/*", where / "fold")["groups"]
    assert {g["file"] for g in one} == {"/x/", "/x/y/"}


def test_how_files_are_accessed(where):
    """Rows know strides, events do not; both know the distinct bytes, wherever the groups have been. Not those of folded
    files."""
    settings = {"processes": 3, "events": 2000, "fold": 1}
    make(where / "rows", keep=0, strides=1, **settings)
    make(where / "all", **settings)
    for by in ("file", "file,class", "rank,file", "file,region"):
        rows, every = (summary("--by", by, where / w)["groups"] for w in ("rows", "all"))
        key = lambda g: tuple(str(g.get(k)) for k in (*by.split(","), "region_cat"))
        kept = {key(g): g for g in every}
        folded = [g for g in rows if g["file"].endswith("/")]
        assert folded and all(g["distinct_bytes"] is None and g["strides"] is None for g in folded), by
        known = [g for g in rows if g["distinct_bytes"] is not None]
        assert len(known) > 5, by
        for g in known:
            assert g["distinct_bytes"] == kept[key(g)]["distinct_bytes"] and kept[key(g)]["strides"] is None, (by, g)
            assert g["distinct_bytes"] <= g["offset_max"] + (g["offset_max"] >> 9) + 1
            (first, many), (second, few) = ((s["bytes"], s["count"]) for s in g["strides"])
            assert (first, second) == (4096, -8192) and many == 3 * few > 0, (by, g)
        small = run(DFTMERGE, "summary", "--json", "--by", by, where / "rows", env={"DFTMERGE_GROUP_BYTES": "8192"})
        assert json.loads(small.out)["groups"] == rows, by
    assert all(g["distinct_bytes"] is None and g["strides"] is None for g in summary("--by", "dir", where / "rows")["groups"])
    title, *lines = dftmerge("summary", "--csv", "--by", "file", where / "rows").out.decode("utf-8", "surrogateescape").splitlines()
    assert title.endswith(",last_ns,distinct_bytes,processes,common_size,io_ns,strides") and any(re.search(r",[0-9]+,3,,[0-9]+,4096:[0-9]+ -8192:[0-9]+$", line) for line in lines), lines
    for columns, shown in (("300", True), ("80", False)):
        page = run(DFTMERGE, "summary", "--by", "file", where / "rows", env={"COLUMNS": columns}).out.decode("utf-8", "surrogateescape")
        assert bool(re.search("bytes +a call +distinct +(again +)?rate +calls/s +processes" if shown else "distinct", page)) == shown, page
    page = run(DFTMERGE, "summary", "--by", "file", "--sort", "again", where / "rows", env={"COLUMNS": "80"}).out.decode("utf-8", "surrogateescape")
    again = [float(a.replace(",", "")) for a in re.findall(r" ([0-9.,]+)x$", page, re.M)]
    known = sorted((max(1, g["bytes"] / g["distinct_bytes"]) for g in summary("--by", "file", where / "rows")["groups"] if g["distinct_bytes"]), reverse=True)
    assert "*again" in page and len(again) == len(known) and again == sorted(again, reverse=True), page
    assert all(abs(a - k) <= max(0.06, k / 100) for a, k in zip(again, known)), (again, known)
    assert "distinct" not in run(DFTMERGE, "summary", "--by", "dir", where / "rows", env={"COLUMNS": "300"}).out.decode("utf-8", "surrogateescape")


def test_mounts_differ_or_are_not_known(where):
    make(where / "t", processes=2, mounts=2)
    got = {g["mount"]: g["fstype"] for g in summary("--by", "mount", where / "t")["groups"]}
    assert got == {"/": None, "/data": "lustre", "/x": "nfs", "/scratch/job": "beegfs"}, got
    make(where / "u", processes=2, seed=9)
    answer = summary("--by", "mount", where / "u")
    assert [(g["mount"], g["fstype"]) for g in answer["groups"]] == [("(unknown)", None)]
    assert any("mount points: they are unknown" in n for n in answer["notes"])
    both = summary("--by", "mount", where)  # the longest that is known
    assert {g["mount"] for g in both["groups"]} == set(got)


def test_wrong_words_are_told(where):
    make(where / "t", processes=1)
    for word, meant in (("mout", "mount"), ("exts", "ext"), ("patern", "pattern"), ("call,hosst", "host"), ("dir:0", "dir"), ("dir:x", "dir"),
                        ("xyzzy", None), ("", None), ("dir:", "dir"), ("dir:99999999999", "dir")):
        done = run(DFTMERGE, "summary", "--by", word, where / "t")
        assert done.code == 2 and "no such key" in done.err and "dir:N" in done.err, (word, done)
        assert re.findall(r"Did you mean (\w+)\?", done.err) == ([meant] if meant else []), (word, done.err)
    for two in ("file,ext", "mount,dir:2", "pattern,dir"):
        assert run(DFTMERGE, "summary", "--by", two, where / "t").code == 2


def lines_of_tree(text):
    """(path or what stands for several, calls) of each line, in order."""
    lines = text[text.index("\ndir "):].splitlines()[2:]
    around, found = [], []
    for line in lines:
        m = re.match(r"( *)(\(.*?\)|\S+)  +([\d,]+) ", line)
        if not m:
            break
        depth = len(m[1]) // 2
        path = m[2] if not depth else around[depth - 1].rstrip("/") + "/" + m[2]
        around[depth:] = [path]
        found.append((path, int(m[3].replace(",", ""))))
    return found


def test_directories_are_a_tree(where):
    """Each line has the sum of what is below it; lines that are left out stand together in one."""
    make(where / "a", processes=2)
    make(where / "b", processes=1, many=300, seed=5)
    events = [e for e in dump(where) if counts(e) and "file" in e]
    below = lambda path: sum(e.get("calls", 1) for e in events if (directory(e["file"]) + "/").startswith(path.rstrip("/") + "/"))
    full = lines_of_tree(dftmerge("summary", "--tree", "--top", "100000", where).out.decode())
    assert len(full) > 5 and full[0] == ("/", below("/")), full
    assert all(n == below(path) for path, n in full if not path.endswith(")")), full
    assert len({path for path, _ in full}) == len(full)
    for n in (1, 2, 4):
        some = lines_of_tree(dftmerge("summary", "--by", "dir", "--tree", "--top", str(n), where).out.decode())
        assert sum(not p.endswith(")") for p, _ in some) == n and set(s for s in some if not s[0].endswith(")")) <= set(full), some
        for path, calls in some:
            if path.endswith("more)"):
                inside = path.rpartition("/")[0] or "/"
                assert calls <= below(inside), some
    by_calls = lines_of_tree(dftmerge("summary", "--tree", "--sort", "calls", where).out.decode())
    assert sorted(by_calls) == sorted(full) and by_calls[0] == full[0]
    children = [n for p, n in by_calls if p.count("/") == 1 and p != "/"]
    assert children == sorted(children, reverse=True), by_calls
    cut = lines_of_tree(dftmerge("summary", "--by", "dir:1", "--tree", where).out.decode())
    assert all(p.count("/") == 1 for p, _ in cut), cut
    only = lines_of_tree(dftmerge("summary", "--tree", "--dir", "/data/in", where).out.decode())
    assert dict(only)["/data/in"] == below("/data/in") and dict(only)["/"] < dict(full)["/"], only  # renames come from elsewhere
    stacks = dftmerge("summary", "--by", "stack", where).out
    assert dftmerge("summary", "--tree", "--by", "stack", where).out == stacks and b"answered from" in stacks
    for options, said in ((["--by", "file"], "of directories or call stacks"), (["--by", "dir,rank"], "of directories or"), (["--json"], "for programs"),
                          (["--sort", "dir"], "in order of a number")):
        assert said in dftmerge("summary", "--tree", *options, where, expect=2).err, options
    assert "no event passes --file" in dftmerge("summary", "--tree", "--file", "/nowhere", where, expect=1).err


def test_deep_and_many_directories(where):
    """A path of 1,000 directories is one line, and one that no kernel takes ends none."""
    make(where / "a", processes=1, many=2, long=2000)
    text = dftmerge("summary", "--tree", where / "a").out.decode()
    assert "answered from" in text and len(lines_of_tree(text)) >= 1, text[:500]
    writer = Writer("2.x")
    for at, path in enumerate(("/" + "d/" * 30000 + "f", "/x/y")):
        writer.call("POSIX", "read", 1000 * at, 10, file=path)
    write(where / "b.pfw", writer.text())
    text = dftmerge("summary", "--tree", "--no-index", where / "b.pfw").out.decode()
    assert len(lines_of_tree(text)) >= 2, text[:500]


def test_regions_without_what_is_around_them(where):
    """They are in no tree, and it has no title then."""
    make(where, processes=2)
    whole = dftmerge("summary", where).out.decode()
    inside = dftmerge("summary", "--region", "step", where).out.decode()
    assert "Regions and what is inside them\n" in whole and "inside them" not in inside and "Regions by time" in inside, inside


def test_processes_have_names(where):
    make(where, processes=3, ranks=1, job=77)
    page = dftmerge("summary", "--by", "process", where).out.decode()
    assert sorted(re.findall(r"^(app \d+, rank \d) ", page, re.M)) == [f"app {1000 + i}, rank {i}" for i in range(3)], page
    assert re.fullmatch("[0-9a-f]{16}", summary("--by", "process", where)["groups"][0]["process"])
    assert [g["job"] for g in summary("--by", "job", where)["groups"]] == ["77"]


def sums_of(events):
    io = [e for e in events if class_of(e) in ("read", "write", "sync", "meta", "startup")]
    return (sum(e.get("calls", 1) for e in io), sum(e["dur"] for e in io if e.get("calls", 1)),
            sum(e.get("bytes", 0) for e in io if class_of(e) == "read" and "errno" not in e),
            sum(e.get("bytes", 0) for e in io if class_of(e) == "write" and "errno" not in e))


def test_groups_of_processes_are_of_io(where):
    """On the screen regions and waits are not added to I/O; other keys, filters of calls and programs count all."""
    writer = Writer("1.0.8", rank=1)
    writer.call("dlio", "epoch", 1_700_000_000_000_000, 9_000_000)
    writer.call("POSIX", "read", 1_700_000_000_000_100, 50_000, "/data/x", ret=3, fd=4)
    (where / "x.pfw").write_text(writer.text())
    for key in ("rank", "process", "role", "pid", "host", "program", "rank,pid"):
        page = dftmerge("summary", "--by", key, where).out.decode()
        assert "I/O of groups by time" in page and re.search(r" 50.0 ms .* 100.0 ", page) and "9.0" not in page.split("I/O of groups")[1], page
    for options in (("--by", "rank,class"), ("--by", "rank", "--op", "region"), ("--by", "rank", "--name", "*")):
        page = dftmerge("summary", *options, where).out.decode()
        assert "I/O of groups" not in page and "9.0" in page.split("Groups")[1], page
    assert summary("--by", "rank", where)["groups"][0]["count"] == 2


def test_instances_of_regions(where):
    """Each time that a region was open, with the calls that started meanwhile, in its thread and in all."""
    make(where, processes=2, ranks=1, events=300)
    events = [e for e in dump(where) if counts(e)]
    regions = {(e["cat"], e["name"]) for g in [summary("--by", "call", "--op", "region", where)["groups"]] for e in g}
    wanted = [e for e in events if (e["cat"], e["name"]) in regions]
    for options, names, passes in (((), None, lambda e: True), (("--region", "st*"), ["step"], lambda e: True),
                                   (("--region", "step,solve", "--class", "read"), ["step", "solve"], lambda e: class_of(e) == "read")):
        answer = json.loads(dftmerge("summary", "--json", "--by", "instance", *options, where).out)
        chosen = [e for e in wanted if names is None or e["name"] in names]
        assert answer["found"] == len(answer["instances"]) == len(chosen) > 10, options
        assert [i["start_ns"] for i in answer["instances"]] == sorted(e["ts"] for e in chosen)
        calls = [e for e in events if passes(e)]
        by_start = {(e["pid"], e["tid"], e["ts"], e["dur"], e["name"]): e for e in chosen}
        for i in answer["instances"]:
            e = by_start.pop((i["pid"], i["tid"], i["start_ns"], i["time_ns"], i["name"]))
            inside = [c for c in calls if e["ts"] <= c["ts"] < e["ts"] + e["dur"]]
            own = sums_of([c for c in inside if (c["pid"], c["tid"]) == (e["pid"], e["tid"])])
            assert own == (i["count"], i["io_ns"], i["read_bytes"], i["write_bytes"]), (i, own)
            assert sums_of(inside) == (i["all_count"], i["all_io_ns"], i["all_read_bytes"], i["all_write_bytes"]), i
        assert not by_start
    rows = list(csv.reader(io.StringIO(dftmerge("summary", "--csv", "--by", "instance", where).out.decode())))
    assert len(rows) == len(wanted) + 1 and all(len(row) == len(rows[0]) for row in rows)
    page = dftmerge("summary", "--by", "instance", "--region", "step", "--sort", "i/o", "--top", "3", where).out.decode()
    assert re.search(r"^ +from +region +rank .* \*I/O ", page, re.M) and len(re.findall(r"^ *\d+\.\d{3} s  step ", page, re.M)) == 3, page
    for options, said in ((["--sort", "tme"], "Did you mean time?"), (["--sort", ""], "no such column"), (["--tree"], "without --tree"),
                          (["--width", "1"], "without --tree, --width and --hist"), (["--by", "instance,rank"], "goes by itself"),
                          (["--by", "instanse"], "Did you mean instance?")):
        assert said in dftmerge("summary", "--by", "instance", *options, where, expect=2).err, options
    assert "no event passes --region" in dftmerge("summary", "--by", "instance", "--region", "nosuch", where, expect=1).err
    make(where / "rows", keep=0)
    assert "there are no single events here" in dftmerge("summary", "--by", "instance", where / "rows", expect=1).err


def test_instances_have_names(where):
    """Arguments tell instances apart: epoch 1, 2, 3. What waits for data, and calls that wait, are the wait, once."""
    writer = Writer("1.0.8", rank=1)
    for i in range(3):
        at = 1_700_000_000_000_000 + 1000 * i
        writer.call("dlio", "epoch", at, 900, epoch=i + 1, step="s")
        writer.call("dlio", "wait for data", at + 100, 200 + i)
        writer.call("POSIX", "fork", at + 20, 40, ret=7)  # that is no waiting
        writer.call("POSIX", "read", at + 400, 50, "/data/x", ret=3, fd=4)
    (where / "x.pfw").write_text(writer.text())
    answer = json.loads(dftmerge("summary", "--json", "--by", "instance", "--region", "epoch", where).out)
    assert [(i["args"], i["count"], i["io_ns"], i["wait_ns"], i["read_bytes"]) for i in answer["instances"]] == [
        (f"epoch {n + 1}, step s", 1, 50_000, (200 + n) * 1000, 3) for n in range(3)], answer
    assert [i["number"] for i in answer["instances"]] == [1, 2, 3], answer
    page = dftmerge("summary", "--by", "instance", where).out.decode()
    assert re.search(r"^ +from +region .* all bytes$", page, re.M) and re.search(r"  epoch \(epoch 2, step s\) .* 3 B$", page, re.M), page
    assert [f"wait for data {n} " in page for n in (1, 2, 3, 4)] == [True, True, True, False], page
    for columns in (60, 80, 120):
        lines = dftmerge("summary", "--by", "instance", "--region", "epoch", where, env={"COLUMNS": str(columns)}).out.decode().splitlines()
        assert max(map(len, lines)) <= columns and (columns < 80 or "epoch (epoch 3, step s)" in "".join(lines)), lines
