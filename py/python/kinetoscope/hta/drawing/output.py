"""Output of pictures: through plotly if it is installed, otherwise as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from kinetoscope._base.progress import _notebook
from kinetoscope._base.text import printable
from kinetoscope._base.warnings import warn
from kinetoscope._io.atomic import atomic_path
from kinetoscope._report.html import block, figure
from kinetoscope.hta.drawing import svg
from kinetoscope.hta.drawing.picture import Picture

_PAGES = (".html", ".htm")
_PAGE = ":root{color-scheme:light dark}body{margin:24px auto;max-width:1100px;padding:0 16px}"


def show(pictures: Sequence[Picture], renderer: str | None = None) -> None:
    """Shows pictures through plotly, else in the notebook; RuntimeWarning if neither works.

    `renderer` is the name of a plotly renderer; empty or None selects plotly's default. Raises
    ValueError for an unknown renderer.
    """
    if not pictures or _shown_by_plotly(pictures, renderer or None):
        return
    if (display := _notebook()) is not None:
        display({"text/html": fragment(pictures), "text/plain": _titles(pictures)}, raw=True)
        return
    warn(
        f"no way to show {_titles(pictures)}: expected plotly with a browser, or a notebook, found"
        " neither. Install plotly, run in a notebook, or pass visualize=False (show_image=False)."
    )


def write(picture: Picture, path: str | Path) -> None:
    """Writes a picture in the format of the suffix.

    Without plotly (and kaleido, for images), writes `.html` and `.svg` directly. For other
    suffixes, writes an `.svg` file beside the path, with a RuntimeWarning. Raises OSError if the
    file cannot be written.
    """
    target = Path(path)
    if _written_by_plotly(picture, target):
        return
    content = page(picture) if target.suffix.lower() in _PAGES else picture.svg()
    if target.suffix.lower() not in (".svg", *_PAGES):
        wanted, target = target, target.with_suffix(".svg")
        warn(f"wrote {target} in place of {wanted}: images in this format need plotly and kaleido with a Chrome.")
    with atomic_path(target) as temporary:
        temporary.write_text(content, encoding="utf-8")


def html(picture: Picture) -> str:
    """Returns a complete HTML page with the plotly figure, otherwise with the SVG.

    The plotly page loads its script from the network.
    """
    if not _has_plotly():
        return page(picture)
    return str(picture.figure().to_html(include_plotlyjs="cdn"))


def page(picture: Picture) -> str:
    """Returns a complete HTML page without scripts."""
    head = f"<meta charset='utf-8'><title>{svg.escaped(picture.title)}</title><style>{_PAGE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{fragment([picture])}</body></html>\n"


def fragment(pictures: Sequence[Picture]) -> str:
    """Returns HTML without scripts, for a page or a notebook."""
    return block("".join(figure(picture.svg()) for picture in pictures))


def _titles(pictures: Sequence[Picture]) -> str:
    more = f" and {len(pictures) - 1} more" if len(pictures) > 1 else ""
    return f'the picture "{printable(pictures[0].title)}"{more}'


def _has_plotly() -> bool:
    return find_spec("plotly") is not None


def _shown_by_plotly(pictures: Sequence[Picture], renderer: str | None) -> bool:
    if not _has_plotly():
        return False
    import plotly.io

    if not (renderer or plotly.io.renderers.default):  # plotly found no browser, and would show nothing
        return False
    try:
        for picture in pictures:
            picture.figure().show(renderer=renderer)
    except ValueError:  # its default in a notebook needs nbformat
        if renderer:
            raise
        return False
    return True


def _written_by_plotly(picture: Picture, path: Path) -> bool:
    if not _has_plotly():
        return False
    if path.suffix.lower() in _PAGES:
        picture.figure().write_html(str(path))
        return True
    try:
        picture.figure().write_image(str(path))
    except (ImportError, RuntimeError, ValueError):  # no kaleido, no Chrome, or a format it does not know
        return False
    return True
