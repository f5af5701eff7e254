# SPDX-License-Identifier: MIT
"""Names hold anything: what a terminal, a browser or a line of a file would act on is escaped in every output, and programs get the right text back."""

import contextlib
import csv
import io
import json
import os
import pathlib
import re
import shutil
import sqlite3
import struct
import zlib

from corrupt import HEADER, MAGIC, leb, places, unleb, with_crcs
from tooltest import csv_text
from tracing import (DFTMERGE, DFTRUN, ROOT, compile_program, equal, run, traces, tracing,
                     true)

HERE = pathlib.Path(__file__).resolve()


# ESC, BEL, U+009B, a byte 9B alone, DEL, marks of direction, ends of lines, what markup and shells take, what a spreadsheet takes.
ODD = (b"=1+1\x1b[31m\x07\xc2\x9b1m\x9b2m\x7f\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8\x08\r\n[odd]\n\"'<b>&\\x1b,\t\xff.h5")
SHOWN = os.fsdecode(ODD)
# As it is: no form of text may have these. An end of a line and a tab separate; test_lines looks at these.
ACTING = re.compile(b"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]")
TEXT_COLUMNS = (11, 12, 13, 14, 15, 16, 17, 19, 20, 22, 23, 24)  # of a PROCESS block


def harmless(data, what):
    found = ACTING.search(data)
    true(not found, f"{what}: {data[max(0, found.start() - 60):found.end() + 20] if found else b''!r}")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AssertionError(f"{what}: no UTF-8: {data[max(0, error.start - 60):error.end + 20]!r}") from error


def lie(path):
    """Another text in all texts of PROCESS: of the host, the job, the program, notes ..."""
    data, out = path.read_bytes(), b""
    for at, length in places(data):
        block = data[at:at + length]
        if block[8] != 1:  # PROCESS
            out += block + bytes(-length % 8)
            continue
        raw, columns, place = zlib.decompress(block[HEADER:], -15) if block[11] & 1 else block[HEADER:], {}, 0
        while place < len(raw):
            number, place = unleb(raw, place)
            encoding, place = unleb(raw, place)
            size, place = unleb(raw, place)
            columns[number] = (encoding, raw[place:place + size])
            place += size
        for number in TEXT_COLUMNS:
            columns[number] = (2, ODD + b" " + ODD if number == 24 else ODD)
        raw = b"".join(leb(number) + leb(encoding) + leb(len(text)) + text for number, (encoding, text) in sorted(columns.items()))
        header = bytearray(block[:HEADER])
        header[11] &= 0xFE  # stored as it is
        struct.pack_into("<II", header, 24, len(raw), len(raw))
        out += with_crcs(bytes(header) + raw, 0) + bytes(-(HEADER + len(raw)) % 8)
    true(out.count(MAGIC) == len(places(data)), "all blocks are there")
    path.write_bytes(out)


def pfw_lines():
    """A trace of DFTracer, whose writer escapes little."""
    text = json.dumps(SHOWN, ensure_ascii=False)
    yield "["
    for n in range(40):
        yield (f'{{"id":{n},"name":"read","cat":"POSIX","pid":7,"tid":7,"ts":{1700000000000000 + 10 * n},"dur":5,"ph":"X",'
               f'"args":{{"hhash":"h","fhash":"f","ret":4096,"level":1,"p_idx":-1,{text}:{text}}}}}')
    for n, (name, key) in enumerate((("FH", "f"), ("HH", "h"), ("SH", "s"))):
        yield f'{{"id":{90 + n},"name":"{name}","cat":"dftracer","pid":7,"tid":7,"ph":"M","args":{{"name":{text},"value":"{key}"}}}}'
    yield (f'{{"id":95,"name":{text},"cat":{text},"pid":7,"tid":7,"ts":1700000000000001,"dur":700,"ph":"X","args":{{"level":0,"p_idx":-1}}}}')


def make(directory):
    """Traces whose every text is odd: of a run, of a killed run, and of DFTracer."""
    program = compile_program("odd_texts.c", directory / "odd_texts", f"-I{ROOT / 'include'}",
                              '-DTEXT="' + "".join(f"\\{byte:03o}" for byte in ODD) + '"')
    odd = os.path.join(os.fsencode(directory), ODD)
    os.mkdir(odd)
    os.link(program, os.path.join(odd, b"run-" + ODD))
    for name, words in (("whole", []), ("killed", ["killed"])):
        env = tracing(directory / "traces" / name, STACK=8, METRICS_INTERVAL_MS=5)
        env = {os.fsencode(k): os.fsencode(v) for k, v in env.items()} | {b"DFTRACER_RANK": b"0" if name == "whole" else b"1", b"DFTRACER_WORLD_SIZE": b"2"}
        done = run([os.path.join(odd, b"run-" + ODD).decode("utf-8", "surrogateescape"), SHOWN, *words], cwd=odd, env=env)
        true(done.code in (0, -9), f"{name}: {done}")
    for path in traces(directory / "traces"):
        lie(path)
    (directory / "pfw").mkdir()
    (directory / "pfw" / "a.pfw").write_bytes("\n".join(pfw_lines()).encode("utf-8", "surrogateescape"))
    true(len(traces(directory / "traces")) == 2, "two traces")
    return directory / "traces", directory / "pfw"


PLAIN = ("summary", "findings", "dump", "ps", "ps --all", "check", "stat", "ranks", "counters", "counters --by host", "timeline", "timeline --heat", "overlap", "lineage",
         "layers --preset generic --view time,process,host,file,directory,pattern", "summary --tree", "summary --hist", "top --once",
         "timeline --by role", "timeline --by process", "overlap --by process")
KEYS = ("call name region file dir pattern ext mount rank host program role process errno run job stack line instance access,size time cat").split()
SQL = ("events", "processes", "files", "rows", "counters", "regions", "jobs", "notes", "by_file", "slowest_calls", "waits_by_region")


def commands():
    yield from PLAIN
    for key in KEYS:
        yield f"summary --by {key}"
        if key not in ("instance", "time"):
            yield f"summary --by {key} --hist"
    for command in ("summary --all", *PLAIN):
        if not command.endswith(("--tree", "--heat")):
            yield command + " --json"
    for key in KEYS:
        yield f"summary --by {key} --json"
        yield f"summary --by {key} --csv"
    yield from ("timeline --csv", "counters --csv", "layers --preset generic --view time,process,host,file --csv")


def run_command(words, *paths, expect=(0, 1)):
    done = run([DFTMERGE, *words, *paths])
    true(done.code in expect, f"{words}: {done}")
    harmless(done.err, f"{words}: stderr")
    return done.out


def strings(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def looked_at(command, path):
    """Is the text whole in an answer for programs? What is wrong raises."""
    out = run_command(command.split(), path)
    harmless(out, command)
    if "--csv" in command:
        list(csv.reader(io.StringIO(out.decode(), newline=""), strict=True))
    if "--json" not in command:
        return False
    values = [json.loads(line) for line in (out.splitlines() if command.startswith("dump") else [out or b"{}"])]
    return any(SHOWN in text for value in values for text in strings(value))


def all_of(checks):
    """Does each, and names all that fail."""
    wrong, good = [], 0
    for check, *arguments in checks:
        try:
            good += bool(check(*arguments))
        except Exception as error:  # the others shall be looked at as well
            wrong.append(f"{type(error).__name__}: {error}")
    true(not wrong, f"{len(wrong)} are wrong: " + "; ".join(wrong))
    return good


def looked_at_entity(path, *words):
    harmless(run_command(["lineage", *words, SHOWN + ":other"], path), f"lineage {words}")


def compared(form, one, other):
    out = run_command(["compare", *form], one, other)
    harmless(out, f"compare {form}")


def test_every_command(directory):
    ours, theirs = make(directory)
    whole = all_of((looked_at, command, path) for path in (ours, theirs) for command in commands())
    true(whole > 20, f"JSON gives the text back in {whole} answers")
    all_of([(looked_at_entity, ours), (looked_at_entity, ours, "--dot"), (looked_at_entity, ours, "--json"),
            *((compared, form, ours, theirs) for form in ((), ("--json",), ("--csv",))), (looked_at, "replay --dry-run", ours),
            (looked_at, "sql --examples", ours)])


EXPORTS = ("perfetto", "pfw", "perfflow", "csv", "folded", "folded-bytes", "fio", "dlio")
PICTURES = ("bandwidth", "heatmap", "sizes", "latency", "overlap", "files")


def export(form, path, output):  # is the text whole in it?
    out = run_command(["export", "--format", form, "-o", "-"], path)
    harmless(out, f"export {form}")
    run_command(["export", "--format", form, "-o", output], path)
    if form == "perfetto":  # Unicode alone
        return ODD.decode("utf-8", "replace") in set(strings(json.loads(out)))
    if form == "perfflow":
        return SHOWN in set(strings(json.loads(out)))
    if form == "pfw":
        return SHOWN in {text for line in out.splitlines()[1:] if line.startswith(b"{") for text in strings(json.loads(line))}
    if form == "csv":
        cells = [cell for row in csv.reader(io.StringIO(out.decode(), newline=""), strict=True) for cell in row]
        return SHOWN in map(csv_text, cells)
    if form == "fio":
        sections = [line for line in out.splitlines() if line.startswith(b"[")]
        true(b"[odd]" not in sections, "a name makes no section of its own")
    if form.startswith("folded"):
        true(all(re.fullmatch(rb".+ [0-9]+", line) for line in out.splitlines()), "a line has a stack and a number")
    return False


def test_exports(directory):
    whole = all_of((export, form, path, directory / f"out{n}.{form}") for n, path in enumerate(make(directory)) for form in EXPORTS)
    equal(whole, 6, "exports for programs with the whole text: perfetto, pfw, csv")


def picture(kind, path):
    harmless(run_command(["plot", "--kind", kind, "--title", SHOWN, "-o", "-"], path), f"plot {kind}")


def page(path, *more):
    out = run_command(["report", *more, "-o", "-"], path)
    harmless(re.sub(rb'(<script type="text/plain"[^>]*>)[^<]*', rb"\1", out), "report")


def asked(query, form, *paths):
    out = run_command(["sql", *form], *paths, query)
    harmless(out, f"{query} {form}")


def test_pictures_and_sql(directory):
    ours, theirs = make(directory)
    checks = [(picture, kind, path) for kind in PICTURES for path in (ours, theirs)] + [(page, ours), (page, theirs)]
    for form in ((), ("--json",), ("--csv",)):
        checks += [(asked, f"select * from {table}", form, ours) for table in SQL]
        checks.append((asked, "select char(27, 155, 8238) as '" + SHOWN.replace("'", "''") + "'", form, ours))
    all_of(checks)


def spans(database, *words):
    out = run_command(["spans", words[0], database, *words[1:]])
    harmless(out, f"spans {words}")


def test_spans(directory):
    ours, theirs = make(directory)
    folder, database = directory / SHOWN / "spans", directory / SHOWN / "spans.db"
    folder.mkdir()
    (folder / (SHOWN + ".json")).write_text(json.dumps({
        "events": [[1700000000 + n + at, ("NEW", "DONE")[at] + SHOWN, "TASK" + SHOWN, n] for n in range(5) for at in range(2)], "binds": []}))
    harmless(run_command(["spans", "import", database, ours, theirs, folder], expect=(0,)), "spans import")
    with contextlib.closing(sqlite3.connect(database)) as db:
        db.execute('create table "x\x1b\x9b\u202e" ("\x1b\u202e" text)')
        db.commit()
        db.text_factory = os.fsdecode
        root, = next(db.execute("select distinct type from span where type like '%TASK%'"))
        events = [f"{root}/{name}" for name, in db.execute("select distinct type from event where type like '%=1+1%' order by 1 desc")]
    checks = []
    for form in ((), ("--json",), ("--csv",)):
        checks += [(spans, database, *words, *form) for words in (
            ["types"], ["graph"], ["sequences", "--root", root], ["states", "--root", root], ["rate", "--event", events[0]],
            ["between", "--root", root, "--from", events[0], "--to", events[1]])]
        checks += [(asked, query, form, database) for query in (".schema", ".tables", "select * from span", 'select * from "x\x1b\x9b\u202e"')]
    all_of(checks)
    for verb, *words in (("graph",), ("states", "--root", root), ("rate", "--event", events[0])):
        spans(database, verb, *words, "-o", directory / "a.svg")
        harmless((directory / "a.svg").read_bytes(), f"picture of spans {verb}")
    page(ours, "--spans", database, "--spans-root", root)


def message(words, **more):
    done = run([DFTMERGE, *words], **more)
    true(done.code and done.err, f"{words}: a message: {done}")
    harmless(done.err, f"{words}: stderr")
    harmless(done.out, f"{words}: stdout")


def test_messages(directory):
    odd = directory / SHOWN
    odd.mkdir()
    (odd / "bad.dft").write_bytes(b"DfBlk\r\x1a\n" + bytes(200))
    (odd / "bad.pfw").write_bytes(b"{\x1b\n")
    key = directory / "key"
    checks = [(message, [word, odd / "absent"]) for word in ("summary", "dump", "ps", "check", "stat", "ranks", "report", "compare")]
    checks += [(message, [word, odd]) for word in ("summary", "dump", "check", "ps")]
    checks += [(message, [SHOWN]), (message, [SHOWN, "x"]), (message, ["--" + SHOWN]), (message, ["summary", "--" + SHOWN, "x"]),
               (message, ["summary", "--by", SHOWN, odd]), (message, ["summary", "--from", SHOWN, odd]), (message, ["summary", "--rules", odd / "x", odd]),
               (message, ["summary", "--classes", odd / "x", odd]), (message, ["export", "--format", SHOWN, "-o", "-", odd]),
               (message, ["export", "--format", "csv", "-o", odd / "no" / "x", odd]), (message, ["sql", odd, "select * from \x1b\x9b"]),
               (message, ["sql", odd, SHOWN]), (message, ["spans", SHOWN, "x"]), (message, ["spans", "types", odd / "x.db"]), (message, ["spans", "types", odd / "bad.dft"]),
               (message, ["lineage", SHOWN, odd]), (message, ["control", SHOWN, odd]), (message, ["plot", "--kind", SHOWN, odd]), (message, ["anonymize", "--new-key", odd]),
               (message, ["anonymize", "--key", odd / "no", "-o", odd / "out", odd]), (message, ["replay", "--root", odd / "no", odd]),
               (message, ["merge", "-o", odd / "no" / "x", odd]), (message, ["collect", "-o", odd, odd]), (message, ["top", "--by", SHOWN, odd]),
               (message, ["layers", "--preset", odd / "no", odd])]
    all_of(checks)
    run([DFTMERGE, "anonymize", "--new-key", key])


def launched(directory, *words, expect=None):
    done = run([DFTRUN, *words], cwd=directory)
    true(expect is None or done.code == expect, f"dftrun {words}: {done}")
    harmless(done.err, f"dftrun {words}: stderr")
    harmless(done.out, f"dftrun {words}: stdout")


def test_names_of_folders_of_traces(directory):
    ours, _ = make(directory)
    odd = directory / SHOWN / "traces"
    shutil.copytree(ours, odd)
    for words in (["top", "--once"], ["top", "--once", "--json"], ["summary"], ["check"], ["ps"], ["stat"], ["ranks"], ["findings"], ["timeline"]):
        done = run([DFTMERGE, *words, odd])
        true(done.out or done.err, f"{words}: {done}")
        harmless(done.err, f"{words}: stderr")
        harmless(done.out, f"{words}: stdout")


def test_settings_that_have_no_effect(directory):
    for name, value in (("NOPE", SHOWN), ("RANK", SHOWN), ("LOG_LEVEL", SHOWN)):
        done = run(["cat", "/etc/passwd"], env={os.fsencode(k): os.fsencode(v) for k, v in tracing(directory / "t", **{name: value}).items()})
        true(not done.code and f"DFTRACER_{name}".encode() in done.err, f"{name}: it is told: {done.err}")
        harmless(done.err, name)
        true(not re.search(b"(?:^|[\x00-\x7f])[\x80-\xbf]", done.err), f"{name}: a byte that is no part of UTF-8: {done.err}")
    done = run(["cat", "/etc/passwd"], env=tracing(directory / "t", NOPE="d\u00e9j\u00e0 vu \u6f22"))
    true("d\u00e9j\u00e0 vu \u6f22".encode() in done.err, f"letters stay: {done.err}")


def test_dftrun(directory):
    odd = directory / SHOWN
    odd.mkdir()
    (odd / "text").write_bytes(b"x")
    all_of([(launched, directory, "-o", odd / "traces", "--", "cat", odd / "text"), (launched, directory, "--" + SHOWN, "true"),
            (launched, directory, "-o", odd / "text", "--", "true"), (launched, directory, "--", odd / "none"),
            (launched, directory, "--top", SHOWN, "--", "true"), (launched, directory, "--by", SHOWN, "--", "true"),
            (launched, directory, "--container", SHOWN), (launched, directory, "--container", "kubernetes", "-o", odd / "traces"), (launched, directory, "--doctor", "-o", odd / "traces", "--", odd / "none"),
            (launched, directory, "--json", odd, "--", "true"), (launched, directory, "--report", odd / "no" / "x", "--", "true")])
