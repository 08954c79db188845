"""A performance engineer's questions, each answered within a number of actions, on other people's traces.

An action is a click, a key, a drag, or a text that is typed into the search box with the key that goes there. Each
journey begins at the top of a report that was just opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.browser

Reported = Callable[[str], tuple[ks.Trace, Path]]

REAL = ("owlv2", "resnet", "graph", "lotus", "nccl", "segment", "alexnet", "torchrec", "mtia", "particle")
NAMES = ["training", *(pytest.param(name, marks=pytest.mark.shared) for name in REAL)]


class Hand:
    """A hand on a page, which counts what it does."""

    def __init__(self, timeline: Any) -> None:
        self.timeline, self.page = timeline, timeline.page
        self.count = 0

    def click(self, target: Any) -> None:
        self.count += 1
        target.click()
        self.timeline.settle()

    def press(self, key: str) -> None:
        self.count += 1
        self.page.keyboard.press(key)
        self.timeline.settle()

    def search(self, text: str) -> str:
        self.count += 1
        self.page.keyboard.press("/")
        self.page.keyboard.insert_text(text)
        self.page.locator(".ks-hits").wait_for()
        self.timeline.settle()
        return self.page.locator(".ks-hits").inner_text()

    def to_timeline(self) -> None:
        self.click(self.page.locator(".ks-nav").get_by_role("link", name="Timeline"))

    def tab(self) -> str:
        return str(self.page.get_by_role("tab", selected=True).inner_text())


class Journey(NamedTuple):
    """A question: how many actions lead to its answer, which traces it can be asked of, and the way there."""

    limit: int
    applies: Callable[[ks.Trace], bool]
    walk: Callable[[Hand, ks.Trace], None]


def has_kernels(trace: ks.Trace) -> bool:
    return len(trace.kernels()) > 0


def has_kernels_by_category(trace: ks.Trace) -> bool:
    return ("kernel",) in trace.events.select("category").rows()


def has_iterations(trace: ks.Trace) -> bool:
    return has_kernels(trace) and len(trace.iterations) > 1


def has_operators(trace: ks.Trace) -> bool:
    return len(trace.operators()) > 0


def slowest(trace: ks.Trace) -> dict[str, Any]:
    rows = trace.kernels().select("max_ns", "longest_id").rows()
    return dict(trace.query({"type": "event", "id": max(rows)[1]}).data)


def to_slowest_kernel(hand: Hand) -> None:
    table = hand.page.locator("#kernels table").first
    hand.click(table.get_by_role("button", name="longest"))
    hand.click(table.locator("tbody tr").first.get_by_role("link"))


def slowest_kernel_and_its_line(hand: Hand, trace: ks.Trace) -> None:
    to_slowest_kernel(hand)
    expected = slowest(trace)
    assert hand.timeline.details()["duration"] == f"{expected['dur_ns']} ns"
    line = hand.page.locator(".ks-chain div", has_text=re.compile("your code|Python line")).get_by_role("button")
    if expected["frame"] is not None:
        assert line.get_attribute("title").startswith(expected["frame"]["name"])


def launch_of_the_slowest_kernel(hand: Hand, trace: ks.Trace) -> None:
    to_slowest_kernel(hand)
    kernel = hand.timeline.details()["name"]
    hand.press("[")
    launch = slowest(trace)["launch"]
    assert (hand.timeline.details()["name"] == kernel) == (launch is None)


def note_on_the_slowest_kernel(hand: Hand, trace: ks.Trace) -> None:
    to_slowest_kernel(hand)
    hand.press("n")
    hand.page.keyboard.type("too long")
    hand.page.keyboard.press("Enter")
    assert hand.page.get_by_role("button", name="1 note").is_visible()


def why_the_longest_gap(hand: Hand, trace: ks.Trace) -> None:
    row = hand.page.locator("#idle table").last.locator("tbody tr").first
    hand.click(row.get_by_role("link"))
    facts = hand.page.locator(".ks-gap .ks-facts").inner_text()
    assert any(str(cause) in facts for (cause,) in trace.idle().tables["gaps"].select("category").rows())


def costliest_finding(hand: Hand, trace: ks.Trace) -> None:
    hand.click(hand.page.locator("#findings a[href^='#']").first)
    assert hand.page.locator(".ks-event, .ks-gap, .ks-range, .ks-finding").first.is_visible()


def slowest_iteration(hand: Hand, trace: ks.Trace) -> None:
    hand.click(hand.page.locator(".ks-card", has_text="slowest").get_by_role("link"))
    assert hand.tab() == "Range"
    assert hand.page.locator(".ks-busy").first.is_visible()


def two_iterations_compared(hand: Hand, trace: ks.Trace) -> None:
    hand.page.locator("#ks-timeline").evaluate("place => place.scrollIntoView()")
    longest = sorted(trace.iterations.select("iteration", "start_ns", "dur_ns").rows(), key=lambda row: -row[2])[:2]
    for _, start, dur in longest:
        hand.count += 1
        hand.page.mouse.click(*hand.timeline.iteration_point(trace, start + dur / 2))
        hand.timeline.settle()
    assert hand.tab() == "A | B"
    hand.page.locator(".ks-range td", has_text="step").first.wait_for()


def long_kernels_summed_up(hand: Hand, trace: ks.Trace) -> None:
    kernels = [dur for kind, dur in trace.events.select("kind", "dur_ns").rows() if kind == "kernel"]
    least = sorted(kernels)[len(kernels) // 2]
    hand.search(f"cat:kernel dur>{least}")
    hand.click(hand.page.get_by_role("button", name="List the hits"))
    num = sum(dur > least for dur in kernels)
    heading = hand.page.locator(".ks-range h3")
    heading.get_by_text("total").wait_for()
    assert heading.inner_text().startswith(f"{num:,} hit")


def first_call_of_an_operator(hand: Hand, trace: ks.Trace) -> None:
    name = str(trace.operators().select("name").rows()[0][0])
    hand.search(name)
    hand.press("Enter")
    assert name.lower() in hand.timeline.details()["name"].lower()


def bound_of_the_step(hand: Hand, trace: ks.Trace) -> None:
    hand.to_timeline()
    hand.press("k")
    assert hand.page.locator(".ks-path-legend").is_visible()


def longest_call_of_the_costliest_operator(hand: Hand, trace: ks.Trace) -> None:
    name = hand.page.locator(".ks-details .ks-column", has_text="operator").last.locator(".ks-link").first
    title = str(name.get_attribute("title")).split("\n", 1)[0]
    hand.click(name)
    assert hand.timeline.details()["name"] == title


def a_range_summed_up(hand: Hand, trace: ks.Trace) -> None:
    hand.page.locator("#ks-timeline").evaluate("place => place.scrollIntoView()")
    picture = hand.timeline.overlay.bounding_box()
    hand.count += 1
    hand.page.mouse.move(picture["x"] + 0.2 * picture["width"], picture["y"] + 8)
    hand.page.mouse.down()
    hand.page.mouse.move(picture["x"] + 0.8 * picture["width"], picture["y"] + 8, steps=5)
    hand.page.mouse.up()
    hand.timeline.settle()
    assert hand.tab() == "Range"
    hand.page.locator(".ks-range").get_by_text("time by kind").wait_for()


def kernels_as_a_spreadsheet(hand: Hand, trace: ks.Trace) -> None:
    with hand.page.expect_download() as download:
        hand.click(hand.page.locator("#kernels figure").first.get_by_role("button", name="CSV"))
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert len(text.splitlines()) > min(len(trace.kernels()), 1)


def a_link_to_the_view(hand: Hand, trace: ks.Trace) -> None:
    button = hand.page.get_by_role("button", name="Copy link")
    hand.click(button)
    hand.page.get_by_text("copied").first.wait_for()


def colours_by_module(hand: Hand, trace: ks.Trace) -> None:
    hand.click(hand.page.locator(".ks-colors-button"))
    hand.click(hand.page.locator(".ks-colors").get_by_role("radio", name="module"))
    assert hand.page.locator(".ks-legend li").count() > 0


JOURNEYS = {
    "the slowest kernel and its line": Journey(3, has_kernels, slowest_kernel_and_its_line),
    "the launch of the slowest kernel": Journey(3, has_kernels, launch_of_the_slowest_kernel),
    "a note on the slowest kernel": Journey(3, has_kernels, note_on_the_slowest_kernel),
    "why the longest gap": Journey(2, lambda trace: len(trace.idle().tables["gaps"]) > 0, why_the_longest_gap),
    "the costliest finding": Journey(1, lambda trace: len(trace.findings()) > 0, costliest_finding),
    "the slowest iteration": Journey(1, has_iterations, slowest_iteration),
    "two iterations compared": Journey(2, has_iterations, two_iterations_compared),
    "long kernels summed up": Journey(2, has_kernels_by_category, long_kernels_summed_up),
    "the first call of an operator": Journey(2, has_operators, first_call_of_an_operator),
    "what bounds the step": Journey(2, has_kernels, bound_of_the_step),
    "the longest call of the costliest operator": Journey(1, has_operators, longest_call_of_the_costliest_operator),
    "a range summed up": Journey(1, has_kernels, a_range_summed_up),
    "kernels as a spreadsheet": Journey(1, has_kernels, kernels_as_a_spreadsheet),
    "a link to the view": Journey(1, has_kernels, a_link_to_the_view),
    "colours by module": Journey(2, has_kernels, colours_by_module),
}


@pytest.mark.parametrize("name", NAMES)
def test_each_answer_takes_few_actions(name: str, reported: Reported, strict: Any, timeline_on: Any) -> None:
    trace, report = reported(name)
    taken = {}
    for question, journey in JOURNEYS.items():
        if not journey.applies(trace):
            continue
        page = strict.page("light", width=1440, height=900)
        page.goto(report.as_uri())
        hand = Hand(timeline_on(page).wait().settle())
        journey.walk(hand, trace)
        taken[question] = hand.count
        assert hand.count <= journey.limit, question
        page.close()
    assert len(taken) >= 10, "enough of the questions can be asked of any trace with kernels"
