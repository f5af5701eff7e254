# SPDX-License-Identifier: MIT
"""Nothing is called whole that is not: inputs that cannot be read, and traces of which whole blocks were cut out, so that what is left
is whole block by block."""

import json
import re
import os
import shutil
import struct

import pytest

from tracing import DFTMERGE, ROOT, compile_program, dftmerge, equal, need, run, run_checked, traces, tracing, true

MAGIC = b"DfBlk\r\x1a\n"
PROCESS, CLOCK, EVENTS, BUCKETS, END = 1, 2, 4, 5, 8
EVERY_COMMAND = (("summary",), ("summary", "--by", "file"), ("dump",), ("ps",), ("stat",), ("ranks",), ("export", "--format", "csv", "-o", os.devnull))


def traced(directory, **settings):
    """A trace of a program of many calls, block by block."""
    program = compile_program("annotated.c", directory / "annotated", f"-I{ROOT / 'include'}", "-pthread")
    run_checked([program, directory / "file", 3000], env=tracing(directory / "out" / "t", **settings))
    path, = traces(directory / "out")
    data, blocks, at = path.read_bytes(), [], 0
    while (at := data.find(MAGIC, at)) >= 0:  # there may be holes between them
        kind, = struct.unpack_from("<H", data, at + 8)
        count, stored = struct.unpack_from("<II", data, at + 20)
        length = (88 + stored + 7) // 8 * 8
        blocks.append((kind, count, data[at:at + length]))
        at += length
    return path, blocks


def cut(path, blocks, cuts):
    """Without the blocks that `cuts` names: (type, number among those of its type, or None for all). Returns the events in them.
    Blocks of definitions alone, which have no events, have no number."""
    met, gone, left = {}, 0, []
    for kind, count, block in blocks:
        number = None
        if kind != EVENTS or count:
            number = met[kind] = met.get(kind, -1) + 1
        if (kind, number) in cuts or (kind, None) in cuts:
            gone += count if kind == EVENTS else 0
        else:
            left.append(block)
    path.write_bytes(b"".join(left))
    return gone


def check(*paths):
    done = dftmerge("check", "--json", *paths)
    answer = json.loads(done.out)
    equal(done.code, 0 if answer["good"] else 1, "exit code of check")
    equal(answer["good"], b"all good" in dftmerge("check", *paths).out, "the text says the same")
    return answer


def claims(path, code, *words, commands=EVERY_COMMAND):
    """What these commands say of these inputs, and what `summary` claims."""
    for command in commands:
        done = dftmerge(*command, path)
        equal(done.code, code, f"{command}: exit code; {done.err}")
        for word in words:
            true(word in done.err.decode(), f"{command} names it: {word}: {done.err}")
    text = dftmerge("summary", path).out.decode()
    true(("; nothing lost" in " ".join(text.split())) == ("; lost: " not in " ".join(text.split())) == (code == 0),
         f"claims of the page: {text}")
    answer = json.loads(dftmerge("summary", "--json", path).out)
    true(all(any(word in note for note in answer["notes"]) for word in words), f"notes: {answer['notes']}")
    return text, answer


def test_events_and_their_rows_cut_out(directory):
    path, blocks = traced(directory)
    wrote = sum(count for kind, count, _ in blocks if kind == EVENTS)
    true(check(path)["good"] and sum(kind == EVENTS for kind, _, _ in blocks) > 2, "several blocks")
    claims(path, 0)
    for cuts in ({(EVENTS, 1), (BUCKETS, 1)}, {(EVENTS, 0)}, {(EVENTS, None), (BUCKETS, None)}, {(EVENTS, None)}):
        gone = cut(path, blocks, cuts)
        words = f"wrote {wrote} events, {wrote - gone} are here"
        answer = check(path)
        true(not answer["good"] and any(words in note for note in answer["notes"]), f"{cuts}: {answer}")
        equal(answer["events_missing"], gone, f"{cuts}: check")
        text, answer = claims(path, 1, words)
        true(f"{gone:,} events (written, and missing here)" in text, f"{cuts}: {text}")
        equal(answer["events_missing"], gone, f"{cuts}: summary")
    out = directory / "merged.dft"
    equal(dftmerge("merge", "-o", out, path).code, 1, "merge tells, too")
    true(not check(out)["good"], "so does what it writes")


def test_rows_alone_cut_out(directory):
    """Of aggregates alone it is known how many events there can be at most."""
    path, blocks = traced(directory, ENABLE_AGGREGATION=1)
    true(check(path)["good"] and not any(kind == EVENTS for kind, _, _ in blocks), "rows alone")
    claims(path, 0, commands=[c for c in EVERY_COMMAND if c[0] not in ("dump", "export")])
    cut(path, blocks, {(BUCKETS, None)})
    true(check(path)["events_missing"] > 9000, "all of it")
    claims(path, 1, "events, 0 are here")


def test_other_blocks_cut_out(directory):
    path, blocks = traced(directory)
    for kind, word in ((PROCESS, "has no PROCESS block"), (CLOCK, "has no CLOCK block"), (BUCKETS, "have no BUCKETS block"),
                       (END, "has no end and no live file")):
        equal(cut(path, blocks, {(kind, None)}), 0, "no event is gone")
        answer = check(path)
        true(not answer["good"] and any(word in note for note in answer["notes"]), f"{word}: {answer}")
    cut(path, blocks, {(BUCKETS, 1)})
    told = re.search(r"(\d+) of its EVENTS blocks have no BUCKETS block", " ".join(check(path)["notes"]))
    true(told and 0 < int(told[1]) < sum(kind == EVENTS for kind, _, _ in blocks), "those that one of them is about")
    cut(path, blocks, set())
    true(check(path)["good"], "with all of them")


def test_what_does_not_write_all_is_whole(directory):
    """A process that had little to say; recovered, merged and converted traces."""
    for name, arguments, settings in (("nothing", ["true"], {}), ("no-rows", ["sh", "-c", ":"], {"DISABLE_IO": 1}),
                                      ("killed", ["sh", "-c", "read line < /etc/passwd; kill -9 $$"], {})):
        run(arguments, env=tracing(directory / name / "t", **settings))
        if traces(directory / name):
            dftmerge("check", "--recover", directory / name)
            true(check(directory / name)["good"], f"{name}: {check(directory / name)}")
    path, _ = traced(directory)
    run_checked([DFTMERGE, "export", "--format", "pfw", "-o", directory / "a.pfw", path])
    run_checked([DFTMERGE, "merge", "-o", directory / "merged.dft", path, directory / "a.pfw"])
    run_checked([DFTMERGE, "merge", "-o", directory / "converted.dft", "--no-index", directory / "a.pfw"])
    for name in ("a.pfw", "merged.dft", "converted.dft"):
        true(check(directory / name)["good"], f"{name}: {check(directory / name)}")


def test_inputs_that_are_not_there(directory):
    path, _ = traced(directory)
    (directory / "out" / "empty.dft").write_bytes(b"no trace at all, but long enough for a header" * 10)
    claims(directory / "out", 1, "empty.dft")
    (directory / "out" / "empty.dft").unlink()
    claims(directory / "out", 0)
    done = dftmerge("summary", path, directory / "gone.dft", directory / "none*.dft")
    true(done.code == 1 and b"; lost: what could not be read (2 notes say what)" in done.out and b"nothing lost" not in done.out, f"paths of nothing: {done}")


def test_inputs_that_may_not_be_read(directory):
    """Without the rights of root."""
    path, _ = traced(directory)
    secret, closed = directory / "out" / "secret.dft", directory / "out" / "closed"
    shutil.copy(path, secret)
    closed.mkdir()
    shutil.copy(path, closed / "inside.dft")
    as_other = []
    if os.geteuid() == 0:
        need("setpriv")
        as_other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        directory.chmod(0o755)
        if run([*as_other, DFTMERGE, "summary", path]).code:
            pytest.skip("another user cannot reach the traces, or dftmerge")
    secret.chmod(0)
    closed.chmod(0)
    try:
        for command in EVERY_COMMAND:
            done = run([*as_other, DFTMERGE, *command, directory / "out"])
            true(done.code == 1 and b"secret.dft: Permission denied" in done.err and b"closed: cannot be searched" in done.err,
                 f"{command}: {done}")
        text = run([*as_other, DFTMERGE, "summary", "-q", directory / "out"]).out.decode()
        true("; lost: what could not be read (2 notes say what)" in text and "nothing lost" not in text, text)
        answer = json.loads(run([*as_other, DFTMERGE, "summary", "--json", directory / "out"]).out)
        equal((answer["unread"], len(answer["notes"])), (2, 2), "two notes")
    finally:
        closed.chmod(0o700)
