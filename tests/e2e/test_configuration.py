# SPDX-License-Identifier: MIT
"""Files of settings and of rules, and limits: what they set, what is wrong with them, and that no program ever ends for them."""

import json
import os

import pytest

from tracing import ROOT, dftmerge, environment, equal, LIBRARY, run, true

NO_YAML = b"this build cannot read YAML: install libyaml-dev"
INPUT = ROOT / "CMakeLists.txt"


def configured(directory, name, text, enable=None, command=("cat", INPUT), **variables):
    """A run with this file of settings: its options, what was said on descriptor 2, whether there is a trace."""
    file, out = directory / f"{name}.yaml", directory / name
    if isinstance(text, str):
        text = text.encode()
    if text is not None:
        file.write_bytes(text)
    env = environment(LD_PRELOAD=LIBRARY, DFTRACER_CONFIGURATION=file, DFTRACER_LOG_FILE=out / "t", DFTRACER_ENABLE=enable,
                      **{"DFTRACER_" + k: v for k, v in variables.items()})
    done = run(command, env=env)
    equal((done.code, done.out), (0, INPUT.read_bytes()), f"{name}: the program")
    if NO_YAML in done.err:
        pytest.skip("built without libyaml")
    options = ""
    if out.exists():
        options = json.loads(dftmerge("ps", "--json", out).out)["processes"][0]["options"]
    return options.splitlines(), done.err.decode().splitlines(), out.exists()


KEYS = {
    "profiler": {"init": ("PRELOAD", "DFTRACER_INIT=1"), "data_dirs": ("[/tmp, /usr]", "DFTRACER_DATA_DIR=/tmp:/usr"),
                 "log_level": ("INFO", "DFTRACER_LOG_LEVEL=2"), "compression": ("off", "DFTRACER_TRACE_COMPRESSION=0"),
                 "interval_ms": ("250", "DFTRACER_TRACE_INTERVAL_MS=250")},
    "features": {"metadata": ("false", "DFTRACER_INC_METADATA=0"), "tid": ("no", "DFTRACER_DISABLE_TIDS=1")},
    "internal": {"bind_signals": ("yes", "DFTRACER_BIND_SIGNALS=1")},
}


def test_every_key_sets_its_variable(directory):
    number = 0
    for above, keys in KEYS.items():
        for key, (value, option) in keys.items():
            for group in (above, "tracer") if above == "profiler" else (above,):
                options, err, _ = configured(directory, str(number), f"enable: true\n{group}:\n  {key}: {value}\n")
                true(option in options, f"{group}.{key}: {options}")
                equal([line for line in err if "error" in line], [], f"{group}.{key}: told")
                number += 1
    options, err, _ = configured(directory, "string", "enable: on\nprofiler: {data_dirs: '/tmp:!/tmp/x'}\n")
    true("DFTRACER_DATA_DIR=/tmp:!/tmp/x" in options and not err, f"{options} {err}")
    for key, option in (("stdio", "DISABLE_STDIO"), ("posix", "DISABLE_POSIX"), ("enable", "DISABLE_IO")):
        text = f"enable: 1\nfeatures: {{io: {{{key}: off}}}}\n"
        options, err, _ = configured(directory, key, text, command=("sh", "-c", f"cat {INPUT}"))
        true(err == [] and (key != "stdio" or f"DFTRACER_{option}=1" in options), f"{key}: {options} {err}")
    options, err, _ = configured(directory, "aggregation", "enable: 1\nfeatures:\n  aggregation:\n    enable: true\n")
    true("DFTRACER_ENABLE_AGGREGATION=1" in options and not err, f"{options} {err}")
    accepted = "enable: 1\ngotcha:\n  priority: 1\nfeatures:\n  core_affinity: true\ninternal:\n  throw_error: no\n  write_buffer_size: 4096\n"
    equal(configured(directory, "accepted", accepted)[1], [], "keys without effect")


def test_the_environment_overrides_the_file(directory):
    text = "enable: true\nprofiler:\n  interval_ms: 250\n  compression: off\n"
    options, _, _ = configured(directory, "both", text, TRACE_INTERVAL_MS=500)
    true("DFTRACER_TRACE_INTERVAL_MS=500" in options and "DFTRACER_TRACE_COMPRESSION=0" in options, f"{options}")
    equal(configured(directory, "off", text, enable=0)[1:], ([], False), "switched off from outside")
    equal(configured(directory, "broken-off", "[", enable=0)[1:], ([], False), "then the file is not even read")
    equal(configured(directory, "unset", "profiler:\n  interval_ms: 250\n")[2], False, "nothing switches it on")
    equal(configured(directory, "false", "enable: false\n")[1:], ([], False), "switched off by the file")


def test_unknown_keys_are_told_and_the_rest_applies(directory):
    text = "enable: true\nprofiler:\n  interval_ms: 250\n  compresion: off\nfeaturs:\n  tid: no\n? [a]\n: 1\n"
    options, err, _ = configured(directory, "unknown", text)
    true("DFTRACER_TRACE_INTERVAL_MS=250" in options, f"{options}")
    equal([line.split(": ", 3)[3] for line in err],
          ["line 4, column 3: there is no key profiler.compresion; the nearest is profiler.compression",
           "line 5, column 1: there is no key featurs; the nearest is features", "line 7, column 3: this is no key"], "told")
    text = "enable: maybe\nprofiler: 5\nfeatures:\n  io: [posix]\n  tid: [1]\n"
    _, err, recorded = configured(directory, "values", text, enable=1)
    true(recorded and [line.split(": ", 3)[3].split(", ")[0] for line in err] == ["line 1", "line 2", "line 4", "line 5"], f"{err}")
    text = "enable: 1\nprofiler:\n  interval_ms: 0\n"
    options, err, _ = configured(directory, "outside", text)
    true(len(err) == 1 and "line 3, column 16: profiler.interval_ms: it is outside" in err[0], f"{err}")


def test_a_broken_file_harms_nobody(directory):
    """Told once, with the place, and nothing of the file is applied."""
    good = "enable: true\nprofiler:\n  interval_ms: 250\n"
    for name, text, said in (("missing", None, "No such file or directory"), ("open", good + "x: [1", "line "),
                             ("tab", good + "\t- x", "line 4"), ("bytes", os.urandom(3000) + b"\xff\x00", "line "),
                             ("deep", "[" * 100000, "line 1, column 1001: over 1,000 brackets"), ("large", "#" + "x" * (1 << 20), "larger than 1 MiB"),
                             ("empty", "", "no keys"), ("text", "enable", "no keys"), ("list", "- enable", "no keys")):
        options, err, recorded = configured(directory, name, text, enable=1)
        true(len(err) == 1 and f"/{name}.yaml has no effect: " in err[0] and said in err[0], f"{name}: {err}")
        true(recorded and "DFTRACER_TRACE_INTERVAL_MS=250" not in options, f"{name}: {options}")
        _, err, recorded = configured(directory, name + "-alone", text)
        true(not recorded and len(err) == 1 and err[0].endswith("; nothing is recorded"), f"{name} alone: {err}")
    folder = directory / "folder.yaml"
    folder.mkdir()
    _, err, _ = configured(directory, "folder", None, enable=1)
    true("Is a directory" in err[0], f"{err}")
    os.mkfifo(directory / "pipe.yaml")
    _, err, _ = configured(directory, "pipe", None, enable=1)
    true(len(err) == 1, f"a pipe that nobody writes to: {err}")


def test_one_process_tells(directory):
    command = ("sh", "-c", f"cat {INPUT} >/dev/null; (cat {INPUT}); exec true")
    _, err, _ = configured(directory, "tree", "enable: 1\nx: 1\n", command=command)
    equal(len(err), 1, f"lines: {err}")


def ruled(directory, name, text, **variables):
    file = directory / f"{name}-rules.yaml"
    file.write_text(text)
    env = environment(LD_PRELOAD=LIBRARY, DFTRACER_ENABLE=1, DFTRACER_LOG_FILE=directory / name / "t",
                      **{"DFTRACER_" + k: v for k, v in {"AGGREGATION_TYPE": "SELECTIVE", "AGGREGATION_FILE": file, **variables}.items()})
    done = run(["cat", INPUT], env=env)
    equal((done.code, done.out), (0, INPUT.read_bytes()), f"{name}: the program")
    if NO_YAML in done.err:
        pytest.skip("built without libyaml")
    return done.err.decode().splitlines()


def test_a_wrong_rule_is_told_with_its_place(directory):
    for name, text, said in (
            ("field", "inclusion:\n  - \"name == 'read' AND durr < 5\"\n", "line 2, column 25: there is no field 'durr'; the nearest is 'dur'"),
            ("unit", "inclusion:\n  - dur < 5 msec\n", "line 2, column 13: AND or OR is to stand here, not 'msec'"),
            ("exclusion", "inclusion:\n  - dur < 5\nexclusion: ['dur >']\n", "line 3, column 19: the rule ends too early"),
            ("key", "include:\n  - dur < 5\n", "line 1, column 1: there is no key 'include'; the nearest is 'inclusion'"),
            ("map", "inclusion:\n  - a: b\n", "line 2, column 5: a rule is a text"),
            ("scalar", "inclusion: dur < 5\n", "line 1, column 12: inclusion is no list of rules"),
            ("broken", "inclusion: [\n", "line 2, column 1: "), ("nothing", "", "neither inclusion nor exclusion"),
            ("alone", "exclusion:\n  - dur < 5\n", "inclusion names nothing"), ("bare", "inclusion:\n", "inclusion names nothing")):
        err = ruled(directory, name, text)
        true(len(err) == 1 and said in err[0] and err[0].endswith("; no rule is applied, and all events are kept"), f"{name}: {err}")
        events = json.loads(dftmerge("summary", "--json", directory / name).out)
        equal(events["events"], events["events_kept"], f"{name}: all events are kept")
    equal(ruled(directory, "right", "inclusion:\n  - cat == 'nothing'\nexclusion:\n"), [], "a right file")


def test_combinations_without_effect_are_told(directory):
    rules = "inclusion: ['name == read']\n"
    for name, variables, said in (
            ("type", {"AGGREGATION_FILE": ""}, "AGGREGATION_TYPE=SELECTIVE has no effect: there are no rules: set DFTRACER_AGGREGATION_FILE"),
            ("file", {"AGGREGATION_TYPE": "FULL"}, "has no effect: rules need DFTRACER_AGGREGATION_TYPE=SELECTIVE"),
            ("zero", {"ENABLE_AGGREGATION": 0}, "AGGREGATION_TYPE=SELECTIVE has no effect: aggregates alone are off"),
            ("percent", {"MAX_OVERHEAD_PERCENT": 101}, "MAX_OVERHEAD_PERCENT=101 has no effect: it is outside 1 ... 100"),
            ("none", {"MAX_OVERHEAD_PERCENT": 0}, "MAX_OVERHEAD_PERCENT=0 has no effect: it is outside 1 ... 100"),
            ("word", {"MAX_OVERHEAD_PERCENT": "x"}, "MAX_OVERHEAD_PERCENT=x has no effect: the value is not understood"),
            ("bytes", {"MAX_TRACE_BYTES": 5}, "MAX_TRACE_BYTES=5 has no effect: it is below 65536")):
        err = ruled(directory, name, rules, **variables)
        true(len(err) == 1 and said in err[0], f"{name}: {err}")
    none = {"AGGREGATION_TYPE": "FULL", "AGGREGATION_FILE": "", "ENABLE_AGGREGATION": 1}
    err = ruled(directory, "no-events", rules, MAX_OVERHEAD_PERCENT=5, MAX_TRACE_BYTES=1 << 20, **none)
    true(len(err) == 2 and all("there are no events to stop" in line for line in err), f"{err}")
    equal(ruled(directory, "enabled", rules, ENABLE_AGGREGATION=1), [], "as DFTracer has it")
    equal(ruled(directory, "limits", rules, MAX_OVERHEAD_PERCENT=5, MAX_TRACE_BYTES=1 << 20), [], "limits")


def test_rules_in_the_file_of_settings(directory):
    text = "enable: 1\nfeatures:\n  aggregation:\n    enable: 1\n    type: SELECTIVE\n    inclusion:\n      - nam == read\n"
    _, err, _ = configured(directory, "wrong", text)
    true(len(err) == 1 and "line 7, column 9: there is no field 'nam'; the nearest is 'name'" in err[0], f"{err}")
    equal(configured(directory, "right", text.replace("nam ", "name "))[1], [], "right")
    _, err, _ = configured(directory, "without", "enable: 1\nfeatures:\n  aggregation:\n    type: SELECTIVE\n")
    true(len(err) == 1 and "line 4, column 11: features.aggregation.type: there are no rules" in err[0], f"{err}")
