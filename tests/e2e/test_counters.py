# SPDX-License-Identifier: MIT
"""Samples of a process's own counters: their values, when they are taken, and what a kill leaves of them."""

import csv
import io
import json
import shutil
import signal
import subprocess
import time

from tracing import DFTRUN, ROOT, compile_program, dftmerge, environment, equal, live_files, run, run_checked, tracing, traces, true


class Sampled:
    """The program, with a file to read and a place for traces."""

    def __init__(self, directory):
        self.directory, self.place = directory, directory / "traces"
        self.program = compile_program("sampled.c", directory / "sampled", f"-I{ROOT / 'include'}")
        self.file = directory / "data"
        self.file.write_bytes(bytes(1 << 20))

    def run(self, *words, expect=0, **settings):
        done = run([self.program, self.file, *words], env=tracing(self.place / "t", **settings))
        equal((done.code, done.err), (expect, b""), "the program")
        return self

    def counters(self, *arguments):
        """counter -> its line of the answer; with --by process: a dictionary of these by pid."""
        done = dftmerge("counters", "--json", *arguments, self.place)
        lines = json.loads(done.out)["counters"]
        if "--by" not in arguments:
            return {line["name"]: line for line in lines}
        found = {}
        for line in lines:
            found.setdefault(line["pid"], {})[line["name"]] = line
        return found

    def summary(self, *arguments):
        return json.loads(dftmerge("summary", "--json", *arguments, self.place).out)


def own_bytes(counters, kind):
    return counters[f"{kind}char"]["change"] - counters[f"tracer_{kind}char"]["change"]


def test_bytes_are_those_of_the_program(directory):
    it = Sampled(directory).run("read", "write", "raw")
    counters = it.counters()
    equal((own_bytes(counters, "r"), own_bytes(counters, "w")), (100 * 1000 + 30 * 10, 50 * 70), "bytes of system calls")
    equal({name: c["samples"] for name, c in counters.items() if name in ("rchar", "rss_bytes")}, {"rchar": 2, "rss_bytes": 1},
          "a sample at the start and one at the end")
    true(counters["rss_bytes"]["last"] > 100 << 10 and counters["threads"]["last"] == 1, "levels at the end")
    true(counters["minor_faults"]["change"] > 0 and counters["syscr"]["change"] >= 130, "totals grow")


def test_what_was_not_seen_is_the_raw_calls(directory):
    it = Sampled(directory).run("read", "write")
    known = it.summary()["system_calls"]
    equal(known, {"processes": 1, "read_bytes": 100000, "written_bytes": 3500, "seen_read_bytes": 100000,
                  "seen_written_bytes": 3500, "unseen_read_bytes": 0, "unseen_written_bytes": 0}, "nothing unseen")
    true(b"not seen" not in dftmerge(it.place).out, "no line where nothing is unseen")
    it.run("read", "raw", "fork")
    known = it.summary("--run", "all")["system_calls"]
    equal((known["processes"], known["seen_read_bytes"], known["unseen_read_bytes"]), (3, 300000, 300), "with a child and raw calls")
    equal(it.summary("--run", "all", "--name", "pread*")["system_calls"], None, "not for a part of the calls")
    true(b"not seen" not in dftmerge("--run", "all", it.place).out, "no line for less than a hundredth")
    it.place = directory / "raw"
    true(b"not seen  300 B of 300 B read" in dftmerge(it.run("raw").place).out, "the line for people")


def test_aggregates_alone_compare_too(directory):
    it = Sampled(directory).run("read", "raw", ENABLE_AGGREGATION=1)
    known = it.summary()["system_calls"]
    equal((known["seen_read_bytes"], known["unseen_read_bytes"]), (100000, 300), "from rows")


def test_a_child_begins_with_zeros(directory):
    it = Sampled(directory).run("memory", "fork")
    child = next(c for c in it.counters("--by", "process").values() if own_bytes(c, "r") == 200 * 500)
    equal((child["rchar"]["first"], child["cpu_user_ns"]["first"]), (0, 0), "its first sample")
    program = next(c for c in it.counters("--by", "process").values() if own_bytes(c, "r") == 0)
    true(program["rss_bytes"]["last"] > 32 << 20 and program["rss_max_bytes"]["last"] >= program["rss_bytes"]["last"], "memory")


def test_at_most_one_sample_an_interval(directory):
    it = Sampled(directory).run("pause=600", TRACE_INTERVAL_MS=50)
    counters = it.counters()
    true(3 <= counters["rss_bytes"]["samples"] <= 14, f"{counters['rss_bytes']['samples']} samples in 12 or 13 intervals")
    equal(counters["rchar"]["samples"], counters["rss_bytes"]["samples"] + 1, "and the one at the start")
    equal(it.summary()["system_calls"]["unseen_read_bytes"], 0, "still nothing unseen")


def test_a_thread_samples_what_makes_no_calls(directory):
    before = time.monotonic()
    it = Sampled(directory).run("read", "sleep=600", "fork", SYSTEM_METRICS="thread", TRACE_INTERVAL_MS=50)
    most = (time.monotonic() - before) / 0.05 + 2
    every = it.counters("--by", "process").values()
    counters = max(every, key=lambda c: c["rss_bytes"]["samples"])
    true(6 <= counters["rss_bytes"]["samples"] <= most, f"{counters['rss_bytes']['samples']} samples in 12 to {most} intervals")
    equal(counters["threads"]["max"], 2, "the sampler is a thread")
    known = it.summary()["system_calls"]
    equal((len(every), known["processes"], known["unseen_read_bytes"]), (2, 1, 0), "not where the kernel counts a child twice")
    equal(dftmerge("check", it.place).code, 0, "whole traces")
    it.run("sleep=100", "exec=read", SYSTEM_METRICS="thread", TRACE_INTERVAL_MS=10)
    it.run("sleep=100", "kill", SYSTEM_METRICS="thread", TRACE_INTERVAL_MS=10, expect=-signal.SIGKILL)
    it.run("sleep=20", "fork", SYSTEM_METRICS="thread", TRACE_INTERVAL_MS=1)


def test_an_image_after_exec_has_its_own(directory):
    it = Sampled(directory).run("read", "exec=write")
    known = it.summary()["system_calls"]
    equal((known["processes"], known["unseen_read_bytes"], known["unseen_written_bytes"]), (2, 0, 0), "both images")


def test_switched_off(directory):
    it = Sampled(directory).run("read", SYSTEM_METRICS=0)
    done = dftmerge("counters", it.place)
    equal((done.code, done.out), (1, b""), "no counters")
    true(b"DFTRACER_SYSTEM_METRICS" in done.err, "and why")
    equal(it.summary()["system_calls"], None, "nothing to compare with")


def test_a_killed_process_keeps_its_samples(directory):
    it = Sampled(directory).run("pause=400", "read", "kill", expect=-signal.SIGKILL, TRACE_INTERVAL_MS=20)
    before = it.counters()
    true(before["rss_bytes"]["samples"] >= 3, "samples of a killed process")
    shutil.copytree(it.place, directory / "copy")
    equal(dftmerge("check", "--recover", it.place).code, 1, "recovered")
    equal((live_files(it.place), it.counters()), ([], before), "the same afterwards")
    merged = directory / "merged.dft"
    equal(dftmerge("merge", "-o", merged, it.place, directory / "copy").code, 0, "merge of both")
    equal({n: c["samples"] for n, c in json.loads(dftmerge("counters", "--json", merged).out)["counters"] and
           {c["name"]: c for c in json.loads(dftmerge("counters", "--json", merged).out)["counters"]}.items()},
          {n: c["samples"] for n, c in before.items()}, "no sample counts twice")
    equal(dftmerge("check", merged).code, 0, "a good archive")


def test_the_rank_whose_memory_rose_first(directory):
    it = Sampled(directory)
    words = (("pause=900",), ("pause=300", "solve=800"), ("after", "pause=500", "solve=200"), ("pause=900",))
    running = [subprocess.Popen([it.program, it.file, *some], env=tracing(it.place / "t", RANK=rank, WORLD_SIZE=4, TRACE_INTERVAL_MS=20))
               for rank, some in enumerate(words)]
    equal([process.wait(60) for process in running], [0] * 4, "the ranks")
    found = json.loads(dftmerge("ranks", "--json", it.place).out)["first_cause"]
    memory = found["memory"]
    equal((memory["measured"], memory["ranks"], memory["candidates"]), (True, 4, 2), "memory")
    first = memory["first_cause_suspects"][0]
    equal((first["rank"], first["region"]), (1, {"cat": "APP", "name": "solve"}), "the first, and what it was doing")
    true(first["peak_delta"] >= 64 << 20 and first["lead_over_cluster_onset_ns"] > 100e6, f"by how much and when: {first}")
    equal((found["cpu"]["measured"], found["gpu_memory"]["measured"]), (True, False), "what else there is")
    true(b"memory    rank 1's memory rose first" in dftmerge("ranks", it.place).out, "a line for people")
    spike = first["first_spike_timestamp_ns"]
    usual = {"schema_version": 2, "event_type": "sample", "collector": "test", "sampling_interval_ms": 10, "pid": 1, "host": "h",
             "job_id": "job", "local_rank": 0, "world_size": 4, "device_id": 0, "allocator_allocated_bytes": 0,
             "allocator_reserved_bytes": 0, "allocator_active_bytes": None, "allocator_inactive_bytes": None, "allocator_change_bytes": 0,
             "device_free_bytes": None, "device_total_bytes": None, "context": None, "metadata": {}}
    samples = [{**usual, "rank": rank, "timestamp_ns": spike + (i - 2) * 10**7, "device_used_bytes": (1 + (rank == 1 and i > 1)) << 30}
               for rank in range(4) for i in range(5)]
    (directory / "memory.json").write_text(json.dumps(samples))
    done = dftmerge("ranks", "--json", directory / "memory.json")
    if b"json-c" not in done.err:  # built with it
        equal([s["phase_attribution"] for s in json.loads(done.out)["first_cause_suspects"]], [None], "no phases without traces")
        done = dftmerge("ranks", "--json", "--phases", it.place, directory / "memory.json")
        suspect = json.loads(done.out)["first_cause_suspects"][0]
        phase = suspect["phase_attribution"]
        equal((suspect["rank"], phase["phase"], phase["category"]), (1, "solve", "APP"), "its phase")
        true(phase["start_timestamp_ns"] <= spike, "when it began")
        true(b", in solve" in dftmerge("ranks", "--phases", it.place, directory / "memory.json").out, "for people")
        equal(dftmerge("ranks", "--phases", directory / "nowhere", directory / "memory.json").code, 1, "traces that are not there")
        equal(dftmerge("ranks", "--phases", it.place, it.place).code, 2, "not of traces")
    equal(json.loads(dftmerge("ranks", "--json", "--rank", "0,3", it.place).out)["first_cause"]["memory"]["candidates"], 0, "a filter")


def tracks_of(it, *arguments):
    """name -> [(seconds, value)] of the counter tracks of an export, the number of slices, seconds of an interval."""
    path = it.directory / "trace.json"
    equal(dftmerge("export", "--format", "perfetto", "-o", path, *arguments, it.place).code, 0, "export")
    tracks, events, trace = {}, 0, json.loads(path.read_text())
    for event in trace["traceEvents"]:
        events += event["ph"] == "X"
        if event["ph"] == "C":
            tracks.setdefault(event["name"], []).append((event["ts"] / 1e6, event["args"]["value"]))
    return tracks, events, trace["otherData"].get("counter_width_ns", 0) / 1e9


def test_perfetto_has_counter_tracks(directory):
    for settings in ({}, {"ENABLE_AGGREGATION": 1}):
        shutil.rmtree(directory / "traces", ignore_errors=True)
        it = Sampled(directory).run("memory", "pause=300", "write", TRACE_INTERVAL_MS=50, **settings)
        tracks, events, width = tracks_of(it)
        equal(bool(events), not settings, "events where they are kept")
        calls = sum(g["count"] for g in it.summary("--cat", "POSIX")["groups"])
        equal((round(sum(v for _, v in tracks["calls/s"]) * width), round(sum(v for _, v in tracks["bytes written/s"]) * width)),
              (calls, 3500), "areas of the tracks")
        true(tracks["calls/s"][-1][1] == 0 and tracks["calls/s"] == sorted(tracks["calls/s"]), "in order, and it ends")
        true(max(v for _, v in tracks["rss_bytes"]) > 32 << 20 and tracks["rchar/s"][0][1] > 0, "samples")
        equal("rchar/s" in tracks_of(it, "--name", "write")[0], False, "a filter leaves samples out")
        equal({"bytes in flight"} & set(tracks), {"bytes in flight"} if not settings else set(), "levels come from events")


PAUSES = """
import os, sys, time
a = os.open("/etc/hostname", os.O_RDONLY)
time.sleep(0.12)
b = os.open("/etc/hostname", os.O_RDONLY)
c = os.dup(b)
time.sleep(0.12)
for fd in (a, b, c):
    os.close(fd)
file = os.open(sys.argv[1], os.O_RDONLY)
for _ in range(40):
    os.pread(file, 1 << 20, 0)
    time.sleep(0.005)
os.pipe()
"""


def test_perfetto_has_levels(directory):
    """Bytes in flight and files open, each counted again from a dump."""
    it = Sampled(directory)
    equal(run(["/usr/bin/python3", "-S", "-c", PAUSES, it.file], env=tracing(it.place / "t", TRACE_INTERVAL_MS=20)).code, 0, "traced")
    events = [json.loads(line) for line in dftmerge("dump", "--json", it.place).out.splitlines()]
    path = it.directory / "trace.json"
    for bounds in ((), ("--from", "0.1"), ("--from", "0.05", "--to", "0.3")):
        equal(dftmerge("export", "--format", "perfetto", "-o", path, *bounds, it.place).code, 0, "export")
        trace = json.loads(path.read_text())
        origin, width = int(trace["otherData"]["origin_ns"]), trace["otherData"]["counter_width_ns"]
        tracks = {name: [(origin + round(e["ts"] * 1000), e["args"]["value"]) for e in trace["traceEvents"]
                         if e["ph"] == "C" and e["name"] == name] for name in ("bytes in flight", "files open")}
        last = origin + int(float(bounds[3]) * 1e9) if len(bounds) > 2 else 2**63
        passing = [e for e in events if e["ts"] < last]
        calls = [(e["ts"], e["ts"] + e["dur"], e["bytes"]) for e in passing if e.get("bytes")]
        for i, (at, value) in enumerate(tracks["bytes in flight"]):
            start = at - (at - tracks["bytes in flight"][-1][0]) % width
            wanted = sum(n * max(0, min(b, start + width) - max(a, start)) for a, b, n in calls) / width
            true(value >= 0 and abs(value - wanted) <= 1e-6 * max(1, wanted), f"bytes in flight at {at}: {value}, not {wanted}")
        changes = [(e["ts"], change) for e in passing for change in
                   [1 if e["name"] in ("open", "opendir", "dup") or (e["name"], e.get("flags")) == ("fcntl", 1030) else
                    -1 if e["name"] in ("close", "closedir") else 0] if change and "errno" not in e]
        for i, (at, value) in enumerate(tracks["files open"]):
            if i or not bounds:
                equal(value, sum(change for ts, change in changes if ts < at), f"files open at {at}")
        true(len(bounds) > 2 or max(v for _, v in tracks["files open"]) == 3, "three at once")
        true(max(v for _, v in tracks["bytes in flight"]) > 0 or len(bounds) > 2, "some are in flight")


def test_counters_of_the_program_and_of_dftracer(directory):
    program = compile_program("annotated.c", directory / "annotated", f"-I{ROOT / 'include'}", "-lpthread")
    equal(run([program, directory / "file", "20"], env=tracing(directory / "own" / "t")).code, 0, "traced")
    (directory / "foreign").mkdir()
    lines = [{"id": i, "name": "memory", "cat": "sys", "pid": 5, "tid": 5, "ph": "C", "ts": 1_700_000_000_000_000 + i * 1000,
              "args": {"used": 10 + i, "free": 0.5}} for i in range(4)]
    lines.append({"id": 4, "name": "read", "cat": "POSIX", "pid": 5, "tid": 5, "ph": "X", "ts": 1_700_000_000_000_500, "dur": 5, "args": {"ret": 1}})
    (directory / "foreign" / "x.pfw").write_text("[\n" + "\n".join(map(json.dumps, lines)) + "\n")
    found = {}
    for place in ("own", "foreign"):
        done = dftmerge("counters", "--json", directory / place)
        found.update({(c["cat"], c["name"]): c for c in json.loads(done.out)["counters"]})
    depth = found["APP", "queue_depth"]
    equal((depth["samples"], depth["min"], depth["max"], depth["kind"]), (40, 0, 19, "level"), "of the program")
    used, free = found["sys", "memory used"], found["sys", "memory free"]
    equal((used["samples"], used["first"], used["last"], free["mean"]), (4, 10, 13, 0.5), "of DFTracer")


NVML = """
struct memory { unsigned long long total, free, used; };
struct use { unsigned gpu, memory; };
static int devices[2] = {0, 1};
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device) { *device = &devices[i]; return 0; }
int nvmlDeviceGetMemoryInfo(void *device, struct memory *m) { m->used = (1ull << 30) * (1 + *(int *)device); return 0; }
int nvmlDeviceGetUtilizationRates(void *device, struct use *u) { u->gpu = 40 + *(int *)device; return 0; }
"""


def fake_node(root):
    """A tree with what this machine may not have. The numbers are in the columns of the kernel's manuals."""
    files = {"proc/stat": "cpu  100 1 50 900 7 0 0 0 0 0\ncpu0 999 9 9 9 9 9 9 0 0 0\nctxt 12345\nprocs_running 3\n",
             "proc/meminfo": "MemTotal: 1000 kB\nMemFree: 400 kB\n",
             "proc/diskstats": "8 0 sda 10 0 16 5 20 0 32 6 0 11 0\n8 1 sda1 10 0 16 5 20 0 32 6 0 11 0\n",
             "proc/net/dev": "Inter-|\n face |\n  ib0: 5000 1 0 2 0 0 0 0 700 1 0 3 0 0 0 0\n",
             "proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n",
             "proc/self/mountstats": "device srv:/x mounted on /home with fstype nfs4 statvers=1.1\n\tbytes:\t1 2 3 4 555 666 7 8\n",
             "proc/fs/lustre/llite/scratch-1/stats": "read_bytes 4 samples [bytes] 1 9 4096\nopen 8 samples [usecs] 1 2 3\n"}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "sys/block/sda").mkdir(parents=True)
    return root


def test_a_node_is_sampled_once(directory):
    it = Sampled(directory)
    (directory / "nvml.c").write_text(NVML)
    run_checked(["cc", "-shared", "-fPIC", "-o", directory / "libnvidia-ml.so.1", directory / "nvml.c"])
    env = environment(LD_LIBRARY_PATH=directory, DFT_NODE_ROOT=fake_node(directory / "root"), DFTRACER_TRACE_INTERVAL_MS=50)
    command = [str(w) for w in (DFTRUN, "--node", "--no-summary", "-o", it.place, "--", it.program, it.file, "pause=400")]
    running = [subprocess.Popen(command, env=env) for _ in range(3)]
    equal([process.wait(60) for process in running], [0] * 3, "three at once")
    equal((len(list(it.place.glob("node-*.dft"))), list(it.place.glob(".node*"))), (1, []), "one file, and no lock is left")
    lines = {(c["cat"], c["name"]): c["last"] for c in json.loads(dftmerge("counters", "--run", "all", "--json", it.place).out)["counters"]}
    wanted = {("node", "cpu_user_ns"): 101 * 10**7, ("node", "cpu_iowait_ns"): 7 * 10**7, ("node", "context_switches"): 12345,
              ("node", "memory_total_bytes"): 1000 << 10, ("disk", "sda read_bytes"): 16 * 512, ("disk", "sda busy_ns"): 11 * 10**6,
              ("network", "ib0 received_bytes"): 5000, ("network", "ib0 sent_bytes"): 700, ("network", "ib0 dropped"): 5,
              ("pressure", "io some_ns"): 77000, ("nfs", "/home read_bytes"): 555, ("nfs", "/home written_bytes"): 666,
              ("lustre", "scratch-1 read_bytes"): 4096, ("lustre", "scratch-1 open"): 8, ("gpu", "1 memory_used_bytes"): 2 << 30,
              ("gpu", "0 use_percent"): 40}
    equal({key: lines.get(key) for key in wanted}, wanted, "counters of the node")
    true(not any(name.startswith("sda1") for _, name in lines), "partitions would count twice")
    found = it.summary("--run", "all")
    equal((found["processes"], found["pids"]), (3, 3), "it is no process of the program")
    equal(dftmerge("check", it.place).code, 0, "whole traces")
    done = run([DFTRUN, "--node", "--no-summary", "-o", directory / "real", "--", "true"], env=environment())
    equal((done.code, done.err), (0, b""), "the node as it is")
    equal(json.loads(dftmerge("counters", "--json", "--name", "memory_total_bytes", directory / "real").out)["counters"][0]["last"] > 0, True,
          "memory of this node")


def test_forms_of_the_answer(directory):
    it = Sampled(directory).run("read", "fork")
    equal(len(it.counters("--by", "process")), 2, "a process each")
    lines = json.loads(dftmerge("counters", "--json", "--by", "process,rank,host", it.place).out)["counters"]
    known = json.loads((ROOT / "docs" / "schema" / "counters.json").read_text())["properties"]["counters"]["items"]
    for line in lines:
        true(set(known["required"]) <= set(line) <= set(known["properties"]), f"members of {line}")
    lines = list(csv.DictReader(io.StringIO(dftmerge("counters", "--csv", "--by", "host,rank", it.place).out.decode())))
    line = next(line for line in lines if line["name"] == "rchar")
    equal((line["unit"], line["kind"], line["processes"], line["rank"]), ("bytes", "total", "2", ""), "CSV")
    text = dftmerge("counters", "--name", "rss*,rchar", it.place).out.decode()
    equal([row.split()[:2] for row in text.splitlines()[1:4]],
          [["process", "rchar"], ["process", "rss_bytes"], ["process", "rss_max_bytes"]], "a table")
    equal(" ".join(text.split("\n", 4)[4].split()), "of several processes, first and last are sums; min and max are of one sample", "what two processes have")
    true("are sums" not in dftmerge("counters", "--by", "process", it.place).out.decode(), "of one process nothing is a sum")
    done = dftmerge("counters", "--by", "nosuch", it.place)
    true(done.code == 2 and b"process, rank, host" in done.err, "a wrong key")
    equal(len(traces(it.place)), 2, "two traces")
    equal(dftmerge("debug", "stat", "--json", it.place).code, 0, "stat knows them")
    true("SERIES" in json.loads(dftmerge("debug", "stat", "--json", it.place).out)["types"]["COUNTERS"]["columns"], "columns have names")
