"""What torch's profiler offers besides recording, under its names."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kinetoscope._base.warnings import warn


class TorchMethods:
    """Passed on to torch's profiler, with all else that it has. They are about the last window."""

    _profiler: Any

    def key_averages(self, *arguments: Any, **options: Any) -> Any:
        """Operators with their times, summed up by name: an EventList, whose `table()` prints it.

        `group_by_input_shape`, `group_by_stack_n` …, as in torch.
        """
        return self._profiler.key_averages(*arguments, **options)

    def events(self) -> Any:
        """All events, one by one."""
        return self._profiler.events()

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> Any:
        """Writes stacks with their times, for flame graphs. Needs `with_stack=True`."""
        return self._profiler.export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Writes memory over time. Needs `profile_memory=True`, `record_shapes=True` and `with_stack=True`.

        The ending chooses the format: `.html`, `.json`, `.json.gz` or `.raw.json.gz`.
        """
        self._profiler.export_memory_timeline(path, device)

    def add_metadata(self, key: str, value: str) -> None:
        """Writes a text into the header of the window that is open. What JSON would escape is replaced, as there."""
        self.add_metadata_json(key, json.dumps(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        """Writes a value, given as JSON, into the header of the window that is open.

        Kineto knows no escapes: it would write a file that is no JSON. So `"` becomes `'` in texts, a backslash `/`,
        and what cannot be printed a space.
        """
        if (plain := _plain_json(key, value)) is not None:
            self._profiler.add_metadata_json(key, plain)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Writes a value, given as JSON, into the header of each window that begins from now on."""
        if (plain := _plain_json(key, value)) is not None:
            self._profiler.preset_metadata_json(key, plain)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:  # noqa: FBT001 - torch's
        """Stops (False) or resumes (True) recording some activities within a window."""
        self._profiler.toggle_collection_dynamic(enable, activities)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._profiler, name)


def _plain_json(key: str, text: str) -> str | None:
    """JSON without escapes. None, and a warning, for what is none: it would spoil the whole file."""
    try:
        return json.dumps(_plain(json.loads(text)), ensure_ascii=False)
    except ValueError as error:
        warn(f"ks.profile: the metadata {key!r} was left out, expected JSON: {error}")
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(letter if letter.isprintable() else " " for letter in value.translate(_ESCAPED))
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


_ESCAPED = str.maketrans({'"': "'", "\\": "/"})
