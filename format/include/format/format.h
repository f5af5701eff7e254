/* SPDX-License-Identifier: MIT */
/* The trace file (.dft): its bytes. This file is the specification; a reader can be written from it
 * alone (with the numbers of ops.def).
 *
 * 1. FILE. A sequence of blocks in any order and number. `cat a.dft b.dft` is the valid trace of both. A block
 *    starts at a multiple of 8 bytes from the start of the block sequence it was written in; after cat, or damage, a
 *    reader looks for the magic at every byte. Holes (zeros) between blocks are legal. All integers are little-endian.
 *    Arithmetic on 64-bit values is modulo 2^64 throughout.
 *
 * 2. BLOCK. A header of 88 bytes (struct dft_block_header), then `stored` bytes of payload, then zeros up to the next
 *    multiple of 8 (a file may be cut within them: the block is whole). The header checksum is CRC32C (Castagnoli, as
 *    in RFC 3720) over the 88 bytes with its own field zero; the payload checksum is CRC32C over the `stored` bytes. A
 *    block whose checksums do not fit is skipped and counted, and the search for the magic goes on 8 bytes from the
 *    start of its own magic. Unknown types are skipped (counted apart). A header is invalid when its version or a flag
 *    is unknown, raw > 16 MiB, stored > 16 MiB + 64 KiB, count > 65,536, tail > stored, or, without the flag DEFLATED,
 *    stored - tail is not raw.
 *
 * 3. PAYLOAD. Two parts. The first (`stored - tail` bytes) is, when flag DEFLATED is set, a raw deflate stream (RFC
 *    1951) of `raw` bytes, else the `raw` bytes themselves (a reader need not try to inflate what claims to be more than 1,032
 *    times as large as it is: deflate cannot do that). The second (`tail` bytes) is a bit string, least
 *    significant bit first, used by split and coded columns (5). The raw bytes are a list of columns:
 *
 *        column id (LEB128)  encoding (LEB128)  length (LEB128)  `length` bytes
 *
 *    A column id appears at most once, in any order. Unknown ids are skipped; values of an absent column are 0; an
 *    unknown encoding of a known column makes the block unreadable, as does a column that ends early. LEB128 is
 *    unsigned, at most 10 bytes and 64 bits; "zigzag" is (v << 1) ^ (v >> 63) of a signed v (arithmetic shift), as
 *    LEB128. Encodings: 0 LEB128 values, 1 split (5), 2 bytes, 3 scaled: a unit (LEB128, not 0), then LEB128 values, to
 *    be multiplied by it (modulo 2^64), 4 coded (5), 5 repeated: p (LEB128, not 0), then at least p values of one byte
 *    below 128, for the first events; every later value is the one p before it. A column has encoding 0 unless it says
 *    otherwise.
 *
 * 4. NAMES AND IDS. A name is a string of bytes: an absolute path, or for a call, region, or argument key
 *    "category NUL name" (a path never holds a NUL). Its id is MurmurHash64A (A. Appleby, public domain) with seed 0 of
 *    the bytes, 0 replaced by 1; id 0 means "none". Ids are equal in all threads, processes and hosts. A text of over
 *    65,535 bytes is kept cut to that length; its id is that of the whole. With M = 0xc6a4a7935bd1e995, the hash of n
 *    bytes is
 *        h = n M; for every whole 8 bytes k: { k = k M; k = k ^ (k >> 47); k = k M; h = (h ^ k) M };
 *        if n is not a multiple of 8: h = (h ^ the rest as a little-endian number) M;
 *        h = h ^ (h >> 47); h = h M; h = h ^ (h >> 47)
 *    The column NAMES (encoding bytes) is a list of entries; other columns refer to them by position (0, 1, ...):
 *        LEB128 k: the lowest two bits are the kind, the rest is s
 *        kind 0  s is 0; eight bytes of id follow; the text is in some other block
 *        kind 1  LEB128 n, n bytes follow; the text is the first s bytes of the previous text of this column (kinds 1
 *                to 3; at first it is empty) and these; the id is the hash of the text so made
 *        kind 2  as 1, but cut: eight bytes of id stand before n
 *        kind 3  as 1, but the first s bytes are those of the text before the previous one
 *    At most 65,536 names, and 32 MiB of text, in a block.
 *    The column CALLS (encoding bytes) is a list of at most 65,536 calls: LEB128 op (ops.def; at most 255), LEB128 n
 *    (at most 65,535); if n > 0, n bytes of text "category NUL name" follow; if n = 0, LEB128 position in NAMES. A call
 *    that a reader does not know is thus still understood by its op; one whose op it does not know counts as OTHER.
 *    The column CLASSES has a value for each call: its class (enum dft_io) + 1, or 0: that of its op (ops.def; META of
 *    one that the reader does not know). So a call may stand in CALLS more than once: what it does with files of a
 *    class of their own (classes.def) has a place of its own.
 *
 * 5. BITS OF TIMES. The bits of all values of GAP and DURATION stand in the tail in the order: event 0's gap (if GAP is
 *    coded or split), event 0's duration (if DURATION is coded or split), event 1's gap, ... The last byte is filled
 *    with zeros.
 *    CODED: unsigned v is v = m + 2^e - 1 + r, with r < 2^e. m, the least value, and the prefix code of the symbol e
 *    are those of the event's shape. In the tail the code of e is followed by the e bits of r, the lowest one first.
 *    The column is a list of codes: first the one of all shapes that have none of their own, then to the end of the
 *    column, before each code, LEB128 d: how many shapes lie between the shape before that has its own (for the first:
 *    between the beginning of SHAPES) and this one, which is below 256. A code:
 *        LEB128 n; if n = 0, it is empty (no event may need it), and that is all
 *        LEB128 first, n + first at most 48: the symbols are first, ... first + n - 1
 *        LEB128 m
 *        if n > 1, (n + 1) / 2 bytes: the symbols' lengths, 4 bits each, the lower ones first; 0: it is not in use
 *    If n = 1, the code of the one symbol has no bits. Else lengths are at most 8, and the sum of 2^-length over the
 *    symbols in use is 1. The codes are canonical, as in RFC 1951, 3.2.2: shorter ones come before longer ones, those
 *    of one length are in the order of their symbols, and each is one more than the one before, with zeros appended
 *    when it is longer; the first is 0. A code's most significant bit is its first in the tail.
 *    SPLIT (log-linear, two sub-bits; not written any more): v < 8: symbol v, no bits. Else e = floor(log2 v) - 2,
 *    symbol 4e + (v >> e) (at most 251), and the lowest e bits of v go to the tail, the lowest one first. One byte a
 *    symbol.
 *
 * 6. TYPES: PROCESS, CLOCK, NAMES, EVENTS, BUCKETS, COUNTERS, STACKS, END, INDEX (see enum dft_block_type; STACKS and
 *    INDEX have a number, but no columns yet: a reader of this version treats them as unknown). In all of them the
 *    header carries the process key. EVENTS and BUCKETS carry stream (a number that counts the event streams
 *    of the process; one thread's events may lie in several streams), tid, and [first, last]: the range of the stream's
 *    sequence numbers that the block covers. A reader that has seen a range (same key, stream, type) ignores a block
 *    within it. Sequence numbers need not be dense; the i-th event of an EVENTS block has the number first + i,
 *    unless the column NUMBER says otherwise.
 *    A vfork child, which runs in its parent's memory, is a process with a key of its own (flag VFORK of its events);
 *    its blocks have the stream and the numbers of the parent's thread, their tid is the child's pid.
 *    Streams from 2^31 on hold what another tracer had written twice: a reader may leave them out on request.
 *    PARTS. Events that were organised into groups (GROUP, 9) keep process, stream and number: an EVENTS or BUCKETS
 *    block whose header field `part` is not 0 holds only those events of its range that are in that part (the lowest
 *    8 bits: number of the group; the others: the division, never 0). Blocks of different parts of one division
 *    complete each other, whatever their ranges. A reader uses a range once: as whole blocks or as parts of one
 *    division.
 *    `start` and `end` are the smallest start and the largest end in it, Unix ns (0, 0 where there is none). `count`:
 *    events, rows, samples, names; 1 for PROCESS and END. Of several PROCESS blocks the one with the highest `first` is
 *    true, of several ENDs that with the most events.
 *    UNFINISHED stands where blocks were being written when their writer ended: a header (its tail is `stored`, its raw
 *    0) and `stored` bytes that nobody is to look at, blocks among them included; there is no payload checksum. A
 *    writer of more than a page puts it there, then what follows, and last of all the first block's header in its
 *    place. It is no damage: no event is freed before its block is whole, so what it would have held is in the live file,
 *    or is a call that had not returned when the process ended.
 *
 * 7. EVENTS. The order is that of the stream (by end, nested ones first). Columns: enum dft_events_column; values are
 *    appended only where the event's flags say "explicit". Prediction state: last size, flags, mode, errno (of
 *    failures), unit, calls, and "without descriptor": per call position, all 0 at first, unit and calls 1. Per name
 *    position: last fd (-1: none) and end of the last access (0). Per block: last fd of any event (-1), last region
 *    (none), last depth (0), the four most recent files (most recent first; none at first), and the next position: one
 *    above all that FILE, REGION and FILE2 have used (0 at first). Per event, in this order:
 *      SHAPES  (bytes) LEB128 number of shapes, then per shape LEB128 call position (CALLS), LEB128 flags (DFT_F_*).
 *              Shapes with unknown flags, values of a field not listed here, or no such call make the block unreadable.
 *      SHAPE   index of the event's shape. Encoding 0 or 5.
 *      GAP     |start - end of the previous event| (for the first: start - header.start), less than or equal to 2^63;
 *              flag BACK: it is negative. Encoding 0, 1, 3 or 4.
 *      DURATION  ns. Encoding 0, 1, 3 or 4. The end of an event is start + duration.
 *      FILE    field FILE of the flags: 0-3 the n-th most recent; 4 the next position; 5 explicit position; 6 none. The
 *              file used is moved to the front (of at most four).
 *      REGION  flag REGION: position in NAMES + 1, or 0 for none. Else the last.
 *      FILE2   flag FILE2: position in NAMES. Else none.
 *      SIZE    flag SIZE: zigzag of size - the call's last. Else the last.
 *      UNIT, CALLS_RUN   flags UNIT, CALLS: value (32 bits). Else the call's last.
 *      RESULT  field RESULT: 0: size / unit (integer division; unit is not 0), 1: 0, 2: -1, 3: zigzag explicit, or, with
 *              flag UNKNOWN (which goes with 3 alone), -2^63 without a value in the column: another tracer's event
 *              whose result it had not recorded.
 *      ERRNO   field ERRNO: 0 none, 1 the call's last, 2 explicit (16 bits). Only 1 and 2 set the last.
 *      OFFSET  field OFFSET: 0 none (-1), 1 the file's end of last access, 2 zigzag of offset - that. An event with an
 *              offset sets the end to offset + bytes moved: by the rule of its op, nothing, its result, or its result
 *              times unit, when the result is positive. Without a file (FILE 6) the end is 0, and is not kept.
 *      FD      flag FD: zigzag explicit (32 bits). Else -1 if the call's last event was without descriptor (fd -1),
 *              else the file's last fd, or if that is -1 (or there is no file) the block's. The event sets all three:
 *              the call's to "fd is -1", the file's and the block's to fd, or to the result if the op is OPEN or FOPEN
 *              and the result lies in 0 ... 2^31 - 1; neither of these two when it would be -1.
 *      FLAGS, MODE   flags FLAGS, MODE: value (32 bits). Else the call's last.
 *      DEPTH   flag DEPTH: value (16 bits). Else the last.
 *      STACK   flag STACK: eight bytes (encoding bytes): the id of a name whose text is "STACK", NUL, and for each frame, the
 *              innermost first, eight bytes: the id of the name "FUNC", NUL, "/module[build id]+0xaddress", or of a frame of
 *              a Python program, "PYTHON", NUL, "file:line function" (the last space stands before the function). Else 0.
 *      ID      flag ID: value: the id that joins asynchronous begin and end, and flows. Else 0.
 *      PHASE (field of the flags), SEQUENTIAL, CONSECUTIVE, VFORK, CUT, OPEN, TURN: in the flags alone.
 *      NUMBER  of each event: how many numbers of the range lie between the event before (the first: between `first`)
 *              and it; so the i-th event has the number first + i + the sum of the first i + 1 values. Not above `last`.
 *    Spans: an event of op REGION with an ID is a span, which belongs to no thread and may overlap with anything. It was begun by the
 *    event of phase ASYNC_BEGIN with that id, whose argument "parent" is the id of the span around it, if any; the complete event is put
 *    where it ends. One with ASYNC_END alone ends a span whose begin the process does not know. FLOW_START, FLOW_STEP and FLOW_END are points.
 *    Arguments (at most 262,144): columns ARG_EVENT (event index minus that of the previous argument, at first 0),
 *    ARG_KEY (position in NAMES), ARG_TYPE (0 int64 zigzag, 1 double: eight bytes, 2 string: LEB128 n, n bytes),
 *    ARG_VALUE (bytes). Their number is that of the values in ARG_EVENT.
 *
 * 8. BUCKETS. Rows of aggregates over exactly the events that the range covers. Columns: enum dft_buckets_column, one
 *    value a row unless said otherwise; `count` in the header is the number of rows. INTERVAL_NS (one value) is W.
 *      KIND    0 call row (interval of W), 1 histogram row (interval of 64 W), 2 file row (interval of 64 W).
 *      INTERVAL  zigzag of the difference to the previous row's (at first 0); the interval is floor(start / its width).
 *      REGION  position in NAMES + 1, or 0.   SUBJECT: kinds 0 and 1: position in CALLS; kind 2: position in NAMES.
 *              A call of several ops (one that reads a file and writes another) has a place in CALLS, and rows, for
 *              each.
 *      CLASS   kind 2 only: 0 meta, 1 read, 2 write: what was done with the file.
 *      IO      kind 2 only: class of the calls (enum dft_io) + 1, or 0: META, READ or WRITE, as CLASS says. (That of
 *              kinds 0 and 1 is in CLASSES.)
 *      SIZE_CLASS, ACCESS, ERRNO   kinds 0 and 1: facets of the calls (facets.h): a class of sizes below 16, a way of
 *              access below 5, an errno below 65,536.
 *      Kinds 0 and 2: one value a row in each of the following columns, the zigzag of the difference to what is
 *      predicted (N is 2^64 - 1: what minima are when there is nothing; what each means: row.h):
 *        COUNT 0               SAMPLES  COUNT           ERRORS 0
 *        DUR_MIN  0, or N if SAMPLES is 0               DUR_MAX  DUR_MIN, or 0 if SAMPLES is 0
 *        DUR_SUM  SAMPLES * DUR_MIN                     EDGE  DUR_SUM          STEP 0 (signed)
 *        DATA 0                                         SIZE_MIN  0, or N if DATA is 0
 *        SIZE_MAX  SIZE_MIN, or 0 if DATA is 0          BYTES  DATA * SIZE_MIN
 *        OFFSET_MIN  0, or 2^63 - 1 if DATA is 0 (2^63 - 1: no access had an offset)
 *        OFFSET_MAX  OFFSET_MIN + BYTES, or -1 if OFFSET_MIN is 2^63 - 1 (signed)
 *        FIRST  that of the last row before that has SAMPLES, at first 0; N if SAMPLES is 0
 *        LAST   FIRST + DUR_SUM, or 0 if SAMPLES is 0
 *        SEQUENTIAL  DATA      CONSECUTIVE  SEQUENTIAL  ASKED  BYTES           TURNS 0
 *      OCCUPANCY (bytes), kinds 0 and 2, per row LEB128 k: 0: it is 0 (not known). 18: eight bytes, itself. Else, k
 *              below 18: k - 1 places follow, each as LEB128 of the distance to the one before (the first: itself),
 *              below 64 all together: there the bits of its difference (exclusive or) to what is predicted change,
 *              from 0 at bit 0. Predicted are the 64ths of the interval that [f, l) covers, in ns from the interval's
 *              begin, or the one of f if l is not above it: bits floor(64 f / width) to floor(64 (l - 1) / width). f
 *              is FIRST and l is LAST; l is the width if LAST is below FIRST or l would be above it. Of a row whose
 *              SAMPLES is 0, f is 0 and l is EDGE. 0 is predicted if f is not below the width, if EDGE, then, is 0 or
 *              above the width, and if W is 0 or above 2^57.
 *      Kind 1: BINS (bytes): duration histogram, then size histogram: LEB128 number of bins in use, per bin LEB128 of
 *      the distance to the previous bin in use (the first: its number), LEB128 count. Bins: aggregator/histogram.h,
 *      at most 1,919. ASKED_BINS (bytes): the histogram of bytes requested: LEB128 0: it is as that of sizes; LEB128
 *      1, then a histogram. At most 1,048,576 bins in a block.
 *      Kind 2: TOUCHED (bytes): LEB128 s; 0: nothing is known; else a part is 2^(s - 1) bytes, s at most 54, and
 *      there are 1,024 parts; LEB128 n: 65: 128 bytes, bit i of which (the lowest of the first byte is 0) is part i;
 *      else, n at most 64, n runs of touched parts follow: LEB128 of the parts between the run before and this one,
 *      LEB128 of its length, not 0.
 *      STRIDES (bytes): LEB128 n, at most 2, then n times: zigzag distance in bytes, LEB128 count.
 *      A writer may leave out a column of zeros.
 *
 *    An ORIGIN block tells what the blocks of a file were converted from; readers of the trace may pass over it.
 * 9. PROCESS, CLOCK, END, ORIGIN, GROUP: columns with one value each (numbers LEB128, texts bytes of at most 65,535), see enums.
 *    CLOCK: column SAMPLES (bytes): pairs of eight bytes (monotonic ns, realtime ns). END: DROPPED (bytes): pairs
 *    LEB128 reason, LEB128 count; MISUSE (bytes): pairs LEB128 enum dft_misuse, LEB128 count. PROCESS: KEPT (bytes): pairs
 *    LEB128 ns since the pair before (the first: since START_NS), LEB128 what is kept from then on and why (kept.h).
 *    NAMES block: just the column NAMES. */
#ifndef DFT_FORMAT_H
#define DFT_FORMAT_H

#include <stdint.h>

#define DFT_BLOCK_MAGIC      UINT64_C(0x0a1a0d6b6c426644) /* bytes "DfBlk\r\x1a\n" */
#define DFT_FORMAT_VERSION   1
#define DFT_RAW_MAX          (16u << 20)
#define DFT_STORED_MAX       (DFT_RAW_MAX + (64u << 10))
#define DFT_COUNT_MAX        65536u
#define DFT_TEXT_MAX         65535u
#define DFT_NAMES_MAX        65536u
#define DFT_TEXTS_MAX        (32u << 20) /* all names of a block together */
#define DFT_ARGS_MAX         262144u
#define DFT_BIN_LAST         1919u /* of a histogram */
#define DFT_BINS_MAX         (1u << 20)
#define DFT_BLOCK_EVENTS_MAX 4096u /* what our writer puts into one EVENTS block */

enum dft_block_type {
    DFT_BLOCK_PROCESS = 1,
    DFT_BLOCK_CLOCK = 2,
    DFT_BLOCK_NAMES = 3,
    DFT_BLOCK_EVENTS = 4,
    DFT_BLOCK_BUCKETS = 5,
    DFT_BLOCK_COUNTERS = 6,
    DFT_BLOCK_STACKS = 7,
    DFT_BLOCK_END = 8,
    DFT_BLOCK_INDEX = 9,
    DFT_BLOCK_ORIGIN = 10,
    DFT_BLOCK_UNFINISHED = 11,
    DFT_BLOCK_GROUP = 12,
};

#define DFT_PART_GROUPS      256u /* of a division, at most */
#define DFT_PART_GROUP(p)    ((p) % DFT_PART_GROUPS)
#define DFT_PART_DIVISION(p) ((p) / DFT_PART_GROUPS)

#define DFT_STREAM_REPEATED (UINT32_C(1) << 31)
/* These rows never had events: another tracer counted the calls of each interval, which
 * may be of any width. */
#define DFT_STREAM_COUNTED  (UINT32_C(1) << 30)

#define DFT_BLOCK_DEFLATED 1u /* flag: the first part of the payload is deflated */

struct dft_block_header {
    uint64_t magic;
    uint16_t type;
    uint8_t version;
    uint8_t flags;
    uint32_t header_crc;
    uint32_t payload_crc;
    uint32_t count;  /* events, rows, names ... in it */
    uint32_t stored; /* payload bytes that follow, without padding */
    uint32_t raw;    /* bytes of the column list once inflated */
    uint32_t tail;   /* of the stored bytes, how many are the bit string */
    uint32_t stream;
    uint64_t key; /* process key */
    uint64_t first;
    uint64_t last;
    uint64_t start; /* Unix ns */
    uint64_t end;
    uint32_t tid;
    uint32_t part; /* 0: the whole range */
};
_Static_assert(sizeof(struct dft_block_header) == 88, "the header is 88 bytes on disk");

enum dft_encoding {
    DFT_ENC_LEB128 = 0,
    DFT_ENC_SPLIT = 1,
    DFT_ENC_BYTES = 2,
    DFT_ENC_SCALED = 3,
    DFT_ENC_CODED = 4,
    DFT_ENC_REPEATED = 5,
};

/* Shared by EVENTS, BUCKETS and NAMES. */
enum { DFT_COL_NAMES = 1, DFT_COL_CALLS = 2, DFT_COL_CLASSES = 50 };

enum dft_events_column {
    DFT_EV_SHAPES = 3,
    DFT_EV_SHAPE = 4,
    DFT_EV_GAP = 5,
    DFT_EV_DURATION = 6,
    DFT_EV_FILE = 7,
    DFT_EV_SIZE = 8,
    DFT_EV_UNIT = 9,
    DFT_EV_CALLS_RUN = 10,
    DFT_EV_RESULT = 11,
    DFT_EV_ERRNO = 12,
    DFT_EV_OFFSET = 13,
    DFT_EV_FD = 14,
    DFT_EV_FLAGS = 15,
    DFT_EV_MODE = 16,
    DFT_EV_REGION = 17,
    DFT_EV_DEPTH = 18,
    DFT_EV_FILE2 = 19,
    DFT_EV_STACK = 20,
    DFT_EV_ID = 21,
    DFT_EV_ARG_EVENT = 22,
    DFT_EV_ARG_KEY = 23,
    DFT_EV_ARG_TYPE = 24,
    DFT_EV_ARG_VALUE = 25,
    DFT_EV_NUMBER = 26,
};

/* Flags of a shape. */
#define DFT_F_SIZE         (1u << 0)
#define DFT_F_RESULT_SHIFT 1 /* 2 bits */
#define DFT_F_OFFSET_SHIFT 3 /* 2 bits */
#define DFT_F_FD           (1u << 5)
#define DFT_F_FLAGS        (1u << 6)
#define DFT_F_MODE         (1u << 7)
#define DFT_F_ERRNO_SHIFT  8  /* 2 bits */
#define DFT_F_FILE_SHIFT   10 /* 3 bits */
#define DFT_F_REGION       (1u << 13)
#define DFT_F_DEPTH        (1u << 14)
#define DFT_F_BACK         (1u << 15)
#define DFT_F_SEQUENTIAL   (1u << 16)
#define DFT_F_CONSECUTIVE  (1u << 17)
#define DFT_F_PHASE_SHIFT  18 /* 4 bits, enum dft_phase */
#define DFT_F_FILE2        (1u << 22)
#define DFT_F_UNIT         (1u << 23)
#define DFT_F_CALLS        (1u << 24)
#define DFT_F_STACK        (1u << 25)
#define DFT_F_ID           (1u << 26)
#define DFT_F_VFORK        (1u << 27) /* made by a vfork child, in its parent's memory */
#define DFT_F_CUT          (1u << 28) /* an argument or name was cut */
#define DFT_F_OPEN         (1u << 29) /* in flight when the process ended: no result, end unknown */
#define DFT_F_UNKNOWN      (1u << 30) /* the result */
#define DFT_F_TURN         (1u << 31) /* a read-write turn */

enum dft_phase {
    DFT_PHASE_COMPLETE = 0,
    DFT_PHASE_BEGIN = 1,
    DFT_PHASE_END = 2,
    DFT_PHASE_INSTANT = 3,
    DFT_PHASE_ASYNC_BEGIN = 4,
    DFT_PHASE_ASYNC_END = 5,
    DFT_PHASE_FLOW_START = 6,
    DFT_PHASE_FLOW_END = 7,
    DFT_PHASE_COUNTER = 8,
    DFT_PHASE_METADATA = 9,
    DFT_PHASE_FLOW_STEP = 10,
    DFT_PHASE_LAST = 10,
};

enum dft_buckets_column {
    DFT_BK_INTERVAL_NS = 3,
    DFT_BK_KIND = 4,
    DFT_BK_INTERVAL = 5,
    DFT_BK_REGION = 6,
    DFT_BK_SUBJECT = 7,
    DFT_BK_CLASS = 8,
    DFT_BK_COUNT = 9,
    DFT_BK_SAMPLES = 10,
    DFT_BK_ERRORS = 11,
    DFT_BK_DUR_MIN = 12,
    DFT_BK_DUR_MAX = 13,
    DFT_BK_DUR_SUM = 14,
    DFT_BK_EDGE = 15,
    DFT_BK_STEP = 16,
    DFT_BK_DATA = 17,
    DFT_BK_SIZE_MIN = 18,
    DFT_BK_SIZE_MAX = 19,
    DFT_BK_BYTES = 20,
    DFT_BK_OFFSET_MIN = 21,
    DFT_BK_OFFSET_MAX = 22,
    DFT_BK_FIRST = 23,
    DFT_BK_LAST = 24,
    DFT_BK_SEQUENTIAL = 25,
    DFT_BK_CONSECUTIVE = 26,
    DFT_BK_BINS = 27,
    DFT_BK_ASKED = 28,
    DFT_BK_TURNS = 29,
    DFT_BK_OCCUPANCY = 30,
    DFT_BK_SIZE_CLASS = 31,
    DFT_BK_ACCESS = 32,
    DFT_BK_ERRNO = 33,
    DFT_BK_IO = 34,
    DFT_BK_ASKED_BINS = 35,
    DFT_BK_TOUCHED = 36,
    DFT_BK_STRIDES = 37,
};

enum dft_counters_column {
    DFT_CN_SERIES = 3,
    DFT_CN_TIME = 4,
    DFT_CN_MEMBERS = 5,
    DFT_CN_VALUE = 6,
};

enum dft_process_column {
    DFT_PR_PID = 3,
    DFT_PR_PPID = 4,
    DFT_PR_PARENT_KEY = 5,
    DFT_PR_RANK = 6, /* + 1; 0: unknown. Likewise LOCAL_RANK. */
    DFT_PR_LOCAL_RANK = 7,
    DFT_PR_WORLD_SIZE = 8,    /* 0: unknown */
    DFT_PR_START_NS = 9,      /* Unix ns of load, or of the fork */
    DFT_PR_CLOCK_OFFSET = 10, /* zigzag: Unix ns - CLOCK_MONOTONIC ns */
    DFT_PR_HOST = 11,
    DFT_PR_JOB_ID = 12,
    DFT_PR_EXE = 13,
    DFT_PR_COMMAND = 14, /* arguments, each ended by a NUL */
    DFT_PR_CWD = 15,
    DFT_PR_VERSION = 16, /* of the library */
    DFT_PR_OPTIONS = 17, /* NAME=value lines of options that differ from the default */
    DFT_PR_LIVE_PATH = 18,
    DFT_PR_NOTES = 19,         /* lines: what could not be done as usual */
    DFT_PR_BOOT_ID = 20,       /* of the machine since its last start, as Linux writes it; absent: not known */
    DFT_PR_PID_NAMESPACE = 21, /* inode of the PID namespace that PID and PPID count in; 0: not known */
    DFT_PR_RUN_ID = 22,        /* of the run that it belongs to; empty: JOB_ID says it, or nothing does */
    DFT_PR_ROLE = 23,          /* what the process is in its program: "DataLoader worker 3/8" */
    DFT_PR_MOUNTS = 24,        /* "mount point, space, type" lines, with the kernel's escapes (\040 is a space); before
                                  them a directory and a space: it leads there by a link */
    DFT_PR_KEPT = 25,          /* (bytes) when events were kept: kept.h; absent: all the time */
};

enum dft_end_column {
    DFT_END_EVENTS = 3,
    DFT_END_DROPPED = 4,
    DFT_END_OVERHEAD_NS = 5,
    DFT_END_HOW = 6,     /* enum dft_ending */
    DFT_END_STATUS = 7,  /* zigzag: exit status or signal, where known */
    DFT_END_TIME_NS = 8, /* Unix ns */
    DFT_END_MISUSE = 9,
    DFT_END_UNMET = 10,     /* names of functions to be woven that were in no library, each ended by a newline */
    DFT_END_OUTSIDE = 11,   /* calls that DFTRACER_DATA_DIR left out: opens, on paths, first ones on descriptors */
    DFT_END_PAUSES = 12,    /* of single threads; those of the process are in PROCESS: KEPT, as far as it has room */
    DFT_END_PAUSED_NS = 13, /* their time, summed over threads */
};

enum dft_origin_column {
    DFT_OR_CONVERTER = 3, /* version of what converted it */
    DFT_OR_BYTES = 4,     /* of the file it was made from, as it was then */
    DFT_OR_MTIME_NS = 5,
    DFT_OR_INODE = 6,
    DFT_OR_IDENTITY = 7,    /* of its path */
    DFT_OR_FOUND = 8,       /* NAME=count lines: what was found in it */
    DFT_OR_WHY = 9,         /* what was wrong with it as a whole */
    DFT_OR_LENGTH = 10,     /* of the file with the blocks: it is whole when it has this length */
    DFT_OR_CHANGED_NS = 11, /* ctime of the file it was made from: no program can set it back */
};

/* One group of a division; the block is of no process. A source with the GROUP blocks of all
 * `groups` has the whole. */
enum dft_group_column {
    DFT_GR_PART = 3,   /* of the blocks of this group */
    DFT_GR_GROUPS = 4, /* of the division; they are numbered from 0 */
    DFT_GR_NAME = 5,
    DFT_GR_RULES = 6, /* as the user specified them */
    DFT_GR_EVENTS = 7,
};

enum dft_clock_column { DFT_CLOCK_SAMPLES = 3 };

enum dft_ending {
    DFT_ENDING_UNKNOWN = 0,
    DFT_ENDING_EXIT = 1,   /* exit or return from main: our destructor ran */
    DFT_ENDING__EXIT = 2,  /* _exit, _Exit */
    DFT_ENDING_EXEC = 3,   /* replaced by another program */
    DFT_ENDING_SIGNAL = 4, /* fatal signal that we handled */
    DFT_ENDING_KILLED =
        5, /* set by dftmerge: found by the live file alone; and of a vfork child by its parent: no end was seen */
    DFT_ENDING_RUNNING = 6, /* set by dftmerge: the live file's process is still there */
    DFT_ENDING_WAITED = 7,  /* dftrun waited for its child: STATUS is what waitpid says. No END of the process itself */
};

/* Why events were not kept. The text stands in format/end.c. */
enum dft_drop {
    DFT_DROP_RING_FULL = 1,    /* handlers filled the headroom */
    DFT_DROP_WRITE_FAILED = 2, /* EIO ... on the trace */
    DFT_DROP_NO_MEMORY = 3,    /* no ring could be mapped */
    DFT_DROP_NO_FILE = 4,      /* the trace could not be created yet */
    DFT_DROP_TOO_LONG = 5,     /* a record longer than the ring takes */
    DFT_DROP_TORN = 6,         /* left half-written by the end of the process */
    DFT_DROP_TOO_DEEP = 7,     /* regions nested deeper than is kept */
    DFT_DROP_SANDBOX =
        8, /* the program had forbidden itself system calls: what needs one, and what the rings had no room for */
    DFT_DROP_BORROWED = 9,  /* calls of a child that runs on its parent's thread-local memory, at the same time */
    DFT_DROP_REQUESTS = 10, /* asynchronous requests beyond those that can be followed at a time */
    DFT_DROP_NO_SPACE = 11, /* disk or quota full, or RLIMIT_FSIZE reached */
    DFT_DROP_NO_NUMBER =
        12, /* no descriptor for the trace: the program had all, or put other files on ours again and again */
    DFT_DROP_LAST = 12,
};

/* What a program did with its annotations that cannot be meant so; nothing of its own is lost by
 * it. The text stands in format/end.c. */
enum dft_misuse {
    DFT_MISUSE_END_ALONE = 1,     /* a region ended in a thread that had not begun it */
    DFT_MISUSE_OUTER_FIRST = 2,   /* a region was ended by the end of one around it */
    DFT_MISUSE_LEFT_OPEN = 3,     /* a region was open when its thread ended, or its process did by itself */
    DFT_MISUSE_SPAN_ALONE = 4,    /* a span ended that the process did not begin, or had ended */
    DFT_MISUSE_SPAN_OPEN = 5,     /* a span was never ended */
    DFT_MISUSE_SPAN_MANY = 6,     /* a span by number beyond those that are followed at a time: its end is not known */
    DFT_MISUSE_NULL = 7,          /* NULL for a name, a key or a text */
    DFT_MISUSE_NAME_CUT = 8,      /* a name too long */
    DFT_MISUSE_ARG_CUT = 9,       /* an argument, or a path, was cut or left out: no room, or no way to read it */
    DFT_MISUSE_ARG_ALONE = 10,    /* an argument while no region was open */
    DFT_MISUSE_RESUME_ALONE = 11, /* resume without pause, suspend without resume */
    DFT_MISUSE_LAST = 11,
};

#endif
