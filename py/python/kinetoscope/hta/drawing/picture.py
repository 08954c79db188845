"""The interface of all pictures: SVG for everyone, a plotly figure where plotly is installed."""

from __future__ import annotations

from typing import Any, Protocol

from kinetoscope._base import text


class Picture(Protocol):
    """A picture with a title."""

    @property
    def title(self) -> str:
        """Says what it shows, on one line."""
        ...

    def svg(self) -> str:
        """A whole SVG document."""
        ...

    def figure(self) -> Any:
        """The plotly figure; ImportError where plotly is not installed."""
        ...


def plain(words: object) -> str:
    """The words for plotly, which would otherwise take parts such as `<float>` for markup."""
    return text.printable(str(words)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def heading(words: str, most: int = 100) -> str:
    """At most `most` characters for plotly, which lets long words run out of the figure."""
    return plain(text.clipped(words, most))


def plain_lines(words: str) -> str:
    """Lines for the tooltip of a plotly figure."""
    return "<br>".join(map(plain, words.splitlines()))
