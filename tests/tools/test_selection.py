# SPDX-License-Identifier: MIT
"""One language of selections: a group of `merge --group` and a layer of `layers --preset` with KEY=VALUE have the events
that `dump --KEY VALUE` has, for every class, name, category, path and region."""

import json

from tooltest import counts, dftmerge, dump, make

CLASSES = ("none", "read", "write", "sync", "meta", "wait", "startup", "metadata", "start-up", "READ", "read,sync", "meta,none")


def events_of(path):
    return sorted(json.dumps(e, sort_keys=True) for e in dump(path)) if path.exists() else []


def group(where, line, path):
    """The events of one group."""
    out = where / "groups"
    for old in out.glob("*") if out.exists() else ():
        old.unlink()
    dftmerge("merge", "-q", "-o", out, "--group", f"it: {line}", path)
    return events_of(out / "it.dft")


def layer(where, line, path):
    """The number of calls of one layer."""
    (where / "preset").write_text(f"it {line}\n")
    answer = json.loads(dftmerge("layers", "--json", "--preset", where / "preset", path, expect=None).out)
    return next(one["ops"] for one in answer["layers"] if one["layer"] == "it")


def words(events):
    """(key, option, value)"""
    for one in CLASSES:
        yield "class", "--class", one
    for key, option, field in (("name", "--name", "name"), ("cat", "--cat", "cat"), ("path", "--file", "file"), ("region", "--region", "region")):
        found = sorted({e[field] for e in events if e.get(field) and not set(e[field]) & set("*?[\\,!\"# \t") and e[field].isprintable()})
        for one in found[:12]:
            yield key, option, one
        for one in (found[0][:-1] + "*", "!" + found[0], ",".join(found[:2]), "*,!" + found[-1]):
            yield key, option, one
    for one in ("in/*", "*.bin", "!*.bin", "/data/*,!/data/in/*"):
        yield "path", "--file", one


def test_rules_are_options(where):
    path = make(where / "t", seed=3, processes=2, events=300)
    everything, met = dump(path), set()
    for key, option, value in words(everything):
        wanted = [json.dumps(e, sort_keys=True) for e in dump(option, value, path, expect=None)]
        if key == "region":  # a group has the region itself as well
            itself = {json.dumps(e, sort_keys=True) for e in dump("--op", "region", "--name", value, path, expect=None)}
            wanted = sorted(itself | set(wanted))
        assert group(where, f'{key}="{value}"', path) == sorted(wanted), (key, value)
        if wanted:
            met.add(key)
    assert met == {"class", "name", "cat", "path", "region"}, met


def test_layers_are_options(where):
    path = make(where / "t", seed=4, processes=1, events=200)
    met = set()
    for key, option, value in words(dump(path)):
        events = dump(option, value, path, expect=None)
        if key in ("cat", "name") and value.lower() != value:
            continue  # letters fit in either case there
        got = layer(where, f"{key}={value}", path)
        assert got == sum(e.get("calls", 1) for e in events if counts(e)), (key, value, got)
        if got:
            met.add(key)
    assert met == {"class", "name", "path", "region", "cat"}, met


def test_a_comma_in_a_name(where):
    path = make(where / "t", seed=3, processes=2, events=300)
    odd = next(e["file"] for e in dump(path) if "," in e.get("file", ""))
    value = odd.replace("\\", "\\\\").replace(",", "\\,").replace("*", "\\*").replace("[", "\\[").replace("?", "\\?")
    wanted = sorted(json.dumps(e, sort_keys=True) for e in dump("--file", value, path))
    assert wanted and group(where, f'path="{value}"', path) == wanted
    assert all(odd in (json.loads(e).get("file"), json.loads(e).get("file2")) for e in wanted)


def test_the_same_words_are_refused(where):
    path = make(where / "t", processes=1, events=20)
    (where / "preset").write_text("it class=raed\n")
    says = "there is no class 'raed'. Did you mean read? There are none, read, write, sync, meta, wait, startup"
    for command in (("dump", "--class", "raed"), ("merge", "-o", where / "g", "--group", "it: class=raed"), ("layers", "--preset", where / "preset")):
        assert says in dftmerge(*command, path, expect=2).err, command
