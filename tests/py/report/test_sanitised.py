"""Summaries after a strict sanitiser, as GitHub's preview of notebooks has one.

GitHub does not publish its rules for notebooks. These are the ones of its Markdown (html-pipeline's
allowlist), and stricter about images: an image in the file may stay or go.
"""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit

# Tags that stay. Of other tags, the text stays.
TAGS = re.findall(
    r"\w+",
    """h1 h2 h3 h4 h5 h6 br b i strong em a pre code img tt div ins del sup sub p picture ol ul table thead tbody tfoot
    blockquote dl dt dd kbd q samp var hr ruby rt rp li tr td th s strike summary details caption figure figcaption
    abbr bdo cite dfn mark small source span time wbr""",
)
# Of these, the text goes, too.
SILENT = {"script", "style"}
ATTRIBUTES = {"alt", "align", "colspan", "height", "rowspan", "scope", "title", "width"}


class Sanitiser(HTMLParser):
    """Keeps the allowed tags and attributes: no styles, classes, frames or SVG."""

    def __init__(self, *, keeps_images: bool) -> None:
        super().__init__()
        self.kept = ""
        self._keeps_images = keeps_images
        self._num_silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._num_silent += tag in SILENT
        if tag not in TAGS:
            return
        named = ATTRIBUTES | ({"src"} if self._keeps_images else set())
        kept = "".join(f' {name}="{escape(value or "")}"' for name, value in attrs if name in named)
        self.kept += f"<{tag}{kept}>"

    def handle_endtag(self, tag: str) -> None:
        self._num_silent -= tag in SILENT
        if tag in TAGS:
            self.kept += f"</{tag}>"

    def handle_data(self, data: str) -> None:
        if not self._num_silent:
            self.kept += escape(data)


def sanitised(html: str, *, keeps_images: bool = True) -> str:
    parser = Sanitiser(keeps_images=keeps_images)
    parser.feed(html)
    parser.close()
    return parser.kept


def texts(html: str) -> list[str]:
    return [text for text in re.split(r"\s*<[^>]*>\s*", html) if text]


@pytest.fixture
def trace(data: Path) -> ks.Trace:
    return ks.read(data / "synthetic_cuda/kineto_trace_0.json.gz")


@pytest.mark.parametrize("keeps_images", [True, False])
def test_a_summary_is_a_table_and_a_picture(trace: ks.Trace, *, keeps_images: bool) -> None:
    kept = sanitised(trace._repr_html_(), keeps_images=keeps_images)
    cards = re.findall(r'<tr><th scope="row">(.*?)</th><td>(.*?)</td></tr>', kept)
    assert ("recording", "complete") in cards
    assert len(cards) == len(trace.summary().cards)
    (image,) = re.findall(r"<img [^>]*>", kept)
    assert "Timeline of 5 tracks" in image, "a host that drops the picture shows this text"
    assert ("data:image/svg+xml," in image) is keeps_images
    assert not any("thread 4200" in text or "revert" in text for text in texts(kept)), (
        "no names of tracks, and no style"
    )


def test_a_static_timeline_is_a_picture(trace: ks.Trace) -> None:
    kept = sanitised(trace.render_static()._repr_html_())
    assert re.fullmatch(r"<div><figure><img [^>]*></figure></div>", kept), kept[:500]


def test_a_timeline_is_a_picture_with_a_hint(trace: ks.Trace) -> None:
    pytest.importorskip("anywidget")
    data, _ = trace.timeline()._repr_mimebundle_()
    kept = sanitised(data["text/html"])
    assert kept.count("<img") == 1
    assert "run the cell" in kept
