# SPDX-License-Identifier: MIT
"""dftmerge plot: every picture is well-formed, and each bar has the number that the other commands say."""

import json
import math
import re
import xml.etree.ElementTree as ElementTree

from tooltest import BUILD, dftmerge, make, run, summary

SVG = "{http://www.w3.org/2000/svg}"
KINDS = ("bandwidth", "heatmap", "sizes", "latency", "overlap", "files")
SHADES = 15


def plot(kind, *arguments):
    return ElementTree.fromstring(dftmerge("plot", "--kind", kind, "-o", "-", *arguments).out)


def answer(command, *arguments):
    return json.loads(dftmerge(command, "--json", *arguments).out)


def marks(picture, element, *attributes):
    """The elements with all these attributes."""
    return [e for e in picture.iter(SVG + element) if all(e.get(a) is not None for a in attributes)]


def texts(picture):
    return " ".join(e.text or "" for e in picture.iter(SVG + "text"))


def ranks(where, **settings):
    done = run(BUILD / "bin" / "make_ranks", where, *(f"{k}={v}" for k, v in settings.items()))
    assert done.code == 0, done.err
    return where


def test_bandwidth_is_that_of_the_timeline(where):
    make(where / "short", ranks=1, processes=3)
    ranks(where / "long", ranks=5, seconds=60)
    for folder, filters in (("short", []), ("long", []), ("long", ["--rank", "2"]), ("long", ["--class", "write"])):
        line = answer("timeline", "--width", "120", *filters, where / folder)
        picture = plot("bandwidth", *filters, where / folder)
        for css, member in (("read", "read"), ("write", "written")):
            found = {int(e.get("data-t-ns")): int(e.get("data-bytes")) for e in marks(picture, "rect", "data-bytes") if e.get("class") == css}
            assert found == {i["t_ns"]: i[member] for i in line["intervals"] if i[member]}, (folder, css)
        found = {int(e.get("data-t-ns")): int(e.get("data-busy-union-ns")) for e in marks(picture, "rect", "data-busy-union-ns")}
        assert found == {i["t_ns"]: i["busy_union_ns"] for i in line["intervals"] if i["busy_union_ns"]}, folder
        assert any(i["read"] + i["written"] for i in line["intervals"])


def test_bars_lie_inside(where):
    make(where, ranks=1, processes=3)
    for kind in KINDS:
        for size in (("300", "300"), ("1500", "600")):
            picture = plot(kind, "--width", size[0], "--height", size[1], where)
            assert picture.get("viewBox") == f"0 0 {size[0]} {size[1]}"
            bars = [e for e in picture.iter(SVG + "rect") if e.get("x") and e.get("class")]
            assert bars or kind == "heatmap", kind
            for bar in bars:
                x, y, width, height = (float(bar.get(a)) for a in ("x", "y", "width", "height"))
                assert width >= 0 and height >= 0, (kind, bar.attrib)
                assert kind == "overlap" or y >= 0 and y + height <= int(size[1]) and x >= -80 and x + width <= int(size[0]) + 1, (kind, bar.attrib)


def cells_of(picture):
    """Shades by line and column."""
    cells = {}
    for path in marks(picture, "path", "data-shade"):
        for x, y, n in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", path.get("d")):
            for at in range(int(x), int(x) + int(n)):
                assert (int(y), at) not in cells
                cells[int(y), at] = int(path.get("data-shade"))
    return cells


def test_the_map_is_that_of_the_timeline(where):
    ranks(where, ranks=250, seconds=20, slow=7, at=5, skip=9)
    line = answer("timeline", "--heat", "--width", "120", where)
    picture = plot("heatmap", where)
    (cells,) = marks(picture, "svg", "data-each")
    each = int(cells.get("data-each"))
    assert each == 3 and int(cells.get("data-width-ns")) == line["width_ns"] and int(cells.get("data-t-ns")) == line["intervals"][0]["t_ns"]
    end = line["start_ns"] + line["wall_ns"]
    values = {}
    for series in line["series"]:
        for at, value in enumerate(series["values"]):
            first = line["intervals"][at]["t_ns"]
            span = max(1, min(first + line["width_ns"], end) - max(first, line["start_ns"]))
            key = series["rank"] // each, at
            values[key] = max(values.get(key, 0), value / span)
    values = {key: value for key, value in values.items() if value}
    least, most = min(values.values()), max(values.values())
    shades = cells_of(picture)
    assert shades.keys() == values.keys() and len(shades) > 1000
    for key, shade in shades.items():
        exact = 1 + (SHADES - 0.001) * math.log(values[key] / least) / math.log(most / least)
        assert exact - 1.001 <= shade <= exact + 0.001, (key, shade, exact)
    assert "Most I/O time: rank 7 " in texts(picture) and "Without I/O: 1 of 250" in texts(picture)
    assert "largest of 3 neighbours" in texts(picture)
    assert re.search(r"[0-9] [num]?s in I/O", texts(picture)) and "A column is" in texts(picture), "colours have a unit"


def test_axis_titles_stand_above_their_numbers(where):
    make(where, ranks=1, processes=3)
    for kind in ("bandwidth", "heatmap", "latency"):
        picture = plot(kind, where)
        found = [e for e in marks(picture, "text", "class") if e.get("class") == "label" and e.get("text-anchor") == "start"]
        numbers = [float(e.get("y")) for e in marks(picture, "text", "class") if e.get("class") == "number" and e.get("text-anchor") == "end"]
        assert found and not any(e.get("transform") for e in picture.iter(SVG + "g")), kind
        assert all(float(e.get("y")) + 2 < min(y for y in numbers if y > float(e.get("y"))) for e in found), kind


def test_rows_have_their_numbers_in_the_middle(where):
    picture = plot("heatmap", ranks(where, ranks=8, seconds=5))
    numbers = [e for e in marks(picture, "text", "class") if e.get("class") == "number" and e.get("text-anchor") == "end"]
    (cells,) = marks(picture, "svg", "data-each")
    top, high = float(cells.get("y")), float(cells.get("height"))
    assert [e.text for e in numbers] == [str(rank) for rank in range(8)], [e.text for e in numbers]
    for rank, e in enumerate(numbers):
        assert abs(float(e.get("y")) - 4 - (top + (rank + 0.5) * high / 8)) < 0.2, (rank, e.attrib)


def test_a_legend_is_not_beside_the_title(where):
    make(where, ranks=1, processes=3)
    for kind in ("bandwidth", "heatmap", "sizes", "overlap"):
        found = marks(plot(kind, where), "text", "class")
        (title,) = [float(e.get("y")) for e in found if e.get("class") == "title"]
        legends = [float(e.get("y")) for e in found if e.get("class") == "legend"]
        small = [float(e.get("y")) for e in found if e.get("class") == "small" and float(e.get("y")) < 70]
        assert legends and min(legends) > max([title, *small]) + 10, (kind, legends)


def test_sizes_and_latency_are_those_of_the_summary(where):
    make(where, ranks=1, processes=3)
    for filters in ([], ["--rank", "1"], ["--class", "read"], ["--file", "*.bin"], ["--from", "0.2", "--to", "0.6"]):
        (histogram,) = summary("--hist", "--all", *filters, where)["histograms"]
        picture = plot("sizes", *filters, where)
        for attribute, member in (("data-count", "count"), ("data-time-ns", "time_ns")):
            found = {e.get("data-size"): int(e.get(attribute)) for e in marks(picture, "rect", "data-size", attribute)}
            assert found == {s["size"].split("-")[0]: s[member] for s in histogram["sizes"] if s["size"]}, filters
        picture = plot("latency", *filters, where)
        found = {int(e.get("data-from-ns")): int(e.get("data-count")) for e in marks(picture, "rect", "data-from-ns")}
        assert {k: v for k, v in found.items() if v} == {d["from_ns"]: d["count"] for d in histogram["durations"]}, filters
        for p in ("p50", "p95", "p99"):
            lines = marks(picture, "line", f"data-{p}-ns")
            assert [int(e.get(f"data-{p}-ns")) for e in lines] == [histogram[f"time_{p}_ns"]] if lines else histogram[f"time_{p}_ns"] is None


def test_overlap_is_that_of_the_command(where):
    ranks(where, ranks=40, seconds=10, slow=3)
    teams = {f"rank {t['rank']}": t for t in answer("overlap", where)["ranks"]}
    for height, least in (("400", 10), ("3000", 40)):
        lines = marks(plot("overlap", "--height", height, where), "g", "data-line")
        assert least <= len(lines) <= 40
        exposed = [teams[line.get("data-line")]["exposed_ns"] for line in lines]
        assert exposed == sorted((t["exposed_ns"] for t in teams.values()), reverse=True)[:len(lines)]
        for line in lines:
            team = teams[line.get("data-line")]
            parts = {e.get("class"): int(e.get(f"data-{e.get('class')}-ns")) for e in line.iter(SVG + "rect")}
            expected = {"compute": team["compute_ns"] - team["hidden_ns"], "hidden": team["hidden_ns"], "exposed": team["exposed_ns"], "idle": team["idle_ns"]}
            assert parts == {k: v for k, v in expected.items() if v}


def test_files_are_those_of_the_summary(where):
    make(where, ranks=1, processes=2)
    for filters in ([], ["--rank", "1"]):
        groups = summary("--by", "file", "--class", "read,write,sync,meta", *filters, where)["groups"]
        bars = marks(plot("files", "--height", "2000", *filters, where), "rect", "data-time-ns")
        found = [tuple(int(e.get(f"data-{a}")) for a in ("time-ns", "count", "bytes")) for e in bars]
        assert found == [(g["time_ns"], g["count"], g["bytes"]) for g in groups] and len(found) > 5


def test_names_are_texts(where):
    """Odd bytes in names of files and in the title."""
    make(where)
    title = "a <b> & \"c\" ]]> \x01\x1b \ufffe é"
    for kind in KINDS:
        picture = plot(kind, "--title", title, where)
        assert picture.find(SVG + "title").text.startswith("a <b> & \"c\" ]]> \\x01\\x1b \\uFFFE "), picture.find(SVG + "title").text
    picture = plot("files", "--title", "é" * 300, where)
    (shown,) = [e.text for e in picture.iter(SVG + "text") if e.text.startswith("éé")]
    assert picture.find(SVG + "title").text == "é" * 300 and shown.rstrip(".") == "é" * (len(shown) - 3) and 50 < len(shown) < 120
    assert "\\xff" in texts(plot("files", "--height", "1000", where))


def test_the_same_bytes(where):
    make(where, ranks=1, processes=3)
    for kind in KINDS:
        one, two = (dftmerge("plot", "--kind", kind, "-o", "-", "--threads", n, where).out for n in ("1", "4"))
        assert one == two and one


def test_losses_are_said(where):
    make(where / "lossy", lossy=1)
    make(where / "good")
    for kind in KINDS:
        assert "Incomplete: lost 6 events " in texts(plot(kind, where / "lossy")), kind
        assert "Nothing was lost." in texts(plot(kind, where / "good")), kind


def test_aggregates_alone(where):
    make(where, ranks=1, processes=2, keep=0)
    for kind in KINDS:
        assert len(list(plot(kind, where))) > 5, kind
    assert "About " in texts(plot("overlap", where))


def test_odd_times(where):
    for name, settings in (("1970", {"start": 0}), ("at_once", {"same_time": 1}), ("hours", {"slow": 1})):
        make(where / name, **settings)
        for kind in KINDS:
            done = dftmerge("plot", "--kind", kind, "-o", where / "x.svg", where / name, expect=None)
            assert done.code in (0, 1) and "plot" not in done.err or "nothing to draw" in done.err, (name, kind, done.err)
            if done.code == 0:
                text = (where / "x.svg").read_text()
                ElementTree.fromstring(text)
                assert "nan" not in re.sub("<t.*?</t", "", text) and "inf" not in re.findall(r'(?:x|y|width|height)="([^"]*)"', text), (name, kind)


def test_a_large_job_is_a_small_file(where):
    ranks(where, ranks=2000, seconds=10, rate=2, noise=0)
    for kind in KINDS:
        done = dftmerge("plot", "--kind", kind, "-o", "-", where)
        assert len(done.out) < 1 << 20, (kind, len(done.out))


def test_what_is_wrong_is_said(where):
    make(where / "t")
    (trace,) = sorted((where / "t").glob("*.dft"))[:1]
    before = trace.read_bytes()
    for arguments, why, code in (
            (["--kind", "bandwith", "-o", "x.svg"], "Did you mean bandwidth?", 2),
            (["-o", "x.svg"], "Kinds are bandwidth, heatmap", 2),
            (["--kind", "sizes"], "-o sizes.svg", 2),
            (["--kind", "sizes", "-o", "x.svg", "--width", "12"], "--width 12: not a number of pixels", 2),
            (["--kind", "sizes", "-o", "x.svg", "--height", "wide"], "--height wide: not a number of pixels", 2),
            (["--kind", "sizes", "-o", "no/where/x.svg"], "no/where", 1),
            (["--kind", "sizes", "-o", trace], "is one of the traces", 1),
            (["--kind", "sizes", "-o", "x.svg", "--name", "nothing_like_it"], "nothing to draw", 1)):
        done = dftmerge("plot", *arguments, where / "t", expect=code, cwd=where)
        assert why in done.err, (arguments, done.err)
        assert not (where / "x.svg").exists(), arguments
    assert trace.read_bytes() == before
    dftmerge("plot", "--kind", "sizes", "-o", "x.svg", where / "t", cwd=where)
    assert (where / "x.svg").read_bytes().endswith(b"</svg>\n")
    (where / "empty").mkdir()
    assert "no trace found" in dftmerge("plot", "--kind", "sizes", "-o", "y.svg", where / "empty", expect=1, cwd=where).err
