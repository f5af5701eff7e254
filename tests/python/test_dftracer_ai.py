# SPDX-License-Identifier: MIT
"""DFTracer's tree of what training does: a training with every node, as DFTracer's own example has it."""

from __future__ import annotations

import pathlib

import pytest
from traced import python

TRAINING = """
    import argparse, os, pathlib
    from dftracer.logger import dftracer, ai

    parser = argparse.ArgumentParser()
    parser.add_argument("--off", default=None)
    parser.add_argument("--metadata", action="store_true")
    options = parser.parse_args()
    FILES, EPOCHS = 2, 3
    data = pathlib.Path("data")
    data.mkdir(exist_ok=True)

    class Files:
        @ai.data.item
        def read(self, path): return path.read_bytes()

    @ai.dataloader.fetch
    def read_data(files):
        for number in range(FILES):
            yield files.read(data / f"{number}.npy")

    @ai.data.preprocess.derive(name="collate")
    def collate(batch): return batch
    @ai.device.transfer
    def transfer(batch): return batch
    @ai.compute.forward
    def forward(batch): return 0.0
    @ai.compute.backward
    def backward():
        with ai.comm.all_reduce(enable=False):
            pass
    @ai.compute
    def compute(batch):
        loss = forward(batch)
        backward()
        return loss

    class Checkpoint:
        @ai.checkpoint.init
        def __init__(self): pass
        @ai.checkpoint.capture
        def capture(self, state): return state
        @ai.checkpoint.restart
        def restart(self, state): return state

    def epoch(number, files):
        for step, batch in ai.dataloader.fetch.iter(enumerate(read_data(files))):
            ai.compute.step.start()
            assert compute(transfer(collate(batch))) == 0.0
            ai.compute.step.stop()
            ai.update(step=step, epoch=number)

    @ai.pipeline.train
    def train():
        files = Files()
        for number in range(FILES):
            (data / f"{number}.npy").write_bytes(b"x" * 1000)
        checkpoint = Checkpoint()
        assert checkpoint.restart(1) == 1
        if options.metadata:
            for number in range(EPOCHS):
                ai.pipeline.epoch.start(metadata=True)
                epoch(number, files)
                ai.pipeline.epoch.stop(metadata=True)
        else:
            for number in ai.pipeline.epoch.iter(range(EPOCHS)):
                epoch(number, files)
        assert checkpoint.capture(2) == 2

    if options.off == "all":
        ai.disable()
    elif options.off:
        getattr(ai, options.off).disable()
    log = dftracer.initialize_log(logfile=None, data_dir=None, process_id=-1)
    train()
    log.finalize()
"""
EXPECTED = {
    ("pipeline", "train"): 1, ("pipeline", "epoch.iter"): 3, ("pipeline", "epoch.block"): 3,
    ("dataloader", "fetch"): 3, ("dataloader", "fetch.iter"): 6, ("dataloader", "fetch.block"): 6, ("data", "item"): 6,
    ("data", "preprocess.collate"): 6, ("device", "transfer"): 6, ("compute", "compute"): 6, ("compute", "forward"): 6,
    ("compute", "backward"): 6, ("compute", "step"): 6, ("checkpoint", "checkpoint.init"): 1,
    ("checkpoint", "capture"): 1, ("checkpoint", "restart"): 1}


def test_training(tmp_path: pathlib.Path) -> None:
    done = python(TRAINING, tmp_path)
    assert done.counted() == EXPECTED
    events = done.own()
    assert [e["args"]["count"] for e in events if e["name"] == "epoch.block"] == [1, 2, 3]
    last = [e for e in events if e["name"] == "forward"][-1]
    assert last["args"] == {"step": 0, "epoch": 2} and last["region"] == "compute"
    # A line and a name for I/O: the item's read lies in the item.
    reads = [e for e in done.events() if e["name"] == "read" and e.get("file", "").endswith(".npy") and e["ret"]]
    assert len(reads) == 6 and {e["region"] for e in reads} == {"item"}


@pytest.mark.parametrize("off", ["all", "dataloader", "device", "compute", "checkpoint"])
def test_training_with_a_part_off(tmp_path: pathlib.Path, off: str) -> None:
    done = python(TRAINING, tmp_path, "--off", off)
    assert done.counted() == {key: n for key, n in EXPECTED.items() if off != "all" and key[0] != off}


def test_training_with_epochs_as_metadata(tmp_path: pathlib.Path) -> None:
    done = python(TRAINING, tmp_path, "--metadata")
    assert done.counted() == {key: n for key, n in EXPECTED.items() if not key[1].startswith("epoch.")}
    marks = [event for event in done.events() if event["name"] in ("epoch.start", "epoch.end")]
    assert [event["name"] for event in marks] == ["epoch.start", "epoch.end"] * 3
    assert all(abs(int(event["args"]["value"]) * 1000 - event["ts"]) < 1_000_000_000 for event in marks)


def test_each_node_of_ai(tmp_path: pathlib.Path) -> None:
    done = python("""
        from dftracer.python import ai, comm, ProfileCategory, CommunicationEvent
        nodes = {"compute": "forward backward step", "data": "preprocess item", "dataloader": "fetch",
                 "comm": "send receive barrier bcast reduce all_reduce gather all_gather scatter reduce_scatter "
                         "all_to_all",
                 "device": "transfer", "checkpoint": "capture restart", "pipeline": "epoch train evaluate test"}
        assert comm is ai.comm and ai.comm.cat == "comm" and ai.comm.send.name == CommunicationEvent.SEND == "send"
        assert str(ProfileCategory.COMM) == "comm"
        for category, names in nodes.items():
            node = getattr(ai, category)
            for each in [node, *(getattr(node, name) for name in names.split())]:
                with each: pass
                with each(step=1) as more: more.update(args={"k": 1})
                assert each(lambda x: x)(3) == each(epoch=1)(lambda x: x)(3) == each.init(lambda x: x)(3) == 3
                assert list(each.iter([1], include_iter=False)) == [1]
                each.start(); each.stop()
        with ai.data.io.read: pass
        with ai.other.log: pass
        assert ai.compute.forward.derive("x") is ai.compute.forward.derive("x")
        ai.compute.disable()
        with ai.compute.forward: pass
        with ai.compute(enable=True): pass
        ai.compute.enable()
        with ai.compute.forward.derive("x"):
            ai.disable()
        try:
            ai.nothing
        except AttributeError:
            pass
        else:
            raise AssertionError
    """, tmp_path)
    counts = done.counted()
    assert counts["comm", "barrier"] == 5 and counts["comm", "barrier.init"] == 1
    assert counts["comm", "comm.block"] == 1 and ("comm", "comm.iter") not in counts
    assert counts["compute", "compute"] == 6 and counts["compute", "forward"] == 5
    assert counts["compute", "forward.x"] == 1 and counts["data", "data.io.read"] == 1
    assert counts["other", "other.log"] == 1 and len(counts) == 3 * (7 + 24) + 3
