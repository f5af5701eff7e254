# SPDX-License-Identifier: MIT
"""Entities from Python: the ids and the records are those of C, and regions and spans relate to them."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any, Dict, List

import pytest
from traced import LIBRARY, ROOT, Done, python, run, tracing

NAMES = [("protein_structure", "MGYP0001"), ("sample", "s-17"), ("", ""), ("größe", "ключ"), ("a" * 300, "b\x1fc"),
         ("x", "0")]


def records(done: Done, kind: str) -> List[Dict[str, Any]]:
    """The declarations of one kind: EH entities, ET types, ER relations."""
    return [event["args"] for event in done.events() if event["cat"] == "dftracer" and event["name"] == kind]


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_c_and_python_say_the_same(tmp_path: pathlib.Path) -> None:
    calls = "\n".join(f'printf("%016llx\\n", (unsigned long long)DFTRACER_C_ENTITY({quoted(t)}, {quoted(k)}, '
                      'DFT_STORE_PARALLEL_FS, "/data/x"));' for t, k in NAMES)
    (tmp_path / "program.c").write_text(f"""
        #include <stdio.h>
        #include <dftracer/dftracer.h>
        int main(void)
        {{
            EntityID a = DFTRACER_C_ENTITY("sample", "a", DFT_STORE_MEMORY, NULL);
            EntityID b = DFTRACER_C_ENTITY("sample", "b", DFT_STORE_OTHER, NULL);
            DFTRACER_C_ENTITY_TYPE("sample", DFT_ROLE_INPUT, "what is read")
            {calls}
            DFTRACER_C_ENTITY_RELATE(DFT_REL_DERIVED_FROM, a, b)
            DFTRACER_C_ENTITY_RELATE(DFT_REL_USED, a, b)
            DFTRACER_C_REGION_START(pack)
            DFTRACER_C_REGION_RELATE(pack, DFT_REL_USED, a)
            DFTRACER_C_REGION_RELATE(pack, DFT_REL_UPDATED, b)
            DFTRACER_C_REGION_END(pack)
            return 0;
        }}
    """, encoding="utf-8")
    built = run(["cc", "-I", ROOT / "include", "-o", tmp_path / "program", tmp_path / "program.c"], tmp_path)
    assert built.code == 0, built.err
    (tmp_path / "c").mkdir()
    in_c = run([tmp_path / "program"], tmp_path / "c", tracing(tmp_path / "c"))
    (tmp_path / "python").mkdir()
    in_python = python(f"""
        import dftrace
        from dftrace.entities import declare, entity_id
        a = dftrace.entity("sample", "a")
        b = dftrace.entity("sample", "b", dftrace.EntityStore.OTHER)
        dftrace.entity_type("sample", "input", "what is read")
        for kind, key in {NAMES!r}:
            made = declare(kind, key, store="Parallel_FS", uri="/data/x")
            assert made == entity_id(kind, key)
            print(format(made, "016x"))
        dftrace.relate("derived_from", a, b)
        dftrace.relate("used", a, b)
        with dftrace.region("pack", category="C_APP") as pack:
            assert pack.relate("used", a) == a
            assert pack.updates("sample", "b") == b
            assert pack.relate("contains", a) == a
    """, tmp_path / "python")
    assert in_python.out == in_c.out and in_c.out.startswith("8f0de68c04eea0bf\n")
    for kind in ("EH", "ET", "ER"):
        assert records(in_python, kind) == records(in_c, kind) != []
    assert in_python.named("pack")[0]["args"] == in_c.named("pack")[0]["args"]


def quoted(text: str) -> str:
    """A literal of C."""
    return '"' + "".join(f"\\{byte:03o}" for byte in text.encode()) + '"'


def test_regions_spans_and_functions(tmp_path: pathlib.Path) -> None:
    done = python("""
        import asyncio
        import dftrace
        async def main():
            async with dftrace.region("span") as span:
                span.invalidates("sample", 5)
                await asyncio.sleep(0)
        asyncio.run(main())
        with dftrace.region("pack") as pack:
            sample = pack.uses("sample", "s")
            shard = pack.generates("shard", "t", store="parallel_fs", uri="/data/t")
        assert sample == dftrace.entity("sample", "s") != shard
        for word, call in (("contain", lambda w: dftrace.relate(w, sample, shard)),
                           ("paralell_fs", lambda w: dftrace.entity("a", "b", store=w)),
                           ("inputs", lambda w: dftrace.entity_type("a", role=w))):
            try:
                call(word)
            except ValueError as error:
                print(error)
            else:
                raise AssertionError(word)
    """, tmp_path)
    ids = {args["type"]: args["id"] for args in records(done, "EH") if args["type"] != "sample" or args["store"] == 0}
    args, = (event["args"] for event in done.named("pack"))
    assert args == {f"used:{ids['sample']}": 1, f"generated:{ids['shard']}": 1}
    assert [list(event["args"])[0].split(":")[0] for event in done.named("span")] == ["invalidated"]
    assert ["did you mean" in line for line in done.out.splitlines()] == [True] * 3


def test_dftracers_names(tmp_path: pathlib.Path) -> None:
    done = python("""
        from dftracer.python import EntityRelation, EntityRole, EntityStore, dft_fn, dftracer
        log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
        log.declare_entity_type("raw_sample", EntityRole.INPUT, "a sample")
        log.declare_entity_type("bare")
        for i in range(3):
            with dft_fn("PY_APP", name="transform") as f:
                f.uses("raw_sample", f"sample-{i}")
                structure = f.generates("protein_structure", "MGYP0001")
        assert structure == 0x8f0de68c04eea0bf
        with dft_fn("PY_APP", name="pack") as f:
            archive = f.generates("archive", "a.tar", EntityStore.PARALLEL_FS, "/p/out/a.tar")
            f.relate(EntityRelation.UPDATED, structure)
            f.relate(EntityRelation.CONTAINS, structure)
            f.relate(EntityRelation.USED, 0)
            assert f.relate_entity(EntityRelation.INVALIDATED, "old", 7) == log.declare_entity("old", "7")
        log.relate_entities(EntityRelation.CONTAINS, archive, structure)
        log.relate_entities(EntityRelation.USED, archive, structure)
        log.relate_entities(EntityRelation.CONTAINS, archive, 0)
        f = dft_fn("PY_APP", name="later")
        f.uses("raw_sample", "sample-0")
        f.reset()
        f.flush()
        assert dft_fn("PY_APP", enable=False).uses("a", "b") == 0
        log.log_event("given", "PY_APP", log.get_time(), 1, relations={EntityRelation.GENERATED: [archive]})
        assert [int(s) for s in (EntityStore.MEMORY, EntityStore.OTHER, EntityRole.REFERENCE)] == [0, 8, 5]
        print(format(archive, "016x"))
    """, tmp_path)
    archive = done.out.strip()
    assert [sorted(key.split(":")[0] for key in event["args"]) for event in done.named("transform")] == [
        ["generated", "used"]] * 3
    pack, = done.named("pack")
    assert sorted(key.split(":")[0] for key in pack["args"]) == ["generated", "invalidated", "updated"]
    assert "args" not in done.named("later")[0]
    assert done.named("given")[0]["args"] == {f"generated:{archive}": 1}
    assert records(done, "ER") == [{"relation": 18, "subject": archive, "object": "8f0de68c04eea0bf"}]
    assert records(done, "ET") == [{"type": "raw_sample", "role": 1, "description": "a sample"},
                                   {"type": "bare", "role": 0}]
    assert {args["type"]: args["store"] for args in records(done, "EH")} == {
        "raw_sample": 0, "protein_structure": 0, "archive": 3, "old": 0}


def test_nothing_where_nothing_is_traced(tmp_path: pathlib.Path) -> None:
    done = python("""
        import dftrace
        with dftrace.region("pack") as pack:
            assert pack.uses("a", "b") == dftrace.entity("a", "b") == 0
            assert pack.relate("used", 3) == 3
        dftrace.entity_type("a", "input")
        dftrace.relate("contains", 1, 2)
    """, tmp_path, plain=True)
    assert done.err == ""
    assert LIBRARY.exists() and not done.traces.exists()
