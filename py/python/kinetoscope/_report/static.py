"""The report inside of a page: what stays interactive where no kernel is."""

from __future__ import annotations

from kinetoscope._base import text


class Static:
    """A page in a frame, in one piece with the notebook. Made by `Trace.render_static`."""

    def __init__(self, page: str, picture: str, title: str, height: int) -> None:
        self._page = page
        self._picture = picture
        self._title = title
        self._height = height

    def __repr__(self) -> str:
        return f"the timeline of {self._title}, {text.size(len(self._page))} of HTML"

    def _repr_html_(self) -> str:
        """The frame; where frames are left out, as in a notebook that is not trusted, the picture in it stays."""
        return (
            f"<iframe srcdoc='{text.escaped(self._page)}' title='{text.escaped(self._title)}' sandbox='allow-scripts "
            f"allow-downloads' allow='fullscreen' style='width:100%;height:{self._height}px;border:0'>{self._picture}"
            "</iframe>"
        )
