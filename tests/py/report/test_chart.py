"""Answers as pictures: what is in them is read from the SVG as XML."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import kinetoscope as ks
import pytest
from kinetoscope import _native

pytestmark = pytest.mark.unit

SVG = "{http://www.w3.org/2000/svg}"
ANALYSES = [analysis["name"] for analysis in json.loads(_native.analyses_json())]


def parsed(svg: str) -> ElementTree.Element:
    """The picture, which must be safe to put into a page as it is."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert all(child.text for child in root[:2])
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "g", "text", "tspan", "rect", "path", "circle"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not [name for name in attributes if name.startswith("on") or "href" in name]
    style = "".join(element.text or "" for element in root.iter(f"{SVG}style"))
    assert "prefers-color-scheme:dark" in style
    rules = re.sub(r"@media\([^)]*\)", "", style)
    assert set(re.findall(r"[^{}]+(?=\{)", rules)) == {"svg:root"}  # inside of a page, nothing else changes
    return root


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


def titles(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}title")]


def kernel(name: str, start: float, dur: float, **args: Any) -> dict[str, Any]:
    stream = args.get("stream", 7)
    base = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start, "dur": dur}
    return {**base, "args": {"device": 0, "stream": stream, **args}}


def trace_of(*events: dict[str, Any]) -> ks.Trace:
    return ks.read(json.dumps(list(events)).encode())


@pytest.mark.parametrize("name", ANALYSES)
def test_every_answer_and_all_tables_beside_it(name: str, data: Path) -> None:
    for source in ("synthetic_cuda", "transformer_cpu", "minimal_cpu"):
        answer = ks.read(data / source / "kineto_trace_0.json.gz").analyze(name)
        for table in (None, *answer.tables):
            root = parsed(answer.plot(table).svg)
            if answer.reason is None and table is None:
                assert [mark for mark in root.iter() if mark.tag in {f"{SVG}rect", f"{SVG}path", f"{SVG}circle"}]
        if answer.reason is not None:
            assert answer.reason in texts(parsed(answer.plot().svg))


def test_bars_are_as_long_as_their_values() -> None:
    trace = trace_of(kernel("long", 0, 40), kernel("short", 50, 10), kernel("short", 70, 10))
    root = parsed(trace.kernels().plot().svg)
    widths = [float(bar.get("width", "")) for bar in root.iter(f"{SVG}rect")]
    assert widths[1] == pytest.approx(widths[0] / 2, abs=1)
    assert titles(root)[1:] == ["long: 40 µs", "short: 20 µs"]
    assert {"long", "short", "40 µs", "20 µs", "0", "10 µs", "30 µs"} <= set(texts(root))
    assert texts(root)[0] == "kernelstotal by name"


def test_parts_stand_one_after_another_with_a_legend() -> None:
    trace = trace_of(
        kernel("gemm", 0, 30), kernel("ncclDevKernel_AllReduce_Sum", 20, 40, stream=20), kernel("x", 90, 10)
    )
    root = parsed(trace.breakdown(per="selection").plot().svg)
    row = trace.breakdown(per="selection").to_arrow().to_pylist()[0]
    assert [row[name] for name in ("compute_ns", "exposed_communication_ns", "idle_ns")] == [40_000, 30_000, 30_000]
    assert {"compute", "exposed communication", "idle"} <= set(texts(root))
    assert "exposed copy" not in texts(root)  # there is none
    *_, compute, communication, idle = root.iter(f"{SVG}rect")
    x, wide = ([float(bar.get(name, "")) for bar in (compute, communication, idle)] for name in ("x", "width"))
    assert wide == pytest.approx([wide[0], wide[0] * 0.75, wide[0] * 0.75], abs=1.5)
    assert x[1] == pytest.approx(x[0] + wide[0] + 1, abs=0.2)
    assert len({bar.get("fill") for bar in (compute, communication, idle)}) == 3


def test_more_bars_than_can_be_compared_are_one() -> None:
    events = [kernel(f"kernel_{number:04}", number * 100, 1 + number % 50) for number in range(3_000)]
    svg = trace_of(*events).kernels().plot().svg
    root = parsed(svg)
    assert len(list(root.iter(f"{SVG}rect"))) == 20
    assert any(re.fullmatch(r"and 2980 others: .* ms together", text) for text in texts(root))
    assert len(svg) < 20_000
    events = [kernel(f"kernel_{number:02}", number * 100, 30 if number else 90) for number in range(22)]
    few = parsed(trace_of(*events).kernels().plot().svg)
    assert "2 others" in texts(few)
    assert "2 others: 60 µs" in titles(few)


def test_bars_of_one_name_are_told_apart_by_what_differs() -> None:
    events = [kernel("a", start, 5, stream=stream) for start, stream in ((0, 7), (40, 7), (0, 9), (90, 9))]
    root = parsed(trace_of(*events).idle().plot().svg)
    assert {"otherstream 7", "otherstream 9"} <= set(texts(root)) or {"host_waitstream 7", "host_waitstream 9"} <= set(
        texts(root)
    )
    alone = parsed(trace_of(*events[:2]).idle().plot().svg)
    assert not [text for text in texts(alone) if "stream" in text]


def test_a_job_says_the_rank(tmp_path: Path) -> None:
    for rank in (0, 1):
        events = [kernel("a", 0, 5 + rank), kernel("b", 10, 1)]
        content = json.dumps({"traceEvents": events, "distributedInfo": {"rank": rank}})
        (tmp_path / f"kineto_trace_{rank}.json").write_text(content)
    root = parsed(ks.read_dir(tmp_path).kernels().plot().svg)
    assert titles(root)[1:3] == ["a, rank 1: 6 µs", "a, rank 0: 5 µs"]
    assert {"arank 0", "brank 1"} <= set(texts(root))


HOSTILE = [
    "</text></svg><script>alert(1)</script>",
    "]]>&<!--\"'",
    "\x00\x1b[31mred\x07\ufffe\uffff",
    "\u202eright to left",
    "<" * 100_000,
    "ｗｉｄｅ" * 50,
    "",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_names(number: int) -> None:
    name = HOSTILE[number]
    launch = {"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    trace = trace_of(
        {**launch, "args": {"correlation": 1}},
        kernel(name, 5, 2, correlation=1),
        kernel(name, 50, 2),
        {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": 0, "dur": 30},
    )
    for analysis in ANALYSES:
        answer = trace.analyze(analysis)
        for table in answer.tables:
            svg = answer.plot(table).svg
            root = parsed(svg)
            assert len(svg) < 60_000
            assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", svg)
            assert max(map(len, texts(root))) < 400


def test_a_long_name_is_its_label_beside_its_bar_and_whole_above_it() -> None:
    name = (
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1>>(int)"
    )
    root = parsed(trace_of(kernel(name, 0, 1)).kernels().plot().svg)
    assert "FillFunctor · vectorized_elementwise_kernel" in texts(root)
    assert titles(root)[1] == f"{name}: 1 µs"


def test_a_name_without_a_label_has_its_ends_beside_its_bar() -> None:
    name = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_kernel__5x_cublas"
    root = parsed(trace_of(kernel(name, 0, 1)).kernels().plot().svg)
    (label,) = [text for text in texts(root) if text.startswith("sm90")]
    assert len(label) < 60
    assert "…" in label
    assert label.endswith("_cublas")


def test_functions_of_time_keep_their_peaks() -> None:
    """Of more changes than there are pixels, each column shows the least and the most."""
    memory = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "s": "t"}
    sizes = [1 << 30 if number == 12_345 else 1 << 20 for number in range(30_000)]
    events = [
        {**memory, "ts": number, "args": {"Device Type": 1, "Device Id": 0, "Bytes": size, "Total Allocated": size}}
        for number, size in enumerate(sizes)
    ]
    svg = trace_of(*events).memory().plot().svg
    root = parsed(svg)
    assert "memoryallocated over time" in texts(root)
    assert "1 GiB" in (root[1].text or "")
    assert len(svg) < 20_000
    line = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("fill") == "none"]
    assert len(line) == 1
    assert min(float(y) for y in re.findall(r"V([\d.]+)", line[0])) < 20
    assert {"0", "10 ms", "20 ms"} <= set(texts(root))


def test_points_that_lie_together_are_one() -> None:
    events: list[dict[str, Any]] = []
    for number in range(1, 4_001):
        launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "dur": 1}
        events.append({**launch, "ts": number * 100, "args": {"correlation": number}})
        events.append(kernel("k", number * 100 + 1 + number % 60, 1 + number % 37, correlation=number))
    svg = trace_of(*events).launches().plot().svg
    root = parsed(svg)
    circles = list(root.iter(f"{SVG}circle"))
    assert 100 < len(circles) <= 600
    counts = [int(found[1]) for title in titles(root) if (found := re.search(r"and (\d+) more here", title))]
    assert sum(counts) + len(circles) == 4_000
    assert {"0", "1 µs", "10 µs", "100 µs"} <= set(texts(root))


def test_a_chart_is_shown_and_saved(tmp_path: Path) -> None:
    chart = trace_of(kernel("a < b", 0, 1)).kernels().plot()
    assert repr(chart) == "Chart of kernels: 1 row"
    html = chart._repr_html_()
    assert chart._repr_svg_() == chart.svg
    assert chart.svg in html
    assert re.search(r"<details><summary>kernels: 1 row</summary>.*a &lt; b.*</details>", html)
    assert chart.save(tmp_path / "x.svg").read_text(encoding="utf-8") == chart.svg
    page = chart.save(tmp_path / "x.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert html in page
    assert "<script" not in page
    with pytest.raises(ValueError, match=r"ends in \.svg, \.html, \.htm, found x\.png"):
        chart.save(tmp_path / "x.png")


def test_a_table_beside_is_drawn_when_asked_for(data: Path) -> None:
    answer = ks.read(data / "synthetic_cuda/kineto_trace_0.json.gz").idle()
    assert texts(parsed(answer.plot("gaps").svg))[0].startswith("gaps")
    with pytest.raises(KeyError, match="expected a table of idle, gaps, found holes"):
        answer.plot("holes")


def test_no_rows_say_why() -> None:
    answer = trace_of(
        {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 0, "dur": 2}
    ).kernels()
    assert "no kernel, copy or fill was recorded" in texts(parsed(answer.plot().svg))


def test_points_without_values_say_so(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([kernel("ncclDevKernel_AllReduce", 0, 5, **{"Collective name": "allreduce"})]))
    svg = ks.read(path).analyze("collectives").plot().svg
    assert any("no row has both" in words for words in texts(parsed(svg)))
    assert not list(parsed(svg).iter(f"{SVG}circle"))
