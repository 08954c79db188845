"""Methods of torch's profiler, under the same names."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kinetoscope._base.warnings import warn


class TorchMethods:
    """Forwards methods and attributes to torch's profiler. They return data of the last window."""

    _profiler: Any

    def key_averages(self, *arguments: Any, **options: Any) -> Any:
        """Returns the times of operators by name, as torch's EventList; `table()` formats it.

        Takes torch's options, such as `group_by_input_shape` and `group_by_stack_n`.
        """
        return self._profiler.key_averages(*arguments, **options)

    def events(self) -> Any:
        """Returns all events, as torch's EventList."""
        return self._profiler.events()

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> Any:
        """Writes stacks with their times for flame graphs. Requires `with_stack=True`."""
        return self._profiler.export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Writes memory over time as `.html`, `.json`, `.json.gz` or `.raw.json.gz`, by extension.

        Requires `profile_memory=True`, `record_shapes=True` and `with_stack=True`.
        """
        self._profiler.export_memory_timeline(path, device)

    def add_metadata(self, key: str, value: str) -> None:
        """Writes a text into the header of the open window.

        Replaces characters as `add_metadata_json`.
        """
        self.add_metadata_json(key, json.dumps(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        """Writes a JSON value into the header of the open window.

        Kineto does not escape texts, so a file with special characters would be invalid JSON. In
        texts, `"` becomes `'`, a backslash becomes `/`, and unprintable characters become spaces.
        Warns and writes nothing if `value` is invalid JSON.
        """
        if (plain := _plain_json(key, value)) is not None:
            self._profiler.add_metadata_json(key, plain)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Writes a JSON value into the header of each later window, as `add_metadata_json`."""
        if (plain := _plain_json(key, value)) is not None:
            self._profiler.preset_metadata_json(key, plain)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:  # noqa: FBT001 - torch's
        """Pauses (False) or resumes (True) the recording of some activities in the open window."""
        self._profiler.toggle_collection_dynamic(enable, activities)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._profiler, name)


def _plain_json(key: str, text: str) -> str | None:
    """Returns JSON without escapes. Warns and returns None for invalid JSON."""
    try:
        return json.dumps(_plain(json.loads(text)), ensure_ascii=False)
    except ValueError as error:
        warn(f"ks.profile: expected JSON as metadata {key!r}, found {error}: skipped it")
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(character if character.isprintable() else " " for character in value.translate(_ESCAPED))
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


_ESCAPED = str.maketrans({'"': "'", "\\": "/"})
