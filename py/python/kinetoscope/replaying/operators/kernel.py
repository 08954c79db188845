"""Benchmarks of Triton kernels that Inductor generated, from their stored sources."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kinetoscope.replaying.operators.call import Argument, OperatorCall
from kinetoscope.replaying.operators.machine import compiled_kernel
from kinetoscope.replaying.operators.script import ScriptFacts, kernel_text
from kinetoscope.replaying.operators.unit import UnitKind
from kinetoscope.replaying.operators.value import RefusedValueError, TensorValue, node_values

if TYPE_CHECKING:
    from kinetoscope.replaying.operators.unit import Unit
    from kinetoscope.trace import Trace


class KernelSources:
    """Stored sources of generated kernels, which lie beside a trace. They are read on first use."""

    def __init__(self, trace: Trace, files: Iterable[str | None]) -> None:
        self._trace = trace
        self._names = {file for file in files if file}
        self._found: dict[str, bytes] | None = None
        self._functions: dict[str, Mapping[str, int] | RefusedValueError] = {}

    def text(self, file: str | None) -> str:
        """Returns a source. Raises RefusedValueError if there is none."""
        if self._found is None:
            self._found = self._read()
        if file not in self._found:
            raise RefusedValueError("the source of the kernel is not beside the trace")
        return self._found[file].decode("utf-8", "replace")

    def num_launch_arguments(self, file: str | None, name: str) -> int:
        """Returns the number of arguments of a kernel that a launch gives. Parses a source once.

        Raises RefusedValueError if there is no source, or if it does not define the kernel.
        """
        source = self.text(file)
        assert file is not None  # noqa: S101 - it has a source
        if file not in self._functions:
            try:
                self._functions[file] = _functions(source)
            except RefusedValueError as error:
                self._functions[file] = error
        known = self._functions[file]
        if isinstance(known, RefusedValueError):
            raise known
        return _of_function(known, name)

    def lack(self, unit: Unit) -> str:
        """Returns why a kernel has no source to run; empty if it has one."""
        try:
            self.num_launch_arguments(unit.kernel_file, unit.name)
        except RefusedValueError as error:
            return str(error)
        return ""

    def _read(self) -> dict[str, bytes]:
        from kinetoscope._io.kernel_sources import source_files

        try:
            files = source_files(None, self._trace.execution_source or self._trace.source, self._names)
        except (ValueError, OSError):
            return {}
        # the first of one name
        return {path.rpartition("/")[2]: content for path, content in reversed(files)}


def _functions(source: str) -> dict[str, int]:
    """Returns the number of arguments that a launch gives, all but constants, by function.

    Reads the source without running it. Raises RefusedValueError if it is not readable.
    """
    try:
        functions = [each for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)]
        # the first of one name
        return {each.name: sum(map(_is_given, each.args.args)) for each in reversed(functions)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RefusedValueError("the source of the kernel is not readable") from None


def _is_given(argument: ast.arg) -> bool:
    return argument.annotation is None or "constexpr" not in ast.unparse(argument.annotation)


def _of_function(functions: Mapping[str, int], name: str) -> int:
    if name not in functions:
        raise RefusedValueError("the source does not define the kernel")
    return functions[name]


def kernel_call(row: Sequence[Any], source: str) -> OperatorCall:
    """Returns the call of a kernel, without the stream. Raises RefusedValueError if values lack."""
    node_id, name, _, inputs, types, shapes, strides = row[:7]
    if not name.isidentifier() or not name.isascii():
        raise RefusedValueError("the name of the kernel is not a name")
    values = node_values(inputs, types, shapes, strides)[: _of_function(_functions(source), name)]
    if not any(isinstance(each, TensorValue) for each in values):
        raise RefusedValueError("the launch of the kernel is not recorded")
    return OperatorCall(name, None, tuple(Argument(each, None) for each in values), (), node_id)


def kernel_script(trace: Trace, file: str, row: Sequence[Any], facts: ScriptFacts) -> str:
    """Returns a script with the source of a kernel and its recorded launch."""
    source = KernelSources(trace, [file]).text(file)
    return kernel_text(kernel_call(row, source), source, facts)


def loaded_kernels(trace: Trace, units: Sequence[Unit]) -> dict[int, Callable[..., Any]]:
    """Runs the stored sources of kernels. Returns a function per unit, by its node's id.

    The sources are code: only call this with the user's consent.
    """
    sources = KernelSources(trace, (unit.kernel_file for unit in units))
    found: dict[int, Callable[..., Any]] = {}
    for unit in units:
        if unit.kind != UnitKind.KERNEL or not unit.kernel_file or not unit.name.isidentifier():
            continue
        kernel = _loaded(unit, sources)
        if kernel is not None:
            found[unit.node_id] = kernel
    return found


def _loaded(unit: Unit, sources: KernelSources) -> Callable[..., Any] | None:
    try:
        source = sources.text(unit.kernel_file)
        num_arguments = sources.num_launch_arguments(unit.kernel_file, unit.name)
    except RefusedValueError:
        return None
    return compiled_kernel(source, unit.name, num_arguments)
