"""The report: one HTML file, whole without scripts, with the timeline live where they run.

The core writes the body, the front-end's build the script and the style; here they become a page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections import Counter
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope._analysis.protocol import ask
from kinetoscope._base import text
from kinetoscope._io.atomic import write_bytes
from kinetoscope._report.size_limit import Ranked, fitting_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def write_report(traces: Ranked, path: str | os.PathLike[str], title: str, max_size: int | str | None = None) -> Path:
    """Writes the page under a temporary name and renames it. OSError when that is not possible."""

    def page(carried: Ranked, snapshots: Sequence[bytes]) -> str:
        return report_page(traces, title, snapshots, {} if carried is traces else _left_out(carried))

    return write_bytes(path, fitting_page(traces, max_size, page))


def report_page(
    traces: Ranked, title: str, snapshots: Sequence[bytes], left_out: Mapping[str, int] | None = None
) -> str:
    """The whole page: about these traces, with snapshots of them, which may have less in them, as `left_out` counts."""
    request = {"type": "report", "title": title, "facts": _facts(traces), "left_out": left_out or {}}
    body = ask(_session(traces), request).data["html"]
    data = (snapshot_data(rank, snapshot) for (rank, _), snapshot in zip(traces, snapshots, strict=True))
    return page_of(title, body, "".join(data))


def _left_out(traces: Ranked) -> dict[str, int]:
    """What was left out of traces to make them smaller: how often, by the kind."""
    counts: Counter[str] = Counter()
    for _, trace in traces:
        for kind, count in trace.health.select("kind", "count").rows():
            counts[kind] += count
    return dict(counts)


def _session(traces: Ranked) -> _native.Session | _native.Trace:
    """What answers about all of them: for one that says its rank itself, the session that it has already."""
    natives = [(rank, trace._native) for rank, trace in traces]  # noqa: SLF001 - as a timeline does
    if len(natives) == 1 and natives[0][0] == natives[0][1].rank:
        return natives[0][1]
    return _native.Session([("", rank, native) for rank, native in natives])


def viewer_page() -> str:
    """The page without a trace, which reads those that are dropped on it."""
    body = "<noscript><p>Scripts are off: this page reads traces with a script of its own.</p></noscript>"
    return page_of("Kinetoscope", body, "")


def page_of(title: str, body: str, data: str, opens_at: str = "") -> str:
    """A page with this body; `data` are the traces that its timeline shows, `opens_at` is what is on the screen."""
    view = json.dumps({"hash": opens_at, "notes": []})
    left = f'<script type="application/json" id="ks-view">{view}</script>' if opens_at else ""
    script = _script(asset("page.js").decode())
    style = asset("style.css").decode()
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, style)}">'
        f"<meta name='viewport' content='width=device-width'><meta name='referrer' content='no-referrer'>"
        f"<title>{text.escaped(title)}</title><style>{style}</style></head><body>"
        f"<main class='ks-page'>{body}</main>"
        f"{_data('ks-wasm', asset('kinetoscope.wasm.gz'))}{data}{left}"
        f"<script>{script}</script></body></html>\n"
    )


def _facts(traces: Ranked) -> list[tuple[str, str]]:
    """Where the traces are from."""
    files: list[tuple[str, str]] = []
    for rank, trace in traces:
        of = f" of rank {rank}" if len(traces) > 1 and rank is not None else ""
        names = {"Kineto trace": trace.source, "Execution Trace": trace.execution_source}
        files += [(f"{name}{of}", Path(path).name) for name, path in names.items() if path]
    return [*files, ("report by", f"Kinetoscope {_native.__version__}")]


def _policy(script: str, style: str) -> str:
    """Nothing is fetched, and nothing runs but our script and the WebAssembly in the page."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}' 'wasm-unsafe-eval'; "
        f"style-src '{_digest(style)}'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _digest(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _script(code: str) -> str:
    """What could end the element, or keep it from ending, written so that strings and patterns stay equal."""
    return code.replace("\r\n", "\n").replace("</script", "\\x3C/script").replace("<!--", "\\x3C!--")


def snapshot_data(rank: int | None, content: bytes, name: str = "") -> str:
    """A trace in a page; one that is called something, or says no rank itself, is told here."""
    attributes = "" if rank is None else f' data-rank="{rank}"'
    attributes += f' data-name="{text.escaped(name)}"' if name else ""
    return _data("ks-snapshot", content, attributes)


def _data(kind: str, content: bytes, attributes: str = "") -> str:
    base64_text = base64.b64encode(content).decode()
    return f'<script type="application/octet-stream;base64" class="{kind}"{attributes}>{base64_text}</script>'


@cache
def asset(name: str) -> bytes:
    """A file of the built front-end. FileNotFoundError, with what to do, in a source tree where it is not built."""
    file = resources.files("kinetoscope") / "_static" / name
    if not file.is_file():
        raise FileNotFoundError(f"expected {name} in kinetoscope/_static, found none: build the front-end (make setup)")
    return file.read_bytes()
