"""A failed allocation raises `MemoryError`, and the interpreter lives on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.shapes import launched, trace

pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits of memory differ elsewhere"),
]

SCRIPT = """
import resource, sys
import kinetoscope as ks

large, small, megabytes = sys.argv[1:]
warm = ks.read(small)
for analysis in (warm.operators, warm.breakdown, warm.snapshot, warm.render_static):
    analysis()
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (taken + (int(megabytes) << 20), hard))
failed = []
trace = None
for name in ("read", "operators", "breakdown", "snapshot", "render_static"):
    try:
        if name == "read":
            trace = ks.read(large)
        elif trace is not None:
            getattr(trace, name)()
    except MemoryError as error:
        assert "expected memory" in str(error), error
        failed.append(name)
trace = None
resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
assert ks.read(small).num_events == warm.num_events
print(*failed)
"""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("memory")
    paths = [folder / "large.json", folder / "small.json"]
    for path, num_launches in zip(paths, (40_000, 10), strict=True):
        path.write_bytes(trace(launched(num_launches)))
    return paths


def test_memory_that_is_not_there(traces: list[Path]) -> None:
    failed: dict[int, str] = {}
    # One arena: each of glibc's takes 64 MB of addresses, whatever it holds.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    # Less than 10 MB leave no room for the stack of a thread.
    for megabytes in (10, 12, 16, 20, 24, 32, 1000):
        command = [sys.executable, "-c", SCRIPT, *map(str, traces), str(megabytes)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, f"{megabytes} MB: {done.stderr}"
        failed[megabytes] = done.stdout.strip()
    # Which limit is too low depends on the allocator.
    assert any(failed.values())
    assert not failed[1000]
