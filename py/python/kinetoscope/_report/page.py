"""The report: one HTML file, complete without scripts, with a live timeline where they run.

The core writes the body, and the front-end the page around it, with script, style and policy. This
module joins them.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetoscope import _native
from kinetoscope._analysis.protocol import ask
from kinetoscope._base import text
from kinetoscope._io.atomic import write_bytes
from kinetoscope._report.size_limit import Ranked, expect_size, fitting_page

if TYPE_CHECKING:
    from collections.abc import Mapping

Unread = Sequence[tuple[str, str]]
"""Names of files that could not be read, each with the reason."""

_SLOT = "<!-- kinetoscope -->"
"""As in `wasm/build/page.mjs`."""


def write_report(
    traces: Ranked,
    path: str | os.PathLike[str],
    title: str,
    max_size: int | str | None = None,
    *,
    static: bool = False,
    unread: Unread = (),
) -> Path:
    """Writes the report under a temporary name, then renames it. Raises OSError on failure.

    `unread` are files of a job that could not be read.
    """
    traces = with_companions(traces)

    def page(carried: Ranked, snapshots: Sequence[bytes]) -> str:
        left_out = {} if carried is traces else num_removed(carried)
        return page_with(title, _body(traces, title, left_out, unread), traces, snapshots)

    if static:
        return write_bytes(path, expect_size(static_page(title, _body(traces, title, {}, unread)), max_size))
    return write_bytes(path, fitting_page(traces, max_size, page))


def static_page(title: str, body: str) -> bytes:
    """Builds a page of tables and pictures, without scripts."""
    return _filled("static.html", title, body, "").encode("utf-8", "replace")


def with_companions(traces: Ranked) -> Ranked:
    """Adds the traces of other tools, each with the rank that it lies beside."""
    return [*traces, *((rank, companion.trace) for rank, trace in traces for companion in trace.companions)]


def report_page(traces: Ranked, title: str, unread: Unread = ()) -> str:
    """Builds the report of `traces` and their companions, with their snapshots for the timeline."""
    every = with_companions(traces)
    return page_with(title, _body(every, title, {}, unread), every, [trace.snapshot() for _, trace in every])


def page_with(title: str, body: str, traces: Ranked, snapshots: Sequence[bytes]) -> str:
    """Builds a page with the snapshots of `traces` for its timeline."""
    data = (snapshot_data(rank, snapshot) for (rank, _), snapshot in zip(traces, snapshots, strict=True))
    return page_of(title, body, "".join(data))


def _body(traces: Ranked, title: str, left_out: Mapping[str, int], unread: Unread) -> str:
    body: str = ask(_session(traces), report_request(traces, title, left_out, unread)).data["html"]
    return body


def report_request(traces: Ranked, title: str, left_out: Mapping[str, int], unread: Unread) -> dict[str, Any]:
    """Returns the request for the body of a report; `traces` are those of the timeline.

    Snapshots may have fewer details than the traces; `left_out` counts the removals by kind.
    """
    return {"type": "report", "title": title, "facts": _facts(traces), "left_out": left_out, "unread": unread}


def num_removed(traces: Ranked) -> dict[str, int]:
    """Counts the details that were removed to make traces smaller, by kind."""
    counts: Counter[str] = Counter()
    for _, trace in traces:
        for kind, count in trace.health.select("kind", "count").rows():
            counts[kind] += count
    return dict(counts)


def _session(traces: Ranked) -> _native.Session | _native.Trace:
    """Returns a session for all traces; reuses that of a single trace with the same rank."""
    natives = [(rank, trace._native) for rank, trace in traces]  # noqa: SLF001 - sessions are built from native traces
    if len(natives) == 1 and natives[0][0] == natives[0][1].rank:
        return natives[0][1]
    return _native.Session([("", rank, native) for rank, native in natives])


def viewer_page() -> str:
    """Builds the page without a trace; it reads traces that are dropped on it."""
    body = "<noscript><p>Scripts are off: this page needs them to read traces.</p></noscript>"
    return page_of("Kinetoscope", body, "")


def page_of(title: str, body: str, data: str, opens_at: str = "") -> str:
    """Builds a page.

    `data` has the traces of the timeline. `opens_at`, a fragment of an address, selects the view.
    """
    view = json.dumps({"hash": opens_at, "notes": []})
    state = f'<script type="application/json" id="ks-view">{view}</script>' if opens_at else ""
    return _filled("page.html", title, body, f"{embedded('ks-wasm', asset('kinetoscope.wasm.gz'))}{data}{state}")


def _filled(shell: str, title: str, body: str, data: str) -> str:
    """Fills the page that the front-end wrote around three slots."""
    (head, middle, after, end) = asset(shell).decode().split(_SLOT)
    return "".join((head, text.escaped(title), middle, body, after, data, end))


def _facts(traces: Ranked) -> list[tuple[str, str]]:
    """Names and values about the origin of the traces."""
    files: list[tuple[str, str]] = []
    for rank, trace in traces:
        suffix = f" of rank {rank}" if len(traces) > 1 and rank is not None else ""
        kind = trace._native.other_tool  # noqa: SLF001 - the core knows the tools
        names = {
            f"trace of {kind}" if kind else "Kineto trace": trace.source,
            "Execution Trace": trace.execution_source,
        }
        files += [(f"{name}{suffix}", Path(path).name) for name, path in names.items() if path]
    return [*files, ("report by", f"Kinetoscope {_native.__version__}")]


def snapshot_data(rank: int | None, content: bytes, name: str = "") -> str:
    """Embeds a snapshot. `rank` and `name` override those of the trace."""
    attributes = "" if rank is None else f' data-rank="{rank}"'
    attributes += f' data-name="{text.escaped(name)}"' if name else ""
    return embedded("ks-snapshot", content, attributes)


def embedded(kind: str, content: bytes, attributes: str = "") -> str:
    """Returns an element with bytes for the page's script, found by its class `kind`."""
    packed = _native.base85(content)
    return f'<script type="application/octet-stream;base85" class="{kind}"{attributes}>{packed}</script>'


@cache
def asset(name: str) -> bytes:
    """Reads a file of the built front-end.

    Raises FileNotFoundError in a source tree where the front-end is not built.
    """
    file = resources.files("kinetoscope") / "_static" / name
    if not file.is_file():
        expected = f"expected {name} in kinetoscope/_static, found none"
        raise FileNotFoundError(f"{expected}: build the front-end with make setup")
    return file.read_bytes()
