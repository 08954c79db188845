"""Counts of linked events and nodes, as a dictionary that a notebook shows as a table."""

from __future__ import annotations

from typing import Any

from kinetoscope._base import text

_SHARES = ("nodes", "operators", "device_events", "device_owners", "graph_work")
_HEADER = ("", "count", "linked", "by", "not linked")


class Coverage(dict[str, Any]):
    """The counts of `Trace.coverage`."""

    def _repr_html_(self) -> str:
        rows = [self._row(name, self[name]) for name in _SHARES if self.get(name, {}).get("count")]
        if not rows:
            return "<p>coverage: no events or nodes to link</p>"
        return text.html_table(_HEADER, rows, "coverage")

    def _row(self, name: str, share: dict[str, Any]) -> list[str]:
        keys = (f"{text.count(number)} {key.replace('_', ' ')}" for key, number in share["linked"].items())
        reasons: dict[str, str] = self.get("reasons", {})
        unlinked = (f"{text.count(number)}: {reasons.get(why, why)}" for why, number in share["unlinked"].items())
        counts = [text.count(share["count"]), text.count(share["num_linked"])]
        return [name.replace("_", " "), *counts, ", ".join(keys), "; ".join(unlinked)]
