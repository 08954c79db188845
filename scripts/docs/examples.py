"""Writes the example reports, their pictures, and the page that opens a trace."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import kinetoscope as ks
from html_blocks import block
from kinetoscope._report.page import viewer_page

if TYPE_CHECKING:
    from kinetoscope._analysis.differences import Differences


class Example(NamedTuple):
    """A report on the site."""

    name: str
    title: str
    shown: Callable[[Path], ks.Trace | ks.TraceSet | Differences]
    """Returns the subject of the report, from the folder of fixtures."""
    description: str


def _trace(folder: str) -> Callable[[Path], ks.Trace]:
    return lambda data: ks.read(data / folder / "kineto_trace_0.json.gz")


EXAMPLES = (
    Example(
        "training",
        "Training on one GPU",
        _trace("transformer_cuda"),
        "A small language model. The timeline has Python lines, modules, memory and two streams.",
    ),
    Example(
        "compiled",
        "torch.compile",
        _trace("compiled_cuda"),
        "Two blocks under `torch.compile`. Generated kernels lead to their source.",
    ),
    Example(
        "serving",
        "A server that replays CUDA graphs",
        _trace("decode_cuda/serving"),
        "Twelve steps of a small language model server: prompts, then replayed graphs.",
    ),
    Example(
        "job",
        "Two ranks",
        lambda data: ks.read_dir(data / "mlp_gloo", progress=False),
        "DistributedDataParallel on gloo. Collectives are matched, late ranks are named.",
    ),
    Example(
        "comparison",
        "Before and after",
        lambda data: ks.diff(
            data / "inference_cuda/compiled/kineto_trace_0.json.gz",
            data / "inference_cuda/replayed/kineto_trace_0.json.gz",
        ),
        "The same inference, compiled, and replayed as CUDA graphs: where the time went.",
    ),
)

_GALLERY = """# Gallery

Each report is one HTML file that `trace.report("report.html")` wrote. Open it, click, press `?` for
the keys. The traces are part of the repository.
"""


def files(data: Path) -> Iterator[tuple[str, str | bytes]]:
    """Yields the pages and files with their paths below docs."""
    yield "examples/viewer.html", viewer_page().encode()
    parts = [_GALLERY]
    with tempfile.TemporaryDirectory() as folder:
        for example in EXAMPLES:
            shown = example.shown(data)
            path = Path(folder, f"{example.name}.html")
            shown.report(path, title=example.title)
            yield f"examples/{path.name}", path.read_bytes()
            parts.append(f"## {example.title}\n\n{example.description}")
            if isinstance(shown, ks.Trace):
                parts.append(block(shown.picture(960)))
            parts.append(f"[Open the report](examples/{path.name}){{ .md-button }}")
    yield "gallery.md", "\n\n".join(parts)
