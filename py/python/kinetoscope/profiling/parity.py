"""Methods of torch's profiler, under the same names."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from typing import Any

from kinetoscope._base.warnings import warn
from kinetoscope.profiling import pytorch
from kinetoscope.profiling.observer import Observer
from kinetoscope.profiling.plan import Plan


class TorchMethods:
    """Forwards methods and attributes to torch's profiler. They return data of the last window."""

    _profiler: Any
    _plan: Plan
    _observer: Observer | None
    _on_trace_ready: Callable[[Any], object] | None
    _observed_step: int | None = None
    """Number of the last window's iteration for the observer alone."""

    def key_averages(
        self,
        group_by_input_shape: bool = False,  # noqa: FBT001, FBT002 - torch's, as below
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,  # noqa: FBT001, FBT002 - torch's
        include_python_functions: bool = False,  # noqa: FBT001, FBT002 - torch's
    ) -> Any:
        """Returns the times of operators by name, as torch's EventList; `table()` formats it.

        `group_by_input_shape` separates calls with different input shapes, which requires
        `record_shapes`. `group_by_stack_n` separates calls by their `n` innermost Python frames,
        which requires `with_stack`. `group_by_overload_name` separates overloads.
        `include_python_functions` also counts Python frames. Leaves out the observed iteration.
        """
        given = {
            "group_by_input_shapes": group_by_input_shape,
            "group_by_stack_n": group_by_stack_n,
            "group_by_overload_name": group_by_overload_name,
            "include_python_functions": include_python_functions,
        }
        averages = self.events().key_averages
        return averages(**pytorch.known_options(averages, given))

    def events(self) -> Any:
        """Returns all events without the observed iteration, as torch's EventList."""
        return pytorch.without_iteration(self._profiler.events(), self._observed_step)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> Any:
        """Writes stacks with their times for flame graphs. Requires `with_stack=True`.

        Leaves out the observed iteration.
        """
        source = self._profiler if self._observed_step is None else self.events()
        return source.export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Writes memory over time as `.html`, `.json`, `.json.gz` or `.raw.json.gz`, by extension.

        Requires `profile_memory=True`, `record_shapes=True` and `with_stack=True`. Includes the
        observed iteration, as torch writes the whole window.
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

    def get_trace_id(self) -> Any:
        """Returns the id of the last window; None before the first."""
        return self._profiler.get_trace_id()

    def set_custom_trace_id_callback(self, callback: Callable[[], str] | None) -> None:
        """Sets the function that returns the ids of later windows."""
        self._profiler.set_custom_trace_id_callback(callback)

    def prepare_trace(self) -> None:
        """Prepares torch's profiler, as before `start_trace`.

        A window that is recorded in this way has no file: `export_chrome_trace` writes it. `start`
        and `step` record windows with files.
        """
        self._profiler.prepare_trace()

    def start_trace(self) -> None:
        """Starts to record, after `prepare_trace`."""
        self._profiler.start_trace()

    def stop_trace(self) -> None:
        """Stops to record, after `start_trace`."""
        self._profiler.stop_trace()

    def wait_for_exports(self) -> None:
        """Waits until torch has written the traces that it exports in the background.

        Files of this recording do not need it: `files` waits for them.
        """
        self._profiler.wait_for_exports()

    def take_pending_cuspy_export(self) -> Any:
        """Returns torch's unfinished export, always None for files of this recording."""
        return self._profiler.take_pending_cuspy_export()

    @property
    def execution_trace_observer(self) -> Any:
        """The observer of the Execution Trace: the given one, or this recording's own.

        An assigned one takes its place from the next window on.
        """
        return self._profiler.execution_trace_observer

    @execution_trace_observer.setter
    def execution_trace_observer(self, observer: Any) -> None:
        self._observer = None
        self._plan.leave_observer()
        self._profiler.execution_trace_observer = observer

    @property
    def on_trace_ready(self) -> Callable[[Any], object] | None:
        """The function that is called with this object at the end of each window."""
        return self._on_trace_ready

    @on_trace_ready.setter
    def on_trace_ready(self, function: Callable[[Any], object] | None) -> None:
        self._on_trace_ready = function

    @property
    def schedule(self) -> Callable[[int], Any]:
        """The schedule that torch follows, with the iterations for the observer.

        An assigned one takes its place from the next iteration on, and may call the one before.
        """
        return copy.copy(self._plan)

    @schedule.setter
    def schedule(self, schedule: Callable[[int], Any]) -> None:
        self._plan.replace(schedule)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_profiler":
            raise AttributeError(name)
        return getattr(self._profiler, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Assigns attributes of torch's profiler there, such as `step_num`."""
        is_own = name.startswith("_") or name in self.__dict__ or hasattr(type(self), name)
        if is_own or "_profiler" not in self.__dict__:
            super().__setattr__(name, value)
        else:
            setattr(self._profiler, name, value)


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
