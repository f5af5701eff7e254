# SPDX-License-Identifier: MIT
"""The program of a newcomer in Python: three epochs over twenty files."""

import pathlib

data = pathlib.Path("data")
data.mkdir()
for number in range(20):
    (data / f"sample-{number}.bin").write_bytes(bytes(1000))
read = 0
for epoch in range(3):
    for number in range(20):
        with open(data / f"sample-{number}.bin", "rb", buffering=0) as sample:
            while piece := sample.read(100):
                read += len(piece)
print("read", read, "bytes")
