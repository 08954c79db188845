"""Timelines in a page: one trace for all that are open, and nothing for those that are gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

pytestmark = pytest.mark.browser

RUNS = 20
# Remembers the memories of WebAssembly, which no measure of the heap counts.
REMEMBER = """
globalThis.memories = [];
WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
    construct(made, given) {
        const instance = new made(...given);
        if (instance.exports.memory) globalThis.memories.push(new WeakRef(instance.exports.memory));
        return instance;
    },
});
"""
SUM = "globalThis.memories.map(kept => kept.deref()?.buffer.byteLength ?? 0).reduce((a, b) => a + b, 0)"
TEN = "from IPython.display import display\nfor _ in range(10):\n    display(trace.timeline(height=200))"

# 75,000 operators on eight threads.
LARGE = """
import json
import kinetoscope as ks
from IPython.display import display
events = [
    {"ph": "X", "name": f"aten::op{n % 97}", "pid": 1, "tid": n % 8, "ts": 7 * n, "dur": 5, "args": {"n": n}}
    for n in range(75_000)
]
trace = ks.read(json.dumps({"traceEvents": events}).encode())
"""
RESIDENT = """
import gc
gc.collect()
print("resident", int(open("/proc/self/statm").read().split()[1]) * 4096)
"""
MOST_BYTES = 5_000_000
"""Bytes that another timeline of a trace may cost, in the kernel and in the page."""


class Kept(NamedTuple):
    heap_bytes: float
    nodes: float
    listeners: float
    wasm_bytes: float

    def since(self, before: Kept) -> Kept:
        return Kept(*(now - then for now, then in zip(self, before, strict=True)))


def kept(page: Page, session: CDPSession) -> Kept:
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
        page.wait_for_timeout(200)
    told = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    return Kept(told["JSHeapUsedSize"], told["Nodes"], told["JSEventListeners"], page.evaluate(SUM))


@pytest.mark.nightly
def test_a_cell_that_is_run_again_leaves_nothing_behind(
    opened: Callable[..., Any], timeline_on: Any, read_fixture: str
) -> None:
    notebook = opened(
        "again", [read_fixture, "7", "trace.timeline()", TEN], prepare=lambda page: page.add_init_script(REMEMBER)
    )
    page = notebook.page
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def grown(at: int) -> Kept:
        """By how much the page grows, from the second run on."""
        for _ in range(2):
            notebook.run(at)
            page.wait_for_timeout(500)
        before = kept(page, session)
        for _ in range(RUNS):
            notebook.run(at)
            page.wait_for_timeout(300)
        return kept(page, session).since(before)

    notebook.run(0)
    plain = grown(1)
    notebook.run(2)
    timeline_on(page).wait()
    ours = grown(2).since(plain)
    timeline_on(page).wait()
    assert page.locator(".ks-root").count() == 1
    assert ours.wasm_bytes <= 0, ours
    assert ours.nodes < 300, ours
    assert ours.listeners < 300, ours
    assert ours.heap_bytes < 4_000_000, ours

    notebook.run(3)
    page.locator(".ks-tracks[data-cost]").nth(10).wait_for(timeout=60_000)
    assert len(page.evaluate("globalThis.memories")) == 1, "the core is there once"


def test_timelines_of_a_trace_share_it(opened: Callable[..., Any], timeline_on: Any) -> None:
    notebook = opened(
        "share",
        [LARGE, "trace.timeline(height=200)", RESIDENT, TEN, RESIDENT],
        prepare=lambda page: page.add_init_script(REMEMBER),
    )
    page = notebook.page
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def resident(at: int) -> int:
        page.wait_for_timeout(4000)  # the traces travel after the pictures
        notebook.run(at)
        cell = page.locator(".jp-CodeCell").nth(at).locator(".jp-OutputArea-output", has_text="resident")
        return int(cell.inner_text().split()[1])

    notebook.run(0)
    notebook.run(1)
    timeline_on(page).wait()
    kernel, before = resident(2), kept(page, session)
    notebook.run(3)
    page.locator(".ks-tracks[data-cost]").nth(10).wait_for(timeout=60_000)
    grown = resident(4) - kernel
    ours = kept(page, session).since(before)
    assert grown < 10 * MOST_BYTES, grown
    assert ours.wasm_bytes + ours.heap_bytes < 10 * MOST_BYTES, ours
    assert ours.wasm_bytes < MOST_BYTES, "the page has the trace once"
