"""Traces recorded with `capture_overload_names=True` link with their Execution Trace as traces without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

torch: Any = pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")]


def record(folder: Path, *, has_overloads: bool) -> ks.Trace:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)
    observer = torch.profiler.ExecutionTraceObserver().register_callback(str(folder / "et.json"))
    config = torch._C._profiler._ExperimentalConfig(capture_overload_names=has_overloads)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        record_shapes=True,
        execution_trace_observer=observer,
        experimental_config=config,
    ) as prof:
        for _ in range(2):
            loss = (model(torch.ones(4, 8)) + torch.arange(4) * 0.5).sum()
            optimizer.zero_grad(set_to_none=False)
            loss.backward()
            optimizer.step()
            prof.step()
    prof.export_chrome_trace(str(folder / "kineto.json"))
    return ks.read(folder / "kineto.json", folder / "et.json")


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, ks.Trace]:
    return {has: record(tmp_path_factory.mktemp("overloads"), has_overloads=has) for has in (True, False)}


def test_all_operators_are_linked(traces: dict[bool, ks.Trace]) -> None:
    names = set(traces[True].operators().to_pandas()["name"])
    assert {"aten::add_.Tensor", "aten::sum"} <= names
    for trace in traces.values():
        for share in ("nodes", "operators"):
            counts = trace.coverage[share]
            assert counts["linked"] == {"record_id": counts["count"]}
        assert trace.verdict.state == "complete"


def test_costs_and_findings_do_not_depend_on_overloads(traces: dict[bool, ks.Trace]) -> None:
    def families(trace: ks.Trace) -> list[tuple[Any, ...]]:
        return sorted(trace.roofline(on="host").select("family", "input_shapes", "count", "flops").rows(), key=str)

    def findings(trace: ks.Trace) -> set[tuple[str, int]]:
        names = {"unfused_optimizer", "gradients_zeroed"}
        return {
            (name, count)
            for name, count in trace.findings(min_share=0).select("finding", "count").rows()
            if name in names
        }

    with_overloads, without = traces[True], traces[False]
    assert families(with_overloads) == families(without) != []
    assert findings(with_overloads) == findings(without) != set()


def test_a_diff_pairs_overloads_with_plain_names(traces: dict[bool, ks.Trace]) -> None:
    operators = ks.diff(traces[True], traces[False]).tables["diff_operators"]
    rows = operators.select("name", "status", "before_count", "after_count", "overloads").rows()
    assert {status for _, status, *_ in rows} == {"both"}
    assert all(before == after for _, _, before, after, _ in rows)
    overloads = {name: overloads for name, *_, overloads in rows}
    assert overloads["aten::add_"] == "Tensor"
    assert overloads["aten::addmm"] is None
