"""Interface of all pictures: SVG always, and a plotly figure if plotly is installed."""

from __future__ import annotations

from typing import Any, Protocol

from kinetoscope._base import text


class Picture(Protocol):
    """A picture with a title."""

    @property
    def title(self) -> str:
        """Title, on one line."""
        ...

    def svg(self) -> str:
        """Returns a complete SVG document."""
        ...

    def figure(self) -> Any:
        """Returns the plotly figure. Raises ImportError if plotly is not installed."""
        ...


def plain(words: object) -> str:
    """Escapes a text for plotly, which treats parts such as `<float>` as markup."""
    return text.printable(str(words)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def heading(words: str, most: int = 100) -> str:
    """Shortens a text to `most` characters, because plotly does not clip long words."""
    return plain(text.clipped(words, most))


def plain_lines(words: str) -> str:
    """Joins lines for the tooltip of a plotly figure."""
    return "<br>".join(map(plain, words.splitlines()))
