# SPDX-License-Identifier: MIT
"""Entities: what programs tell of them is recorded, merged, and answered as text, DOT and PROV-JSON."""

import json
import shutil

import pytest

from tracing import BUILD, ROOT, compile_program, dftmerge, environment, equal, run, run_checked, tracing, true


MEMBERS = ("entity", "activity", "agent", "used", "wasGeneratedBy", "wasInvalidatedBy", "wasAssociatedWith", "wasDerivedFrom", "hadMember",
          "specializationOf", "alternateOf", "wasInfluencedBy", "prefix")


def entity(kind, key):
    value = 1469598103934665603
    for byte in f"{kind}\x1f{key}".encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return f"{value:016x}"


def traced(directory, processes, samples, **settings):
    program = compile_program("lineage.c", directory / "lineage", f"-I{ROOT / 'include'}")
    for rank in range(processes):
        done = run([program, rank, samples], env=tracing(directory / "out" / "t", **settings))
        equal((done.code, done.err), (0, b""), "the program")
    return directory / "out"


def lineage(*arguments, expect=0):
    done = dftmerge("lineage", *arguments)
    equal(done.code, expect, f"exit code of {arguments}: {done.err}")
    return done


def prov(*arguments):
    document = json.loads(lineage("--json", *arguments).out)
    fits(document)
    return document


def fits(document):
    """The structure of PROV-JSON: known members, and relations whose ends are there."""
    equal(sorted(document), sorted(MEMBERS), "members of PROV-JSON")
    things = {**document["entity"], **document["activity"], **document["agent"]}
    for name in MEMBERS[3:12]:
        for one in document[name].values():
            ends = [end for key, end in one.items() if key.startswith("prov:") and key != "prov:type"]
            true(len(ends) == 2 and all(end in things for end in ends), f"{name}: {one}")


def names_of(document):
    return {one["prov:label"] for one in document["entity"].values()}


def pfw(directory, *records):
    """A trace as DFTracer 2.x writes it."""
    directory.mkdir(exist_ok=True)
    lines = [json.dumps({"id": i, "cat": "dftracer", "pid": 7, "tid": 7, "ph": 4, **record}) for i, record in enumerate(records)]
    (directory / "x.pfw").write_text("[\n" + "\n".join(lines) + "\n]")
    return directory


def eh(kind, key, **more):
    return {"name": "EH", "args": {"id": entity(kind, key), "type": kind, "store": 3, **more}}


def er(relation, subject, target):
    return {"name": "ER", "args": {"relation": relation, "subject": subject, "object": target}}


def region(name, start, **relations):
    return {"name": name, "cat": "APP", "type": 2, "ph": 1, "ts": 1_700_000_000_000_000 + start, "dur": 5, "args": {"relations": relations}}


def test_processes_meet_in_their_entities(directory):
    out = traced(directory, 3, 3)
    text = lineage("archive:a.tar", out).out.decode()
    # each: two checkpoints of which one is in the archive, the model, three samples, raw
    true(text.startswith("archive:a.tar: came from 16 entities in up to 3 steps; nothing was made of it\n"), text)
    true("made by APP prepare: 1 time in process" in text and '"out"' in text, text)
    true("dftmerge: 3 relations of entities to themselves are left out" in lineage("archive:a.tar", out).err.decode(), "selves")
    true(b"1 entity was declared with several URIs: the first is shown" in lineage(out).err, "two URIs")
    raw = prov("raw:raw-2", "--down", out)
    equal(names_of(raw), {"raw:raw-2", "sample:2-0", "sample:2-1", "sample:2-2", "model:net", "archive:a.tar"}
          | {f"checkpoint:epoch-{e}-{r}" for r in range(3) for e in (0, 1, 101)}, "made of raw-2")
    equal({a["dftrace:count"] for a in raw["activity"].values()}, {1}, "counts")
    equal(len(raw["agent"]), 3, "processes: the model joins them")
    one = prov("raw:raw-2", "--down", "--depth", "1", out)
    equal(names_of(one), {"raw:raw-2", "sample:2-0", "sample:2-1", "sample:2-2"}, "one step")
    every = prov(out)
    equal({len(every["wasInvalidatedBy"]), len(every["hadMember"])}, {3}, "all of it")
    true("ended by APP prepare: 3 times in 3 processes" in lineage("cache:old", out).out.decode(), "ended")


def test_a_region_keeps_any_number_of_relations(directory):
    out = traced(directory, 1, 4000)
    equal(lineage("sample:0-3999", out).err.count(b"cut"), 0, "nothing is cut")
    up = prov("checkpoint:epoch-1-0", "--up", out)
    equal(len([name for name in names_of(up) if name.startswith("sample:")]), 4000, "samples of the checkpoint")
    # the region within has one sample of its own, and its checkpoint comes from no other directly
    inner = prov("checkpoint:epoch-101-0", "--up", "--depth", "1", out)
    equal({name for name in names_of(inner) if name.startswith("sample:")}, {"sample:0-0"}, "the region within")
    text = lineage("checkpoint:epoch-1-0", "--top", "2", out).out.decode()
    true("... and 3999 more" in text, text)


def test_answers_do_not_depend_on_threads_and_ranks(directory):
    out = traced(directory, 4, 300)
    questions = [(out,), ("checkpoint:epoch-1-0", out), ("--json", out), ("--dot", "model:net", out)]
    wanted = [lineage(*question).out for question in questions]
    for question, answer in zip(questions, wanted):
        equal(lineage("--threads", "1", *question).out, answer, f"one thread: {question}")
    merged = directory / "merged.dft"
    run_checked([BUILD / "bin" / "dftmerge", "merge", "-o", merged, out])
    equal([lineage(*question[:-1], merged).out for question in questions], wanted, "merged")
    if not shutil.which("mpirun") or not (BUILD / "bin" / "dftmerge-mpi").exists():
        pytest.skip("the ranks: dftmerge-mpi is not there")
    for ranks in (2, 3):
        for question, answer in zip(questions, wanted):
            got = run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", ranks, BUILD / "bin" / "dftmerge-mpi", "lineage", *question],
                      env=environment(OMPI_MCA_rmaps_base_oversubscribe=1))
            equal((got.code, got.out), (0, answer), f"{ranks} ranks: {question}")


def test_exported_to_dftracer_and_back(directory):
    out = traced(directory, 2, 100)
    run_checked([BUILD / "bin" / "dftmerge", "export", "--format", "pfw", "-o", directory / "back.pfw.gz", out])
    back = directory / "back.pfw.gz"
    equal([(list(document["entity"]), len(document["hadMember"])) for document in [prov(back)]],
          [(list(document["entity"]), len(document["hadMember"])) for document in [prov(out)]], "entities")
    for question in (("raw:raw-1", "--down"), ("raw:raw-0", "--down")):
        # microseconds cannot always tell a region's last relation from the first of the next
        lost = names_of(prov(*question, out)) ^ names_of(prov(*question, back))
        true(len(lost) <= 4, (question, lost))


def test_aggregates_alone_say_what_is_missing(directory):
    out = traced(directory, 1, 3, ENABLE_AGGREGATION=1)
    done = lineage(out, expect=1)
    true(b"1 process kept aggregates alone, at least for a time: what it said of entities then is not known" in done.err, done.err)


def test_names_that_users_write(directory):
    out = traced(directory, 2, 2)
    answer = lineage("archive:a.tar", out).out
    for name in ("a.tar", entity("archive", "a.tar"), "#" + entity("archive", "a.tar").upper(), "archive#" + entity("archive", "a.tar")):
        equal(lineage(name, out).out, answer, name)
    true(b'/p/"out"/a.tar' in answer, "the URI that came first")
    wrong = lineage("archive:b.tar", out, expect=1).err
    true(b"no entity is named archive:b.tar. Did you mean archive:a.tar?" in wrong, wrong)
    equal(lineage("a.tar", expect=2).err.startswith(b"dftmerge lineage: a.tar is neither a folder nor a trace."), True, "no PATH")
    equal(lineage("--depth", "0", out, expect=2).err, b"dftmerge lineage: --depth 0: not a number of steps from 1 to 1000\n", "--depth")
    two = pfw(directory / "two", region("r", 1), eh("a", "same"), eh("b", "same"))
    true(b"several entities are named same. Name one of them: " in lineage("same", two, expect=1).err, "two types")
    true(b"the traces know no entity" in lineage(pfw(directory / "none", region("r", 1)), expect=1).err, "none")


def test_relations_of_dftracer(directory):
    ids = {key: entity("t", key) for key in "abcdefgh"}
    out = pfw(directory / "p", {"name": "ET", "args": {"type": "t", "role": 5, "description": "things"}},
              *(eh("t", key, uri=f"db://{key}") for key in "abcdefg"), region("copy", 1, used=[ids["a"]], generated=[ids["b"]]),
              region("copy", 9, used=[ids["a"]], generated=[ids["b"]]), region("end", 20, invalidated=[ids["a"]], used=[ids["h"]]),
              er(16, ids["c"], ids["b"]), er(17, ids["d"], ids["c"]), er(18, ids["e"], ids["d"]), er(19, ids["e"], ids["f"]),
              er(20, ids["g"], ids["f"]), er(21, ids["g"], ids["h"]), er(22, ids["a"], ids["g"]))
    document = prov("db://b", out)
    equal(len(document["entity"]), 8, "all are related: it is a circle")
    equal({name: len(document[name]) for name in MEMBERS[3:12]},
          {"used": 2, "wasGeneratedBy": 1, "wasInvalidatedBy": 1, "wasAssociatedWith": 2, "wasDerivedFrom": 2, "hadMember": 2,
           "specializationOf": 1, "alternateOf": 1, "wasInfluencedBy": 1}, "relations")
    true({"prov:generatedEntity": "dftrace:entity-" + ids["d"], "prov:usedEntity": "dftrace:entity-" + ids["c"],
          "prov:type": {"$": "prov:Revision", "type": "prov:QUALIFIED_NAME"}} in document["wasDerivedFrom"].values(), "a revision")
    members = [(one["prov:collection"][-16:], one["prov:entity"][-16:]) for one in document["hadMember"].values()]
    equal(sorted(members), sorted([(ids["e"], ids["d"]), (ids["f"], ids["e"])]), "members")
    text = lineage("db://b", out).out.decode()
    for part in ("made by APP copy: 2 times in process 7", "(leads back: cut)", "lead back to an entity on the way: cut there", "depends on t#",
                 "(never declared)", "type      t, reference: things"):
        true(part in text, (part, text))


def test_broken_records_are_counted(directory):
    strange = 'x"\\\n\x1b[31m' + "y" * 3000
    good = entity("t", "good")
    out = pfw(directory / "p", region("r", 1, used=[good, "no hex", "12"], other=[good]), eh("t", "good", uri=strange), eh(strange, "z"),
              {"name": "EH", "args": {"id": "xyz", "type": "t"}}, {"name": "EH", "args": {"type": "t"}}, {"name": "ET", "args": {"role": 1}},
              er(3, good, good), er(16, good, "0" * 16), er(18, good, good), {"name": "ER", "args": {}},
              {"name": "r", "cat": "APP", "ph": 1, "type": 2, "ts": 1_700_000_000_000_000, "dur": 1, "args": {"relations": '{"used":["' + good}})
    for words in ((), ("--dot",), (good,), ("--json",)):
        done = lineage(*words, out, expect=1)
        true(b"records of entities make no sense and are left out" in done.err, done.err)
        true(b"1 relation of an entity to itself is left out" in done.err, done.err)
        true(b"\x1b" not in done.out, "no control character reaches the terminal")
    fits(json.loads(done.out))
    equal(lineage("--dot", good, out, expect=1).out.count(b'" -> r'), 1, "DOT")


def test_many_entities_and_relations(directory):
    """A hub, a long chain, and a wide graph: bounded output, every step counted."""
    hub = entity("t", "hub")
    records = [eh("t", "hub")]
    for i in range(20000):
        name = entity("t", f"n{i}")
        records += [eh("t", f"n{i}"), er(16, name, hub), er(22, name, entity("t", f"n{i - 1}") if i else hub)]
    out = pfw(directory / "p", region("r", 1, used=[hub]), *records)
    text = lineage("t:hub", out).out.decode()
    verdict = f"t#{hub}: came from nothing that the traces know; 20,000 entities were made of it in up to 1 step type"
    true(" ".join(text.split()).startswith(verdict), text[:200])
    true("... and 19990 more" in text and len(text.splitlines()) < 6000, len(text.splitlines()))
    deep = lineage("t:n19999", "--up", "--depth", "1000", out).out.decode()
    true(len(deep.splitlines()) < 6000, "the chain is bounded")
    equal(len(prov("t:n19999", "--up", out)["entity"]), 20001, "all of it for programs")
