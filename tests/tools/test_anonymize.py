# SPDX-License-Identifier: MIT
"""anonymize: the same answers without the names; hashes as Python computes them; what is refused."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

import anonymized
from pfw_files import Writer, write
from tooltest import DFTMERGE, dftmerge, make, run

QUESTIONS = [("summary", "--all", "--json"), ("findings", "--json"), ("ranks", "--json"), ("ps", "--json"), ("counters", "--json"),
             ("lineage", "--json"), ("overlap", "--json"), ("layers", "--json"), ("timeline", "--json"), ("summary", "--json", "--by", "ext"),
             ("summary", "--json", "--by", "dir"), ("summary", "--json", "--by", "mount"), ("summary", "--json", "--by", "host")]
CHANGED = ("file", "key", "parent_key", "live_file")  # of ps: paths and keys of traces
pytestmark = pytest.mark.skipif("built without libsodium" in dftmerge("anonymize", "--new-key", os.devnull, expect=None).err, reason="this dftmerge was built without libsodium")


def key_of(where):
    path = where / "key"
    if not path.exists():
        dftmerge("anonymize", "--new-key", path)
    return path


def anonymize(where, source, name="out", *more):
    dftmerge("anonymize", "-q", "--key", key_of(where), "--table", where / f"{name}.table", "-o", where / name, *more, source, expect=None)
    assert (where / name).is_dir()
    return where / name, anonymized.read_table(where / f"{name}.table")


def answer(question, path):
    without = CHANGED if question[0] == "ps" else ()
    return dftmerge(*question, path, expect=None).out, without


def same_answers(source, out, table, questions=QUESTIONS):
    for question in questions:
        (before, without), (after, _) = answer(question, source), answer(question, out)
        assert anonymized.canonical(json.loads(after), table, without) == anonymized.canonical(json.loads(before), None, without), question


def same_events(source, out, table):
    lines = [sorted(json.dumps(anonymized.canonical(json.loads(line), names), sort_keys=True)
                    for line in dftmerge("dump", "--json", path, expect=None).out.splitlines()) for path, names in ((source, None), (out, table))]
    assert lines[0] == lines[1]


def test_answers(where):
    """Every answer is the same, once names are put back; no name is left."""
    make(where / "traces", processes=3, ranks=1, hosts=2, events=300)
    out, table = anonymize(where, where / "traces")
    same_answers(where / "traces", out, table)
    same_events(where / "traces", out, table)
    assert dftmerge("check", out).out.startswith(b"3 files")
    for path in out.iterdir():
        for part in anonymized.inflated(path):
            for secret in (b"/data", b"scratch", b"node0", b"node1", b"odd", b"solve", b"quoted", b"pack", b"surrogate"):
                assert secret not in part, (path, secret)
        assert not any(name in path.name for name in ("node", "app"))


def test_rows_alone_and_damage(where):
    make(where / "rows", processes=2, keep=0, rows=1, events=200)
    out, table = anonymize(where, where / "rows", "rows-out")
    same_answers(where / "rows", out, table, QUESTIONS[:3])
    path = next((where / "rows").glob("*.dft"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    done = dftmerge("anonymize", "--key", key_of(where), "-o", where / "damaged", where / "rows", expect=None)
    assert done.code == 1 and "checksum" in done.err, done
    assert "wrote 400 events" in dftmerge("check", where / "damaged", expect=1).err


def test_hashes(where):
    """The table is what hashlib makes of its texts; a name has one hash, in all traces, by any order of files."""
    make(where / "traces", processes=2)
    out, table = anonymize(where, where / "traces")
    expected = anonymized.Hashes(where / "key")
    assert len(table) > 20 and {28, 14} <= {len(token) for token in table}
    for token, text in table.items():
        assert token == expected.of_token(token, text), text
    files = {e.get("file") for e in map(json.loads, dftmerge("dump", "--json", out).out.splitlines())}
    word = expected.word
    assert f"/{word(b'data')}/{word(b'in')}/{word(b'a')}.bin" in files, files
    again, _ = anonymize(where, where / "traces", "again")
    assert {p.name: p.read_bytes() for p in out.iterdir()} == {p.name: p.read_bytes() for p in again.iterdir()}
    strict, names = anonymize(where, where / "traces", "strict", "--strict")
    same_answers(where / "traces", strict, names)
    assert not any(b".bin" in part for path in strict.iterdir() for part in anonymized.inflated(path))


def test_translated(where):
    make(where / "traces", processes=2)
    out, _ = anonymize(where, where / "traces")
    question = (str(DFTMERGE), "summary", "--by", "dir", "--csv")
    after = subprocess.run([*question, out], capture_output=True, check=False).stdout
    done = subprocess.run([DFTMERGE, "anonymize", "--translate", where / "out.table"], input=after, capture_output=True, check=False)
    before = subprocess.run([*question, where / "traces"], capture_output=True, check=False).stdout
    assert done.returncode == 0 and sorted(done.stdout.splitlines()) == sorted(before.splitlines())
    table = subprocess.run([DFTMERGE, "summary", "--by", "file", "-q", out], capture_output=True, check=False, env={**os.environ, "COLUMNS": "200"})
    done = subprocess.run([DFTMERGE, "anonymize", "--translate", where / "out.table"], input=table.stdout, capture_output=True, check=False)
    lines = done.stdout.decode().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("file "))
    end = lines[first].index("calls") + len("calls")
    rows = lines[first + 1:next(i for i, line in enumerate(lines) if line.startswith("total "))]
    wrong = [line for line in rows if not re.search(r"  [\d,]+$", line[:end])]
    assert len(rows) > 5 and not wrong, f"columns stay below each other: {done.stdout.decode()}"
    assert os.stat(where / "out.table").st_mode & 0o777 == 0o600 == os.stat(where / "key").st_mode & 0o777


def test_of_dftracer(where):
    """Traces of DFTracer become traces, with the answers that a merged one gives."""
    writer = Writer("2.x", host="SecretHost", rank=3)
    for i in range(20):
        writer.call("POSIX", "read", i * 100 + 10, 50, f"/SecretData/shard-{i % 4:03d}.npz", ret=100, size=100)
    (where / "traces").mkdir()
    write(where / "traces" / "Secret.pfw.gz", writer.text())
    dftmerge("merge", "-q", "-o", f"{where}/merged/", where / "traces")
    out, table = anonymize(where, where / "traces")
    same_answers(where / "merged", out, table, QUESTIONS[:2])
    same_events(where / "merged", out, table)
    assert not any(b"Secret" in part or b"shard" in part for path in out.iterdir() for part in anonymized.inflated(path))
    assert b"Secret" not in os.fsencode(next(out.iterdir()).name)


def test_refused(where):
    """Nothing is written, and the way is named."""
    make(where / "traces")
    key, table = key_of(where), where / "table"
    (where / "short").write_bytes(b"0123456789abcde")
    (where / "full").mkdir()
    (where / "full" / "file").write_text("x")
    before = sorted(p for p in where.rglob("*"))
    for arguments, code, said in (
            (("-o", where / "out", where / "traces"), 2, "--new-key FILE"),
            (("--key", key, where / "traces"), 2, "-o DIR"),
            (("--key", where / "short", "-o", where / "out", where / "traces"), 2, "16 bytes"),
            (("--key", where / "none", "-o", where / "out", where / "traces"), 2, "--new-key"),
            (("--key", key, "-o", where / "traces", where / "traces"), 2, "not empty"),
            (("--key", key, "-o", where / "traces" / "out", where / "traces"), 2, "among the traces"),
            (("--key", key, "-o", where / "full", where / "traces"), 2, "not empty"),
            (("--key", key, "-o", where / "no" / "out", where / "traces"), 1, "there is no directory"),
            (("--key", key, "--table", where / "short", "-o", where / "out", where / "traces"), 1, "is not replaced"),
            (("--key", key, "--table", where / "no" / "table", "-o", where / "out", where / "traces"), 1, "no table"),
            (("--new-key", key), 1, "is not replaced"),
            (("--new-key", where / "k", where / "traces"), 2, "stand alone"),
            (("--translate", where / "short"), 1, "no table"),
            (("--key", key, "-o", where / "out", where / "nothing"), 1, "nothing")):
        done = dftmerge("anonymize", *arguments, expect=code)
        assert said in done.err, (arguments, done.err)
        assert sorted(p for p in where.rglob("*")) == before, arguments
    os.chmod(key, 0o644)
    done = dftmerge("anonymize", "--key", key, "--table", table, "-o", where / "out", where / "traces")
    assert "chmod 600" in done.err
    (where / "empty").mkdir()
    dftmerge("anonymize", "--key", key, "-o", f"{where / 'empty'}/", where / "traces")


def test_stopped(where):
    """A signal leaves nothing, whenever it comes."""
    make(where / "traces", processes=4, events=4000)
    key_of(where)
    before = sorted(p.name for p in where.iterdir())
    for wait in (0, 0.005, 0.01, 0.02, 0.05):
        child = subprocess.Popen([DFTMERGE, "anonymize", "-q", "--key", where / "key", "--table", where / "table", "-o", where / "out",
                                  where / "traces"], stderr=subprocess.DEVNULL)
        time.sleep(wait)
        child.send_signal(signal.SIGINT)
        child.wait()
        now = sorted(p.name for p in where.iterdir())
        whole = sorted([*before, "out", "table"])
        assert now in (before, whole), now
        if now == whole:
            assert len(list((where / "out").iterdir())) == 4
            run("rm", "-r", where / "out", where / "table")
