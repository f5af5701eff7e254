# SPDX-License-Identifier: MIT
"""Regions of Python programs: what stands in the trace is what the program did."""

from __future__ import annotations

import pathlib

from traced import python


def test_a_region_of_each_form(tmp_path: pathlib.Path) -> None:
    done = python("""
        import dftrace
        assert dftrace.enabled() and dftrace.why_off() is None
        @dftrace.region
        def plain(a, *, b=2):
            return a + b
        class Thing:
            @dftrace.region("made", category="IO", size=1.5, what="x")
            def method(self, x):
                return x
            @dftrace.region
            @staticmethod
            def fixed(x):
                return x
            @classmethod
            @dftrace.region
            def of_class(cls, x):
                return cls, x
        assert plain(1) == 3 and plain(1, b=5) == 6
        assert Thing().method(3) == 3 and Thing.fixed(4) == 4 and Thing.of_class(5) == (Thing, 5)
        with dftrace.region("checkpoint", step=3) as r:
            r.update(loss=0.1)
            dftrace.instant("now", x="y")
        dftrace.counter("depth", 4)
    """, tmp_path)
    events = {event["name"]: event for event in done.events() if event["cat"] in ("APP", "IO")}
    assert len(done.named("plain")) == 2
    assert events["made"]["cat"] == "IO" and events["made"]["args"] == {"size": 1.5, "what": "x"}
    assert "Thing.fixed" in events and "Thing.of_class" in events
    assert events["checkpoint"]["args"] == {"step": 3, "loss": 0.1}
    assert events["now"]["region"] == "checkpoint" and events["now"]["args"] == {"x": "y"}
    assert events["depth"]["args"] == {"value": 4}
