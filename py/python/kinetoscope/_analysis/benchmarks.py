"""Benchmarks of recorded operators."""

from __future__ import annotations

from kinetoscope._base import lazy

TYPE_CHECKING = False


class Benchmarks:
    """The method of a trace that writes a benchmark."""

    def benchmark(
        self,
        event_id: int | None = None,
        *,
        node_id: int | None = None,
        name: str | None = None,
        shapes: lazy.Sequence[lazy.Any] | None = None,
        namespaces: lazy.Sequence[str] = (),
    ) -> lazy.Benchmark:
        """Writes a script that runs and measures one recorded operator; it needs torch only.

        Give the operator as an event, as a node, or by name. `shapes`, such as
        `[[32, 16], [16, 8]]`, selects among the calls of a name; default: those with the most time.

        ::

            trace.benchmark(name="aten::bmm").save("bmm.py")

        Recorded times are those of iterations without the observer of the Execution Trace, if any
        has the operator.

        Arguments are those of the Execution Trace, or those of the event without one. No text of
        the trace becomes code. `namespaces` allows operators of further libraries. Kernels of
        Inductor need their stored sources beside the trace; see `kernel_sources`.

        Raises ValueError if the trace lacks the operator, or if its arguments are not recorded.
        """
        from typing import cast

        from kinetoscope.replaying.operators.benchmark import benchmark

        return benchmark(
            cast("lazy.Trace", self), event_id, node_id=node_id, name=name, shapes=shapes, namespaces=namespaces
        )
