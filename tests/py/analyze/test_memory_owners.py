"""Who holds memory, where files do not say all that would tell it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.unit


def trace_of(folder: Path, changes: list[tuple[int, int | None]]) -> ks.Trace:
    """Changes of memory of one device, a microsecond apart: bytes, and an address where there is one."""
    events: list[dict[str, Any]] = []
    total = 0
    for at, (size, address) in enumerate(changes):
        total += size
        args: dict[str, Any] = {"Device Type": 1, "Device Id": 0, "Bytes": size}
        if address is not None:
            args |= {"Addr": address, "Total Allocated": total}
        events.append({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": at, "args": args})
    path = folder / "trace.json"
    path.write_text(json.dumps(events))
    return ks.read(path)


def sums(trace: ks.Trace, table: str) -> tuple[int, int]:
    rows = trace.memory().tables[table].select("peak_bytes", "kept_bytes").rows()
    assert all(number >= 0 for row in rows for number in row)
    return sum(row[0] for row in rows), sum(row[1] for row in rows)


@pytest.mark.parametrize("table", ["memory_owners", "memory_categories"])
def test_without_addresses_a_release_is_of_the_same_size(tmp_path: Path, table: str) -> None:
    trace = trace_of(tmp_path, [(size, None) for size in (100, 200, 300, -200, -100)])
    assert sums(trace, table) == (600, 300)


@pytest.mark.parametrize("table", ["memory_owners", "memory_categories"])
def test_an_address_that_is_given_again_was_released(tmp_path: Path, table: str) -> None:
    changes: list[tuple[int, int | None]] = [(100, 7), (-100, None), (200, 7), (-200, 7)]
    trace = trace_of(tmp_path, changes)
    peak, kept = sums(trace, table)
    assert (peak, kept) == (200, 0)
