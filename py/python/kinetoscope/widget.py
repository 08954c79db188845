"""The timeline in the output of a notebook's cell. The one module that knows anywidget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from kinetoscope.report import asset

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_CHUNK_BYTES = 1_000_000  # servers close the socket on large messages


class Timeline(anywidget.AnyWidget):
    """The interactive timeline of a trace.

    All answers come from the core in the browser; the trace goes there once, as binary messages, and is never saved with the
    notebook. `selection` and `range` follow what is chosen in it; `goto` and `show` move it.
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
        """Start and end of what is shown, in ns as in the tables."""
        self.on_msg(self._received)

    def goto(self, event: int) -> None:
        """Shows and selects the event with this id."""
        self.send({"type": "goto", "id": int(event)})

    def show(self, start_ns: int, end_ns: int) -> None:
        """Shows a range, in ns as in the tables."""
        origin = self._trace.origin_ns
        self.send({"type": "range", "start": start_ns - origin, "end": end_ns - origin})

    def _received(self, _widget: object, content: dict[str, Any], _buffers: list[memoryview]) -> None:
        kind = content.get("type")
        if kind == "snapshot":
            self._send_snapshot()
        elif kind == "select":
            self.selection = content.get("id")
        elif kind == "range":
            origin = self._trace.origin_ns
            self.range = (origin + round(content["start"]), origin + round(content["end"]))

    def _send_snapshot(self) -> None:
        if self._snapshot is None:
            self._snapshot = self._trace.snapshot()
        data = memoryview(self._snapshot)
        chunks = [data[start : start + _CHUNK_BYTES] for start in range(0, len(data), _CHUNK_BYTES)]
        for index, chunk in enumerate(chunks):
            self.send({"type": "snapshot", "chunk": index, "num_chunks": len(chunks)}, [chunk])

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and the static summary for where there is none: a reopened notebook, GitHub, nbconvert."""
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        data["text/html"] = self._trace._repr_html_()
        data["text/plain"] = repr(self._trace)
        return data, metadata
