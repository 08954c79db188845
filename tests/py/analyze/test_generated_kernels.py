"""The roofline of kernels that Inductor generated, with and without their sources."""

from __future__ import annotations

from pathlib import Path

import kinetoscope as ks
import pytest

COMPILED = "inference_cuda/compiled"


def generated(trace: ks.Trace) -> dict[str, tuple[int | None, int | None]]:
    """Operations and bytes of one call, by the name of the kernel."""
    rows = trace.roofline().select("name", "flops", "bytes").rows()
    return {name: (flops, size) for name, flops, size in rows if name.startswith("triton_")}


def test_sources_tell_the_operations_of_generated_kernels(data: Path) -> None:
    trace = ks.read(data / COMPILED / "kineto_trace_0.json.gz")
    alone, sourced = generated(trace), generated(trace.with_kernel_sources())
    assert alone
    assert alone.keys() == sourced.keys()
    assert {flops for flops, _ in alone.values()} == {None}
    assert all(flops is not None and flops > 0 for flops, _ in sourced.values())
    assert all(size is not None and size > 0 for _, size in [*alone.values(), *sourced.values()])
    assert generated(trace) == alone, "the trace itself is unchanged"


def test_a_folder_without_sources_changes_nothing(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / COMPILED / "kineto_trace_0.json.gz")
    assert generated(trace.with_kernel_sources(tmp_path)) == generated(trace)
    with pytest.raises(NotADirectoryError, match="expected a folder of sources"):
        trace.with_kernel_sources(tmp_path / "missing")
