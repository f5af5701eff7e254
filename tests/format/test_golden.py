#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The golden files: what the library wrote once is read by the independent reader as it was written down then, what it
writes now reads the same, and stored blocks are the same bytes.

    test_golden.py MAKE_GOLDEN [--update]"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import read_dft  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "golden")
WAYS = ("stored", "deflated")
# With encodings and columns of zeros that are not written any more. They lack the block of rows that have all columns.
OLD = ("split_stored", "split_deflated")
NEW_STREAM = 5
passed = failed = 0


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("FAILED:", what)


def read(path):
    result = subprocess.run([sys.executable, "-B", os.path.join(HERE, "read_dft.py"), path], stdout=subprocess.PIPE,
                            check=True)
    return result.stdout.decode("ascii")


def golden(name):
    return os.path.join(GOLDEN, name)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def check_hash():
    # The verification value that SMHasher publishes for MurmurHash64A: hashes of 0, 01, 012 ... with seeds 256, 255 ...
    hashes = b"".join(read_dft.murmur64a(bytes(range(i)), 256 - i).to_bytes(8, "little") for i in range(256))
    check(read_dft.murmur64a(hashes) & 0xFFFFFFFF == 0x1F0D3804, "MurmurHash64A is not what it should be")
    check(read_dft.crc32c(b"123456789") == 0xE3069283, "CRC32C is not what it should be")


EVENT = ("start_ns dur_ns call file file2 region size result offset stack id calls unit flags mode fd errno depth phase "
         "bits").split()
ROW = ("interval region subject count samples errors dur_sum dur_min dur_max edge data step bytes size_min size_max "
       "offset_min offset_max first last sequential consecutive asked turns occupancy io").split()


def check_list(path, expected):
    """What the reader read, against what the writer was given."""
    read_lines = []
    for block in expected["blocks"]:
        for event in block["events"] if block["type"] == "EVENTS" else ():
            read_lines.append(["event"] + [str(event[field]) for field in EVENT])
        for row in block.get("rows", ()):
            if row["kind"] != 1:
                read_lines.append(["row"] + [str(row[field]) for field in ROW])
    given = [line.split() for line in content(path).decode("ascii").splitlines()]
    check(len(given) > 100 and len(read_lines) == len(given), "numbers of events and rows differ")
    for number, (one, other) in enumerate(zip(given, read_lines)):
        check(one == other, f"line {number}: given {one}, read {other}")


def check_counters(make, folder, update):
    """Counters have files of their own."""
    made = os.path.join(folder, "counters")
    subprocess.run([make, "counters", made], check=True)
    if update:
        with open(golden("counters.dft"), "wb") as file:
            file.write(content(made))
        with open(golden("counters.json"), "w", encoding="ascii") as file:
            file.write(read(made))
    block = json.loads(content(golden("counters.json")))["blocks"][0]
    check(content(made) == content(golden("counters.dft")), "counters are not the same bytes: the format has changed")
    check(read(golden("counters.dft")) == content(golden("counters.json")).decode("ascii"),
          "counters.dft reads differently")
    check([sample[2] for sample in block["samples"]] ==
          [4096, 1 << 20, 0.5, 12288, -1e300, -1, (1 << 63) - 1, 0, 0.1], "values of counters differ")
    check(block["first"] == 7 and block["last"] == 15 and [one["total"] for one in block["series"]] == [1, 0, 0],
          "the head of counters differs")


def check_damage(expected):
    """The reader itself skips what is damaged: without that it would prove little."""
    data = bytearray(content(golden("deflated.dft")))
    second = data.find(read_dft.MAGIC, 8)
    data[second + 100] ^= 1
    found = read_dft.read_file(bytes(data))
    check(len(found["blocks"]) == len(expected["blocks"]) - 1 and found["skipped"]["damaged"] == 1,
          "a damaged block is not skipped")
    twice = read_dft.read_file(content(golden("stored.dft")) + b"\1" + content(golden("deflated.dft")))
    check(len(twice["blocks"]) == 2 * len(expected["blocks"]), "two files in a row are not read")


def main():
    make, update = sys.argv[1], "--update" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS + ("list",):
            subprocess.run([make, way, os.path.join(folder, way)], check=True)
            if update and way in WAYS:
                with open(golden(way + ".dft"), "wb") as file:
                    file.write(content(os.path.join(folder, way)))
        if update:
            with open(golden("golden.json"), "w", encoding="ascii") as file:
                file.write(read(golden("stored.dft")))
        expected = content(golden("golden.json")).decode("ascii")
        for way in WAYS:
            check(read(golden(way + ".dft")) == expected, f"{way}.dft reads differently")
            check(read(os.path.join(folder, way)) == expected, f"what is written now ({way}) reads differently")
        known = json.loads(expected)
        known["blocks"] = [block for block in known["blocks"] if block.get("stream") != NEW_STREAM]
        check(len(known["blocks"]) + 1 == len(json.loads(expected)["blocks"]), "the new rows are not there")
        for name in OLD:
            check(json.loads(read(golden(name + ".dft"))) == known, f"{name}.dft reads differently")
        check_counters(make, folder, update)
        check_list(os.path.join(folder, "list"), json.loads(expected))
        check(content(golden("stored.dft")) == content(os.path.join(folder, "stored")),
              "stored blocks are not the same bytes: the format has changed")
        check(content(golden("stored.dft")) != content(golden("deflated.dft")), "nothing was deflated")
    check_hash()
    check_damage(json.loads(expected))
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
