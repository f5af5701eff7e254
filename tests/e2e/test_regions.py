# SPDX-License-Identifier: MIT
"""Which phase reads, and how much of it: the summary by region and call against what a program of nested regions and threads has counted
itself."""

import json

from tracing import FULL, ROOT, compile_program, dftmerge, equal, run, tracing, true


def compared(directory, rounds, **settings):
    program = compile_program("phases.c", directory / "phases", f"-I{ROOT / 'include'}", "-pthread", "-Wall", "-Werror")
    (directory / "work").mkdir()
    done = run([program, directory / "work", rounds], env=tracing(directory / "out" / "t", **settings))
    equal((done.code, done.err), (0, b""), "the program")
    own = {}
    for line in done.out.decode().splitlines():
        region, call, count, size = line.split()
        own[None if region == "-" else region, call] = int(count), int(size)
    true(len(own) >= 25, f"all calls in all regions: {len(own)}")
    for options in ((), ("--threads", "1")):
        done = dftmerge("summary", "--json", "--by", "region,call", *options, directory / "out")
        answer = json.loads(done.out)
        equal((done.code, answer["dropped"], answer["notes"]), (0, {}, []), "the summary")
        found = {(g["region"], g["name"]): (g["count"], g["bytes"]) for g in answer["groups"]
                 if g["cat"] == "POSIX" and g["name"] in ("read", "write", "pread", "pwrite", "lseek")}
        equal(found, own, f"calls and bytes by region {options}")
        equal({g["region_cat"] for g in answer["groups"] if g.get("region")}, {"PHASE"}, "categories of regions")
    return answer


def test_by_region_and_call(directory):
    equal(compared(directory, 3000 if FULL else 300)["source"], "buckets", "the source")


def test_aggregates_alone_know_it_too(directory):
    compared(directory, 100, ENABLE_AGGREGATION=1)
