"""The timeline in the output of a notebook's cell. The one module that knows anywidget."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Sequence
from functools import cache
from operator import index
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from kinetoscope._analysis.session import Align, Part, Range, Screen
from kinetoscope._base import text
from kinetoscope._base.warnings import warn
from kinetoscope._native import TraceError
from kinetoscope._notebook.annotations import Note, from_front_end, to_front_end
from kinetoscope._notebook.request_queue import Ask, Desk
from kinetoscope._report.comparison import static_timeline
from kinetoscope._report.html import figure
from kinetoscope._report.page import asset
from kinetoscope._report.static import Static
from kinetoscope.table import Table

if TYPE_CHECKING:
    from kinetoscope.trace import Trace


BROWSER_EVENTS = 2_000_000
"""The trace of more events stays in the kernel, which answers for it."""
_RESERVE_BYTES = 800_000
_PICTURE_WIDTH = 1100
_CODE = ("viewer.js", "kinetoscope.wasm.gz")


class Timeline(anywidget.AnyWidget):
    """The interactive timeline of a trace.

    The kernel answers for the first picture. Meanwhile the trace and the compiled core go to the browser, which then
    answers by itself. The kernel goes on answering for large traces, and where the page forbids WebAssembly. The
    notebook saves a picture and the reader's choices, never the trace.
    """

    _esm = traitlets.Unicode(asset("widget.js").decode()).tag(sync=True)
    _height = traitlets.Int(480).tag(sync=True)
    _theme = traitlets.Unicode("auto").tag(sync=True)
    _key = traitlets.Unicode().tag(sync=True)
    _code = traitlets.Unicode().tag(sync=True)
    _where = traitlets.Unicode("browser").tag(sync=True)
    _note = traitlets.Unicode().tag(sync=True)
    _parts = traitlets.List(traitlets.Dict()).tag(sync=True)
    _align = traitlets.Any(None, allow_none=True).tag(sync=True)
    _frames = traitlets.Bool(True).tag(sync=True)
    _picture = traitlets.Unicode().tag(sync=True)
    _selection = traitlets.Int(None, allow_none=True).tag(sync=True)
    # Ranges count from the trace's start: JavaScript's numbers are too short for what the tables count from.
    _range = traitlets.Tuple(traitlets.Float(), traitlets.Float(), default_value=None, allow_none=True).tag(sync=True)
    _shown = traitlets.Tuple(traitlets.Float(), traitlets.Float(), default_value=None, allow_none=True).tag(sync=True)
    _notes = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(
        self, traces: Trace | Sequence[Part], *, align: Align = None, height: int = 480, theme: str = "auto"
    ) -> None:
        """One trace, or several on one screen; `height` in pixels; `theme` is `auto`, `light` or `dark`."""
        self._screen = Screen(traces if isinstance(traces, Sequence) else [Part(traces)], align)
        self._answers = Desk(lambda ask: self._screen.query(ask["request"]), self.send)
        self._files = Desk(self._file, self.send, left_bytes=_RESERVE_BYTES)
        where, note = _place(self._screen.num_events)
        super().__init__(
            _height=height,
            _theme=theme,
            _key=uuid.uuid4().hex,
            _code=_code_version(),
            _where=where,
            _note=note,
            _parts=_parts(self._screen.parts),
            _align=align,
            _picture=self._screen.picture(_PICTURE_WIDTH),
        )
        self.on_msg(self._received)
        # The reader may choose another one in the viewer.
        self.observe(lambda change: self._screen.realign(change.new), "_align")

    # --- what is chosen -------------------------------------------------------------------------------------------

    @property
    def selection(self) -> int | None:
        """The id of the selected event, its row in `trace.events` where `id` is that; None without one.

        Of several traces, the ids of each start after those of the one before.
        """
        return self._selection

    @property
    def range(self) -> Range | None:
        """Start and end of the range that is marked, in ns as in the tables; None without one."""
        return self._screen.range(*self._range) if self._range else None

    @property
    def notes(self) -> list[Note]:
        """What the reader wrote down about times, ranges and events, in the order of time.

        A list that is put in its place is shown instead. They are saved where the notebook saves the state of widgets.
        """
        origin = self._screen.origin_ns
        kept: list[dict[str, Any]] = self._notes
        return [from_front_end(note, origin) for note in kept]

    @notes.setter
    def notes(self, notes: Sequence[Note]) -> None:
        origin = self._screen.origin_ns
        self._notes = [to_front_end(note, origin) for note in notes]
        self.send({"type": "notes", "notes": self._notes})

    @property
    def selected_events(self) -> Table:
        """The rows of `trace.events` that are chosen.

        All of which a part is in the marked range; where none is marked, the selected event, what is inside it, and the
        device work that was launched in there. No rows where nothing is chosen. Of several traces, those of all, with
        the columns `rank` and `window` before the others.
        """
        return self._screen.events(self._selection, self._range)

    def on_select(self, function: Callable[[int | None], object]) -> Callable[[], None]:
        """Calls `function` with the event's id, or None, whenever another one is selected. Returns what ends that.

        What it raises is shown in the timeline and as a RuntimeWarning; the timeline goes on.
        """
        return self._follow("_selection", function, lambda: self.selection)

    def on_range(self, function: Callable[[Range | None], object]) -> Callable[[], None]:
        """Calls `function` with start and end in ns, or None, whenever another range is marked. Else as `on_select`."""
        return self._follow("_range", function, lambda: self.range)

    def _follow(self, trait: str, function: Callable[[Any], object], value: Callable[[], Any]) -> Callable[[], None]:
        def call(_change: object) -> None:
            try:
                function(value())
            except Exception as error:  # noqa: BLE001 - a notebook's function, whose errors are its author's to see
                self._complain(function, error)

        def stop() -> None:
            if call in self._trait_notifiers.get(trait, {}).get("change", []):
                self.unobserve(call, trait)

        self.observe(call, trait)
        return stop

    def _complain(self, function: Callable[[Any], object], error: Exception) -> None:
        name = getattr(function, "__qualname__", repr(function))
        message = f"{name} raised {type(error).__name__}: {error}"
        self.send({"type": "say", "message": message})
        warn(message)

    # --- what is shown --------------------------------------------------------------------------------------------

    def goto(self, event: int) -> None:
        """Shows and selects the event with this id. TraceError when there is none."""
        event = index(event)
        self._screen.expect_event(event)
        self._selection = event
        self.send({"type": "goto", "id": event})

    def show(self, start_ns: int | Range, end_ns: int | None = None) -> None:
        """Shows a range, in ns as in the tables: `show(start, end)`, `show((start, end))`; or an iteration: `show(3)`.

        TraceError when there is no such iteration, ValueError for a range that ends before its start.
        """
        start, end = self._wanted(start_ns, end_ns)
        if end < start:
            raise ValueError(f"expected a range that ends after its start, found {start} to {end}")
        origin = self._screen.origin_ns
        self._shown = (float(start - origin), float(end - origin))
        self.send({"type": "show", "start": start - origin, "end": end - origin})

    def _wanted(self, start_ns: int | Range, end_ns: int | None) -> Range:
        if isinstance(start_ns, (tuple, list)):
            start, end = start_ns
            return index(start), index(end)
        if end_ns is not None:
            return index(start_ns), index(end_ns)
        return self._screen.iteration(index(start_ns))

    def render_static(self, height: int | None = None) -> Static:
        """The same without a kernel: see `Trace.render_static`."""
        parts = self._screen.parts
        if len(parts) > 1:
            return static_timeline(self._screen, text.plural(len(parts), "trace"), height or self._height)
        return parts[0].trace.render_static(height or self._height)

    # --- what the front-end asks ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Ends it: nothing is answered any more."""
        self._answers.close()
        self._files.close()
        super().close()

    def _received(self, _widget: object, content: dict[str, Any], _buffers: list[memoryview]) -> None:
        kind = content.get("type")
        if kind == "query":
            self._answers.take(content["asks"])
        elif kind == "get":
            self._files.take([content])

    def _file(self, ask: Ask) -> bytes:
        what, _, part = str(ask["what"]).partition("/")
        if what == "snapshot":
            return self._screen.parts[int(part or 0)].trace.snapshot()
        if what in _CODE:
            return asset(what)
        raise TraceError(f"expected snapshot, {' or '.join(_CODE)}, found {what}")

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and the static summary for where there is none: a reopened notebook, GitHub, nbconvert."""
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        data, metadata = bundle
        if len(self._screen.parts) == 1:
            return {**data, **self._screen.parts[0].trace._repr_mimebundle_()}, metadata
        return {**data, "text/html": figure(self._picture), "text/plain": self._named()}, metadata

    def _named(self) -> str:
        return f"the timeline of {text.plural(len(self._screen.parts), 'trace')}"


def _parts(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """What the reader calls the traces: the only one by its file, as those of a job are by their ranks."""
    file = parts[0].trace.title if len(parts) == 1 and parts[0].trace.source else ""
    return [{"name": part.name or file, "rank": part.rank} for part in parts]


def _place(num_events: int) -> tuple[str, str]:
    """Who answers for a trace of so many events, and what the reader is told of it."""
    if num_events > BROWSER_EVENTS:
        note = f"{num_events:,} events: they stay in the kernel, which sends what is on the screen."
        return "kernel", note
    return "browser", ""


@cache
def _code_version() -> str:
    """Tells the code of this version from that of others which a page may have loaded already."""
    return hashlib.sha256(b"".join(map(asset, _CODE))).hexdigest()[:16]
