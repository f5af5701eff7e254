# SPDX-License-Identifier: MIT
"""What fuzz_calls wrote down: its calls, one by one, and whether two runs did the same."""

import collections

# number: of the operation in its worker; index: of the call in its log; facts: strings by key
Call = collections.namedtuple("Call", "worker number index name facts")


class Log:
    """The calls of one thread, or of one process."""

    def __init__(self, worker, pid, tid, calls):
        self.worker, self.pid, self.tid, self.calls = worker, pid, tid, calls


def read(path):
    lines = path.read_bytes().rstrip(b"\0").decode("utf-8", "surrogateescape").splitlines()
    _, pid, tid = lines[0].split("\t")
    calls = []
    for index, line in enumerate(lines[1:]):
        number, name, *facts = line.split("\t")
        calls.append(Call(path.name, int(number), index, name, dict(f.split("=", 1) for f in facts if f)))
    return Log(path.name, int(pid), int(tid), calls)


def read_all(directory):
    return {path.name: read(path) for path in sorted(directory.iterdir()) if path.name.startswith("w")}


def get(call, key, default=None):
    """A fact, also one that may differ between runs."""
    return call.facts.get(key, call.facts.get("~" + key, default))


def number(call, key, default=0):
    value = get(call, key)
    return default if value is None else int(value)


def text(call):
    facts = " ".join(f"{k}={v}" for k, v in call.facts.items() if v and k not in ("by", "seen", "origin"))
    return f"{call.worker}:{call.number} {call.name} {facts}"


def stable(call):
    return call.number, call.name, {k: v for k, v in call.facts.items() if not k.startswith("~")}


def differences(plain, traced):
    """Where the second run did something else than the first: (operation's call, text)."""
    found = []
    for worker in sorted(set(plain) | set(traced)):
        if worker not in plain or worker not in traced:
            found.append((None, f"{worker}: ran only {'plain' if worker in plain else 'traced'}"))
            continue
        a, b = plain[worker].calls, traced[worker].calls
        for one, other in zip(a, b):
            if stable(one) != stable(other):
                found.append((other, f"plain:  {text(one)}\n    traced: {text(other)}"))
                break
        else:
            if len(a) != len(b):
                found.append((None, f"{worker}: {len(a)} calls plain, {len(b)} traced"))
    return found
