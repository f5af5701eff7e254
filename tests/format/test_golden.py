# SPDX-License-Identifier: MIT
"""The golden files: what the library wrote once is read by the independent reader as it was written down then, what it
writes now reads the same, and stored blocks are the same bytes.

    DFT_UPDATE=1     writes the golden files anew"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import read_dft

HERE = os.path.dirname(os.path.abspath(__file__))
MAKE = pathlib.Path(os.environ.get("DFT_BUILD", f"{HERE}/../../build")).resolve() / "bin" / "make_golden"
UPDATE = bool(os.environ.get("DFT_UPDATE"))
GOLDEN = os.path.join(HERE, "golden")
WAYS = ("stored", "deflated")
# With encodings and columns of zeros that are not written any more. They lack the block of rows that have all columns.
OLD = ("split_stored", "split_deflated")
NEW_STREAM = 5


def read(path):
    result = subprocess.run([sys.executable, "-B", os.path.join(HERE, "read_dft.py"), path], stdout=subprocess.PIPE,
                            check=True)
    return result.stdout.decode("ascii")


def golden(name):
    return os.path.join(GOLDEN, name)


def content(path):
    with open(path, "rb") as file:
        return file.read()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What the library writes now."""
    folder = tmp_path_factory.mktemp("golden")
    for way in (*WAYS, "list", "counters"):
        subprocess.run([MAKE, way, folder / way], check=True)
        if UPDATE and way != "list":
            pathlib.Path(golden(way + ".dft")).write_bytes(content(folder / way))
    if UPDATE:
        pathlib.Path(golden("golden.json")).write_text(read(golden("stored.dft")), encoding="ascii")
        pathlib.Path(golden("counters.json")).write_text(read(golden("counters.dft")), encoding="ascii")
    return folder


def written_down():
    return content(golden("golden.json")).decode("ascii")


@pytest.mark.parametrize("way", WAYS)
def test_reads_as_it_was_written_down(made, way):
    assert read(golden(way + ".dft")) == written_down(), f"{way}.dft reads differently"
    assert read(made / way) == written_down(), f"what is written now ({way}) reads differently"


@pytest.mark.parametrize("name", OLD)
def test_old_files_read_alike(name):
    known = json.loads(written_down())
    count = len(known["blocks"])
    known["blocks"] = [block for block in known["blocks"] if block.get("stream") != NEW_STREAM]
    assert len(known["blocks"]) + 1 == count, "the new rows are not there"
    assert json.loads(read(golden(name + ".dft"))) == known, f"{name}.dft reads differently"


def test_stored_blocks_are_the_same_bytes(made):
    assert content(golden("stored.dft")) == content(made / "stored"), "the format has changed"
    assert content(golden("stored.dft")) != content(golden("deflated.dft")), "nothing was deflated"


def test_hash():
    # The verification value that SMHasher publishes for MurmurHash64A: hashes of 0, 01, 012 ... with seeds 256, 255 ...
    hashes = b"".join(read_dft.murmur64a(bytes(range(i)), 256 - i).to_bytes(8, "little") for i in range(256))
    assert read_dft.murmur64a(hashes) & 0xFFFFFFFF == 0x1F0D3804, "MurmurHash64A is not what it should be"
    assert read_dft.crc32c(b"123456789") == 0xE3069283, "CRC32C is not what it should be"


EVENT = ("start_ns dur_ns call file file2 region size result offset stack id calls unit flags mode fd errno depth phase "
         "bits").split()
ROW = ("interval region subject count samples errors dur_sum dur_min dur_max edge data step bytes size_min size_max "
       "offset_min offset_max first last sequential consecutive asked turns occupancy io").split()


def test_list(made):
    """What the reader read, against what the writer was given."""
    read_lines = []
    for block in json.loads(written_down())["blocks"]:
        for event in block["events"] if block["type"] == "EVENTS" else ():
            read_lines.append(["event"] + [str(event[field]) for field in EVENT])
        for row in block.get("rows", ()):
            if row["kind"] != 1:
                read_lines.append(["row"] + [str(row[field]) for field in ROW])
    given = [line.split() for line in content(made / "list").decode("ascii").splitlines()]
    assert len(given) > 100 and len(read_lines) == len(given), "numbers of events and rows differ"
    for number, (one, other) in enumerate(zip(given, read_lines)):
        assert one == other, f"line {number}: given {one}, read {other}"


def test_counters(made):
    """Counters have files of their own."""
    block = json.loads(content(golden("counters.json")))["blocks"][0]
    assert content(made / "counters") == content(golden("counters.dft")), "counters are not the same bytes: the format has changed"
    assert read(golden("counters.dft")) == content(golden("counters.json")).decode("ascii"), "counters.dft reads differently"
    assert [sample[2] for sample in block["samples"]] == [4096, 1 << 20, 0.5, 12288, -1e300, -1, (1 << 63) - 1, 0, 0.1], "values of counters differ"
    assert block["first"] == 7 and block["last"] == 15 and [one["total"] for one in block["series"]] == [1, 0, 0], "the head of counters differs"


def test_damage():
    """The reader itself skips what is damaged: without that it would prove little."""
    expected = json.loads(written_down())
    data = bytearray(content(golden("deflated.dft")))
    second = data.find(read_dft.MAGIC, 8)
    data[second + 100] ^= 1
    found = read_dft.read_file(bytes(data))
    assert len(found["blocks"]) == len(expected["blocks"]) - 1 and found["skipped"]["damaged"] == 1, "a damaged block is not skipped"
    twice = read_dft.read_file(content(golden("stored.dft")) + b"\1" + content(golden("deflated.dft")))
    assert len(twice["blocks"]) == 2 * len(expected["blocks"]), "two files in a row are not read"
