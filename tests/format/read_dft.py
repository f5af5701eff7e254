#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An independent reader of .dft files, written from format/format.h alone: prints all blocks as JSON.

    read_dft.py FILE

It shares no code with the library, so that an error in the specification, the writer or the reader shows as a difference. It is
made to be plain, not fast. Names that are not UTF-8 keep their bytes as surrogates (surrogateescape)."""
import json
import struct
import sys
import zlib

MAGIC = b"DfBlk\r\x1a\n"
HEADER = struct.Struct("<QHBBIIIIIIIQQQQQII")
FIELDS = ("magic type version flags header_crc payload_crc count stored raw tail stream key first last start end tid "
          "part").split()
TYPES = {1: "PROCESS", 2: "CLOCK", 3: "NAMES", 4: "EVENTS", 5: "BUCKETS", 6: "COUNTERS", 7: "STACKS", 8: "END",
         9: "INDEX", 11: "UNFINISHED", 12: "GROUP"}
M64 = (1 << 64) - 1
RAW_MAX, COUNT_MAX, TEXT_MAX = 16 << 20, 65536, 65535
LEB, SPLIT, BYTES, SCALED, CODED, REPEATED = 0, 1, 2, 3, 4, 5

# ops.def: bytes moved. Those not here move nothing.
BYTES_RESULT = {3, 4, 5, 6, 24, 25}
BYTES_ITEMS = {22, 23}
OPENS = {1, 20}  # OPEN, FOPEN: the result is a descriptor
# ops.def: the class of a call on a file without a class of its own. Those not here are META.
READ, WRITE, SYNC, META, WAIT = 1, 2, 3, 4, 5
OP_IO = {**dict.fromkeys((3, 5, 22, 24), READ), **dict.fromkeys((4, 6, 23, 25, 28), WRITE), 9: SYNC,
         **dict.fromkeys((30, 33, 34, 44, 45), WAIT), **dict.fromkeys((29, 31, 32, 40, 41, 42, 43, 46), 0)}

EVENTS = {3: "SHAPES", 4: "SHAPE", 5: "GAP", 6: "DURATION", 7: "FILE", 8: "SIZE", 9: "UNIT", 10: "CALLS_RUN",
          11: "RESULT", 12: "ERRNO", 13: "OFFSET", 14: "FD", 15: "FLAGS", 16: "MODE", 17: "REGION", 18: "DEPTH",
          19: "FILE2", 20: "STACK", 21: "ID", 22: "ARG_EVENT", 23: "ARG_KEY", 24: "ARG_TYPE", 25: "ARG_VALUE",
          26: "NUMBER"}
BUCKETS = {3: "INTERVAL_NS", 4: "KIND", 5: "INTERVAL", 6: "REGION", 7: "SUBJECT", 8: "CLASS", 9: "COUNT", 10: "SAMPLES",
           11: "ERRORS", 12: "DUR_MIN", 13: "DUR_MAX", 14: "DUR_SUM", 15: "EDGE", 16: "STEP", 17: "DATA",
           18: "SIZE_MIN", 19: "SIZE_MAX", 20: "BYTES", 21: "OFFSET_MIN", 22: "OFFSET_MAX", 23: "FIRST", 24: "LAST",
           25: "SEQUENTIAL", 26: "CONSECUTIVE", 27: "BINS", 28: "ASKED", 29: "TURNS", 30: "OCCUPANCY",
           31: "SIZE_CLASS", 32: "ACCESS", 33: "ERRNO", 34: "IO", 35: "ASKED_BINS", 36: "TOUCHED", 37: "STRIDES"}
METRICS = ("COUNT SAMPLES ERRORS DUR_MIN DUR_MAX DUR_SUM EDGE STEP DATA SIZE_MIN SIZE_MAX BYTES OFFSET_MIN OFFSET_MAX FIRST "
           "LAST SEQUENTIAL CONSECUTIVE ASKED TURNS").split()
PROCESS = {3: "PID", 4: "PPID", 5: "PARENT_KEY", 6: "RANK", 7: "LOCAL_RANK", 8: "WORLD_SIZE", 9: "START_NS",
           10: "CLOCK_OFFSET", 11: "HOST", 12: "JOB_ID", 13: "EXE", 14: "COMMAND", 15: "CWD", 16: "VERSION",
           17: "OPTIONS", 18: "LIVE_PATH", 19: "NOTES", 20: "BOOT_ID", 21: "PID_NAMESPACE", 22: "RUN_ID", 23: "ROLE",
           24: "MOUNTS", 25: "KEPT"}
END = {3: "EVENTS", 4: "DROPPED", 5: "OVERHEAD_NS", 6: "HOW", 7: "STATUS", 8: "TIME_NS", 9: "MISUSE",
       10: "UNMET", 11: "OUTSIDE", 12: "PAUSES", 13: "PAUSED_NS"}
GROUP = {3: "PART", 4: "GROUPS", 5: "NAME", 6: "RULES", 7: "EVENTS"}
CLOCK = {3: "SAMPLES"}
COUNTERS = {3: "SERIES", 4: "TIME", 5: "MEMBERS", 6: "VALUE"}
KNOWN = {"PROCESS": PROCESS, "CLOCK": CLOCK, "NAMES": {}, "EVENTS": EVENTS, "BUCKETS": BUCKETS, "END": END,
         "GROUP": GROUP, "COUNTERS": COUNTERS}
ALL_BYTES = {"NAMES", "SERIES", "CALLS", "SHAPES", "STACK", "ARG_VALUE", "BINS", "OCCUPANCY", "ASKED_BINS", "TOUCHED", "STRIDES", "HOST", "JOB_ID", "EXE", "COMMAND", "CWD",
             "VERSION", "OPTIONS", "LIVE_PATH", "NOTES", "BOOT_ID", "RUN_ID", "ROLE", "MOUNTS", "KEPT", "DROPPED",
             "MISUSE", "UNMET", "NAME", "RULES"}
PAIRS = {"DROPPED", "MISUSE", "KEPT"}


class Unreadable(Exception):
    """A block that breaks the format."""


def need(condition, what):
    if not condition:
        raise Unreadable(what)


def crc32c_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC_TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def murmur64a(data, seed=0):
    m = 0xC6A4A7935BD1E995
    h = seed ^ (len(data) * m & M64)
    whole = len(data) & ~7
    for at in range(0, whole, 8):
        k = int.from_bytes(data[at:at + 8], "little") * m & M64
        k ^= k >> 47
        h = (h ^ (k * m & M64)) * m & M64
    if len(data) > whole:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & M64
    h ^= h >> 47
    h = h * m & M64
    return h ^ (h >> 47)


def name_id(text):
    return murmur64a(text) or 1


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def unzigzag(value):
    return signed((value >> 1) ^ (M64 if value & 1 else 0))


class Bytes:
    """A column, read from its beginning. An absent one is full of zeros."""

    def __init__(self, data=None, encoding=LEB, name=""):
        self.data, self.at, self.encoding, self.name, self.unit, self.codes = data, 0, encoding, name, 0, None

    def left(self):
        return len(self.data) - self.at if self.data is not None else 0

    def take(self, count):
        if self.data is None:
            return bytes(count)
        need(count <= self.left(), f"column {self.name} ends early")
        self.at += count
        return self.data[self.at - count:self.at]

    def leb(self):
        if self.data is None:
            return 0
        value = 0
        for i in range(10):
            byte = self.take(1)[0]
            value |= (byte & 127) << (7 * i)
            if byte < 128:
                need(value <= M64, f"column {self.name}: number over 64 bits")
                return value
        raise Unreadable(f"column {self.name}: number over ten bytes")

    def zigzag(self):
        return unzigzag(self.leb())

    def word(self):
        return int.from_bytes(self.take(8), "little")


def columns_of(kind, raw):
    known = {1: "NAMES", 2: "CALLS", 50: "CLASSES"} if kind in ("EVENTS", "BUCKETS") else {1: "NAMES"} if kind in ("NAMES", "COUNTERS") else {}
    known = {**known, **KNOWN[kind]}
    found = {}
    source = Bytes(raw, name="list")
    while source.left():
        number, encoding, length = source.leb(), source.leb(), source.leb()
        data = source.take(length)
        name = known.get(number)
        if name is None:
            continue
        need(name not in found, f"column {name} appears twice")
        is_bytes = name in ALL_BYTES or kind == "CLOCK"
        allowed = {BYTES} if is_bytes else {LEB, SPLIT, SCALED, CODED} if name in ("GAP", "DURATION") else {LEB}
        allowed = {LEB, REPEATED} if name == "SHAPE" else allowed
        need(encoding in allowed, f"column {name} has an unknown encoding")
        found[name] = Bytes(data, encoding, name)
    return {name: found.get(name, Bytes(name=name)) for name in known.values()}


def read_names(column):
    names, previous, other, total = [], b"", b"", 0
    while column.left():
        head = column.leb()
        kind, shared = head & 3, head >> 2
        need(kind or not shared, "column NAMES: kind")
        if kind == 0:
            names.append({"id": column.word()})
            continue
        number = column.word() if kind == 2 else None
        length = column.leb()
        earlier = other if kind == 3 else previous
        need(shared <= len(earlier) and shared + length <= TEXT_MAX, "column NAMES: length")
        previous, other = earlier[:shared] + column.take(length), previous
        total += len(previous)
        need(total <= 32 << 20, "too much text")
        name = {"id": name_id(previous) if kind != 2 else number, "text": previous}
        if kind == 2:
            name["cut"] = True
        names.append(name)
    need(len(names) <= COUNT_MAX, "too many names")
    return names


def read_calls(columns, names):
    column, classes, calls = columns["CALLS"], columns["CLASSES"], []
    while column.left():
        op, length, own = column.leb(), column.leb(), classes.leb()
        need(own <= 7, "column CLASSES")
        need(op < 256 and length <= TEXT_MAX, "column CALLS")
        if length:
            text = column.take(length)
            calls.append({"op": op, "id": name_id(text), "text": text})
        else:
            position = column.leb()
            need(position < len(names), "column CALLS: position")
            calls.append({"op": op, **names[position]})
        calls[-1]["io"] = own - 1 if own else OP_IO.get(op, META)
    need(len(calls) <= COUNT_MAX, "too many calls")
    return calls


class Bits:
    def __init__(self, data):
        self.value, self.left = int.from_bytes(data, "little"), 8 * len(data)

    def take(self, count):
        need(count <= self.left, "the bit string ends early")
        bits = self.value & ((1 << count) - 1)
        self.value >>= count
        self.left -= count
        return bits


def read_code(column):
    """Section 5: the least value, and the symbols by length and code."""
    count = column.leb()
    if not count:
        return None
    first, least = column.leb(), column.leb()
    need(count + first <= 48, f"column {column.name}: symbols")
    if count == 1:
        return least, {(0, 0): first}
    packed = column.take((count + 1) // 2)
    lengths = [packed[i // 2] >> 4 * (i % 2) & 15 for i in range(count)]
    need(max(lengths) <= 8 and sum(256 >> length for length in lengths if length) == 256,
         f"column {column.name}: lengths")
    code, before, symbols = -1, 0, {}
    for length, symbol in sorted((length, first + i) for i, length in enumerate(lengths) if length):
        code, before = code + 1 << length - before, length
        symbols[length, code] = symbol
    return least, symbols


def read_codes(column):
    """The codes of a coded column by shape; None: of the other shapes."""
    codes, shape = {None: read_code(column)}, 0
    while column.left():
        shape += column.leb()
        need(shape < 256, f"column {column.name}: shape")
        codes[shape] = read_code(column)
        shape += 1
    return codes


def read_coded(column, bits, shape):
    if column.codes is None:
        column.codes = read_codes(column)
    found = column.codes.get(shape, column.codes[None])
    need(found, f"column {column.name}: the code is empty")
    least, symbols = found
    length = code = 0
    while (length, code) not in symbols:
        length, code = length + 1, code << 1 | bits.take(1)
    symbol = symbols[length, code]
    return least + (1 << symbol) - 1 + bits.take(symbol) & M64


def read_time(column, bits, shape):
    if column.data is None or column.encoding == LEB:
        return column.leb()
    if column.encoding == CODED:
        return read_coded(column, bits, shape)
    if column.encoding == SCALED:
        if not column.unit:
            column.unit = column.leb()
            need(column.unit, f"column {column.name}: unit")
        return column.leb() * column.unit & M64
    symbol = column.take(1)[0]
    need(symbol <= 251, f"column {column.name}: symbol")
    if symbol < 8:
        return symbol
    low = symbol // 4 - 1
    return (4 + symbol % 4) << low | bits.take(low)


class CallState:
    def __init__(self):
        self.size = self.flags = self.mode = self.errno = 0
        self.unit = self.calls = 1
        self.without_fd = False


class FileState:
    def __init__(self):
        self.fd, self.end = -1, 0


def repeated(column, count):
    period = column.leb()
    values = list(column.take(column.left()))
    need(0 < period <= len(values) <= count and max(values) < 128, "column SHAPE: repeated")
    while len(values) < count:
        values.append(values[-period])
    return Bytes(bytes(values), LEB, column.name)


class EventsReader:
    """Section 7."""

    def __init__(self, header, raw, tail):
        self.columns = columns_of("EVENTS", raw)
        self.bits = Bits(tail)
        if self.columns["SHAPE"].encoding == REPEATED:
            self.columns["SHAPE"] = repeated(self.columns["SHAPE"], header["count"])
        self.names = read_names(self.columns["NAMES"])
        self.calls = read_calls(self.columns, self.names)
        self.shapes = self.read_shapes()
        self.call_states = [CallState() for _ in self.calls]
        self.file_states = [FileState() for _ in self.names]
        self.fd, self.region, self.depth, self.recent, self.next = -1, 0, 0, [], 0
        self.events = []
        self.end = header["start"]
        number = header["first"]
        for _ in range(header["count"]):
            self.events.append(self.read_event())
            number += self.columns["NUMBER"].leb()
            need(header["first"] > header["last"] or number <= header["last"], "number")
            if header["part"]:
                self.events[-1]["number"] = number
            number += 1
        self.read_args()

    def read_shapes(self):
        column = self.columns["SHAPES"]
        shapes = [(column.leb(), column.leb()) for _ in range(column.leb())]
        for call, flags in shapes:
            need(call < len(self.calls), "shape: call")
            need(flags < 1 << 32 and flags >> 10 & 7 < 7 and flags >> 3 & 3 < 3 and flags >> 8 & 3 < 3
                 and flags >> 18 & 15 < 11 and (not flags >> 30 & 1 or flags >> 1 & 3 == 3), "shape: flags")
        return shapes

    def use(self, position):
        need(position < len(self.names), "position")
        self.next = max(self.next, position + 1)
        return position

    def read_file(self, code):
        if code == 6:
            return None
        if code < 4:
            need(code < len(self.recent), "recent file")
            position = self.recent.pop(code)
        else:
            position = self.use(self.next if code == 4 else self.columns["FILE"].leb())
        self.recent = ([position] + self.recent)[:4]
        return position

    def read_event(self):
        columns = self.columns
        index = columns["SHAPE"].leb()
        need(index < len(self.shapes), "shape")
        position, flags = self.shapes[index]
        call, state = self.calls[position], self.call_states[position]
        gap, duration = (read_time(columns[name], self.bits, index) for name in ("GAP", "DURATION"))
        event = {"start_ns": (self.end + (-gap if flags >> 15 & 1 else gap)) & M64, "dur_ns": duration}
        self.end = (event["start_ns"] + duration) & M64
        event["call"] = call["id"]
        event["op"] = call["op"]
        event["io"] = call["io"]
        file = self.read_file(flags >> 10 & 7)
        event["file"] = self.names[file]["id"] if file is not None else 0
        file_state = self.file_states[file] if file is not None else FileState()
        if flags >> 13 & 1:
            region = columns["REGION"].leb()
            self.region = self.names[self.use(region - 1)]["id"] if region else 0
        event["region"] = self.region
        event["file2"] = self.names[self.use(columns["FILE2"].leb())]["id"] if flags >> 22 & 1 else 0
        self.read_result(event, state, flags)
        self.read_place(event, state, file_state, flags)
        state.flags = event["flags"] = columns["FLAGS"].leb() if flags >> 6 & 1 else state.flags
        state.mode = event["mode"] = columns["MODE"].leb() if flags >> 7 & 1 else state.mode
        self.depth = event["depth"] = columns["DEPTH"].leb() if flags >> 14 & 1 else self.depth
        event["stack"] = columns["STACK"].word() if flags >> 25 & 1 else 0
        event["id"] = columns["ID"].leb() if flags >> 26 & 1 else 0
        event["phase"] = flags >> 18 & 15
        event["bits"] = sum(bit for bit, flag in ((1, 16), (2, 17), (4, 27), (8, 28), (16, 29), (32, 31)) if flags >> flag & 1)
        return event

    def read_result(self, event, state, flags):
        columns = self.columns
        if flags & 1:
            state.size = (state.size + columns["SIZE"].zigzag()) & M64
        state.unit = columns["UNIT"].leb() if flags >> 23 & 1 else state.unit
        state.calls = columns["CALLS_RUN"].leb() if flags >> 24 & 1 else state.calls
        need(state.unit < 1 << 32 and state.calls < 1 << 32, "unit or calls over 32 bits")
        event.update(size=state.size, unit=state.unit, calls=state.calls)
        code = flags >> 1 & 3
        need(code or state.unit, "unit is 0")
        if code == 0:
            event["result"] = signed(state.size // state.unit)
        else:
            event["result"] = (0 if code == 1 else -1 if code == 2 else -1 << 63 if flags >> 30 & 1
                               else columns["RESULT"].zigzag())
        code = flags >> 8 & 3
        if code == 2:
            state.errno = columns["ERRNO"].leb()
        event["errno"] = state.errno if code else 0

    def read_place(self, event, state, file_state, flags):
        columns, op, result = self.columns, event["op"], event["result"]
        event["offset"] = -1
        if flags >> 3 & 3:
            offset = file_state.end + (columns["OFFSET"].zigzag() if flags >> 3 & 3 == 2 else 0)
            moved = result if op in BYTES_RESULT else result * event["unit"] if op in BYTES_ITEMS else 0
            file_state.end = (offset + max(moved, 0)) & M64
            event["offset"] = signed(offset & M64)
        if flags >> 5 & 1:
            fd = columns["FD"].zigzag()
        elif state.without_fd:
            fd = -1
        else:
            fd = file_state.fd if file_state.fd != -1 else self.fd
        event["fd"] = fd
        state.without_fd = fd == -1
        learnt = result if op in OPENS and 0 <= result < 1 << 31 else fd
        if learnt != -1:
            file_state.fd = self.fd = learnt

    def read_args(self):
        columns, index = self.columns, 0
        while columns["ARG_EVENT"].left():
            index += columns["ARG_EVENT"].leb()
            key, kind, column = columns["ARG_KEY"].leb(), columns["ARG_TYPE"].leb(), columns["ARG_VALUE"]
            need(index < len(self.events) and key < len(self.names) and kind < 3, "argument")
            if kind == 0:
                value = column.zigzag()
            elif kind == 1:
                value = struct.unpack("<d", column.take(8))[0]
            else:
                value = column.take(column.leb())
            self.events[index].setdefault("args", []).append([self.names[key]["id"], value])


def predict(name, row, first):
    """Section 8: what is expected of a column, from those before it."""
    empty_row, empty_data = row.get("SAMPLES") == 0, row.get("DATA") == 0
    if name == "SAMPLES":
        return row["COUNT"]
    if name == "DUR_MIN":
        return M64 if empty_row else 0
    if name == "DUR_MAX":
        return 0 if empty_row else row["DUR_MIN"]
    if name == "DUR_SUM":
        return row["SAMPLES"] * row["DUR_MIN"]
    if name == "EDGE":
        return row["DUR_SUM"]
    if name == "SIZE_MIN":
        return M64 if empty_data else 0
    if name == "SIZE_MAX":
        return 0 if empty_data else row["SIZE_MIN"]
    if name == "BYTES":
        return row["DATA"] * row["SIZE_MIN"]
    if name == "OFFSET_MIN":
        return (1 << 63) - 1 if empty_data else 0
    if name == "OFFSET_MAX":
        return M64 if row["OFFSET_MIN"] == (1 << 63) - 1 else row["OFFSET_MIN"] + row["BYTES"]
    if name == "FIRST":
        return M64 if empty_row else first
    if name == "LAST":
        return 0 if empty_row else row["FIRST"] + row["DUR_SUM"]
    if name == "SEQUENTIAL":
        return row["DATA"]
    if name == "CONSECUTIVE":
        return row["SEQUENTIAL"]
    if name == "ASKED":
        return row["BYTES"]
    return 0


def occupied(begin, end, width):
    """The 64ths of an interval from `begin` to `end` ns behind its start."""
    first, last = begin * 64 // width, (end - 1 if end > begin else begin) * 64 // width
    return sum(1 << bit for bit in range(first, last + 1))


def predict_occupancy(row, values, width):
    if not 0 < width <= 1 << 57:
        return 0
    width *= 64 if row["kind"] == 2 else 1
    start = row["interval"] * width & M64
    if values["SAMPLES"]:
        begin, end = values["FIRST"] - start & M64, values["LAST"] - start & M64
        if values["LAST"] < values["FIRST"] or end > width:
            end = width
        return occupied(begin, end, width) if begin < width else 0
    edge = values["EDGE"]
    return occupied(0, edge, width) if 0 < edge <= width else 0


def read_occupancy(column, row, values, width):
    head = column.leb()
    need(head <= 18, "occupancy")
    if head == 0:
        return 0
    if head == 18:
        return column.word()
    occupancy, place = predict_occupancy(row, values, width), 0
    for _ in range(head - 1):
        place += column.leb()
        need(place < 64, "occupancy")
        occupancy ^= M64 << place & M64
    return occupancy


def read_touched(column):
    """The shift, and the parts as one number."""
    shift = column.leb()
    need(shift <= 54, "touched: shift")
    if not shift:
        return None
    runs, parts, part = column.leb(), 0, 0
    need(runs <= 65, "touched: runs")
    if runs == 65:
        return {"shift": shift - 1, "parts": int.from_bytes(column.take(128), "little")}
    for _ in range(runs):
        part += column.leb()
        length = column.leb()
        need(length and part + length <= 1024, "touched: parts")
        parts |= (1 << length) - 1 << part
        part += length
    return {"shift": shift - 1, "parts": parts}


def read_strides(column):
    count = column.leb()
    need(count <= 2, "strides")
    return [[column.zigzag(), column.leb()] for _ in range(count)]


def read_histogram(column):
    bins, number = [], 0
    for i in range(column.leb()):
        distance = column.leb()
        number += distance
        need(number <= 1919 and (distance or not i), "bins")
        bins.append([number, column.leb()])
    return bins


def read_key(columns, row, call):
    """What tells rows of one call, or of one file, apart."""
    if row["kind"] == 2:
        row["class"], io = columns["CLASS"].leb(), columns["IO"].leb()
        need(io <= 7, "class")
        row["io"] = io - 1 if io else {0: 4, 1: 1, 2: 2}.get(row["class"], 0)
        return
    row["op"], row["io"] = call["op"], call["io"]
    row["size_class"], row["access"] = columns["SIZE_CLASS"].leb(), columns["ACCESS"].leb()
    row["errno"] = columns["ERRNO"].leb()
    need(row["size_class"] < 16 and row["access"] < 5 and row["errno"] < 65536, "facets")


def read_buckets(header, raw):
    columns = columns_of("BUCKETS", raw)
    names = read_names(columns["NAMES"])
    calls = read_calls(columns, names)
    rows, interval, first = [], 0, 0
    width = columns["INTERVAL_NS"].leb()
    for _ in range(header["count"]):
        kind = columns["KIND"].leb()
        need(kind < 3, "kind of row")
        interval = (interval + columns["INTERVAL"].zigzag()) & M64
        region, subject = columns["REGION"].leb(), columns["SUBJECT"].leb()
        need(region <= len(names) and subject < len(names if kind == 2 else calls), "row: position")
        row = {"kind": kind, "interval": interval, "region": names[region - 1]["id"] if region else 0,
               "subject": (names if kind == 2 else calls)[subject]["id"]}
        read_key(columns, row, calls[subject] if kind != 2 else None)
        if kind == 1:
            row["durations"], row["sizes"] = read_histogram(columns["BINS"]), read_histogram(columns["BINS"])
            differs = columns["ASKED_BINS"].leb()
            need(differs < 2, "bins asked for")
            row["asked"] = read_histogram(columns["ASKED_BINS"]) if differs else row["sizes"]
        else:
            values = {}
            for name in METRICS:
                values[name] = (predict(name, values, first) + columns[name].zigzag()) & M64
            values["OCCUPANCY"] = read_occupancy(columns["OCCUPANCY"], row, values, width)
            first = values["FIRST"] if values["SAMPLES"] else first
            for name in ("STEP", "OFFSET_MIN", "OFFSET_MAX"):
                values[name] = signed(values[name])
            row.update((name.lower(), value) for name, value in values.items())
        if kind == 2:
            row["touched"], row["strides"] = read_touched(columns["TOUCHED"]), read_strides(columns["STRIDES"])
        rows.append(row)
    return {"interval_ns": width, "rows": rows, "names": names, "calls": calls}


def read_moment(columns, nseries):
    """The positions of the counters of one moment."""
    count = columns["MEMBERS"].leb()
    need(count <= nseries and nseries, "moment")
    if not count:
        return list(range(nseries))
    positions, after = [], 0
    for _ in range(count):
        positions.append(after + columns["MEMBERS"].leb())
        after = positions[-1] + 1
    need(after <= nseries, "moment: position")
    return positions


def read_counters(header, raw):
    columns = columns_of("COUNTERS", raw)
    names = read_names(columns["NAMES"])
    series, samples, time = [], [], header["start"]
    while columns["SERIES"].left():
        position, traits = columns["SERIES"].leb(), columns["SERIES"].leb()
        need(position < len(names) and traits < 256, "series")
        series.append({"id": names[position]["id"], "unit": traits >> 2, "total": traits & 1, "real": traits >> 1 & 1})
    last = [0] * len(series)
    while len(samples) < header["count"]:
        time = (time + columns["TIME"].zigzag()) & M64
        samples += [[time, position] for position in read_moment(columns, len(series))]
    need(len(samples) == header["count"], "samples")
    for sample in samples:
        position, number = sample[1], columns["VALUE"].leb()
        if series[position]["real"]:
            last[position] ^= int.from_bytes(number.to_bytes(8, "big"), "little")
            sample.append(struct.unpack("<d", last[position].to_bytes(8, "little"))[0])
        else:
            last[position] = (last[position] + unzigzag(number)) & M64
            sample.append(signed(last[position]))
    return {"series": series, "samples": samples, "names": names}


def read_record(kind, raw):
    values = {}
    for name, column in columns_of(kind, raw).items():
        if name in ALL_BYTES and name not in PAIRS:
            values[name.lower()] = column.data or b""
        elif name in ("RANK", "LOCAL_RANK"):
            values[name.lower()] = column.leb() - 1
        elif name in ("CLOCK_OFFSET", "STATUS"):
            values[name.lower()] = column.zigzag()
        elif name in PAIRS:
            pairs = []
            while column.left():
                pairs.append([column.leb(), column.leb()])
            values[name.lower()] = pairs
        else:
            values[name.lower()] = column.leb()
    return values


def read_block(header, payload):
    tail = payload[len(payload) - header["tail"]:]
    raw = payload[:len(payload) - header["tail"]]
    if header["flags"] & 1:
        inflater = zlib.decompressobj(-15)
        try:
            raw = inflater.decompress(raw, header["raw"] + 1)
        except zlib.error as error:
            raise Unreadable(str(error)) from error
        need(inflater.eof, "the deflate stream ends early")
    need(len(raw) == header["raw"], "raw size differs")
    kind = TYPES[header["type"]]
    if kind == "EVENTS":
        reader = EventsReader(header, raw, tail)
        return {"events": reader.events, "names": reader.names, "calls": reader.calls}
    if kind == "BUCKETS":
        return read_buckets(header, raw)
    if kind == "COUNTERS":
        return read_counters(header, raw)
    if kind == "NAMES":
        return {"names": read_names(columns_of(kind, raw)["NAMES"])}
    if kind == "CLOCK":
        data = columns_of(kind, raw)["SAMPLES"].data or b""
        need(len(data) == 16 * header["count"], "samples")
        return {"samples": [list(pair) for pair in struct.iter_unpack("<QQ", data)]}
    return read_record(kind, raw)


def check_header(data, at):
    """The header at a magic, or None."""
    if len(data) - at < HEADER.size:
        return None
    header = dict(zip(FIELDS, HEADER.unpack_from(data, at)))
    bare = data[at:at + 12] + bytes(4) + data[at + 16:at + HEADER.size]
    if crc32c(bare) != header["header_crc"]:
        return None
    good = (header["version"] == 1 and header["flags"] < 2 and header["raw"] <= RAW_MAX
            and header["stored"] <= RAW_MAX + (64 << 10) and header["count"] <= COUNT_MAX
            and header["tail"] <= header["stored"]
            and (header["flags"] & 1 or header["stored"] - header["tail"] == header["raw"]))
    return header if good else None


def read_file(data):
    """All blocks of some bytes, and what was passed over."""
    blocks, at = [], 0
    skipped = {"damaged": 0, "unknown": 0, "unreadable": 0}
    while True:
        at = data.find(MAGIC, at)
        if at < 0:
            return {"blocks": blocks, "skipped": skipped}
        header = check_header(data, at)
        start = at + HEADER.size
        payload = data[start:start + header["stored"]] if header else b""
        if header and TYPES.get(header["type"]) == "UNFINISHED" and len(payload) == header["stored"]:
            skipped["unfinished"] = skipped.get("unfinished", 0) + 1
            at = start + header["stored"]
            continue
        if not header or len(payload) < header["stored"] or crc32c(payload) != header["payload_crc"]:
            skipped["damaged"] += 1
            at += 8
            continue
        at = start + header["stored"]
        if header["type"] not in TYPES or TYPES[header["type"]] not in KNOWN:
            skipped["unknown"] += 1
            continue
        block = {"type": TYPES[header["type"]]}
        block.update((name, header[name]) for name in "count stream key first last start end tid".split())
        if header["part"]:
            block["part"] = header["part"]
        try:
            block.update(read_block(header, payload))
            blocks.append(block)
        except Unreadable:
            skipped["unreadable"] += 1


def as_text(value):
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else repr(value)


def main():
    with open(sys.argv[1], "rb") as file:
        json.dump(read_file(file.read()), sys.stdout, default=as_text, indent=0, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
