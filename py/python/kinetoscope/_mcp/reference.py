"""Resources of the server: the schema of tables, and a glossary."""

from __future__ import annotations

import json
from typing import Any

from kinetoscope import _native
from kinetoscope._mcp.failure import CallError
from kinetoscope._mcp.quoted import quoted

_GLOSSARY = """\
# Glossary

- **Kineto trace**: the timeline of events that PyTorch's profiler records.
- **Execution Trace**: the graph of operators; its entries are nodes.
- **event**: an element of the timeline. Its id is its position in `traceEvents`.
- **launch**: the host call that enqueues device work.
- **device work**: kernels, copies and fills.
- **operator**: a call of PyTorch on the host, such as `aten::mm`.
- **module**: a call of an `nn.Module`.
- **iteration**: a step, `ProfilerStep#n` or that of a serving engine.
- **rank**: a process of a distributed job. A job is all ranks; a window is one trace of a rank.
- **exposed**: time of communication or copies that no computation hides.
- **idle**: time in which nothing runs. **unknown**: time in which lost work may have run.
- **host_wait**: a gap of a stream, since the next work was launched late.
- **kernel_wait**: a short gap, although the next work was launched in time.
- **straggler**: a rank that others wait for, since it arrives last at collectives.
- **finding**: a bottleneck with cost, evidence and fix. Costs of findings may overlap.
- **roofline**: the shortest possible time by the peaks of a device.
- **verdict**: `complete`, `incomplete` (something is missing) or `inconsistent` (impossible values).
- **null**: unknown. It is never zero.
- Times end in `_ns` (integer nanoseconds), sizes in `_bytes`, ids in `_id`; shares are fractions of 1.
"""


def glossary() -> str:
    """Returns the terms of tools and tables, as Markdown."""
    return _GLOSSARY


def schema() -> str:
    """Returns each table with its owner, its meaning and the names of its columns, as JSON."""
    tables = [
        {
            "table": table["table"],
            "analysis": table["analysis"],
            "of": table["of"],
            "doc": table["doc"],
            "columns": [column["name"] for column in table["columns"]],
        }
        for table in _tables()
    ]
    return json.dumps(tables, ensure_ascii=False)


def schema_of(table: str) -> str:
    """Returns the tables of a name with type, unit, source and meaning of each column, as JSON.

    Raises CallError for an unknown name.
    """
    found = [each for each in _tables() if each["table"] == table]
    if not found:
        raise CallError(f"expected the name of a table, found {quoted(table, 60)}", "read kinetoscope://schema")
    return json.dumps(found, ensure_ascii=False)


def _tables() -> list[dict[str, Any]]:
    tables: list[dict[str, Any]] = json.loads(_native.schema_json())
    return tables
