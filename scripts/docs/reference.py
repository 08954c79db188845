"""Writes the reference of analyses, findings and tables from the core's own lists."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import patterns
from docstrings import markdown
from html_blocks import block
from kinetoscope import _native

_EXAMPLES = (
    "transformer_cuda",
    "nccl_cuda",
    "mlp_gloo",
    "pipeline_gloo/1f1b",
    "transformer_cpu",
    "graph_cuda",
    "synthetic_cuda",
)
"""Fixtures, in the order in which an example is looked for."""
_ROWS = 5
_COLUMNS = 8
_CELL = 48
"""Size of an example's table: rows, columns, and characters of a cell."""

_OWNERS = {
    "trace": ("a trace", "trace"),
    "job": ("a job", "job"),
    "chakra": ("a `Chakra`", "chakra"),
    "flight_recorder": ("a `FlightRecorder`", "recorder"),
    "flight_recorder_set": ("a `FlightRecorderSet`", "recorders"),
    "memory_snapshot": ("a `MemorySnapshot`", "snapshot"),
    "memory_timeline": ("a `MemoryTimeline`", "timeline"),
    "replay": ("`ks.replay_comms`", "replay"),
}
"""Where tables come from, and the variable whose method an analysis is."""

_ANALYSES_HEAD = """# Analyses

Each analysis is a method of `Trace` and of `TraceSet`, and a command: `trace.kernels()` is
`kinetoscope analyze kernels TRACE`. All take a selection (`iteration=`, `start_ns=`, `end_ns=`, …)
and return an [`AnalysisResult`](../api/tables.md). Times are integer nanoseconds.

The examples below come from traces of this repository, recorded on one GPU or on two processes.
"""

_FINDINGS_HEAD = """# Findings

`trace.findings()` applies these rules. Each finding has its evidence, its cost and its fix. The cost
is an upper bound of the time that the fix saves.

Each picture shows a trace that the rule matches. Some traces are recorded; they are part of the
repository. The others are synthetic: a training loop with one fault, in times that are typical.
"""

_TABLES_HEAD = """# Tables and columns

Every table is an Arrow table: `trace.events.to_polars()`, `.to_pandas()`, `.to_arrow()`. Columns that
no file fills are null. The *source* is the field of the file, or "computed".

Column names follow rules: `_ns` is integer nanoseconds, `_bytes` bytes, `share` a fraction from 0
to 1, `_gbps` gigabytes per second. `id` identifies an event. `event_id`, `launch_id`, `operator_id`
and the like are the `id` of a row in `events`; `node_id` is that of a row in `nodes`.
"""


def pages(data: Path) -> Iterator[tuple[str, str]]:
    """Yields the pages with their paths below docs."""
    traces = {name: _read(data / name) for name in _EXAMPLES}
    yield "reference/analyses.md", _analyses(traces)
    yield "reference/findings.md", _findings(data)
    yield "reference/tables.md", _tables()


def _read(folder: Path) -> ks.TraceSet:
    return ks.read_dir(folder, progress=False)


def _analyses(traces: dict[str, ks.TraceSet]) -> str:
    parts = [_ANALYSES_HEAD]
    for analysis in json.loads(_native.analyses_json()):
        name = analysis["name"]
        if name != "summary":  # has text of its own, not a table
            parts += [f"## {name}", markdown(_docstring(name)), _options(analysis["options"]), _example(name, traces)]
    return "\n\n".join(filter(None, parts))


def _docstring(name: str) -> str:
    method = getattr(ks.Trace, name, None) or getattr(ks.TraceSet, name)
    return inspect.getdoc(method) or ""


def _options(options: list[dict[str, Any]]) -> str:
    if not options:
        return ""
    rows = [f"| `{each['name']}` | {_default(each)} | {_cell(each['doc'])} |" for each in options]
    return "\n".join(["| option | default | meaning |", "|---|---|---|", *rows])


def _default(option: dict[str, Any]) -> str:
    return "" if option["default"] is None else f"`{option['default']}`"


def _example(name: str, traces: dict[str, ks.TraceSet]) -> str:
    """Returns an executed example of the first fixture that has rows."""
    for folder, job in traces.items():
        result = job.analyze(name) if len(job) > 1 else next(iter(job)).analyze(name)
        if result.rows():
            source = f'ks.read_dir("tests/data/{folder}")' if len(job) > 1 else f'ks.read("{_first(folder)}")'
            code = f"```python\ntrace = {source}\ntrace.{name}()\n```"
            return f"{code}\n\n{_table(result)}\n\n{_chart(result)}"
    return ""


def _first(folder: str) -> str:
    return f"tests/data/{folder}/kineto_trace_0.json.gz"


def _table(result: Any) -> str:
    rows = result.rows()[:_ROWS]
    # Empty columns say nothing in an example.
    shown = [at for at in range(len(result.columns)) if any(row[at] not in (None, "") for row in rows)][:_COLUMNS]
    head = [result.columns[at] for at in shown]
    lines = [f"| {' | '.join(f'`{name}`' for name in head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(_cell(_value(row[at])) or ' ' for at in shown)} |" for row in rows]
    more = len(result.rows()) - len(rows)
    hidden = len(result.columns) - len(shown)
    rest = " and ".join(f"{count:,} more {unit}" for count, unit in ((more, "rows"), (hidden, "columns")) if count)
    rest = f"\n\n*{rest}.*" if rest else ""
    return '<div class="example" markdown>\n\n' + "\n".join(lines) + f"\n\n</div>{rest}"


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else _native.fitting(str(value), _CELL)


def _chart(result: Any) -> str:
    drawn = result.plot()._repr_html_()
    if "<svg" not in drawn:
        return ""
    return block(drawn)


def _findings(data: Path) -> str:
    synthetic = {each.rule: (f"Synthetic. {each.description}", each.picture()) for each in patterns.examples()}
    examples = synthetic | dict(recorded_examples(data))
    rules = next(iter(_read(data / "transformer_cuda"))).findings().tables["finding_rules"]
    parts = [_FINDINGS_HEAD]
    for name, description, cost, advice in rules.select("finding", "description", "cost_formula", "advice").rows():
        caption, picture = examples[name]
        parts.append(f"## {name}\n\n{_sentence(description)}\n\n- **Cost:** {_cell(cost)}\n- **Fix:** {_cell(advice)}")
        parts.append(f"{block(picture)}\n\n*{caption}*")
    return "\n\n".join(parts)


def recorded_examples(data: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yields rules with a caption and a picture: the surroundings of the costliest evidence."""
    for path in sorted(data.glob("**/kineto_trace_*.json.gz"), reverse=True):
        if "hostile" in path.parts:
            continue
        trace = ks.read(path)
        spans = {row[0]: row[1:] for row in trace.events.select("id", "start_ns", "dur_ns").rows()}
        for name, cost_ns, count, evidence in trace.findings().select("finding", "cost_ns", "count", "evidence").rows():
            events = [spans[each] for each in json.loads(evidence) if each in spans]
            if events:
                start, dur = events[0]
                around = max(dur, 200_000, cost_ns // count)  # evidence may be the event after a gap
                picture = trace.picture(960, start_ns=start - around, end_ns=start + dur + around)
                yield name, (f"From `{path.relative_to(data.parents[1]).as_posix()}`.", picture)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _tables() -> str:
    parts = [_TABLES_HEAD]
    for table in json.loads(_native.schema_json()):
        of = _owner(table["of"], table["analysis"])
        rows = [_column(each) for each in table["columns"]]
        head = ["| column | type | unit | source | meaning |", "|---|---|---|---|---|"]
        parts.append(f"## {table['table']}\n\nFrom {of}. A row is {table['doc']}.\n\n" + "\n".join([*head, *rows]))
    return "\n\n".join(parts)


_COMPARISONS = {"diff": "`ks.diff(before, after)`", "diff_flamegraph": "`ks.diff(before, after).flamegraph()`"}


def _owner(of: str, analysis: str | None) -> str:
    owner, variable = _OWNERS[of]
    if analysis is None:
        return owner
    return _COMPARISONS.get(analysis) or f"`{variable}.{analysis}()`"


def _column(column: dict[str, Any]) -> str:
    cells = (f"`{column['name']}`", column["type"], column["unit"] or "", _cell(column["source"]), _cell(column["doc"]))
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return re.sub(r"([|<*_\[\]])", r"\\\1", text).replace("\n", " ")
