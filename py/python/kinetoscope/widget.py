"""The timeline in the output of a notebook's cell. The one module that knows anywidget."""

from __future__ import annotations

import time
from threading import Thread
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from kinetoscope._native import TraceError
from kinetoscope.report import asset

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_CHUNK_BYTES = 1_000_000  # servers close the socket on large messages
# A Jupyter server drops messages beyond a million bytes a second, which it counts over three seconds.
_BURST_BYTES = 2_000_000
_PAUSE_S = 1.1


class Timeline(anywidget.AnyWidget):
    """The interactive timeline of a trace.

    All answers come from the core in the browser; the trace goes there once, as binary messages, and is never saved
    with the notebook. `selection` and `range` follow what is chosen in it; `goto` and `show` move it.
    """

    _esm = traitlets.Unicode(asset("widget.js").decode()).tag(sync=True)
    _height = traitlets.Int(480).tag(sync=True)
    _theme = traitlets.Unicode("auto").tag(sync=True)

    def __init__(self, trace: Trace, *, height: int = 480, theme: str = "auto") -> None:
        """`height` in pixels; `theme` is `auto`, `light` or `dark`."""
        super().__init__(_height=height, _theme=theme)
        self._trace = trace
        self._snapshot: bytes | None = None
        self.selection: int | None = None
        """The id of the selected event, its row in `trace.events` where `id` is that."""
        self.range: tuple[int, int] | None = None
        """Start and end of the range that is marked, in ns as in the tables."""
        self.on_msg(self._received)

    def goto(self, event: int) -> None:
        """Shows and selects the event with this id."""
        self.send({"type": "goto", "id": int(event)})

    def show(self, start_ns: int, end_ns: int) -> None:
        """Shows a range, in ns as in the tables."""
        origin = self._trace.origin_ns
        self.send({"type": "show", "start": start_ns - origin, "end": end_ns - origin})

    def _received(self, _widget: object, content: dict[str, Any], _buffers: list[memoryview]) -> None:
        kind = content.get("type")
        if kind == "snapshot":
            self._send_snapshot()
        elif kind == "select":
            self.selection = content.get("id")
        elif kind == "range":
            self.range = self._absolute(content["start"], content["end"])

    def _absolute(self, start: float | None, end: float | None) -> tuple[int, int] | None:
        """A range of the viewer, which counts from the trace's start, as the tables count."""
        if start is None or end is None:
            return None
        return self._trace.origin_ns + round(start), self._trace.origin_ns + round(end)

    def _send_snapshot(self) -> None:
        try:
            self._snapshot = self._snapshot or self._trace.snapshot()
        except TraceError as error:
            self.send({"type": "error", "message": str(error)})
            return
        if len(self._snapshot) <= _BURST_BYTES:
            self._send_chunks(self._snapshot, pause_s=0)
        else:
            Thread(target=self._send_chunks, args=(self._snapshot, _PAUSE_S), daemon=True).start()

    def _send_chunks(self, snapshot: bytes, pause_s: float) -> None:
        chunks = [snapshot[start : start + _CHUNK_BYTES] for start in range(0, len(snapshot), _CHUNK_BYTES)]
        for index, chunk in enumerate(chunks):
            if index >= _BURST_BYTES // _CHUNK_BYTES:
                time.sleep(pause_s)
            self.send({"type": "snapshot", "chunk": index, "num_chunks": len(chunks)}, [chunk])

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and the static summary for where there is none: a reopened notebook, GitHub, nbconvert."""
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        data, metadata = bundle
        data["text/html"] = self._trace._repr_html_()
        data["text/plain"] = repr(self._trace)
        return data, metadata
