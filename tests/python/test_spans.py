# SPDX-License-Identifier: MIT
"""dftrace.spans(): what it answers is what dftmerge spans says; wrong questions get a clear error."""

from __future__ import annotations

import json
import pathlib
import sqlite3
import subprocess
from typing import Any

import pytest
from traced import DFTMERGE

import dftrace

LACKS = b"without SQLite" in subprocess.run([DFTMERGE, "spans", "types", "x.db"], check=False, stderr=subprocess.PIPE).stderr
pytestmark = pytest.mark.skipif(LACKS, reason="dftmerge was built without SQLite")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Tasks with tries, and another view of them."""
    path = tmp_path_factory.mktemp("spans") / "a 'b'%?.db"
    db = sqlite3.connect(path)
    db.executescript("""
        create table span (uuid TEXT PRIMARY KEY, type TEXT NOT NULL, note TEXT);
        create table event (uuid TEXT PRIMARY KEY, span_uuid TEXT, time TEXT NOT NULL, type TEXT NOT NULL, note TEXT);
        create table subspan (superspan_uuid, subspan_uuid, key TEXT NOT NULL, note TEXT);
        create table facet (left_uuid, right_uuid, note TEXT);
    """)
    for i in range(20):
        db.executemany("insert into span values (?, ?, null)",
                       [(f"t{i}", "parsl.monitoring.task"), (f"y{i}", "parsl.monitoring.try"), (f"o{i}", "other")])
        db.execute("insert into subspan values (?, ?, '0', null)", (f"t{i}", f"y{i}"))
        db.execute("insert into facet values (?, ?, null)", (f"t{i}", f"o{i}"))
        for j, (span, kind) in enumerate([("t", "invoked"), ("y", "running"), ("t", "returned")][:3 - i % 2]):
            db.execute("insert into event values (?, ?, ?, ?, null)", (f"{i}-{j}", f"{span}{i}", f"1680774973.{i:03}{j}", kind))
    db.commit()
    db.close()
    return path


def asked(verb: str, path: pathlib.Path, *words: str) -> Any:
    """dftmerge's own answer."""
    return json.loads(subprocess.run([DFTMERGE, "spans", verb, path, "--json", *words], check=True, stdout=subprocess.PIPE).stdout)


def test_answers_are_those_of_dftmerge(database: pathlib.Path) -> None:
    spans = dftrace.spans(database)
    assert repr(spans) == f"dftrace.spans({str(database)!r})"
    assert [(row["type"], row["event"], row["count"]) for row in spans.types()] == [
        ("other", None, None), ("parsl.monitoring.task", "invoked", 20), ("parsl.monitoring.task", "returned", 10),
        ("parsl.monitoring.try", "running", 20)]
    sequences = asked("sequences", database, "--all")
    assert spans.sequences().to_dicts() == sequences["most_common"]
    assert spans.sequences(all=True).info["orderings"] == sequences["orderings"] and len(sequences["orderings"]) == 2
    assert spans.sequences("parsl.monitoring.try").info["different"] == 1
    between = asked("between", database, "--from", "invoked", "--to", "returned")
    assert spans.between("invoked", "returned").to_dicts() == between["times"]
    assert spans.between("invoked", "parsl.monitoring.task/returned").info["p95_ns"] == between["p95_ns"] == 200_000
    states = asked("states", database)
    rows = spans.states()
    assert {row["state"] for row in rows} == {state["state"] for state in states["states"]}
    assert [row["roots"] for row in rows] == [mean for state in states["states"] for mean in state["means"]]
    assert rows[1]["start_ns"] - rows[0]["start_ns"] == states["width_ns"]
    assert spans.states(interval=0.001).info["width_ns"] == 1_000_000
    assert spans.rate("running").to_dicts() == asked("rate", database, "--event", "running")["intervals"]
    assert len(spans.rate("running", interval=0.01)) == 2
    graph = spans.graph()
    assert {(row["from"], row["to"], row["kind"], row["count"]) for row in graph} == {
        ("parsl.monitoring.task", "parsl.monitoring.try", "subspan", 20), ("other", "parsl.monitoring.task", "facet", 20)}
    assert [node["type"] for node in graph.info["nodes"]] == ["other", "parsl.monitoring.task", "parsl.monitoring.try"]
    assert "since first mean" in str(spans.sequences()) and "<table>" in spans.graph()._repr_html_()


def test_queries_only_read(database: pathlib.Path) -> None:
    spans = dftrace.spans(str(database))
    rows = spans.sql("select type, count(*) as n from span where type like :like group by type order by type", {"like": "parsl%"})
    assert rows.to_dicts() == [{"type": "parsl.monitoring.task", "n": 20}, {"type": "parsl.monitoring.try", "n": 20}]
    assert rows.columns == ["type", "n"]
    assert spans.sql("select ? as a, x'00ff' as b, null as c, cast(x'ff' as text) as d", [1.5]).to_dicts() == [
        {"a": 1.5, "b": "00ff", "c": None, "d": "\udcff"}]
    assert str(spans.sql("select 1 where 0")) == "no rows"
    for wrong in ("select no from span", "delete from span", "create table x (y)", "select 1; select 2"):
        with pytest.raises(dftrace.TraceError):
            spans.sql(wrong)
    assert len(spans.sql("select * from span")) == 60


def test_what_is_wrong_is_said(database: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(dftrace.TraceError, match="there is no such file"):
        dftrace.spans(tmp_path / "none.db")
    spans = dftrace.spans(database)
    with pytest.raises(dftrace.TraceError, match="Did you mean parsl.monitoring.task"):
        spans.sequences("parsl.monitoring.tasks")
    with pytest.raises(dftrace.TraceError, match="--event runing"):
        spans.rate("runing")
    with pytest.raises(dftrace.TraceError, match="--interval"):
        spans.states(interval=-1)
    text = tmp_path / "text.db"
    text.write_text("no database at all\n" * 50)
    with pytest.raises(dftrace.TraceError, match="no database of SQLite"):
        dftrace.spans(text).types()
    with pytest.raises(dftrace.TraceError):
        dftrace.spans(text).sql("select 1 from span")
