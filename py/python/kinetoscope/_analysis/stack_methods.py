"""One method per analysis of frames inside of frames."""

from __future__ import annotations

from kinetoscope._base import lazy


class StackAnalyses:
    """Analyses of stacks: of Python frames, modules and operators."""

    def analyze(self, name: str, **request: lazy.Any) -> lazy.AnalysisResult:
        """Runs the analysis of a method's name; `request` holds its options and the selection."""
        raise NotImplementedError

    def stacks(self, *, depth: int = 256, **part: lazy.Unpack[lazy.Selection]) -> lazy.AnalysisResult:
        """Sums host and device time by stack of Python frames, for flame graphs.

        `stack` is `outermost;…;innermost`, with at most `depth` frames, the innermost ones.
        `self_ns` is host time in the innermost frame, without frames that it calls.
        `device_self_ns` is the time of device work launched from that frame.

        Needs a recording with `with_stack`.

        ::

            with open("folded.txt", "w") as file:               # for flamegraph.pl or speedscope
                for stack, self_ns in trace.stacks().select("stack", "self_ns").rows():
                    print(stack, self_ns, file=file)
        """
        return self.analyze("stacks", depth=depth, **part)

    def flamegraph(  # noqa: PLR0913 - the options of the analysis
        self,
        by: str = "chain",
        weight: str = "auto",
        *,
        order: str = "merged",
        focus: str | None = None,
        direction: str = "callees",
        classes: bool = False,
        program_only: bool = False,
        **part: lazy.Unpack[lazy.EventSelection],
    ) -> lazy.FlameGraph:
        """Builds a flame graph: frames inside of frames, each as wide as all calls inside it.

        `by` selects the frames:

        * `chain`: modules, operators, calls of the runtime, then kernels, copies and fills
        * `stack`: Python frames; work of the backward pass is a frame `(backward)` inside the line
          of its forward operator
        * `module` or `operator`: modules or operators alone

        `weight` selects the width:

        * `device_ns`: duration of kernels, copies and fills
        * `host_ns`: time of host threads; `self_ns`: without events inside that are no frames
        * `calls`: number of calls
        * `allocated_bytes`: memory that the calls allocate
        * `flops`: floating-point operations, from shapes
        * `idle_ns`: time in which a stream waits for the host, by the host's activity meanwhile
        * `auto`: `device_ns` where the trace has device work, else `host_ns`

        With `order="merged"`, calls of one name are one frame, the widest first. With `"time"`,
        each call is a frame, in order of start.

        `focus` is the name of frames that the graph begins with. `direction` selects the frames
        inside them (`callees`), or around them, the innermost first (`callers`; needs `focus`).
        `classes=True` merges the modules of a class: `Linear_0` and `Linear_1` are `Linear`.
        `program_only=True` leaves out Python frames of PyTorch, Python and installed packages.

        Columns: `self_weight` is the weight in a frame alone, `total_weight = self_weight + Σ
        total_weight` of the frames right inside. Rows follow the row of the frame around them,
        `parent_node`. `largest_id` is the call of the most weight. The table `flamegraph_coverage`
        has the weight of everything and the part without a frame, which has a frame of its own.
        `num_unknown` counts calls whose weight is unknown.

        ::

            trace.flamegraph(by="stack", weight="idle_ns", program_only=True).plot()
            trace.flamegraph(iteration=3).to_speedscope("step.speedscope.json")
        """
        from kinetoscope._analysis.flamegraph import FlameGraph

        options = {"by": by, "weight": weight, "order": order, "focus": focus, "direction": direction}
        return FlameGraph.of(self, options | {"classes": classes, "program_only": program_only} | part)
