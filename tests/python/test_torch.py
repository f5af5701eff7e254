# SPDX-License-Identifier: MIT
"""The integration of torch, with the real library: loaders of every kind, what computes, checkpoints, the example."""

from __future__ import annotations

import collections
import importlib.util
import json
import pathlib
import sys
from typing import Any, Dict, List

import pytest

from traced import ROOT, Done, Event, environment, merge, python, run

pytestmark = [pytest.mark.long, pytest.mark.skipif(importlib.util.find_spec("torch") is None,
                                                   reason="torch is not installed (python3-torch)")]
EXAMPLE = ROOT / "examples" / "torch_loader.py"
BEGIN = """
import sys
import dftrace, dftrace.integrations.torch as integration
assert integration.install() == []
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
assert integration.install() == [], integration.install()
torch.set_num_threads(1)

class Numbers(Dataset):
    def __init__(self, count=12):
        self.count = count
        self.module = torch.nn.Linear(1, 1)
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        if index == 99:
            raise KeyError("number 99")
        with torch.no_grad():
            self.module(torch.zeros(1))  # as transforms are; it is not what the trainer computes
        return torch.tensor(float(index))
"""


def traced(program: str, folder: pathlib.Path) -> Done:
    return python(BEGIN + program, folder, executable=sys.executable)


def events(done: Done, category: str = "TORCH") -> Dict[str, List[Event]]:
    """Those of a category by name, in the order of time."""
    found: Dict[str, List[Event]] = collections.defaultdict(list)
    for event in sorted(done.events(), key=lambda event: event["ts"]):
        if event["cat"] == category:
            found[event["name"]].append(event)
    return found


def arguments(of: List[Event], *names: str) -> List[Any]:
    return [tuple(event["args"][name] for name in names) for event in of]


# --- the example ----------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["fork", "forkserver", "spawn"])
def test_the_example(tmp_path: pathlib.Path, start: str) -> None:
    launcher = [sys.executable, "-W", "ignore", "-m", "dftrace", "run", "--torch", "-o", tmp_path / "traces"]
    done = run([*launcher, "--data-dir", tmp_path, EXAMPLE, "--start", start, "--data", tmp_path / "data"], tmp_path,
               environment())
    assert done.code == 0, done.err
    found = events(done)
    assert arguments(found["epoch"], "epoch", "batches") == [(0, 100), (1, 100)]
    assert arguments(found["step"], "epoch", "step") == [(e, s) for e in range(2) for s in range(100)]
    assert len(found["wait for data"]) == 202  # and that each epoch is over
    assert len(found["fetch"]) == 200 and all(event["args"]["items"] == 20 for event in found["fetch"])
    counts = collections.Counter(event["args"]["index"] for event in found["getitem"])
    assert counts == {index: 2 for index in range(2000)}
    compute = events(done, "COMPUTE")
    assert (len(compute["forward"]), len(compute["backward"]), len(compute["optimizer.step"])) == (400, 200, 200)
    assert arguments(compute["optimizer.step"], "optimizer") == [("SGD",)] * 200
    saves = events(done, "CHECKPOINT")["torch.save"]
    model = tmp_path / "data" / "model.pt"
    assert arguments(saves, "path", "bytes") == [(str(model), model.stat().st_size)] * 2
    check_workers(done)
    check_page(done)


def check_workers(done: Done) -> None:
    """Each worker has its role, its items, and the reads of their files."""
    answer = json.loads(merge("summary", "--json", "--by", "role,name", done.traces).out)
    items = {g["role"]: g["count"] for g in answer["groups"] if g["name"] == "getitem"}
    assert items == {f"DataLoader worker {i}/4": 1000 for i in range(4)}
    reads = ("summary", "--json", "--by", "role", "--name", "read", "--file", "*/item_*.bin", done.traces)
    answer = json.loads(merge(*reads).out)
    assert {g["role"]: g["bytes"] for g in answer["groups"]} == {role: 1000 * 1024 for role in items}


def check_page(done: Done) -> None:
    """Findings say who waits, for which worker, and why; so does what the launcher prints."""
    answer = json.loads(merge("findings", "--json", done.traces).out)
    found = {f["code"]: f for f in answer["findings"]}
    slow = found["slow-worker"]
    assert slow["evidence"].startswith("DataLoader worker 3/4 (2 processes): ")
    assert "its self time, not I/O" in slow["evidence"] and "over 1,000 items" in slow["evidence"]
    waits = found["trainer-waits"]
    for text in ('in "wait for data"', "of 200 steps wait longer than they compute", "Not the file system",
                 "of the I/O is hidden behind compute"):
        assert text in waits["evidence"], waits
    for text in ("the trainer waits", "one loader worker is slow", "DataLoader worker 3/4", "epoch", "step"):
        assert text in done.err, done.err
    epochs = json.loads(merge("overlap", "--json", "--by", "epoch", done.traces).out)["epochs"]
    assert [(e["number"], e["data_ns"] > 0, e["compute_ns"] > 0) for e in epochs] == [(0, True, True), (1, True, True)]


# --- loaders of every kind ------------------------------------------------------------------------


def test_without_workers(tmp_path: pathlib.Path) -> None:
    """The trainer loads itself. What a dataset does with modules is not computing."""
    done = traced("""
for batch in DataLoader(Numbers(), batch_size=4):
    torch.nn.Linear(4, 1)(batch)
""", tmp_path)
    found = events(done)
    assert arguments(found["step"], "epoch", "step") == [(0, 0), (0, 1), (0, 2)]
    assert [event["args"]["index"] for event in found["getitem"]] == list(range(12))
    assert len(found["fetch"]) == 3
    assert len(events(done, "COMPUTE")["forward"]) == 3


def test_single_items_and_batches_at_once(tmp_path: pathlib.Path) -> None:
    done = traced("""
class AtOnce(Numbers):
    def __getitems__(self, indices):
        return [torch.tensor(float(i)) for i in indices]
assert [float(x) for x in DataLoader(Numbers(3), batch_size=None)] == [0, 1, 2]
assert [x.tolist() for x in DataLoader(AtOnce(4), batch_size=2)] == [[0, 1], [2, 3]]
""", tmp_path)
    found = events(done)
    assert [event["args"] for event in found["getitem"]] == [{"index": 0}, {"index": 1}, {"index": 2}]
    assert [event["args"] for event in found["getitems"]] == [{"items": 2}, {"items": 2}]
    assert arguments(found["epoch"], "epoch", "batches") == [(0, 3), (0, 2)]


def test_workers_that_persist_and_iterables(tmp_path: pathlib.Path) -> None:
    done = traced("""
class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(get_worker_info().id, 20, 2))
loader = DataLoader(Stream(), batch_size=5, num_workers=2, persistent_workers=True)
for epoch in range(3):
    assert sorted(x for batch in loader for x in batch.tolist()) == list(range(20))
""", tmp_path)
    found = events(done)
    assert arguments(found["epoch"], "epoch", "batches") == [(0, 4), (1, 4), (2, 4)]
    items = [event for event in found["getitem"]]
    assert len({event["pid"] for event in items}) == 2
    assert len(items) == 3 * (20 + 2)  # each worker is asked once more


def test_a_loop_that_is_left_and_a_loader_within_another(tmp_path: pathlib.Path) -> None:
    done = traced("""
first, second = DataLoader(Numbers(), batch_size=2), DataLoader(Numbers(4), batch_size=4)
for i, batch in enumerate(first):
    for inner in second:
        pass
    if i == 1:
        break
next(iter(first))
with dftrace.region("mine"):
    kept = iter(first)
    next(kept)
next(kept)
del kept
""", tmp_path)
    found = events(done)
    epochs = sorted(arguments(found["epoch"], "epoch", "batches"))
    assert epochs == [(0, 1), (0, 2), (1, 1), (1, 1), (2, 2)]
    notes = merge("summary", done.traces)
    assert "region" not in notes.err and "end" not in notes.err, notes.err


def test_errors_pass_unchanged(tmp_path: pathlib.Path) -> None:
    traced("""
for workers in (0, 2):
    loader = DataLoader(Numbers(100), batch_size=10, num_workers=workers)
    try:
        for batch in loader:
            pass
    except KeyError as error:
        assert "number 99" in str(error), error
    else:
        sys.exit(1)
class Fails(IterableDataset):
    def __iter__(self):
        yield 1
        raise RuntimeError("in the stream")
try:
    list(DataLoader(Fails(), batch_size=None))
except RuntimeError as error:
    assert error.args == ("in the stream",)
else:
    sys.exit(1)
""", tmp_path)


def test_what_is_pickled_is_as_without(tmp_path: pathlib.Path) -> None:
    program = """
import pickle, hashlib
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.arange(6)), batch_size=2)
list(loader)
loader.generator = None
copied = pickle.loads(pickle.dumps(loader))
assert [len(batch) for batch in copied] == [1, 1, 1]
print(sorted(vars(copied)), sorted(vars(copied.dataset)))
print(torch.save, torch.load.__module__, torch.nn.Module.__call__.__qualname__)
"""
    with_us = traced(program, tmp_path)
    without = python("import torch" + program, tmp_path, plain=True)
    assert with_us.out.splitlines()[0] == without.out.splitlines()[0]


# --- what computes, ranges, checkpoints -----------------------------------------------------------


def test_ranges_and_what_computes(tmp_path: pathlib.Path) -> None:
    done = traced("""
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    def forward(self, x):
        with torch.profiler.record_function("mine"):
            return self.inner(x)
model = Model()
loss = model(torch.ones(1, 2)).sum()
loss.backward()
torch.optim.Adam(model.parameters()).step()
class Scripted(torch.nn.Module):
    def forward(self, x):
        with torch.autograd.profiler.record_function("scripted"):
            return x * 2
assert torch.jit.script(Scripted())(torch.ones(1)) == 2
assert torch.jit.trace(Scripted(), torch.ones(1))(torch.ones(1)) == 2
try:
    model("wrong")
except TypeError:
    pass
model(torch.ones(1, 2))
""", tmp_path)
    compute = events(done, "COMPUTE")
    forward = [event["args"]["module"] for event in compute["forward"]]
    assert forward.count("Model") == 3
    assert len(compute["backward"]) == 1
    assert arguments(compute["optimizer.step"], "optimizer") == [("Adam",)]
    assert len(events(done)["mine"]) == 3


def test_checkpoints(tmp_path: pathlib.Path) -> None:
    done = traced("""
import io, pathlib
torch.save({"a": torch.zeros(1000)}, "a.pt")
assert len(torch.load(pathlib.Path("a.pt"))["a"]) == 1000
with open("a.pt", "rb") as file:
    torch.load(file)
torch.save(1, io.BytesIO())
try:
    torch.load("none.pt")
except FileNotFoundError:
    pass
else:
    sys.exit(1)
""", tmp_path)
    size = (tmp_path / "a.pt").stat().st_size
    found = events(done, "CHECKPOINT")
    assert [event.get("args", {}) for event in found["torch.save"]] == [{"path": "a.pt", "bytes": size}, {}]
    loads = [event["args"] for event in found["torch.load"]]
    assert loads == [{"path": "a.pt", "bytes": size}] * 2 + [{"path": "none.pt"}]


def test_pinned_memory(tmp_path: pathlib.Path) -> None:
    done = traced("""
from torch.utils.data._utils.pin_memory import pin_memory
class Batch:
    def pin_memory(self):
        return "pinned"
assert pin_memory({"a": [Batch(), Batch()], "b": Batch()}) == {"a": ["pinned", "pinned"], "b": "pinned"}
""", tmp_path)
    assert len(events(done)["pin memory"]) == 1


# --- a good guest ---------------------------------------------------------------------------------


def test_what_is_compiled_sees_nothing_of_us(tmp_path: pathlib.Path) -> None:
    """torch.compile's question, as torch 2 has it; this torch may have none."""
    done = python("""
import types
import torch
class Compiler(types.SimpleNamespace):
    pass
compiling = True
torch.compiler = Compiler(is_compiling=lambda: compiling)
import dftrace.integrations.torch as integration
assert integration.install() == []
module = torch.nn.Linear(1, 1)
module(torch.zeros(1))
compiling = False
module(torch.zeros(1))
""", tmp_path)
    assert len(events(done, "COMPUTE")["forward"]) == 1


def test_a_version_that_lacks_something(tmp_path: pathlib.Path) -> None:
    done = python("""
import torch
from torch.utils.data import DataLoader, dataloader
create = dataloader._DatasetKind.create_fetcher
del torch.autograd.grad, dataloader._utils.pin_memory._pin_memory_loop
import dftrace.integrations.torch as integration
assert integration.install() == ["_pin_memory_loop", "autograd.grad"], integration.install()
list(DataLoader(range(4)))
""", tmp_path)
    assert len(events(done)["getitem"]) == 4
    notes = [e["args"] for e in done.events() if "not traced in torch" in json.dumps(e)]
    assert any("autograd.grad" in json.dumps(note) for note in notes)


def test_nothing_is_hooked_when_tracing_is_off(tmp_path: pathlib.Path) -> None:
    python("""
import torch, torch.utils.data.dataloader as loader
hooked = (torch.nn.Module, loader.DataLoader, loader._BaseDataLoaderIter, loader._DatasetKind)
before = [dict(vars(one)) for one in hooked]
save = torch.save
import dftrace.integrations.torch as integration
assert integration.install() == [] and torch.save is save
assert before == [dict(vars(one)) for one in hooked]
""", tmp_path, plain=True)
