#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A model that is trained on 2,000 small files, with 4 loader workers of which one is slow.

    python3 -m dftrace run --torch examples/torch_loader.py [--start fork|forkserver|spawn]

The program knows nothing of the tracer. It makes its files itself, below --data or in a temporary folder. The page says
that the trainer waits, for which worker, and how much of the loading the training hides."""
from __future__ import annotations

import argparse
import pathlib
import tempfile
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info

SIDE = 32  # of an item, which is a square of bytes


class Files(Dataset):
    """Items in files of their own. Decoding one takes `work` seconds, in the last worker `slow` seconds."""

    def __init__(self, folder: pathlib.Path, work: float, slow: float) -> None:
        self.paths = sorted(folder.glob("item_*.bin"))
        self.work = work
        self.slow = slow

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        data = bytearray(self.paths[index].read_bytes())
        worker = get_worker_info()
        is_slow = worker is not None and worker.id == worker.num_workers - 1
        end = time.thread_time() + (self.slow if is_slow else self.work)
        while time.thread_time() < end:
            pass
        return torch.frombuffer(data, dtype=torch.uint8).float() / 255, index % 10


def make_files(folder: pathlib.Path, count: int) -> None:
    """Writes count files, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        path = folder / f"item_{i:05}.bin"
        if not path.exists():
            path.write_bytes(bytes((i + k) % 256 for k in range(SIDE * SIDE)))


def train(arguments: argparse.Namespace, folder: pathlib.Path) -> None:
    """Trains for some epochs, and saves the model after each."""
    loader = DataLoader(
        Files(folder, arguments.work / 1000, arguments.slow / 1000),
        batch_size=arguments.batch,
        shuffle=True,
        num_workers=arguments.workers,
        multiprocessing_context=arguments.start if arguments.workers else None,
    )
    model = nn.Sequential(nn.Linear(SIDE * SIDE, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(arguments.epochs):
        loss = torch.zeros(())
        for items, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(items), labels)
            loss.backward()
            optimizer.step()
        torch.save(model.state_dict(), folder / "model.pt")
        print(f"epoch {epoch}: loss {loss.item():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="train on small files with a slow loader worker")
    parser.add_argument("--start", choices=("fork", "forkserver", "spawn"), default="fork", help="how workers start")
    parser.add_argument("--workers", type=int, default=4, help="loader workers")
    parser.add_argument("--files", type=int, default=2000, help="files, an item each")
    parser.add_argument("--batch", type=int, default=20, help="items in a batch")
    parser.add_argument("--epochs", type=int, default=2, help="times that all files are read")
    parser.add_argument("--work", type=float, default=0.5, help="milliseconds of computing that an item needs")
    parser.add_argument("--slow", type=float, default=5.0, help="the same in the last worker")
    parser.add_argument("--data", type=pathlib.Path, help="folder for the files (default: one that is removed again)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.data or pathlib.Path(temporary)
        make_files(folder, arguments.files)
        train(arguments, folder)


if __name__ == "__main__":
    main()
