"""The timeline's Python side: what it says to the front-end, and what it does with what it hears."""

from __future__ import annotations

import gc
import random
import time
import weakref
import zlib
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
    from kinetoscope._notebook.widget import Timeline

    messages: list[Message] = []
    monkeypatch.setattr(Timeline, "send", lambda _, content, buffers=None: messages.append((content, buffers or [])))
    return messages


def hear(widget: Any, content: dict[str, Any]) -> None:
    widget._handle_custom_msg(content, [])


def test_the_only_trace_is_called_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "rank0.json"
    path.write_text('[{"ph": "X", "name": "aten::add", "pid": 1, "tid": 2, "ts": 5, "dur": 2}]')
    assert ks.read(path).timeline()._parts == [{"name": "rank0.json", "rank": None}]
    assert ks.read(path.read_bytes()).timeline()._parts == [{"name": "", "rank": None}]


def answer(sent: list[Message], name: str) -> bytes:
    """What comes in answer to the question of this id, put together."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        told = [
            (part, buffer)
            for content, buffers in list(sent)
            if content["type"] == "answers"
            for part, buffer in zip(content["parts"], buffers, strict=True)
            if part["id"] == name
        ]
        if told and len(told) == told[0][0]["num_chunks"]:
            whole = b"".join(bytes(buffer) for _, buffer in sorted(told, key=lambda pair: pair[0]["chunk"]))
            return zlib.decompress(whole) if told[0][0]["packed"] else whole
        time.sleep(0.01)
    message = f"expected an answer to {name}"
    raise AssertionError(message)


def ask_for(widget: Any, what: str, name: str = "a") -> None:
    hear(widget, {"type": "get", "id": name, "what": what})


def test_the_snapshot_is_sent_when_asked_for(transformer: ks.Trace, sent: list[Message]) -> None:
    widget = transformer.timeline()
    assert sent == []
    ask_for(widget, "snapshot")
    assert answer(sent, "a") == transformer.snapshot()


def test_the_code_is_sent_once_a_page_and_not_with_every_widget(transformer: ks.Trace, sent: list[Message]) -> None:
    widget = transformer.timeline()
    assert len(widget._esm) < 12_000
    ask_for(widget, "viewer.js")
    assert answer(sent, "a") == (BUILT.parent / "viewer.js").read_bytes()
    assert transformer.timeline()._code == widget._code
    assert transformer.timeline()._key != widget._key


def test_timelines_of_one_trace_share_it_in_the_page(cuda: ks.Trace, transformer: ks.Trace) -> None:
    from kinetoscope._analysis.session import Part
    from kinetoscope._notebook.widget import Timeline

    shared = cuda.timeline()._traces
    assert cuda.timeline()._traces == shared
    assert transformer.timeline()._traces != shared
    assert Timeline([Part(cuda, "before")])._traces != shared, "labels are part of what the page keeps"


def test_no_message_is_large_and_none_is_dropped(
    transformer: ks.Trace, sent: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server lets three million bytes through in three seconds, and drops what is more: of all widgets together."""
    content = random.Random(7).randbytes(2_000_000)
    monkeypatch.setattr(type(transformer), "snapshot", lambda _: content)
    started = time.monotonic()
    for name in ("a", "b"):
        ask_for(transformer.timeline(), "snapshot", name)
    assert answer(sent, "a") == content
    assert answer(sent, "b") == content
    assert time.monotonic() > started + 1
    assert max(sum(map(len, buffers)) for _, buffers in sent) <= 1_000_000


def test_the_kernel_answers_as_the_core_does(cuda: ks.Trace, sent: list[Message]) -> None:
    widget = cuda.timeline()
    requests = ['{"type":"overview"}', '{"type":"event","id":12}', '{"type":"event","id":999999}']
    hear(widget, {"type": "query", "asks": [{"id": str(at), "request": r} for at, r in enumerate(requests)]})
    for at, request in enumerate(requests):
        assert answer(sent, str(at)) == cuda._native.query(request.encode())
    assert len(sent) == 1, "answers go together"


def test_what_cannot_be_answered_is_said(
    transformer: ks.Trace, sent: list[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_trace: object) -> bytes:
        message = "expected memory, found none"
        raise ks.TraceError(message)

    monkeypatch.setattr(type(transformer), "snapshot", fail)
    widget = transformer.timeline()
    ask_for(widget, "snapshot")
    ask_for(widget, "secrets", "b")
    deadline = time.monotonic() + 20
    while len(sent) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    failed = {content["id"]: content["message"] for content, _ in sent}
    assert failed == {"a": "expected memory, found none", "b": failed["b"]}
    assert "found secrets" in failed["b"]


def test_a_large_trace_stays_in_the_kernel(cuda: ks.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (cuda.timeline()._where, cuda.timeline()._note) == ("browser", "")
    monkeypatch.setattr("kinetoscope._notebook.widget.BROWSER_EVENTS", 100)
    assert cuda.timeline()._where == "kernel"
    assert f"{cuda.num_events} events" in cuda.timeline()._note


def test_a_closed_widget_is_forgotten(cuda: ks.Trace, sent: list[Message]) -> None:
    widget = cuda.timeline()
    hear(widget, {"type": "query", "asks": [{"id": "a", "request": '{"type":"overview"}'}]})
    answer(sent, "a")
    widget.close()
    gone = weakref.ref(widget)
    del widget
    deadline = time.monotonic() + 20
    while gone() is not None:  # its thread has to go home first
        assert time.monotonic() < deadline
        gc.collect()
        time.sleep(0.01)


def test_the_trace_is_never_saved_with_the_notebook(transformer: ks.Trace) -> None:
    state = transformer.timeline(height=300).get_state()
    own = {name: value for name, value in state.items() if name not in ("_esm", "_css", "layout")}
    assert own["_height"] == 300
    assert own["_theme"] == "auto"
    assert own["_picture"].startswith("<svg")
    assert len(str(own)) - len(own["_picture"]) < 1500
    assert len(own["_picture"]) < 30_000


def choose(widget: Any, **state: object) -> None:
    """What the front-end does when the reader chooses."""
    widget.set_state(state)


def test_what_is_chosen(cuda: ks.Trace) -> None:
    widget = cuda.timeline()
    assert (widget.selection, widget.range) == (None, None)
    choose(widget, _selection=12, _range=[1000.4, 2000])
    assert widget.selection == 12
    assert widget.range == (cuda.origin_ns + 1000, cuda.origin_ns + 2000)
    value = widget.get_state()  # what marimo calls `value`
    assert (value["selection"], value["range"]) == (widget.selection, widget.range)
    choose(widget, _selection=None, _range=None)
    hear(widget, {"type": "nonsense"})
    assert (widget.selection, widget.range) == (None, None)


def test_functions_follow_what_is_chosen(cuda: ks.Trace) -> None:
    widget = cuda.timeline()
    events: list[int | None] = []
    ranges: list[tuple[int, int] | None] = []
    stop = widget.on_select(events.append)
    widget.on_range(ranges.append)
    choose(widget, _selection=12)
    choose(widget, _selection=12)
    choose(widget, _selection=None, _range=[0, 5])
    assert events == [12, None]
    assert ranges == [(cuda.origin_ns, cuda.origin_ns + 5)]
    stop()
    stop()
    choose(widget, _selection=14)
    assert events == [12, None]


def test_an_error_in_a_function_is_shown_and_breaks_nothing(cuda: ks.Trace, sent: list[Message]) -> None:
    widget = cuda.timeline()
    seen: list[int | None] = []

    def broken(_: int | None) -> None:
        message = "no such luck"
        raise LookupError(message)

    widget.on_select(broken)
    widget.on_select(seen.append)
    for chosen in (12, 14):
        with pytest.warns(RuntimeWarning, match="broken raised LookupError: no such luck"):
            choose(widget, _selection=chosen)
    assert seen == [12, 14]
    said = [content["message"] for content, _ in sent if content["type"] == "say"]
    assert len(said) == 2
    assert "no such luck" in said[0]


def test_chosen_events_are_a_table(cuda: ks.Trace) -> None:
    widget = cuda.timeline()
    assert len(widget.selected_events) == 0
    assert "nothing is selected" in repr(widget.selected_events)
    assert "nothing is selected" in widget.selected_events._repr_html_()
    assert widget.selected_events.columns == cuda.events.columns
    parents = [(id_, parent) for id_, parent in cuda.events.select("id", "parent_id").rows() if parent is not None]
    outer = parents[0][1]
    widget.goto(outer)
    inside = {row[0] for row in widget.selected_events.select("id").rows()}
    assert {outer, *(id_ for id_, parent in parents if parent == outer)} <= inside
    assert len(inside) < cuda.num_events
    start, dur = cuda.iterations.select("start_ns", "dur_ns").rows(0, 1)[0]
    choose(widget, _range=[start - cuda.origin_ns, start + dur - cuda.origin_ns])
    assert (
        len(widget.selected_events)
        == cuda.query({"type": "summary", "start": start - cuda.origin_ns, "end": start + dur - cuda.origin_ns}).data[
            "num_events"
        ]
    )


def test_several_traces_are_one_timeline(cuda: ks.Trace, transformer: ks.Trace, sent: list[Message]) -> None:
    from kinetoscope._analysis.session import Part
    from kinetoscope._notebook.widget import Timeline

    widget = Timeline([Part(cuda, "before", 0), Part(transformer, "after", 1)])
    assert widget._parts == [{"name": "before", "rank": 0}, {"name": "after", "rank": 1}]
    for at, trace in enumerate((cuda, transformer)):
        ask_for(widget, f"snapshot/{at}", f"s{at}")
        assert answer(sent, f"s{at}") == trace.snapshot()
    last = max(row[0] for row in cuda.events.select("id").rows())
    first = min(row[0] for row in transformer.events.select("id").rows())
    widget.goto(last + 1 + first)
    chosen = widget.selected_events.select("rank", "id").rows()
    assert (1, first) in chosen
    assert {rank for rank, _ in chosen} == {1}
    data, _ = widget._repr_mimebundle_()
    assert "data:image/svg+xml" in data["text/html"]
    assert data["text/plain"] == "the timeline of 2 traces"


def test_a_range_is_read_as_the_reader_aligned_the_traces(data: Path) -> None:
    from kinetoscope._analysis import protocol
    from kinetoscope._analysis.session import Part
    from kinetoscope._notebook.widget import Timeline

    job = ks.read_dir(data / "mlp_gloo")
    widget = Timeline([Part(trace, rank=rank) for rank, trace in zip(job.ranks, job, strict=True)])
    starts = []
    for align in ("recorded", "start"):
        widget.set_state({"_align": align, "_range": [0.0, 1000.0]})
        assert widget.range is not None
        origin = int(
            protocol.ask(widget._timeline_session._session, {"type": "overview", "align": align}).data["origin_ns"]
        )
        assert widget.range[0] == origin
        starts.append(len(widget.selected_events))
    assert starts[1] >= starts[0]


def test_moving_it(cuda: ks.Trace, sent: list[Message]) -> None:
    widget = cuda.timeline()
    widget.goto(12)
    assert widget.selection == 12
    number, start, dur = cuda.iterations.select("iteration", "start_ns", "dur_ns").rows(0, 1)[0]
    widget.show(start, start + dur)
    widget.show((start, start + dur))
    widget.show(number)
    assert sent[0] == ({"type": "goto", "id": 12}, [])
    shown = {"type": "show", "start": start - cuda.origin_ns, "end": start - cuda.origin_ns + dur}
    assert [content for content, _ in sent[1:]] == [shown] * 3
    assert widget._shown == (shown["start"], shown["end"]), "for views that come later"


def test_notes_go_both_ways(cuda: ks.Trace, sent: list[Message]) -> None:
    widget = cuda.timeline()
    choose(widget, _notes=[{"start": 10, "end": 20.4, "event": None, "text": "slow"}])
    assert widget.notes == [
        {"start_ns": cuda.origin_ns + 10, "end_ns": cuda.origin_ns + 20, "event": None, "text": "slow"}
    ]
    widget.notes = [*widget.notes, {"start_ns": cuda.origin_ns + 30, "event": 12, "text": "and here"}]
    assert sent[-1][0]["type"] == "notes"
    assert sent[-1][0]["notes"][1] == {"start": 30, "end": 30, "event": 12, "text": "and here"}
    assert [note["text"] for note in widget.notes] == ["slow", "and here"]


def test_nowhere_to_go(cuda: ks.Trace, sent: list[Message]) -> None:
    widget = cuda.timeline()
    with pytest.raises(ks.TraceError, match="expected the id of an event, found 999999"):
        widget.goto(999_999)
    with pytest.raises(ks.TraceError, match=r"expected one of the iterations .*, found 12345"):
        widget.show(12345)
    with pytest.raises(ValueError, match="ends after its start"):
        widget.show(20, 10)
    with pytest.raises(TypeError):
        widget.goto("gemm")  # pyright: ignore[reportArgumentType] - what people try
    assert sent == []


def test_the_static_summary_goes_with_it(cuda: ks.Trace) -> None:
    data, _ = cuda.timeline()._repr_mimebundle_()
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert "data:image/svg+xml" in data["text/html"]
    assert "Time by event kind" in data["text/plain"]


def test_a_notebook_shows_the_widget_and_its_summary_apart(cuda: ks.Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    """One output with both would be an error in a reopened notebook, which prefers the widget."""
    import kinetoscope._notebook.widget as module

    shown: list[dict[str, Any]] = []
    monkeypatch.setattr(module, "_notebook", lambda: lambda data, **_: shown.append(data))
    widget = cuda.timeline()
    widget._ipython_display_()
    live, saved = shown
    assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert live["text/html"] == ""
    assert set(saved) == {"text/html", "text/plain"}
    assert f"data-ks-saved={widget._key}" in saved["text/html"]
    assert "run the cell" in saved["text/html"]


def test_a_terminal_shows_text(cuda: ks.Trace) -> None:
    with pytest.raises(NotImplementedError):
        cuda.timeline()._ipython_display_()
