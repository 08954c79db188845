"""A report inside a frame, which stays interactive without a kernel."""

from __future__ import annotations

import uuid

from kinetoscope._base import text
from kinetoscope._report.html import follow_theme, image


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
        """The frame, with a picture for hosts that remove frames, such as untrusted notebooks.

        Such hosts also remove the style that hides the picture.
        """
        # The style of one output must not hide the picture of another.
        name = f"ks-frame-{uuid.uuid4().hex[:12]}"
        return (
            f"<style>.{name}{{display:none}}{follow_theme('.ks-frame')}</style>"
            f"<div class='{name}'>{image(self._picture)}</div>"
            f"<iframe class='ks-frame' srcdoc='{text.escaped(self._page)}' title='{text.escaped(self._title)}' "
            f"sandbox='allow-scripts allow-downloads' allow='fullscreen' "
            f"style='width:100%;height:{self._height}px;border:0'></iframe>"
        )
