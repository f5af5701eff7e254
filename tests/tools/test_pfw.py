# SPDX-License-Identifier: MIT
"""DFTracer's traces: every dialect and frame, against an independent reading; what real files hold; round trips."""

import fractions
import gzip
import json
import random
import shutil

import pytest

from pfw_files import DIALECTS, HOST, Writer, group, read_events, write
from tooltest import DFTMERGE, ROOT, check_around, dftmerge, dump, make, run, summary

DATA = ROOT.parent / "shared" / "data" / "dftracer"
T0 = 1_700_000_000_000_000


def of_summary(found, *keys):
    return {tuple(g[k] for k in keys): (g["count"], g["time_ns"], g["bytes"]) for g in found["groups"]}


def agrees(paths, events, *more):
    """Everything that can be asked, against the independent reading."""
    found = summary(*more, *paths)
    assert found["events"] == len(events), (found["events"], len(events))
    assert of_summary(found, "cat", "name") == group(events, 0, 1)
    by_file = group([e for e in events if e[2]], 2)
    assert of_summary(summary("--by", "file", *more, *paths), "file") == by_file
    assert of_summary(summary("--by", "rank", *more, *paths), "rank") == group(events, 6)
    both = group([e for e in events if e[2]], 0, 1, 2)
    assert of_summary(summary("--by", "cat,name,file", *more, *paths), "cat", "name", "file") == both
    return found


def sample(dialect, **more):
    writer = Writer(dialect, rank=3 if dialect != "2023" else None, **more)
    random.seed(7)
    ts = T0
    for i in range(300):
        file = f"/data/set {i % 7}/file_{i % 13}.bin"
        ts += random.randrange(50)
        kind = i % 6
        if kind == 0:
            writer.call("POSIX", "open", ts, 40 + i, file, ret=5, flags=66, mode=420)
        elif kind == 1:
            writer.call("POSIX", "read", ts, 10 + i, file, ret=4096 if i % 5 else -1, count=4096, fd=5)
        elif kind == 2:
            writer.call("STDIO", "fread", ts, 3, file, ret=7, count=9, size=512)
        elif kind == 3:
            writer.call("POSIX", "pwrite64", ts, 2, file, ret=100000, count=100000, offset=i * 100000, fd=6)
        elif kind == 4:
            writer.call("POSIX", "__xstat", ts, 1, file)
        else:
            writer.call("reader.NPZ", "open", ts, 500, file, image_size=3000 + i, epoch=i, speed=0.5)
        ts += 600
    return writer


def test_dialects(directory):
    """The same calls in all dialects are the same events."""
    dumps = []
    for dialect in DIALECTS:
        path = write(directory / f"{dialect}.pfw.gz", sample(dialect).text())
        agrees([path], read_events(path))
        lines = dump(path)
        assert all(e["pid"] == 4711 for e in lines)
        assert {e["rank"] for e in lines} == {None if dialect == "2023" else 3}
        for line in lines:
            del line["rank"]
            if line["cat"] == "reader.NPZ":
                del line["class"]  # the type says that it is a call of the C library: not all have it
            for key, value in line.get("args", {}).items():  # user's numbers are texts in 2023
                line["args"][key] = str(value)
        dumps.append(lines)
    for other in dumps[1:]:
        assert other == dumps[0]
    first, second = dumps[0][:2]
    assert first["ret"] == 5 and first["flags"] == 66 and first["mode"] == 420 and "size" not in first
    assert "errno" not in second
    assert summary("--by", "host", directory / "2.x.pfw.gz")["groups"][0]["host"] == HOST
    failed = [g for g in summary(directory / "2024.pfw.gz")["groups"] if g["name"] == "read"][0]
    assert failed["errors"] == 10 and failed["bytes"] == 40 * 4096


def test_all_together(directory):
    """A directory of all dialects beside a native trace."""
    events = []
    for i, dialect in enumerate(DIALECTS):
        path = write(directory / f"{i}.pfw{'.gz' if i % 2 else ''}", sample(dialect, pid=100 + i).text())
        events += read_events(path)
    make(directory / "native")
    native = summary(directory / "native")
    found = summary(directory)
    assert found["events"] == len(events) + native["events"]
    assert found["processes"] == len(DIALECTS) + native["processes"]
    agrees(sorted(directory.glob("*.pfw*")), events)
    threads = [summary("--threads", n, directory) for n in (1, 2, 5)]
    assert threads[0] == threads[1] == threads[2]


def test_frames(directory):
    """Brackets or none, spaces, trailing commas, glued lines, CR LF, no end of line."""
    lines = sample("1.0.8").lines
    events = read_events(write(directory / "plain.pfw", "\n".join(lines)))
    half = len(lines) // 2
    forms = {
        "none": "\n".join(lines) + "\n",
        "killed": "   " + "\n".join(lines) + "\n",
        "commas": "[\n" + ",\n".join(lines) + "\n]\n",
        "glued": "[\n" + "\n".join(lines[:half]) + "\n]" + "\n".join(lines[half:]) + "\n]",
        "crlf": "[\r\n" + "\r\n".join(lines) + "\r\n]",
        "one line": "[" + ",".join(lines) + "]",
        "no commas": "".join(lines),
        "spaced": "\n".join(line.replace('":', '" : ').replace(',"', ' ,\t"') for line in lines),
        "object commas": "\n".join(line.replace("}}", ",},}").replace("{,", "{") for line in lines),
        "zeros": "\0" * 5000 + "\n".join(lines),
        "empty lines": "\n\n" + "\n\n".join(lines) + "\n\n\n",
    }
    for name, text in forms.items():
        path = write(directory / f"{name}.pfw.gz", text)
        found = agrees([path], events)
        assert not found["notes"], (name, found["notes"])
        shutil.move(path, directory / "used")
        write(directory / f"{name}.pfw", text)
        agrees([directory / f"{name}.pfw"], events)


def test_keys_in_any_order(directory):
    """What follows a key in one record says nothing about the next; nor does what follows it in the arguments."""
    rng = random.Random(11)

    def mixed(members):
        items = list(members.items())
        for i in range(rng.randrange(5)):
            items.append((rng.choice(("other", "zz", "na", "nam", "names", "hostnames", "")) + str(i), i))
        rng.shuffle(items)
        return {k: mixed(v) if k == "args" and isinstance(v, dict) else v for k, v in items}

    for dialect in ("2023", "1.0.8"):
        lines = sample(dialect).lines
        events = read_events(write(directory / "plain.pfw", "\n".join(lines)))
        for i, line in enumerate(lines):
            if i % 2 or '"dur"' not in line:
                lines[i] = json.dumps(mixed(json.loads(line)), separators=(",", rng.choice((":", ":", ": "))))
        path = write(directory / "mixed.pfw", "\n".join(lines))
        agrees([path], events, "--no-index")
        keep = lambda e: {k: v for k, v in e.items() if k not in ("args", "seq")}
        assert [keep(e) for e in dump("--no-index", path)] == \
            [keep(e) for e in dump("--no-index", directory / "plain.pfw")]


def test_broken_lines(directory):
    """What cannot be read is counted, named with file and line, and the rest used."""
    lines = sample("1.0.8").lines
    events = read_events(write(directory / "whole.pfw", "\n".join(lines)))
    torn = lines[-1][: len(lines[-1]) // 2]
    path = write(directory / "torn.pfw", "\n".join(lines) + "\n" + torn)
    found = summary(path, expect=1)
    assert found["events"] == len(events)
    assert any(f"{path}: 1 line is no record (the first is line {len(lines) + 1})" in n and "torn" in n
               for n in found["notes"]), found["notes"]
    middle = lines[:40] + [torn, '{"id":1,"name":"x"y","cat":"POSIX"}', "rubbish", "[1,2", '{"a":1}'] + lines[40:]
    path = write(directory / "middle.pfw.gz", "\n".join(middle))
    found = summary(path, expect=1)
    assert found["events"] == len(events)
    assert any("5 lines are no record (the first is line 41)" in n for n in found["notes"]), found["notes"]
    # A line without its end, and the next one on it.
    path = write(directory / "cut.pfw", "\n".join(lines[:50] + [torn + lines[50]] + lines[51:]))
    assert summary(path, expect=1)["events"] == len(events)
    path = write(directory / "nothing.pfw", "no trace at all\n")
    assert "not a trace" in dftmerge(path, expect=1).err
    path = write(directory / "empty.pfw", "")
    assert "empty" in run(DFTMERGE, path).err
    path = write(directory / "empty.pfw.gz", "")
    assert "empty" in run(DFTMERGE, path).err


def test_texts(directory):
    """Escapes, what old writers leave unescaped, and bytes that are no UTF-8."""
    names = {rb"/a/quote\"d": "/a/quote\"d", rb"/a/back\\slash": "/a/back\\slash", rb"/a/\u00e4\ud83d\ude00": "/a/ä😀",
             b"/a/raw \xff\xfe byte": "/a/raw \udcff\udcfe byte", rb"/a/\udcff": "/a/\udcff",
             rb"C:\data\q": "C:\\data\\q", b"/a/tab\there": "/a/tab\there", b"/a/\x01": "/a/\x01",
             rb"/a/\n new": "/a/\n new", "/a/ümläut".encode(): "/a/ümläut"}
    lines = []
    for i, name in enumerate(names):
        lines.append(b'{"id":%d,"name":"FH","cat":"dftracer","pid":1,"tid":1,"ph":"M","args":{"name":"%s","value":%d}}' %
                     (2 * i, name, i))
        lines.append(b'{"id":%d,"name":"unlink","cat":"POSIX","pid":1,"tid":1,"ts":%d,"dur":1,"ph":"X","args":{"fhash":%d}}' %
                     (2 * i + 1, T0 + 10 * i, i))
    path = write(directory / "names.pfw", b"\n".join(lines))
    assert [e["file"] for e in dump(path)] == list(names.values())
    # Quotes inside: the line counts as invalid, the name is known all the same.
    lines = [b'{"id":1,"name":"FH","cat":"dftracer","pid":1,"tid":1,"ph":"M","args":{"name":"/a/"x"","value":77}}',
             b'{"id":2,"name":"unlink","cat":"POSIX","pid":1,"tid":1,"ts":%d,"dur":1,"ph":"X","args":{"fhash":77}}' % T0]
    path = write(directory / "quotes.pfw", b"\n".join(lines))
    done = dftmerge("dump", "--json", path, expect=1)
    assert json.loads(done.out)["file"] == '/a/"x"' and "1 line is no record" in done.err


def test_hashes(directory):
    """Dictionaries are per file, also where hashes collide; a name may come behind its use; some never come."""
    def line(i, ts, value):
        return (f'{{"id":{i},"name":"read","cat":"POSIX","pid":5,"tid":5,"ts":{ts},"dur":1,"ph":"X",'
                f'"args":{{"fhash":{value},"ret":1}}}}')

    def define(i, name, value):
        return f'{{"id":{i},"name":"FH","cat":"dftracer","pid":5,"tid":5,"ph":"M","args":{{"name":"{name}","value":{value}}}}}'
    big = 2**64 - 3
    one = [define(1, "/one", 500), line(2, T0, 500), define(3, "/later", 500), line(4, T0 + 5, 500),
           line(5, T0 + 10, big), line(6, T0 + 15, big - 1), define(7, "/big", big), define(8, "/near", big - 1),
           line(9, T0 + 20, 99)]
    write(directory / "one.pfw", "\n".join(one))
    write(directory / "two.pfw", "\n".join([define(1, "/two", 500), line(2, T0 + 30, 500)]))
    files = [e.get("file") for e in dump(directory)]
    assert files[:4] == ["/one", "/later", "/big", "/near"] and files[5] == "/two", files
    assert files[4].startswith("#")
    notes = summary(directory)["notes"]
    assert any("1 events are on files whose names are not in it" in n for n in notes), notes
    assert any("stands for several names" in n for n in notes), notes


def test_times(directory):
    """Units of time, durations of clocks that stepped back, times as texts."""
    def event(ts, dur):
        return f'{{"id":1,"name":"work","cat":"APP","pid":5,"tid":5,"ts":{ts},"dur":{dur},"ph":"X"}}'
    for unit, ns in (("NS", 1), ("US", 1000), ("MS", 1000000), ("SEC", 1000000000)):
        ts = 1_700_000_000_000_000_000 // ns
        body = event(ts, 7)
        end = (f'{{"id":2,"name":"end","cat":"dftracer","pid":5,"tid":5,"ts":{ts + 9},"dur":0,"ph":"X",'
               f'"args":{{"cfg":{{"x":{{"y":[1,"}}"]}},"time_metric":"{unit}"}}}}}}')
        first = f'{{"id":0,"name":"CM","cat":"dftracer","pid":5,"tid":5,"ph":"M","args":{{"name":"time_metric","value":"{unit}"}}}}'
        own = f'{{"id":0,"name":"time_metric","cat":"dftracer","pid":5,"tid":5,"ph":"M","args":{{"name":"time_metric","value":"{unit}"}}}}'
        for i, text in enumerate(([body, end], [first, body], [own, body], [body, own])):
            path = write(directory / f"{unit}{i}.pfw", "\n".join(text))
            found = [e for e in dump(path) if e["name"] == "work"]
            assert [(e["ts"], e["dur"]) for e in found] == [(ts * ns, 7 * ns)], (unit, i, found)
        # Fractions are nanoseconds, exact in every digit; what is finer is rounded to the nearest.
        for number, half in (("0.5", ns // 2), ("1.000", ns), ("12.3456789", round(12.3456789 * ns)), ('"2.25"', ns * 9 // 4), ("1e1", 10 * ns),
                             ("25e-1", ns * 5 // 2), ("0.0004", round(0.0004 * ns)), ("3.", 3 * ns), (f"{ts}.5e-0", None)):
            path = write(directory / "fraction.pfw", "\n".join([first, event(ts, 1), event(f"{ts + 1}.123456789123", number)]))
            got = [(e["ts"], e["dur"]) for e in dump(path, "--no-index")][-1]
            wanted = ((ts + 1) * ns + round(fractions.Fraction("0.123456789123") * ns), 0 if half is None else half)
            assert got == wanted or (ns == 1 and abs(got[1] - wanted[1]) <= 1), (unit, number, got, wanted)
    path = write(directory / "huge.pfw", "\n".join([event(T0, 2**64 - 5), event(T0 + 1, -3), event(T0 + 2, 2**63),
                                                    event(f'"{T0 + 3}"', '"12"')]))
    found = summary(path)
    assert found["events"] == 4 and found["groups"][0]["time_ns"] == 12000
    assert any("3 durations" in n for n in found["notes"]), found["notes"]
    years = 365 * 24 * 3600 * 10**6
    path = write(directory / "years.pfw", "\n".join([event(T0, 9), event(T0 + 10, 234 * years), event(T0 + 20, 9 * years)]))
    found = summary(path)
    assert found["groups"][0]["time_ns"] == 9000 + 9 * years * 1000 and any("1 durations" in n for n in found["notes"]), found
    path = write(directory / "untimed.pfw", "\n".join([event(T0, 9), event(-7, 1), event("null", 1), event(5000 * 10**12, 1), event('"x"', 1)]))
    found = summary(path, expect=1)
    assert found["events"] == 1 and any("4 records left out" in n for n in found["notes"]) and not any("no record" in n for n in found["notes"]), found
    path = write(directory / "far.pfw", "\n".join([event(T0, 9), event(T0 + 5, 1), event(7, 1)]))
    found = summary(path)
    assert found["events"] == 3 and any("1 events start more than ten years" in n for n in found["notes"]), found


def test_sums_that_would_wrap(directory):
    """Sums of bytes, times and calls that pass 2^63 in a file, or 2^64 in several: told, and never a smaller number."""
    def call(i, ret, name="read", **more):
        return json.dumps({"id": i, "name": name, "cat": "POSIX" if name == "read" else "STDIO", "pid": 5, "tid": 5, "ph": "X", "ts": T0 + 100 * i, "dur": 9,
                           "args": {"ret": ret, **more}})
    exact = write(directory / "exact.pfw", "\n".join([call(0, 2**53 + 1), call(1, 2**61), call(2, 2**62 - 1)]))
    assert summary(exact)["groups"][0]["bytes"] == 2**53 + 2**61 + 2**62 and not summary(exact)["notes"]
    for name, lines, bytes_ in (("reads", [call(i, 2**62) for i in range(5)], 2**63), ("items", [call(0, 100, "fread", size=8), call(1, 2**62, "fread", size=16)], 800)):
        path = write(directory / f"{name}.pfw", "\n".join(lines))
        found = summary(path, expect=1)
        assert sum(g["bytes"] for g in found["groups"]) == bytes_ and sum(g["count"] for g in found["groups"]) == len(lines), found["groups"]
        assert any("the sum passes 2^63" in n for n in found["notes"]), found["notes"]
        assert sum(e.get("bytes", 0) for e in map(json.loads, dftmerge("dump", "--json", path, expect=1).out.splitlines())) == bytes_
    odd = [call(0, 4096), call(1, 2**63), call(2, 10**20), call(3, -2**65), call(4, 2**64 - 1), call(5, -1)]
    found = summary(write(directory / "results.pfw", "\n".join(odd)), expect=1)
    group_, = found["groups"]
    assert (group_["count"], group_["errors"], group_["bytes"]) == (6, 2, 4096), group_  # -1, and -1 that is printed unsigned
    assert any("3 records claim so much" in n for n in found["notes"]), found["notes"]
    pids = [json.dumps({**json.loads(call(i, 1)), "pid": pid}) for i, pid in enumerate((99999999999, 99999999999, 7))]
    found = summary(write(directory / "pids.pfw", "\n".join(pids)))
    assert any("1 process has a pid of more than 32 bits" in n for n in found["notes"]), found["notes"]
    together = directory / "together"
    together.mkdir()
    for i in range(3):
        write(together / f"{i}.pfw", "\n".join([call(i, 2**62), call(i + 5, 2**62 - 1)]))
    assert any("together pass 2^64" in n for n in summary(together, expect=1)["notes"])
    def profile(**args):
        return json.dumps({"name": "read", "cat": "POSIX", "pid": 1, "tid": 1, "ph": "C", "ts": T0, "args": args})
    few = profile(dft_cnt=4, dur_sum=10.0625, dur_min=0.5, dur_max=7.25, ret_sum=400)
    group = summary(write(directory / "few.pfw", few))["groups"][0]
    assert (group["time_ns"], group["time_min_ns"], group["time_max_ns"]) == (10063, 500, 7250), group
    for args in ({"dft_cnt": 2**63}, {"dft_cnt": 9, "ret_sum": 2**63}, {"dft_cnt": 9, "dur_sum": 2**63}):
        path = write(directory / "profile.pfw", few + "\n" + profile(**args))
        found = summary(path, expect=0 if "dur_sum" in args else 1)
        group = found["groups"][0]
        assert (group["count"], group["time_ns"], group["bytes"]) == (4 if args["dft_cnt"] > 9 else 13, 10063, 400), (args, group)
        assert any("beyond all bounds" in n or "passes 2^63" in n for n in found["notes"]), found["notes"]


def test_repetitions(directory):
    """Lines that stand there twice are counted always, and left out on request."""
    for dialect in ("1.0.8", "2.x", "2023"):
        lines = sample(dialect).lines
        path = write(directory / f"{dialect}.pfw", "\n".join(lines))
        events = read_events(path)
        assert not summary(path)["notes"]
        doubled = lines[:200] + lines[100:200] + lines[200:] + lines[150:160]
        path = write(directory / f"{dialect}-twice.pfw.gz", "\n".join(doubled))
        agrees([path], read_events(path))
        notes = summary(path)["notes"]
        assert any(" 110 repeated lines" in n and str(path) in n for n in notes), notes
        found = agrees([path], events, "--dedupe")
        assert any(" 110 repeated lines" in n for n in found["notes"]), notes


def test_compressed(directory):
    """Members one behind the other; cut short; damaged in the middle; other bytes behind."""
    lines = sample("1.0.6").lines
    whole = "\n".join(lines).encode() + b"\n"
    events = read_events(write(directory / "whole.pfw", whole))
    members = b"".join(gzip.compress(b"\n".join(l.encode() for l in lines[i:i + 10]) + b"\n")
                       for i in range(0, len(lines), 10))
    path = directory / "members.pfw.gz"
    path.write_bytes(members)
    agrees([path], events)
    path.write_bytes(members + b"\0" * 512)
    agrees([path], events)
    split = gzip.compress(whole[:1001]) + gzip.compress(whole[1001:])  # in the middle of a line
    path.write_bytes(split)
    agrees([path], events)
    cut = gzip.compress(whole)[:-40]
    path = directory / "cut.pfw.gz"
    path.write_bytes(cut)
    found = summary(path, expect=1)
    assert 200 < found["events"] < len(events)
    assert any(str(path) in n and "cut short" in n for n in found["notes"]), found["notes"]
    damaged = bytearray(members)
    at = len(damaged) // 2
    damaged[at:at + 30] = b"\xff" * 30
    path.write_bytes(damaged)
    found = summary(path, expect=1)
    assert len(events) - 40 < found["events"] < len(events)
    calls = [line.encode() for line in lines if '"ph":"X"' in line]
    big = write(directory / "long.pfw.gz", b"\n".join([calls[0], b"x" * (40 << 20), calls[1]]))
    found = summary(big, expect=1)
    assert found["events"] == 2 and any("more than 16 MiB" in n for n in found["notes"]), found


def test_sizes_of_members(directory):
    """Members of any size: those that fit into memory are inflated at once, longer ones are streamed. All agree with the plain text."""
    calls = [line.encode() + b"\n" for line in sample("1.0.6").lines if '"ph":"X"' in line]
    few, more = b"".join(calls[:20]), b"".join(calls[20:60])
    long_text = (b" " * ((1 << 20) - 1) + b"\n") * 70  # more than 64 MiB
    long_data = random.Random(5).randbytes(10 << 20)  # more than 8 MiB when compressed
    pieces = {"long_text": [few, more + long_text, few], "long_data": [few, more + long_data + b"\n", few],
              "both": [long_text + few, long_data + b"\n", more], "growing": [few, more + long_text[:6 << 20], long_text[:40 << 20], few]}
    for name, texts in pieces.items():
        plain, packed = directory / f"{name}.pfw", directory / f"{name}.pfw.gz"
        plain.write_bytes(b"".join(texts))
        packed.write_bytes(b"".join(gzip.compress(text, 1) for text in texts))
        wanted, found = (summary("--no-index", path, expect=int(name in ("long_data", "both"))) for path in (plain, packed))
        assert found["events"] == wanted["events"] >= 60 and found["groups"] == wanted["groups"], name
        assert found["notes"] == [note.replace(str(plain), str(packed)) for note in wanted["notes"]], found["notes"]
        packed.write_bytes(packed.read_bytes()[:-20])
        found = summary("--no-index", packed, expect=1)
        assert 0 < found["events"] <= wanted["events"] and any("cut short" in n for n in found["notes"]), (name, found["notes"])


def test_other_records(directory):
    """Counters, metadata of the user, thread names, entities, nested values: kept as they are."""
    lines = ['{"name":"HH","cat":"dftracer","type":1,"pid":7,"tid":7,"ph":4,"args":{"hhash":"aa","name":"n1","value":"aa"}}',
             '{"name":"CM","cat":"dftracer","type":1,"pid":7,"tid":7,"ph":4,"args":{"hhash":"aa","name":"model","value":"unet"}}',
             '{"name":"PR","cat":"dftracer","type":1,"pid":7,"tid":7,"ph":4,"args":{"hhash":"aa","name":"core_affinity","value":[0,1]}}',
             '{"name":"thread_name","cat":"dftracer","type":1,"pid":7,"tid":8,"ph":4,"args":{"hhash":"aa","name":"loader","value":"thread_name"}}',
             '{"name":"EH","cat":"dftracer","type":1,"pid":7,"tid":7,"ph":4,"args":{"hhash":"aa","id":"8f","store":3}}',
             f'{{"id":3,"name":"step","cat":"APP","type":6,"pid":7,"tid":7,"ts":{T0},"dur":9,"ph":1,"args":{{"hhash":"aa","level":2,"relations":[{{"a":"}}"}}],"ok":true,"x":1e3,"big":18446744073709551615}}}}',
             f'{{"name":"cpu","cat":"sys","type":7,"ts":{T0 + 4},"ph":2,"pid":7,"tid":7,"args":{{"hhash":"aa","user_pct":12.5,"n":3}}}}',
             f'{{"id":4,"name":"odd","type":10,"pid":7,"tid":7,"ts":{T0 + 6},"dur":1,"ph":1}}']
    path = write(directory / "other.pfw", "\n".join(lines))
    events = dump(path)
    by_name = {e["name"]: e for e in events}
    assert by_name["model"]["phase"] == "metadata" and by_name["model"]["args"] == {"value": "unet"}
    assert by_name["core_affinity"]["args"] == {"value": "[0,1]"}
    assert by_name["thread_name"]["args"] == {"name": "loader", "value": "thread_name"} and by_name["thread_name"]["tid"] == 8
    assert by_name["EH"]["args"] == {"id": "8f", "store": 3}
    assert by_name["step"]["args"] == {"relations": '[{"a":"}"}]', "ok": "true", "x": 1000.0,
                                       "big": "18446744073709551615"}
    assert by_name["cpu"]["phase"] == "counter" and by_name["cpu"]["args"] == {"user_pct": 12.5, "n": 3}
    assert by_name["odd"]["cat"] == "MPI" and all(e["ts"] >= T0 * 1000 for e in events)
    assert summary(path)["events"] == 2 and summary("--by", "host", path)["groups"][0]["host"] == "n1"


def test_directories_with_a_slash(directory):
    """A name that ends in a slash is that directory: only the recorder's stands for files that were not told apart."""
    writer = Writer("1.0.8")
    for i, name in enumerate(("/data/train/", "/data/train", "/data/train//", "/", "//", "data/", "./")):
        writer.call("POSIX", "opendir", T0 + 100 * i, 10, name)
    path = write(directory / "t.pfw", writer.text())
    assert of_summary(summary("--by", "file", path), "file") == {
        ("/data/train",): (3, 30000, 0), ("/",): (2, 20000, 0), ("data",): (1, 10000, 0), (".",): (1, 10000, 0)}
    assert "not told apart" not in dftmerge("summary", "--by", "file", path).out.decode() + dftmerge(path).out.decode()


def test_aggregated(directory):
    """Records that stand for many calls are rows; questions about calls and about files find them."""
    def record(ts, name, **args):
        return json.dumps({"name": name, "cat": "POSIX", "type": 3, "ts": ts, "ph": 3, "pid": 9, "tid": 9, "args": args})
    second = T0 // 1_000_000 * 1_000_000
    lines = ['{"name":"FH","cat":"dftracer","type":1,"pid":9,"tid":9,"ph":4,"args":{"name":"/f","value":"ab"}}',
             record(second, "read", dft_cnt=10, dur_min=1, dur_max=9, dur_sum=50, ret_min=0, ret_max=100, ret_sum=700,
                    fhash="ab"),
             record(second + 1_000_000, "read", dft_cnt=1, dur=4, ret=33, fhash="ab"),
             record(second + 1_000_000, "open", dft_cnt=2, dur_sum=20, dur_min=5, dur_max=15, fhash="ab"),
             f'{{"id":3,"name":"read","cat":"POSIX","type":3,"pid":9,"tid":9,"ts":{second + 5},"dur":6,"ph":1,"args":{{"ret":5}}}}']
    path = write(directory / "aggregated.pfw", "\n".join(lines))
    found = summary(path)
    assert found["events"] == 14, found
    assert of_summary(found, "name") == {("read",): (12, 60000, 738), ("open",): (2, 20000, 0)}
    read = [g for g in found["groups"] if g["name"] == "read"][0]
    assert (read["time_min_ns"], read["time_max_ns"], read["size_max"]) == (1000, 9000, 100)
    assert of_summary(summary("--by", "file", path), "file") == {("/f",): (13, 74000, 733)}
    assert read["time_p50_ns"] is None and any("percentiles are not known" in n for n in found["notes"])


def test_profiles(directory):
    """Records with the letter of counters that say of how many calls: dfanalyzer's profiles. What is absent is null."""
    ts = T0 // 5_000_000 * 5_000_000

    def record(name, phase="C", **args):
        return json.dumps({"id": 4, "name": name, "cat": "POSIX", "pid": 1, "tid": 1, "ph": phase, "ts": ts, "args": args})

    def groups(name, *lines):
        found = summary(write(directory / f"{name}.pfw", "\n".join(lines)))
        return found, {g["name"]: g for g in found["groups"]}
    event = f'{{"id":3,"name":"read","cat":"POSIX","pid":1,"tid":1,"ph":"X","ts":{ts + 9},"dur":200,"args":{{"ret":4096}}}}'
    read = record("read", dft_cnt=10, dur_sum=5000, dur_min=100, dur_max=900, ret_sum=40960)
    found, by_name = groups("mixed", event, read)
    assert found["events"] == 11 and found["events_kept"] == 1 and not found["dropped"]
    assert (by_name["read"]["count"], by_name["read"]["bytes"], by_name["read"]["time_ns"]) == (11, 45056, 5_200_000)
    assert (by_name["read"]["time_min_ns"], by_name["read"]["time_max_ns"]) == (100_000, 900_000)
    for phase in ("C", 3):
        whole = {"ret_min": 10, "ret_max": 300, "offset_min": 7, "offset_max": 50000}
        found, by_name = groups(f"alone-{phase}", record("read", phase, dft_cnt=4, dur_sum=300, ret_sum=400, **whole),
                                record("open", phase, dft_cnt=3, dur_sum=300), record("stat", phase, dft_cnt=1, dur=150),
                                record("mkdir", phase, dft_cnt=1, dur_sum=150), record("write", phase, dft_cnt=2, dur_sum=9),
                                record("pread", phase, dft_cnt=1, dur=5, ret=100, offset=4096),
                                record("close", phase, dft_cnt=3, dur_sum=8, dur_min=0),
                                record("fsync", phase, dft_cnt=0, dur_sum=0))
        columns = ("time_min_ns", "time_max_ns", "size_min", "size_max", "offset_min", "offset_max")
        assert {name: tuple(g[c] for c in columns) for name, g in by_name.items()} == {
            "read": (None, None, 10, 300, 7, 50000), "open": (None,) * 6, "stat": (150_000, 150_000) + (None,) * 4,
            "mkdir": (150_000, 150_000) + (None,) * 4, "write": (None,) * 6, "close": (0, None) + (None,) * 4,
            "pread": (5000, 5000, 100, 100, 4096, 4196)}, by_name
        assert found["events"] == 15 and by_name["stat"]["time_p50_ns"] == 150_000
        assert " - " in dftmerge(directory / f"alone-{phase}.pfw").out.decode()
    # Records of one key add up: the least of the leasts, the most of the mosts.
    found, by_name = groups("sums", record("read", dft_cnt=5, dur_sum=2000, dur_min=200, dur_max=600),
                            record("read", dft_cnt=3, dur_sum=900, dur_min=100, dur_max=500))
    assert [by_name["read"][c] for c in ("count", "time_ns") + columns[:2]] == [8, 2_900_000, 100_000, 600_000]
    # A question finer than the period gets even shares, and is told so; one that cuts it otherwise is refused.
    path = write(directory / "shares.pfw", record("read", dft_cnt=10, dur_sum=1000, ret_sum=40960, ret_min=1, ret_max=9))
    for width, shares in (("1", 5), ("2.5", 2), ("5", 1), ("10", 1)):
        found = summary("--by", "time", "--width", width, path)
        assert [(g["count"], g["time_ns"], g["bytes"], g["size_min"], g["size_max"]) for g in found["groups"]] == \
            [(10 // shares, 1_000_000 // shares, 40960 // shares, 1, 9)] * shares, found
        assert (shares > 1) == any("even share" in n for n in found["notes"]) and not any("rounded" in n for n in found["notes"])
    assert summary("--by", "time", path)["groups"][0]["t_ns"] == ts * 1000
    assert [g["count"] for g in summary("--by", "time", "--width", "0.001", "--top", "3", path)["groups"]] == [1, 1, 1]
    for width in ("3", "7"):
        assert "periods of 5 s" in dftmerge("--by", "time", "--width", width, path, expect=2).err
    summary("--width", "3", path)  # not by time
    # Where the trace says how long a period is, or the user does, that holds; an index of another one is not reused.
    end = json.dumps({"id": 9, "name": "end", "cat": "dftracer", "pid": 1, "tid": 1, "ph": "X", "ts": ts + 10**7, "dur": 0,
                      "args": {"cfg": {"trace_interval_ms": 2000}}})
    configured = write(directory / "configured.pfw", record("read", dft_cnt=4, dur_sum=4) + "\n" + end)
    for options, period, start in (([], 2, ts), (["--profile-granularity", "10"], 10, ts // 10**7 * 10**7), ([], 2, ts),
                                   (["--profile-end"], 2, ts - 2 * 10**6), ([], 2, ts)):
        assert "periods of %d s" % period in dftmerge("--by", "time", "--width", "3", *options, configured, expect=2).err
        [group] = summary("--by", "time,name", "--width", str(period), "--name", "read", *options, configured)["groups"]
        assert (group["t_ns"], group["count"]) == (start // (period * 10**6) * period * 10**9, 4), (options, group, start)
    assert "understood" in dftmerge("--profile-granularity", "0", path, expect=2).err
    # Without that member it is a counter.
    assert groups("counter", event, record("cpu", user=3))[0]["events"] == 1


def test_operations(directory):
    """What a call is follows from category and name alone; a region's sizes are its arguments."""
    def event(i, name, category, **args):
        kind = {"type": args.pop("type")} if "type" in args else {}
        return json.dumps({"id": i, "name": name, "cat": category, "pid": 5, "tid": 5, "ts": T0 + 10 * i, "dur": 5, "ph": "X",
                           "args": args, **kind})
    calls = [("TorchFramework.compute", "framework", {"size": 1000, "image_size": 5000}),
             ("read", "reader", {"ret": 10, "size": 10}), ("read", "posix", {"ret": 10}), ("read", "POSIX", {"ret": -1}),
             ("read", "POSIX", {"ret": 7}), ("readdir", "POSIX", {"ret": 5}), ("readlink", "POSIX", {"ret": 5}),
             ("__xstat", "POSIX", {"ret": 3, "size": 9}), ("rewrite_x", "POSIX", {"ret": 4}), ("rewrite_x", "POSIX", {}),
             ("fread", "Stdio", {"ret": 3, "size": 5}), ("fread", "POSIX", {"ret": 3, "size": 5}),
             ("my_read", "lib", {"ret": 6, "type": 3}), ("my_read", "app", {"ret": 6, "type": 6}),
             ("fork", "POSIX", {"ret": 77}), ("execve", "POSIX", {"ret": -1}), ("exec", "POSIX", {}),
             ("waitpid", "POSIX", {"ret": 77}), ("wait", "POSIX", {}), ("posix_spawn", "POSIX", {"ret": 0})]
    path = write(directory / "calls.pfw", "\n".join(event(i, n, c, **dict(a)) for i, (n, c, a) in enumerate(calls)))
    found = {}
    for group in summary("--by", "cat,name,op,class", path)["groups"]:
        assert (group["cat"], group["name"]) not in found, "one operation for each"
        found[group["cat"], group["name"]] = (group["op"], group["class"], group["bytes"])
    region, none = ("REGION", "none", 0), lambda op: (op, "none", 0)
    assert found == {
        ("framework", "TorchFramework.compute"): region, ("reader", "read"): region, ("app", "my_read"): region,
        ("posix", "read"): ("READ", "read", 10), ("POSIX", "read"): ("READ", "read", 7),
        ("POSIX", "readdir"): ("READDIR", "meta", 0), ("POSIX", "readlink"): ("LINK", "meta", 0),
        ("POSIX", "__xstat"): ("STAT", "meta", 0), ("POSIX", "rewrite_x"): ("WRITE", "write", 4),
        ("Stdio", "fread"): ("FREAD", "read", 15), ("POSIX", "fread"): ("READ", "read", 3), ("lib", "my_read"): ("READ", "read", 6),
        ("POSIX", "fork"): ("FORK", "wait", 0), ("POSIX", "execve"): none("EXEC"), ("POSIX", "exec"): none("EXEC"),
        ("POSIX", "waitpid"): ("WAIT", "wait", 0), ("POSIX", "wait"): ("WAIT", "wait", 0), ("POSIX", "posix_spawn"): ("SPAWN", "wait", 0)}, found
    compute = next(e for e in dump(path) if e["name"].endswith("compute"))
    assert compute["args"] == {"size": 1000, "image_size": 5000} and not {"bytes", "ret", "size"} & compute.keys()
    # Types of 2.x stand for a category where there is none.
    kinds = {11: "PAPI", 12: "OMNISTAT", 13: "VARIORUM", 14: "CUDA", 99: ""}
    lines = [f'{{"id":{t},"name":"n","type":{t},"pid":7,"tid":7,"ts":{T0 + t},"dur":1,"ph":1}}' for t in kinds]
    assert {e["cat"] for e in dump(write(directory / "types.pfw", "\n".join(lines)))} == set(kinds.values())


def test_enclosing(directory):
    """p_idx is the event around: the region, whose own time is without what is in it."""
    def event(i, name, category, ts, dur, parent, level):
        return (f'{{"id":{i},"name":"{name}","cat":"{category}","pid":5,"tid":5,"ts":{T0 + ts},"dur":{dur},"ph":"X",'
                f'"args":{{"p_idx":{parent},"level":{level}}}}}')
    lines = [event(3, "read", "POSIX", 20, 10, 2, 3), event(2, "load", "APP", 10, 40, 1, 2),
             event(4, "read", "POSIX", 60, 5, 1, 2), event(1, "main", "APP", 0, 100, -1, 1)]
    path = write(directory / "nested.pfw", "\n".join(lines))
    assert [(e["name"], e.get("region")) for e in dump(path)] == [("main", None), ("load", "main"), ("read", "load"),
                                                                  ("read", "main")]
    own = {g["name"]: g["self_ns"] for g in summary(path)["groups"]}
    assert own == {"main": 55000, "load": 30000, "read": 15000}, own


def test_processes(directory):
    """Pid 0 for all: threads tell processes apart. One pid on two hosts is two. An end is an end."""
    write(directory / "zero.pfw", "\n".join(
        f'{{"id":"{i}","name":"read","cat":"POSIX","pid":"0","tid":"{50 + i % 2}","ts":"{T0 + i}","dur":"1","ph":"X"}}'
        for i in range(6)))
    found = summary(directory / "zero.pfw")
    assert (found["processes"], found["pids"], found["events"]) == (2, 2, 6)
    write(directory / "hosts.pfw", "\n".join(
        f'{{"id":{i},"name":"read","cat":"POSIX","pid":8,"tid":8,"ts":{T0 + i},"dur":1,"ph":"X","args":{{"hostname":"h{i % 2}"}}}}'
        for i in range(6)))
    found = summary("--by", "host", directory / "hosts.pfw")
    assert found["processes"] == 2 and sorted(g["host"] for g in found["groups"]) == ["h0", "h1"]


def test_ends(directory):
    """A process that started and has no end is told of; where writers never say either, only torn files are."""
    start, end = (f'{{"id":{i},"name":"{n}","cat":"dftracer","pid":8,"tid":8,"ts":{T0 + i},"dur":0,"ph":"X","args":{{"ppid":1}}}}'
                  for i, n in ((1, "start"), (9, "end")))
    call = f'{{"id":3,"name":"read","cat":"POSIX","pid":8,"tid":8,"ts":{T0 + 3},"dur":1,"ph":"X"}}'
    for number, (text, missing) in enumerate((([start, call, end], 0), ([start, call], 1), (["[", start, call, "]"], 0),
                                              ([call], 0), ([call, call[:30]], 1))):
        path = write(directory / f"{number}.pfw", "\n".join(text))
        done = dftmerge("check", "--json", path, expect=missing)
        assert json.loads(done.out)["without_end"] == missing, (number, done)


def test_round_trip(directory):
    """A native trace, written as DFTracer's and read back: the same counts and bytes."""
    for seed in (1, 2, 3):
        native = make(directory / f"native{seed}", seed=seed)
        path = directory / f"back{seed}.pfw"
        dftmerge("export", "--format", "pfw", "-o", path, native)
        before, after = summary(native), summary(path)
        want = {(g["cat"], g["name"]): (g["count"], g["bytes"]) for g in before["groups"]}
        got = {(g["cat"], g["name"]): (g["count"], g["bytes"]) for g in after["groups"]}
        assert got == want, (got, want)
        files = [{(g["file"]): (g["count"], g["bytes"]) for g in summary("--by", "file", p)["groups"]}
                 for p in (native, path)]
        assert files[0] == files[1]
        again = directory / f"again{seed}.pfw.gz"
        dftmerge("export", "--format", "pfw", "-o", again, path)
        assert of_summary(summary(again), "cat", "name") == of_summary(after, "cat", "name")


def same_again(path, directory):
    """The events of a trace, and those of what it was exported to, which is exported to the same bytes."""
    first, second = directory / f"first-{path.name}", directory / f"second-{path.name}"
    dftmerge("export", "--format", "pfw", "--no-index", "-o", first, path)
    dftmerge("export", "--format", "pfw", "--no-index", "-o", second, first)
    assert first.read_bytes() == second.read_bytes()
    before, after = ([json.dumps({k: v for k, v in e.items() if k not in ("seq", "class")}, sort_keys=True)
                      for e in dump("--no-index", p)] for p in (path, first))  # the type of an event is not exported
    assert sorted(before) == sorted(after), sorted(set(before) ^ set(after))[:6]
    told = [json.loads(dftmerge("ps", "--json", "--no-index", p).out) for p in (path, first)]
    keys = ("pid", "ppid", "host", "rank", "program", "exe", "command")
    assert len({repr([{k: p.get(k) for k in keys} for p in t["processes"]]) for t in told}) == 1, told
    records = [json.loads(line) for line in gzip_or_plain(first).splitlines()[1:-1]]
    assert [r["id"] for r in records] == list(range(1, len(records) + 1))
    check_around(records)
    return records


def gzip_or_plain(path):
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


def test_imported_again(directory):
    """What was read from a trace of DFTracer goes out as it came: nothing is added, doubled or renamed."""
    for dialect in DIALECTS:
        same_again(write(directory / f"{dialect}.pfw.gz", sample(dialect).text()), directory)
    def event(i, name, category, ts, dur, /, **args):
        return json.dumps({"id": i, "name": name, "cat": category, "pid": 5, "tid": 6, "ts": T0 + ts, "dur": dur, "ph": "X",
                           "args": args})
    def metadata(name, /, tid=5, **args):
        return json.dumps({"id": 0, "name": name, "cat": "dftracer", "pid": 5, "tid": tid, "ph": "M", "args": args})
    nested = {"a": [1, {"b": "}"}]}
    lines = [metadata("HH", name="n1", value=77), metadata("SH", name="python train.py -x", value=88),
             metadata("FH", name="/f", value=99), metadata("PR", name="rank", value="2"), metadata("CM", name="model", value="unet"),
             metadata("PR", name="core_affinity", value=[0, 1]), metadata("CM", name="time_metric", value="US"),
             metadata("thread_name", tid=6, name="loader", value="thread_name"),
             event(1, "start", "dftracer", 0, 0, hhash=77, cmd_hash=88, exec_hash=88, version=100005, date="x", ppid=3),
             event(4, "read", "POSIX", 20, 5, hhash=77, fhash=99, p_idx=3, level=3, ret=10, count=64, fd=-1),
             event(3, "load", "reader", 10, 50, p_idx=2, level=2, image_size=7, size=8, ret="text", dur=3, relations=nested, ok=True),
             event(5, "fopen", "STDIO", 60, 5, p_idx=2, level=2, mode="r+", fd=2**40, errno=10**7),
             event(6, "fread", "STDIO", 65, 5, p_idx=2, level=2, count=3, ret=2), event(7, "fgets", "STDIO", 70, 1, ret=5, size=5),
             event(8, "fseek", "STDIO", 71, 1, offset=-4, whence=2), event(9, "truncate", "POSIX", 72, 1, length=100, ret=0),
             event(12, "fork", "POSIX", 73, 1, ret=12), event(13, "pread", "POSIX", 74, 1, count=9), event(14, "write", "POSIX", 75, 1),
             event(2, "main", "app", 1, 90, p_idx=-1, level=1, async_id=4, dftrace="mine", cmd_hash="of the user"),
             json.dumps({"id": 20, "name": "here", "cat": "app", "pid": 5, "tid": 6, "ts": T0 + 80, "ph": "i", "args": {"size": 3}}),
             json.dumps({"id": 21, "name": "cpu", "cat": "sys", "pid": 5, "tid": 6, "ts": T0 + 81, "ph": "C", "args": {"user": 3.5}}),
             json.dumps({"id": 22, "name": "flow", "cat": "app", "pid": 5, "tid": 6, "ts": T0 + 82, "ph": "s", "args": {}}),
             metadata("EH", id="8f", store=3),
             event(30, "end", "dftracer", 95, 0, hhash=77, num_events=9, cfg={"time_metric": "US"})]
    records = same_again(write(directory / "all.pfw", "\n".join(["[", *lines, "]"])), directory)
    by_name = {r["name"]: r for r in records if r["ph"] == "X"}
    assert sum(r["name"] == "end" for r in records) == sum(r["name"] == "start" for r in records) == 1
    around = {r["name"]: by_id[r["args"]["p_idx"]]["name"] for by_id in [{r["id"]: r for r in records}]
              for r in by_name.values() if r["args"]["p_idx"] >= 0}
    assert around == {"read": "load", "load": "main", "fopen": "main", "fread": "main"}, around
    load = by_name["load"]["args"]
    assert (load["image_size"], load["size"], load["ret"], load["dur"]) == (7, 8, "text", 3), load
    assert json.loads(load["relations"]) == nested and load["ok"] == "true"
    assert by_name["fopen"]["args"]["mode"] == "r+" and by_name["fopen"]["args"]["fd"] == 2**40
    assert not {"ret", "size"} & by_name["main"]["args"].keys() and "ret" not in by_name["write"]["args"]
    assert "size" not in by_name["fread"]["args"] and by_name["truncate"]["args"]["length"] == 100
    for name in ("cm1", "posix-2023.pfw.gz"):
        for path in sorted((DATA / name).glob("*.pfw.gz"))[:1] if (DATA / name).is_dir() else [DATA / name]:
            if path.exists():
                same_again(path, directory)


def test_other_commands(directory):
    """merge, export, check and stat work on them."""
    path = write(directory / "a.pfw.gz", sample("1.0.8").text())
    events = read_events(path)
    archive = directory / "archive" / "all.dft"
    archive.parent.mkdir()
    dftmerge("merge", "-o", archive, path)
    agrees([archive], events)
    assert dump(archive) == dump(path)
    checked = json.loads(dftmerge("check", "--json", path).out)
    assert checked["good"] and checked["files"] == 1 and checked["blocks"] > 3
    assert "EVENTS" in dftmerge("stat", path).out.decode()
    for form in ("perfetto", "csv", "pfw"):
        dftmerge("export", "--format", form, "-o", directory / f"out.{form}", path)
    assert len(json.loads((directory / "out.perfetto").read_text())["traceEvents"]) > len(events)
    assert "4711" in dftmerge("ps", path).out.decode()


def test_mutations(directory):
    """Bytes changed, cut, doubled: never a crash, and never an endless run."""
    random.seed(11)
    text = "\n".join(sample("2.x").lines + sample("1.0.8", pid=12).lines).encode()
    for i in range(150):
        data = bytearray(text)
        if i % 3 == 2:
            data = bytearray(gzip.compress(bytes(data)))
        for _ in range(random.randrange(1, 30)):
            at, kind = random.randrange(len(data)), random.randrange(4)
            if kind == 0:
                data[at] = random.randrange(256)
            elif kind == 1:
                del data[at:at + random.randrange(200)]
            elif kind == 2:
                data[at:at] = data[at - random.randrange(300):at]
            else:
                data[at] = random.choice(b'"{}[]:,\\\n0-.e')
        path = directory / "mutant.pfw"
        path.write_bytes(data[: random.randrange(1, len(data))] if i % 5 == 4 else data)
        for command in ("summary", "dump"):
            done = run(DFTMERGE, command, "--json", path)
            assert done.code in (0, 1), (i, command, done.code, done.err)


def test_real_traces(directory):
    """The traces of shared data, where they are: figures of their README, and every aggregate."""
    if not DATA.exists():
        pytest.skip("the shared data are not there")
    paths = sorted((DATA / "cm1").glob("*.pfw.gz"))
    events = [event for path in paths for event in read_events(path)]
    assert len(paths) == 48 and len(events) == 284_041
    found = agrees([DATA / "cm1"], events, "--no-index")
    assert found["ranks"] == 48 and found["world_size"] == 48 and found["missing_ranks"] == []
    counts = {g["name"]: g["count"] for g in found["groups"]}
    assert (counts["write"], counts["__xstat"], counts["fclose"], counts["read"]) == (112_353, 46_899, 25_992, 13_489)
    path = DATA / "posix-2023.pfw.gz"
    agrees([path], read_events(path), "--no-index")
    assert len(read_events(path)) == 1012
