"""A report inside a frame, which stays interactive without a kernel."""

from __future__ import annotations

from kinetoscope._base import text


class Static:
    """A page in a frame, stored in the notebook. Returned by `Trace.render_static`."""

    def __init__(self, page: str, picture: str, title: str, height: int) -> None:
        self._page = page
        self._picture = picture
        self._title = title
        self._height = height

    def __repr__(self) -> str:
        return f"the timeline of {self._title}, {text.size(len(self._page))} of HTML"

    def _repr_html_(self) -> str:
        """The frame, with a picture for hosts that remove frames, such as untrusted notebooks."""
        return (
            f"<iframe srcdoc='{text.escaped(self._page)}' title='{text.escaped(self._title)}' sandbox='allow-scripts "
            f"allow-downloads' allow='fullscreen' style='width:100%;height:{self._height}px;border:0'>{self._picture}"
            "</iframe>"
        )
