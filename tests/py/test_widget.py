"""The timeline's Python side: what it says to the front-end, and what it does with what it hears."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytest.importorskip("anywidget")
BUILT = Path(ks.__file__).parent / "_static/widget.js"
pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(not BUILT.is_file(), reason="the front-end is not built: make wasm"),
]

Message = tuple[dict[str, Any], list[Any]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    from kinetoscope.widget import Timeline

    messages: list[Message] = []
    monkeypatch.setattr(Timeline, "send", lambda _, content, buffers=None: messages.append((content, buffers or [])))
    return messages


def hear(widget: Any, content: dict[str, Any]) -> None:
    widget._handle_custom_msg(content, [])


def test_the_snapshot_is_sent_when_asked_for(transformer: ks.Trace, sent: list[Message]) -> None:
    widget = transformer.timeline()
    assert sent == []
    hear(widget, {"type": "snapshot"})
    contents = [content for content, _ in sent]
    assert [content["chunk"] for content in contents] == list(range(contents[0]["num_chunks"]))
    assert b"".join(bytes(buffer) for _, buffers in sent for buffer in buffers) == transformer.snapshot()


def test_no_message_is_large_and_none_is_dropped(
    transformer: ks.Trace, sent: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server lets three million bytes through in three seconds, and drops what is more."""
    content = bytes(range(256)) * 10_000
    monkeypatch.setattr(type(transformer), "snapshot", lambda _: content)
    started = time.monotonic()
    hear(transformer.timeline(), {"type": "snapshot"})
    while len(sent) < 3:
        assert time.monotonic() < started + 10
        time.sleep(0.01)
    assert time.monotonic() > started + 1
    assert max(len(buffers[0]) for _, buffers in sent) <= 1_000_000
    assert {content["num_chunks"] for content, _ in sent} == {3}
    assert b"".join(bytes(buffers[0]) for _, buffers in sent) == content


def test_the_trace_is_never_saved_with_the_notebook(transformer: ks.Trace) -> None:
    state = transformer.timeline(height=300).get_state()
    own = {name: value for name, value in state.items() if name not in ("_esm", "_css", "layout")}
    assert own["_height"] == 300
    assert own["_theme"] == "auto"
    assert len(str(own)) < 1000


def test_what_is_chosen(cuda: ks.Trace) -> None:
    widget = cuda.timeline()
    assert (widget.selection, widget.range) == (None, None)
    hear(widget, {"type": "select", "id": 12})
    hear(widget, {"type": "range", "start": 1000.4, "end": 2000})
    assert widget.selection == 12
    assert widget.range == (cuda.origin_ns + 1000, cuda.origin_ns + 2000)
    hear(widget, {"type": "select", "id": None})
    hear(widget, {"type": "range", "start": None, "end": None})
    hear(widget, {"type": "nonsense"})
    assert (widget.selection, widget.range) == (None, None)


def test_moving_it(cuda: ks.Trace, sent: list[Message]) -> None:
    widget = cuda.timeline()
    widget.goto(12)
    start, dur = cuda.iterations.select("start_ns", "dur_ns").rows(0, 1)[0]
    widget.show(start, start + dur)
    assert sent[0] == ({"type": "goto", "id": 12}, [])
    assert sent[1][0]["type"] == "show"
    assert sent[1][0]["end"] - sent[1][0]["start"] == dur


def test_the_static_summary_goes_with_it(cuda: ks.Trace) -> None:
    data, _ = cuda.timeline()._repr_mimebundle_()
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert "<svg" in data["text/html"]
    assert "Time by kind" in data["text/plain"]
