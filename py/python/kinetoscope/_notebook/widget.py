"""The timeline in the output of a notebook cell. The only module that imports anywidget."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Sequence
from functools import cache
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from kinetoscope._analysis.session import Align, Part, Range, TimelineSession
from kinetoscope._base import text
from kinetoscope._base.optional import needed
from kinetoscope._base.progress import _notebook
from kinetoscope._base.warnings import warn
from kinetoscope._native import TraceError
from kinetoscope._notebook.annotations import Note, from_front_end, to_front_end
from kinetoscope._notebook.request_queue import Request, RequestQueue
from kinetoscope._report.comparison import static_timeline
from kinetoscope._report.html import saved_html
from kinetoscope._report.page import asset
from kinetoscope._report.static import Static
from kinetoscope.table import Table

with needed("timeline()", "anywidget"):
    import anywidget
    import traitlets

if TYPE_CHECKING:
    from kinetoscope.trace import Trace


BROWSER_EVENTS = 2_000_000
"""Traces with more events stay in the kernel, which answers the queries."""
_RESERVED_BYTES = 400_000
_PICTURE_WIDTH = 1100
_WIDGET = "application/vnd.jupyter.widget-view+json"
_HINT = "This is a picture: run the cell in a notebook with Jupyter widgets for the interactive timeline."
_CODE = ("viewer.js", "kinetoscope.wasm.gz")

_identities: WeakKeyDictionary[Trace, str] = WeakKeyDictionary()


class FlameStart(NamedTuple):
    """A flame graph that a timeline begins with."""

    request: dict[str, Any]
    """Its options and selection."""
    picture: str
    """SVG for readers without the widget."""
    text: str
    """Text for readers without pictures."""


class Timeline(anywidget.AnyWidget):
    """The interactive timeline of a trace.

    The kernel draws the first picture. Meanwhile the trace and the compiled core go to the browser,
    which then answers all queries. The kernel goes on to answer for large traces, and if the page
    forbids WebAssembly. The notebook saves a picture and the state of the view, never the trace.
    """

    _esm = traitlets.Unicode(asset("widget.js").decode()).tag(sync=True)
    _height = traitlets.Int(480).tag(sync=True)
    _theme = traitlets.Unicode("auto").tag(sync=True)
    _key = traitlets.Unicode().tag(sync=True)
    _traces = traitlets.Unicode().tag(sync=True)
    _code = traitlets.Unicode().tag(sync=True)
    _where = traitlets.Unicode("browser").tag(sync=True)
    _note = traitlets.Unicode().tag(sync=True)
    _parts = traitlets.List(traitlets.Dict()).tag(sync=True)
    _align = traitlets.Any(None, allow_none=True).tag(sync=True)
    _frames = traitlets.Bool(True).tag(sync=True)
    _picture = traitlets.Unicode().tag(sync=True)
    _selection = traitlets.Int(None, allow_none=True).tag(sync=True)
    # Ranges count from the start of the trace: numbers of JavaScript cannot hold absolute times.
    _range = traitlets.Tuple(traitlets.Float(), traitlets.Float(), default_value=None, allow_none=True).tag(sync=True)
    _shown = traitlets.Tuple(traitlets.Float(), traitlets.Float(), default_value=None, allow_none=True).tag(sync=True)
    _notes = traitlets.List(traitlets.Dict()).tag(sync=True)
    _flame = traitlets.Dict(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        traces: Trace | Sequence[Part],
        *,
        align: Align = None,
        height: int = 480,
        theme: str = "auto",
        flame: FlameStart | None = None,
    ) -> None:
        """Shows one trace, or several aligned ones, beginning with `flame` if that is given.

        `height` is in pixels; `theme` is `auto`, `light` or `dark`.
        """
        self._timeline_session = TimelineSession(traces if isinstance(traces, Sequence) else [Part(traces)], align)
        self._answers = RequestQueue(lambda request: self._timeline_session.query(request["request"]), self.send)
        self._files = RequestQueue(self._file, self.send, reserved_bytes=_RESERVED_BYTES)
        self._flame_text = None if flame is None else flame.text
        where, note = _query_side(self._timeline_session.num_events)
        super().__init__(
            _height=height,
            _theme=theme,
            _key=uuid.uuid4().hex,
            _traces=_traces_key(self._timeline_session.parts),
            _code=_code_version(),
            _where=where,
            _note=note,
            _parts=_parts(self._timeline_session.parts),
            _align=align,
            _picture=self._timeline_session.picture(_PICTURE_WIDTH) if flame is None else flame.picture,
            _flame=None if flame is None else _flame(flame.request, self._timeline_session.origin_ns),
        )
        self.on_msg(self._received)
        # The reader may select another alignment in the viewer.
        self.observe(lambda change: self._timeline_session.realign(change.new), "_align")

    # --- selection -------------------------------------------------------------------------------

    @property
    def selection(self) -> int | None:
        """Id of the selected event, as in `trace.events`; None without a selection.

        With several traces, ids of each trace start after those of the previous one.
        """
        return self._selection

    @property
    def range(self) -> Range | None:
        """Start and end of the marked range, in ns as in the tables; None without a range."""
        return self._timeline_session.range(*self._range) if self._range else None

    @property
    def notes(self) -> list[Note]:
        """Notes about times, ranges and events, in order of time.

        Assign a list to replace them. The notebook saves them with the state of its widgets.
        """
        origin = self._timeline_session.origin_ns
        kept: list[dict[str, Any]] = self._notes
        return [from_front_end(note, origin) for note in kept]

    @notes.setter
    def notes(self, notes: Sequence[Note]) -> None:
        origin = self._timeline_session.origin_ns
        self._notes = [to_front_end(note, origin) for note in notes]
        self.send({"type": "notes", "notes": self._notes})

    @property
    def selected_events(self) -> Table:
        """Rows of `trace.events` that overlap the marked range.

        Without a range: the selected event, its nested events, and the device work that they
        launched. Empty without a selection. With several traces, the table has the additional
        columns `rank` and `window`.
        """
        return self._timeline_session.events(self._selection, self._range)

    def on_select(self, function: Callable[[int | None], object]) -> Callable[[], None]:
        """Calls `function` with the id of the event, or None, when the selection changes.

        Returns a function that removes the callback. Errors of `function` appear in the timeline
        and as a RuntimeWarning.
        """
        return self._observe_value("_selection", function, lambda: self.selection)

    def on_range(self, function: Callable[[Range | None], object]) -> Callable[[], None]:
        """Calls `function` with start and end in ns, or None, when the marked range changes.

        Otherwise as `on_select`.
        """
        return self._observe_value("_range", function, lambda: self.range)

    def _observe_value(
        self, trait: str, function: Callable[[Any], object], value: Callable[[], Any]
    ) -> Callable[[], None]:
        def call(_change: object) -> None:
            try:
                function(value())
            except Exception as error:  # noqa: BLE001 - shown to the author of the callback
                self._report_error(function, error)

        def stop() -> None:
            if call in self._trait_notifiers.get(trait, {}).get("change", []):
                self.unobserve(call, trait)

        self.observe(call, trait)
        return stop

    def _report_error(self, function: Callable[[Any], object], error: Exception) -> None:
        name = getattr(function, "__qualname__", repr(function))
        message = f"{name} raised {type(error).__name__}: {error}"
        self.send({"type": "say", "message": message})
        warn(message)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - as ipywidgets
        """State that ipywidgets saves, with `selection` and `range`: the `.value` in marimo."""
        state: dict[str, Any] = super().get_state(key, drop_defaults)
        return state if key is not None else {**state, "selection": self.selection, "range": self.range}

    # --- display ---------------------------------------------------------------------------------

    def goto(self, event: int) -> None:
        """Selects and shows an event by its id. Raises TraceError for an unknown id."""
        event = index(event)
        self._timeline_session.expect_event(event)
        self._selection = event
        self.send({"type": "goto", "id": event})

    def show(self, start_ns: int | Range, end_ns: int | None = None) -> None:
        """Shows a range, in ns as in the tables, or an iteration.

        Call `show(start, end)`, `show((start, end))`, or `show(3)` for an iteration. Raises
        TraceError for an unknown iteration, and ValueError for a range that ends before it starts.
        """
        start, end = self._range_of(start_ns, end_ns)
        if end < start:
            raise ValueError(f"expected a range that ends after its start, found {start} to {end}")
        origin = self._timeline_session.origin_ns
        self._shown = (float(start - origin), float(end - origin))
        self.send({"type": "show", "start": start - origin, "end": end - origin})

    def _range_of(self, start_ns: int | Range, end_ns: int | None) -> Range:
        if isinstance(start_ns, (tuple, list)):
            start, end = start_ns
            return index(start), index(end)
        if end_ns is not None:
            return index(start_ns), index(end_ns)
        return self._timeline_session.iteration(index(start_ns))

    def render_static(self, height: int | None = None) -> Static:
        """Returns the timeline in a frame without a kernel; see `Trace.render_static`."""
        parts = self._timeline_session.parts
        if len(parts) > 1:
            return static_timeline(self._timeline_session, text.plural(len(parts), "trace"), height or self._height)
        return parts[0].trace.render_static(height or self._height)

    # --- requests of the front-end ---------------------------------------------------------------

    def close(self) -> None:
        """Closes the widget; requests get no more responses."""
        self._answers.close()
        self._files.close()
        super().close()

    def _received(self, _widget: object, content: dict[str, Any], _buffers: list[memoryview]) -> None:
        kind = content.get("type")
        if kind == "query":
            self._answers.put(content["asks"])
        elif kind == "get":
            self._files.put([content])

    def _file(self, request: Request) -> bytes:
        name, _, part = str(request["what"]).partition("/")
        if name == "snapshot":
            return self._timeline_session.parts[int(part or 0)].trace.snapshot()
        if name in _CODE:
            return asset(name)
        raise TraceError(f"expected snapshot, {' or '.join(_CODE)}, found {name}")

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and a static summary for hosts without it, such as GitHub and nbconvert."""
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, **self._saved()}, metadata

    def _ipython_display_(self) -> None:
        """Shows the widget and the static summary as two outputs, of which readers see one.

        JupyterLab prefers the widget within an output, even in a reopened notebook without its
        model. It then shows an error in place of the summary.
        """
        display = _notebook()
        bundle = super()._repr_mimebundle_()
        if display is None or bundle is None:
            raise NotImplementedError  # IPython then asks for the MIME bundle
        data, metadata = bundle
        # Without text, a host that shows no widgets shows nothing here.
        display({_WIDGET: data[_WIDGET], "text/html": ""}, metadata=metadata, raw=True)
        display(self._saved(), raw=True)

    def _saved(self) -> dict[str, str]:
        """The static summary, as HTML and as text; the picture alone of a flame graph."""
        parts = self._timeline_session.parts
        if self._flame_text is not None:
            return {"text/html": saved_html(self._key, _HINT, self._picture), "text/plain": self._flame_text}
        summary = parts[0].trace.summary() if len(parts) == 1 else None
        html = saved_html(self._key, _HINT, self._picture, summary)
        return {"text/html": html, "text/plain": self._label() if summary is None else repr(summary)}

    def __repr__(self) -> str:
        chosen = {"selection": self.selection, "range": self.range}
        state = "".join(f", {name} {value}" for name, value in chosen.items() if value is not None)
        return f"<kinetoscope.Timeline of {self._title}: {self._timeline_session.num_events:,} events{state}>"

    @property
    def _title(self) -> str:
        parts = self._timeline_session.parts
        return repr(parts[0].trace.title) if len(parts) == 1 else text.plural(len(parts), "trace")

    def _label(self) -> str:
        return f"the timeline of {text.plural(len(self._timeline_session.parts), 'trace')}"


def _parts(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Labels of the traces: a single one by its file, those of a job by their rank."""
    file = parts[0].trace.title if len(parts) == 1 and parts[0].trace.source else ""
    return [{"name": part.name or file, "rank": part.rank} for part in parts]


def _traces_key(parts: Sequence[Part]) -> str:
    """Identifies traces and labels: the page keeps equal ones once for all its timelines."""
    named = [[_identity(part.trace), part.name, part.rank] for part in parts]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:32]


def _identity(trace: Trace) -> str:
    """Returns a key that no other trace has, also in another kernel."""
    return _identities.setdefault(trace, uuid.uuid4().hex)


_FLAME_OPTIONS = {"by", "weight", "order", "focus", "direction", "classes", "program_only"}


def _flame(request: dict[str, Any], origin_ns: int) -> dict[str, Any]:
    """Separates the options of a flame graph from its selection; times count from the origin."""
    given = {key: value for key, value in request.items() if value is not None}
    times = {"start_ns": "start", "end_ns": "end"}
    about = {
        times.get(key, key): value - origin_ns if key in times else value
        for key, value in given.items()
        if key not in _FLAME_OPTIONS
    }
    return {"about": about, "options": {key: value for key, value in given.items() if key in _FLAME_OPTIONS}}


def _query_side(num_events: int) -> tuple[str, str]:
    """Selects `kernel` or `browser` by the number of events, with a note for the reader."""
    if num_events > BROWSER_EVENTS:
        note = f"{num_events:,} events: the trace stays in the kernel, which sends only the visible part."
        return "kernel", note
    return "browser", ""


@cache
def _code_version() -> str:
    """Hash of the code; distinguishes it from other versions that the page has loaded."""
    return hashlib.sha256(b"".join(map(asset, _CODE))).hexdigest()[:16]
