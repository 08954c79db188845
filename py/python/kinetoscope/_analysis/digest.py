"""The digest: the facts of a report as short text, for programs that read text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from kinetoscope._analysis.protocol import decoded
from kinetoscope._base.integer import integer

if TYPE_CHECKING:
    from kinetoscope._analysis.session import Align, Part

DigestForm = Literal["markdown", "json"]
"""Form of a digest: text for readers, or the same items as an object."""

MAX_CHARS = 8_000
"""Default length of a digest."""


def digest_of(
    parts: Sequence[Part],
    max_chars: int,
    form: DigestForm,
    align: Align = None,
    comparison: dict[str, Any] | None = None,
    unread: Sequence[tuple[str, str]] = (),
) -> str:
    """Asks the core for the digest of traces, or of a comparison with a selection of both sides.

    `unread` are files of a job that could not be read, each with the reason.
    """
    from kinetoscope._analysis.session import TimelineSession

    request = {"type": "digest", "form": form, "max_chars": num_chars(max_chars), "align": align, "unread": unread}
    if comparison is not None:
        request["comparison"] = comparison
    return str(decoded(TimelineSession(parts, align).query(json.dumps(request))).data["text"])


def num_chars(max_chars: int) -> int:
    """Checks a number of characters. Raises TypeError for another type, TraceError if negative."""
    return integer(max_chars, "a number of characters", is_signed=False) or 0
