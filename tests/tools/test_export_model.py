# SPDX-License-Identifier: MIT
"""dftmerge export --format fio and dlio: programs are recorded; fio runs the job and moves as much as they did; the numbers of
the configuration for DLIO are those of the program."""

import collections
import json
import os
import re
import shutil
import subprocess

import pytest

import test_mpi
from tooltest import LIBRARY, ROOT, dftmerge, dump, make, run

REAL = ROOT.parent / "shared" / "data" / "dftracer" / "cm1"

PROGRAM = r"""
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *data, name[4096];
static const char *where;

static int file(const char *base, int number, int flags)
{
    snprintf(name, sizeof name, "%s/%s%d", where, base, number);
    return open(name, flags, 0644);
}

static void reads(int number, long size)
{
    int fd = file("in", number, O_RDONLY);

    while (read(fd, data, size) > 0)
        ;
    close(fd);
}

static void *random_reads(void *seed)
{
    unsigned state = (unsigned)(long)seed;
    int fd = open(name, O_RDONLY);

    for (int i = 0; i < 400; i++)
        if (pread(fd, data + 65536 * (long)seed, 4096, 4096 * (rand_r(&state) % 64)) != 4096)
            abort();
    close(fd);
    return NULL;
}

static void in_threads(int count)
{
    pthread_t threads[8];

    file("in", 0, 0);
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, random_reads, (void *)(i + 1));
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void mix(int count)
{
    unsigned state = 5;
    int fd = file("in", 0, O_RDWR);

    for (int i = 0; i < count; i++) {
        long at = 1024 * (rand_r(&state) % 200);

        if (rand_r(&state) % 10 < 6 ? pread(fd, data, 1024, at) < 1 : pwrite(fd, data, 3072, at) < 1)
            abort();
    }
    close(fd);
}

static void writes(int number, int count, long size, int every, int extra)
{
    int fd = file("out", number, O_WRONLY | O_CREAT | extra);

    for (int i = 1; i <= count; i++) {
        if (write(fd, data, size) != size)
            abort();
        if (every && i % every == 0)
            fsync(fd);
    }
    close(fd);
}

static void sizes(int count)
{
    static const int of[] = {100, 100, 100, 5000, 100, 40000, 100, 5000};
    int fd = file("out", 0, O_WRONLY | O_CREAT);

    for (int i = 0; i < count; i++)
        if (write(fd, data, of[i % 8]) < 0)
            abort();
    close(fd);
}

static void processes(int count)
{
    for (int i = 0; i < count; i++)
        if (!fork()) {
            writes(i, 30 + i, 8192, 30, 0);
            exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

static void requests(int count)
{
    struct aiocb blocks[4];
    int fd = file("in", 0, O_RDONLY);

    for (int i = 0; i < count; i += 4) {
        memset(blocks, 0, sizeof blocks);
        for (int k = 0; k < 4; k++) {
            blocks[k].aio_fildes = fd;
            blocks[k].aio_buf = data + 4096 * k;
            blocks[k].aio_nbytes = 4096;
            blocks[k].aio_offset = 4096 * (i + k);
            if (aio_read(&blocks[k]))
                abort();
        }
        for (int k = 0; k < 4; k++) {
            const struct aiocb *list[1] = {&blocks[k]};

            while (aio_error(&blocks[k]))
                aio_suspend(list, 1, NULL);
            if (aio_return(&blocks[k]) != 4096)
                abort();
        }
    }
    close(fd);
}

static void leftovers(void)
{
    int fd = file("in", 0, O_RDONLY), pipes[2];
    struct stat stat_of;

    stat("/nowhere", &stat_of);
    munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0), 4096);
    if (pipe(pipes) || write(pipes[1], "x", 1) != 1 || lseek(fd, 0, SEEK_SET) || read(fd, data, 4096) < 0)
        abort();
    close(fd);
}

int main(int argc, char **argv)
{
    const char *what = argv[1];

    where = argv[2];
    data = aligned_alloc(4096, 1 << 20);
    memset(data, 'y', 1 << 20);
    if (!strcmp(what, "sequential"))
        reads(0, 16384);
    if (!strcmp(what, "odd"))
        reads(0, 10000);
    for (int i = 1; i < 40 && !strcmp(what, "small"); i++)
        reads(i, 65536);
    if (!strcmp(what, "random"))
        in_threads(1);
    if (!strcmp(what, "threads"))
        in_threads(4);
    if (!strcmp(what, "mixed"))
        mix(3000);
    if (!strcmp(what, "few"))
        mix(40);
    if (!strcmp(what, "fsync"))
        writes(0, 64, 4096, 4, 0);
    if (!strcmp(what, "direct"))
        writes(0, 16, 4096, 0, O_DIRECT);
    if (!strcmp(what, "sync"))
        writes(0, 64, 4096, 0, O_SYNC);
    if (!strcmp(what, "dsync"))
        writes(0, 64, 4096, 0, O_DSYNC);
    if (!strcmp(what, "sizes"))
        sizes(8);
    if (!strcmp(what, "many"))
        sizes(24000);
    if (!strcmp(what, "processes"))
        processes(3);
    if (!strcmp(what, "requests"))
        requests(32);
    if (!strcmp(what, "leftovers"))
        leftovers();
    if (!strcmp(what, "nothing"))
        close(file("in", 0, O_RDONLY));
    return 0;
}
"""
pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="this build has no libdftrace.so")


def built(where):
    (where / "program.c").write_text(PROGRAM)
    done = subprocess.run(["cc", "-o", where / "program", where / "program.c", "-pthread"],
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return where / "program"


def record(where, program, what, **settings):
    """The traces of the program; its files lie beside them."""
    folder = where / (what + "".join(settings))
    (folder / "data").mkdir(parents=True)
    (folder / "traces").mkdir()
    for number in range(40):
        (folder / "data" / f"in{number}").write_bytes(b"x" * (5000 if number else 262144))
    done = run(program, what, folder / "data",
               env={"LD_PRELOAD": str(LIBRARY), "DFTRACER_ENABLE": "1", "DFTRACER_LOG_FILE": str(folder / "traces" / "t"),
                    "DFTRACER_DATA_DIR": str(folder / "data"), **settings})
    assert done.code == 0, done.err
    return folder / "traces"


def export(form, traces, *arguments):
    path = traces.parent / f"out.{form}"
    done = dftmerge("export", "--format", form, "-o", path, *arguments, traces)
    again = dftmerge("export", "--format", form, "-o", "-", *arguments, traces)
    assert again.out == path.read_bytes() and again.err == done.err
    return path, done.err


def jobs(path):
    """Sections and their options."""
    found, options = {}, {}
    for line in path.read_text().splitlines():
        if line.startswith("["):
            options = found.setdefault(line[1:-1], {})
        elif "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            assert key not in options, (path, line)
            options[key] = value
    del found["global"]
    return found


def moved(traces):
    """I/Os that moved bytes, and the bytes, by direction; what a dump says."""
    total = collections.Counter()
    for event in dump(traces):
        if event.get("class") in ("read", "write") and event.get("bytes"):
            total[event["class"], "ios"] += event.get("calls", 1)
            total[event["class"], "bytes"] += event["bytes"]
    return total


def fio(path):
    """What fio itself says of a run of the job file, by direction; how many syncs."""
    if not shutil.which("fio"):
        return None
    folder = path.parent / "fio"
    folder.mkdir()
    env = {**os.environ, "DIR": str(folder)}
    parsed = subprocess.run(["fio", "--parse-only", path], env=env, capture_output=True, text=True, check=False)
    assert parsed.returncode == 0 and not parsed.stderr, parsed.stderr
    done = subprocess.run(["fio", "--output-format=json", path], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    total = collections.Counter()
    for job in json.loads(done.stdout[done.stdout.index("{"):])["jobs"]:
        assert not job["error"], job["jobname"]
        for direction in ("read", "write"):
            total[direction, "ios"] += job[direction]["total_ios"]
            total[direction, "bytes"] += job[direction]["io_bytes"]
    shutil.rmtree(folder)
    return total


def check_run(path, wanted, tolerance):
    got = fio(path)
    if got is None:
        print("skipped: a run of fio, which is not installed")
        return
    for key in {*wanted, *got}:
        assert abs(got[key] - wanted[key]) <= tolerance * wanted[key], (path.read_text(), key, got, wanted)


# What is expected of the only section of a program, and how near fio comes.
PROGRAMS = {
    "sequential": ({"rw": "read", "bs": "16384", "ioengine": "sync", "numjobs": "1", "io_size": "262144", "size": "262144"}, 0),
    "odd": ({"rw": "read", "bs": "9709", "ioengine": "sync", "io_size": str(27 * 9709)}, 0.001),
    "small": ({"rw": "read", "bs": "5000", "nrfiles": "39", "filesize": "5000", "file_service_type": "sequential"}, 0),
    "random": ({"rw": "randread", "bs": "4096", "ioengine": "psync", "norandommap": "1", "numjobs": "1"}, 0),
    "threads": ({"rw": "randread", "bs": "4096", "numjobs": "4", "thread": "1", "nrfiles": "1", "filename": "01.0"}, 0),
    "mixed": ({"rw": "randrw", "bs": "1024,3072", "rwmixread": "60", "number_ios": "3000", "ioengine": "psync"}, 0.1),
    "fsync": ({"rw": "write", "bs": "4096", "fsync": "4", "ioengine": "sync"}, 0),
    "requests": ({"rw": "read", "bs": "4096", "ioengine": "libaio", "numjobs": "1"}, 0),
    "many": ({"rw": "write", "number_ios": "24000", "bssplit": "99/63:5000/25:41667/12", "bs_unaligned": "1"}, 0.05),
}


def test_programs(where):
    program = built(where)
    for what, (options, tolerance) in PROGRAMS.items():
        traces = record(where, program, what)
        path, _ = export("fio", traces)
        sections = jobs(path)
        assert len(sections) == 1, (what, path.read_text())
        got = next(iter(sections.values()))
        assert {key: got.get(key) for key in options} == options, (what, path.read_text())
        check_run(path, moved(traces), tolerance)


def test_sections_of_their_own(where):
    """Few I/Os of several sizes or directions are exact: a job for each."""
    program = built(where)
    for what, count in (("sizes", 3), ("few", 2)):
        traces = record(where, program, what)
        path, _ = export("fio", traces)
        assert len(jobs(path)) == count and "bssplit" not in path.read_text(), path.read_text()
        check_run(path, moved(traces), 0)


def test_several_processes(where):
    """30, 31 and 32 writes have 5 binary digits or 6; those that are alike are a job, and one more is a job of its own."""
    traces = record(where, built(where), "processes")
    path, _ = export("fio", traces)
    sections = jobs(path)
    assert sum(int(options["numjobs"]) for options in sections.values()) == 3, path.read_text()
    assert sum(int(o["numjobs"]) * int(o["io_size"]) for o in sections.values()) == (30 + 31 + 32) * 8192
    assert not any("thread" in options for options in sections.values())
    check_run(path, moved(traces), 0)


def test_flags_of_opens(where):
    program = built(where)
    try:
        traces = record(where, program, "direct")
    except AssertionError:
        pytest.skip("no O_DIRECT here")
    path, _ = export("fio", traces)
    assert next(iter(jobs(path).values()))["direct"] == "1", path.read_text()
    check_run(path, moved(traces), 0)


def test_flags_that_wait_for_the_disk(where):
    """O_SYNC has the bit of O_DSYNC, too: both are told apart."""
    program = built(where)
    for what, value in (("sync", "1"), ("dsync", "dsync")):
        traces = record(where / what, program, what)
        path, _ = export("fio", traces)
        assert next(iter(jobs(path).values()))["sync"] == value and "SYNC of files" not in path.read_text(), path.read_text()
        check_run(path, moved(traces), 0)


def test_what_is_left_out(where):
    traces = record(where, built(where), "leftovers")
    path, said = export("fio", traces)
    text = path.read_text()
    for what in ("mappings (mmap ...), whose reads and writes are not recorded: 2", "calls that only move or ask for a position: 1"):
        assert f"# - {what}" in text and f"not taken over: {what}" in said, (what, text, said)
    listed = re.findall(r"^# - (.*)$", text[text.index("# Not taken over:"):], re.M)
    assert sorted(listed) == sorted(re.findall(r"not taken over: (.*)$", said, re.M)), (listed, said)


def test_aggregates_alone(where):
    program = built(where)
    for what in ("sequential", "threads", "mixed"):
        traces = record(where, program, what)
        rows = record(where, program, what, DFTRACER_ENABLE_AGGREGATION="1")
        path, said = export("fio", rows)
        of_events, of_rows = (next(iter(jobs(p).values())) for p in (export("fio", traces)[0], path))
        for key in ("rw", "bs", "numjobs", "io_size", "number_ios", "ioengine", "filesize", "nrfiles"):
            assert of_rows.get(key) == of_events.get(key), (key, path.read_text())
        assert "flags of opens (O_DIRECT, O_SYNC, O_DSYNC): only aggregates were kept" in said, said
        check_run(path, moved(traces), 0.1 if what == "mixed" else 0)


def test_filters(where):
    traces = record(where, built(where), "mixed")
    path, _ = export("fio", traces, "--class", "read")
    assert {o["rw"] for o in jobs(path).values()} == {"randread"}, path.read_text()
    for form, arguments in (("fio", ["--file", "/nowhere"]), ("dlio", ["--class", "write"]), ("fio", ["--rank", "7"])):
        done = dftmerge("export", "--format", form, "-o", where / "none", *arguments, traces, expect=1)
        assert "could repeat" in done.err and not (where / "none").exists(), done.err


def test_nothing(where):
    traces = record(where, built(where), "nothing")
    for form, what in (("fio", "no I/O"), ("dlio", "no read of a file")):
        done = dftmerge("export", "--format", form, "-o", where / "none", traces, expect=1)
        assert f"export --format {form}: {what} is known" in done.err and "`dftmerge summary PATH`" in done.err, done.err
        assert not (where / "none").exists()
    (where / "empty").mkdir()
    for form in ("fio", "dlio"):
        assert dftmerge("export", "--format", form, "-o", where / "none", where / "empty", expect=None).code
    (where / "bad.dft").write_bytes(b"\x7fdft" + bytes(range(256)) * 30)
    assert dftmerge("export", "--format", "dlio", "-o", where / "none", where / "bad.dft", expect=1).err


def test_made_traces(where):
    """Traces of all that make_traces makes: fio takes the file, a directory gets one, and many ranks write the same."""
    traces = make(where / "made", processes=3, threads=2, events=400, ranks=1)
    for form, name in (("fio", "trace.fio"), ("dlio", "trace.yaml")):
        path, _ = export(form, traces)
        assert dftmerge("export", "--format", form, "-o", f"{where}/folder/", traces).code == 0
        assert (where / "folder" / name).read_bytes() == path.read_bytes()
        if test_mpi.MPIRUN and test_mpi.PROGRAM.exists():
            for ranks in (1, 3):
                test_mpi.same(ranks, "export", "--format", form, "-o", "-", traces)
    if shutil.which("fio"):
        done = subprocess.run(["fio", "--parse-only", where / "out.fio"], env={**os.environ, "DIR": str(where)},
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr


def test_real_data(where):
    """CM1 on 48 processes: as many I/Os and bytes in the job as in the trace."""
    if not REAL.exists():
        pytest.skip("no ../shared/data/dftracer/cm1")
    path, wanted = where / "cm1.fio", collections.Counter()
    dftmerge("export", "--no-index", "--format", "fio", "-o", path, REAL)
    for event in dump("--no-index", "--class", "read,write", REAL):
        if event.get("bytes"):
            wanted[event["class"], "ios"] += event.get("calls", 1)
            wanted[event["class"], "bytes"] += event["bytes"]
    text, got = path.read_text(), collections.Counter()
    said = re.search(r"^# Recorded: (\d+) reads of (\d+) bytes, (\d+) writes of (\d+) bytes", text, re.M)
    for options in jobs(path).values():
        shares = [entry.partition("/") for entry in options.get("bssplit", options.get("bs")).split(":")]
        mean = sum(int(size) * int(share or 100) for size, _, share in shares) / 100
        ios = int(options.get("number_ios", int(options["io_size"]) // mean)) * int(options["numjobs"])
        got[options["rw"].replace("rand", ""), "ios"] += ios
        got[options["rw"].replace("rand", ""), "bytes"] += ios * mean
    for number, key in enumerate((d, what) for d in ("read", "write") for what in ("ios", "bytes")):
        assert abs(int(said[number + 1]) - wanted[key]) <= 0.01 * wanted[key], (key, said[0], wanted)
        assert abs(got[key] - wanted[key]) <= 0.05 * wanted[key], (key, got, wanted)


# --- DLIO -------------------------------------------------------------------------------------------------------------

LOADER = r"""
#define _GNU_SOURCE
#include <dftrace/dftrace.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EPOCHS = 3, FILES = 12, ITEMS = 2, WORKERS = 2, BATCH = 4, ITEM = 9000 };
static char data[ITEM * ITEMS + 64];

static void load(const char *where, int worker)
{
    char text[4096];

    snprintf(text, sizeof text, "DataLoader worker %d/%d", worker, WORKERS);
    dftrace_set_role(text);
    for (int file = worker; file < FILES; file += WORKERS) {
        int fd;

        snprintf(text, sizeof text, "%s/img_%03d.npz", where, file);
        fd = open(text, O_RDONLY);
        for (int item = 0; item < ITEMS; item++) {
            dftrace_region_begin("data", "getitem");
            if (pread(fd, data, ITEM, item * ITEM) != ITEM)
                abort();
            dftrace_region_end("data", "getitem");
        }
        close(fd);
    }
    exit(0);
}

static void write_file(const char *where, const char *form, int number, int size)
{
    char text[4096];
    int fd;

    snprintf(text, sizeof text, form, where, number);
    fd = open(text, O_WRONLY | O_CREAT, 0644);
    if (write(fd, data, size) != size)
        abort();
    close(fd);
}

int main(int argc, char **argv)
{
    for (int file = 0; file < FILES; file++)
        write_file(argv[2], "%s/img_%03d.npz", file, ITEM * ITEMS);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        dftrace_region_begin("app", "epoch");
        for (int worker = 0; worker < WORKERS; worker++)
            if (!fork())
                load(argv[2], worker);
        while (wait(NULL) > 0)
            ;
        for (int step = 0; step < FILES * ITEMS / BATCH; step++) {
            dftrace_region_begin("app", "step");
            dftrace_region_begin("COMPUTE", "forward");
            usleep(1000);
            dftrace_region_end("COMPUTE", "forward");
            dftrace_region_end("app", "step");
        }
        dftrace_region_end("app", "epoch");
        dftrace_region_begin("app", "checkpoint");
        write_file(argv[2], "%s/model-%d", epoch, 7000);
        dftrace_region_end("app", "checkpoint");
    }
    return 0;
}
"""


def yaml(text):
    """The subset that the export writes: sections, of keys with a word or a number."""
    found, inside = {}, None
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, colon, value = line.strip().partition(":")
        assert colon and re.fullmatch(r"\w+", key) and re.fullmatch(r"( [\w./-]+)?", value), line
        value = value.strip()
        if re.fullmatch(r"\d+(\.\d+)?", value):
            value = json.loads(value)
        if not line.startswith(" "):
            inside = found.setdefault(key, value or {})
        else:
            assert line.startswith("  ") and key not in inside, line
            inside[key] = value
    try:
        import yaml as library
    except ImportError:
        return found
    loaded = library.safe_load(text)
    words = {True: "True", False: "False"}
    assert found == {k: {a: words[b] if isinstance(b, bool) else b for a, b in v.items()} if isinstance(v, dict) else v
                     for k, v in loaded.items()}, text
    return found


def test_a_training(where):
    (where / "loader.c").write_text(LOADER)
    done = subprocess.run(["cc", "-o", where / "loader", where / "loader.c", f"-I{ROOT / 'include'}", "-ldl"], capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    traces = record(where, where / "loader", "training")
    compute = [e["dur"] for e in dump(traces) if e["name"] == "forward"]
    path, said = export("dlio", traces)
    got = yaml(path.read_text())
    assert got["framework"] == "pytorch" and got["model"] == {"name": "loader", "model_size": 7000}, got
    assert got["workflow"] == {"generate_data": "True", "train": "True", "checkpoint": "True"}
    assert got["dataset"] == {"data_folder": "data/trace", "format": "npz", "num_files_train": 12, "num_samples_per_file": 2,
                              "record_length_bytes": 9000, "record_length_bytes_stdev": 0, "file_prefix": "img"}, got
    assert got["reader"] == {"data_loader": "pytorch", "batch_size": 4, "read_threads": 2, "transfer_size": 9000}, got
    assert abs(got["train"].pop("computation_time") * 1e9 - sum(compute) / len(compute)) < 2
    assert got["train"] == {"epochs": 3, "total_training_steps": 18}, got
    assert got["checkpoint"] == {"checkpoint_folder": "checkpoints/trace", "checkpoint_after_epoch": 1,
                                 "epochs_between_checkpoints": 1}
    assert "not recorded: file_shuffle" in said and "# file_shuffle: not recorded:" in path.read_text(), said
    rows = record(where, where / "loader", "training", DFTRACER_ENABLE_AGGREGATION="1")
    of_rows = yaml(export("dlio", rows)[0].read_text())
    assert of_rows["train"].pop("computation_time") >= 0.001
    assert of_rows == got, (of_rows, got)


def test_no_training(where):
    """Files and reads alone: what is missing is said."""
    traces = record(where, built(where), "small")
    path, said = export("dlio", traces)
    got, text = yaml(path.read_text()), path.read_text()
    assert got["dataset"]["num_files_train"] == 39 and got["dataset"]["record_length_bytes"] == 5000, got
    assert got["dataset"]["format"] == "indexed_binary" and got["dataset"]["file_prefix"] == "in", got
    assert got["reader"] == {"read_threads": 1, "transfer_size": 5000} and "train" not in got, got
    for key in ("framework", "data_loader", "batch_size", "num_samples_per_file", "epochs", "computation_time"):
        assert f"# {key}: not recorded: " in text and f"not recorded: {key}: " in said, (key, text)
