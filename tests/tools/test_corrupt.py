# SPDX-License-Identifier: MIT
"""Corrupt input: mutated traces, live files and traces of DFTracer through every command. No crash, no hang, bounded memory, and what is said names the file.

    DFT_CORRUPT=N[,FIRST]     N files, with the seeds FIRST, FIRST + 1, ... A file that fails is kept, and named."""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import tempfile

from corrupt import ANY_LIVE, ANY_TEXT, ANY_TRACE, damage, damage_compressed
from pfw_files import DIALECTS
from test_pfw import sample
from tooltest import DFTMERGE, LONG, ROOT, dftmerge, make

MEMORY = int(os.environ.get("DFT_MEMORY", 1 << 30))  # of address space, threads' stacks and all
COUNT, FIRST = (*map(int, os.environ.get("DFT_CORRUPT", "300" if LONG else "30").split(",")), 0)[:2]
SECONDS = 300
COMMANDS = (("summary",), ("dump", "--json"), ("check",), ("merge", "-o", "MERGED"), ("export", "--format", "perfetto", "-o", "EXPORT"),
            ("summary", "--by", "file,name", "--json"), ("ps",), ("export", "--format", "csv", "-o", "EXPORT"), ("export", "--format", "pfw", "-o", "EXPORT"),
            ("ranks", "--json"), ("dump", "--json", "--align", "clocks"), ("ranks",), ("check", "--recover"),
            ("export", "--format", "perfetto", "--max-bytes", "8K", "-o", "EXPORT"), ("report", "-o", "EXPORT"),
            ("layers", "--json", "--view", "time,process,host,file,directory,pattern"), ("layers", "--preset", "generic", "--view", "time"))
if "built without" not in dftmerge("anonymize", "--new-key", os.devnull, expect=None).err:
    COMMANDS += (("anonymize", "--key", "KEY", "-o", "FOLDER"),)
EVERY = 5  # the commands behind the first five for one file in so many

sanitized = "address" in os.environ.get("DFT_SANITIZE", "")


def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def seeds(place):
    """(trace, live file or None) as bytes."""
    found = [((ROOT / "tests/format/golden" / name).read_bytes(), None) for name in ("deflated.dft", "stored.dft")]
    for n, settings in enumerate(({}, {"threads": 3, "ranks": 2}, {"live": 1}, {"live": 1, "threads": 1})):
        directory = make(place / f"seed{n}", seed=n + 1, processes=1, events=60, block=20, **settings)
        path = next(directory.glob("*.dft"))
        live = path.with_name(path.name + ".live")
        found.append((path.read_bytes(), live.read_bytes() if live.exists() else None))
    return found


def foreign_seeds():
    return [sample(dialect).text().encode() for dialect in DIALECTS]


def command_fails(command, place):
    """Runs one command on the files of `place`; what is wrong with that, or None; and the exit code."""
    outputs = {"MERGED": place.with_suffix(".merged"), "EXPORT": place.with_suffix(".export"), "FOLDER": place.with_suffix(".folder"), "KEY": __file__}
    words = [str(outputs.get(word, word)) for word in command]
    try:
        done = subprocess.run([DFTMERGE, words[0], "--threads", "2", *words[1:], place], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=SECONDS, check=False, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return f"{command}: hangs", None
    said = done.stderr.decode(errors="replace")
    if done.returncode < 0:
        return f"{command}: killed by {signal.Signals(-done.returncode).name}: {said[-300:]}", None
    if done.returncode not in (0, 1):
        return f"{command}: exit code {done.returncode}: {said[-2000:]}", None
    if done.returncode == 1 and not any(str(path) in said for path in (*place.iterdir(), place)):
        return f"{command}: exit code 1, and no file is named: {said[-300:]!r}", None
    if "annot allocate memory" in said or ": no memory" in re.sub("events? lost: no memory", "", said):
        return f"{command}: {said[-300:]}", None
    if "--json" in command:
        try:
            for line in done.stdout.decode().splitlines() if command[0] == "dump" else [done.stdout.decode() or "{}"]:
                json.loads(line)
        except ValueError as error:
            return f"{command}: no JSON: {error}", None
    return None, done.returncode


def put_native(rng, originals, directory):
    """Writes a trace and its live file, one of them or both damaged; which."""
    trace, live = rng.choice(originals)
    which = rng.choice(["trace", "live", "both"]) if live else "trace"
    (directory / "a.dft").write_bytes(damage(rng, trace, ANY_TRACE) if which != "live" else trace)
    if live and rng.random() < 0.95:
        (directory / "a.dft.live").write_bytes(damage(rng, live, ANY_LIVE) if which != "trace" else live)
    return which


def put_foreign(rng, foreign, directory):
    text = rng.choice(foreign)
    if rng.random() < 0.4:
        (directory / "a.pfw.gz").write_bytes(damage_compressed(rng, text))
        return "pfw.gz"
    (directory / "a.pfw").write_bytes(damage(rng, text, ANY_TEXT))
    return "pfw"


def damage_index(rng, directory):
    """What DFTracer's trace was converted to is kept beside it: the next command reads that."""
    for path in directory.glob(".dftindex/*.dft"):
        path.write_bytes(damage(rng, path.read_bytes(), ANY_TRACE))


def one(seed, originals, foreign, place):
    """(what fails, exit codes by command)."""
    rng = random.Random(seed)
    directory = place / f"{seed}"
    directory.mkdir()
    which = put_foreign(rng, foreign, directory) if seed % 3 == 0 else put_native(rng, originals, directory)
    codes = {}
    for command in COMMANDS[:None if seed % EVERY == 0 else 5]:
        wrong, codes[command[0]] = command_fails(command, directory)
        if wrong:
            return f"seed {seed} ({which}): {wrong}; kept in {directory}", codes
        if seed % 6 == 0:
            damage_index(rng, directory)
    shutil.rmtree(directory)
    for path in (directory.with_suffix(".merged"), directory.with_suffix(".export")):
        path.unlink(missing_ok=True)
    shutil.rmtree(directory.with_suffix(".folder"), ignore_errors=True)
    return None, codes


def test_files(directory):
    originals, foreign = seeds(directory), foreign_seeds()
    place = pathlib.Path(tempfile.mkdtemp(prefix="dft-corrupt-"))
    failures, codes = [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        for failure, found in pool.map(lambda seed: one(seed, originals, foreign, place), range(FIRST, FIRST + COUNT)):
            codes.update(f"{name} {code}" for name, code in found.items())
            if failure:
                failures.append(failure)
    if not failures:
        shutil.rmtree(place)
    print(f"{COUNT} files: exit codes " + ", ".join(f"{name}: {n}" for name, n in sorted(codes.items())))
    assert not failures, "\n".join(failures)
    assert codes["check 1"] > COUNT / 2, "a damage that nobody notices would make all this worthless"
