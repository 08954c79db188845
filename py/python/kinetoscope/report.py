"""The report: one HTML file with the summary, readable with scripts off, and the timeline, live with scripts on."""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
from datetime import datetime, timezone
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope import _native, html, text
from kinetoscope.whole import write_whole

if TYPE_CHECKING:
    from kinetoscope.summary import Summary
    from kinetoscope.trace import Trace

_ROWS = 25
_EARLIEST_YEAR = 2015  # files before PyTorch 2.4 may count from the start of the machine

_STYLE = """
:root{color-scheme:light dark}
body{margin:24px;background:Canvas}
.ks{max-width:none}
h1.ks-title{font-size:18px}
#ks-timeline{margin:0 0 16px}
@media (prefers-color-scheme:dark){body{background:#14181c;color:#e6e9ec}}
"""


def write_report(trace: Trace, path: str | os.PathLike[str], title: str) -> Path:
    """Writes the page under a temporary name and renames it. OSError when that is not possible."""
    page = report_page(trace, title).encode("utf-8", "replace")
    return write_whole(path, lambda target, _: Path(target).write_bytes(page))[0]


def report_page(trace: Trace, title: str) -> str:
    """The whole page."""
    script = _script(asset("page.js").decode())
    style = f"{html.STYLE}{_STYLE}{asset('style.css').decode()}"
    summary = trace.summary()
    summary.title = title
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, style)}">'
        f"<meta name='viewport' content='width=device-width'><meta name='referrer' content='no-referrer'>"
        f"<title>{text.escaped(title)}</title><style>{style}</style></head><body>"
        f"<main class='ks'>{_body(trace, summary)}</main>"
        f"{_data('ks-wasm', _packed_wasm())}{_data('ks-snapshot', trace.snapshot())}"
        f"<script>{script}</script></body></html>\n"
    )


def _body(trace: Trace, summary: Summary) -> str:
    picture = html.figure(trace.picture(1200))
    return (
        f"{html.heading(summary, 'h1')}"
        f"<div id='ks-timeline'>{picture}</div>"
        "<noscript><p class='ks-note'>Scripts are off: the picture above stands for the timeline. All else is here."
        "</p></noscript>"
        f"{html.tables(summary, _ROWS)}{_provenance(trace)}"
    )


def _provenance(trace: Trace) -> str:
    overview = trace.query({"type": "overview"}).data
    origin = (trace.metadata.get("kineto") or {}).get("kinetoscope")
    rows = {
        "Kineto trace": Path(trace.source).name if trace.source else "",
        "Execution Trace": Path(trace.execution_source).name if trace.execution_source else "",
        "rank": "" if trace.rank is None else str(trace.rank),
        "devices": ", ".join(overview["device_names"]),
        "recorded": _recorded(trace.origin_ns),
        "PyTorch": str(origin.get("torch", "")) if isinstance(origin, dict) else "",
        "report by": f"Kinetoscope {_native.__version__}",
    }
    cells = "".join(
        f"<tr><th scope='row'>{key}</th><td>{text.escaped(value)}</td></tr>" for key, value in rows.items() if value
    )
    return f"<table><caption>Provenance</caption><tbody>{cells}</tbody></table>"


def _recorded(origin_ns: int) -> str:
    """The date of the trace's first time, where that is a date."""
    try:
        start = datetime.fromtimestamp(origin_ns // 1_000_000_000, tz=timezone.utc)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{start:%Y-%m-%d %H:%M:%S} UTC" if start.year >= _EARLIEST_YEAR else ""


def _policy(script: str, style: str) -> str:
    """Nothing is fetched, and nothing runs but our script and the WebAssembly in the page.

    Style attributes are let be: the core's pictures take their colours through them.
    """
    return (
        f"default-src 'none'; script-src '{_digest(script)}' 'wasm-unsafe-eval'; "
        f"style-src '{_digest(style)}'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _digest(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _script(code: str) -> str:
    """What could end the element, or keep it from ending, written so that strings and patterns stay equal."""
    return code.replace("\r\n", "\n").replace("</script", "\\x3C/script").replace("<!--", "\\x3C!--")


def _data(name: str, content: bytes) -> str:
    return f"<script type='application/octet-stream;base64' id='{name}'>{base64.b64encode(content).decode()}</script>"


@cache
def _packed_wasm() -> bytes:
    return gzip.compress(asset("kinetoscope.wasm"), 9, mtime=0)


@cache
def asset(name: str) -> bytes:
    """A file of the built front-end. FileNotFoundError, with what to do, in a source tree where it is not built."""
    file = resources.files("kinetoscope") / "_static" / name
    if not file.is_file():
        raise FileNotFoundError(f"expected {name} in kinetoscope/_static, found none: build the front-end (make setup)")
    return file.read_bytes()
