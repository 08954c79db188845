"""Benchmarks of Triton kernels that Inductor generated, from their stored sources."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
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

    def text(self, file: str | None) -> str:
        """Returns a source. Raises RefusedValueError if there is none."""
        if self._found is None:
            self._found = self._read()
        if file not in self._found:
            raise RefusedValueError("the source of the kernel is not beside the trace")
        return self._found[file].decode("utf-8", "replace")

    def lack(self, unit: Unit) -> str:
        """Returns why a kernel has no source to run; empty if it has one."""
        try:
            num_launch_arguments(self.text(unit.kernel_file), unit.name)
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


def num_launch_arguments(source: str, name: str) -> int:
    """Returns the number of arguments of a kernel that a launch gives: all but constants.

    Reads the source without running it. Raises RefusedValueError if it does not define the kernel.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RefusedValueError("the source of the kernel is not readable") from None
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name]
    if not functions:
        raise RefusedValueError("the source does not define the kernel")
    given = functions[0].args.args
    return sum("constexpr" not in ast.unparse(each.annotation) if each.annotation else True for each in given)


def kernel_call(row: Sequence[Any], source: str) -> OperatorCall:
    """Returns the call of a kernel, without the stream. Raises RefusedValueError if values lack."""
    node_id, name, _, inputs, types, shapes, strides = row[:7]
    if not name.isidentifier() or not name.isascii():
        raise RefusedValueError("the name of the kernel is not a name")
    values = node_values(inputs, types, shapes, strides)[: num_launch_arguments(source, name)]
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
        num_arguments = num_launch_arguments(source, unit.name)
    except RefusedValueError:
        return None
    return compiled_kernel(source, unit.name, num_arguments)
