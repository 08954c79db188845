"""Recording on a GPU, held against what PyTorch and NVML say themselves. Skipped where there is none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

torch: Any = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    pytest.mark.usefixtures("nothing_left_running"),
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"),
]

WIDTH, BATCH = 256, 64
US = 1000

Step = Callable[[], object]


def training() -> Step:
    model = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU(), torch.nn.Linear(WIDTH, 1)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def step() -> None:
        optimizer.zero_grad()
        model(torch.randn(BATCH, WIDTH).cuda()).square().mean().backward()
        optimizer.step()

    return step


def recorded(folder: Path, step: Step, **options: Any) -> ks.profile:
    """Two iterations, after two that are not recorded. Warnings are errors in the tests: the recording has no flaws."""
    with ks.profile(folder, wait=1, warmup=1, active=2, **options) as prof:
        for _ in range(4):
            step()
            prof.step()
    return prof


def names_of(trace: ks.Trace, kind: str) -> list[str]:
    return [name for found, name in trace.events.select("kind", "name").rows() if found == kind]


def test_everything_is_linked(tmp_path: Path) -> None:
    trace = recorded(tmp_path, training()).trace
    for share in ("device_events", "device_owners", "nodes", "operators"):
        found = trace.coverage[share]
        assert found["count"] == found["num_linked"] > 0, share


def test_waits_are_reported(tmp_path: Path) -> None:
    step = training()

    def waiting() -> None:
        step()
        torch.cuda.current_stream().synchronize()

    assert names_of(recorded(tmp_path, waiting).trace, "sync").count("Stream Sync") >= 2


def test_device_times_are_torchs(tmp_path: Path) -> None:
    """Without reports of waits, which torch takes for work of the operators that waited."""
    without = torch._C._profiler._ExperimentalConfig()
    prof = recorded(tmp_path, training(), experimental_config=without)
    theirs: defaultdict[str, float] = defaultdict(float)
    for average in prof.key_averages():
        theirs[average.key] += average.self_device_time_total
    ours = {name: time for name, time in prof.trace.operators().select("name", "device_self_ns").rows() if time}
    assert len(ours) > 5
    for name, time in ours.items():
        assert time / US == pytest.approx(theirs[name], abs=0.5), name


def test_the_peak_of_memory_is_torchs(tmp_path: Path) -> None:
    step = training()
    for _ in range(2):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    memory = recorded(tmp_path, step, profile_memory=True).trace.memory()
    peaks = dict(memory.select("device", "peak_allocated_bytes").rows())
    assert peaks["cuda:0"] == torch.cuda.max_memory_allocated()


def test_the_cpu_alone_is_no_flaw(tmp_path: Path) -> None:
    """The profiler waits for the device when it stops: a call, and nothing was launched."""
    prof = recorded(tmp_path, lambda: torch.ones(3).add(1))
    assert prof.trace.coverage["device_events"]["count"] == 0


def test_a_graph_is_one_launch(tmp_path: Path) -> None:
    batch = torch.randn(BATCH, WIDTH, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(5):
            batch.mul_(1.5)
    trace = recorded(tmp_path, graph.replay).trace
    names = dict(trace.events.select("id", "name").rows())
    found = trace.events.select("kind", "launch_id").rows()
    # five kernels in each of three iterations: the observed one, and two more
    assert [names[launch] for kind, launch in found if kind == "kernel"] == ["cudaGraphLaunch"] * 15


def test_sources_of_compiled_kernels_are_kept(tmp_path: Path) -> None:
    function = torch.compile(lambda a: torch.nn.functional.gelu(a * 2 + 1))
    batch = torch.randn(BATCH, WIDTH, device="cuda")
    prof = recorded(tmp_path, lambda: function(batch))
    files = {file for backend, file in prof.trace.nodes.select("kernel_backend", "kernel_file").rows() if backend}
    sources = prof.recordings[0].sources
    assert sources is not None
    assert files
    assert files <= {path.name for path in sources.iterdir()}
    assert any(name.startswith("triton_") for name in names_of(prof.trace, "kernel"))


def test_one_rank_on_nccl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29537", "RANK": "0", "WORLD_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    torch.distributed.init_process_group("nccl", device_id=torch.device("cuda:0"))
    try:
        given, taken = torch.ones(BATCH, device="cuda"), torch.empty(BATCH, device="cuda")

        def exchange() -> None:
            torch.distributed.all_reduce(given)
            torch.distributed.all_gather_into_tensor(taken, given)

        found = recorded(tmp_path, exchange).trace.collectives().select("collective", "dtype", "in_bytes").rows()
    finally:
        torch.distributed.destroy_process_group()
    assert found == [("all_reduce", "float", BATCH * 4), ("all_gather_base", "float", BATCH * 4)] * 3  # observed once


def test_metrics_of_the_gpu(tmp_path: Path) -> None:
    step = training()

    def busy() -> None:
        for _ in range(50):
            step()
        torch.cuda.synchronize()

    prof = recorded(tmp_path, busy, metrics=0.02)
    series = {
        series: value
        for name, series, value in prof.trace.counters.select("name", "series", "value").rows()
        if name == "GPU"
    }
    assert 20 < series["power_w"] < 2000
    assert series["memory_used_bytes"] > torch.cuda.memory_reserved() > 0
    joules = {energy.iteration: energy.energy_j["GPU"] for energy in prof.energy}
    assert set(joules) >= {0, 1, 2, 3}
    assert sum(joules.values()) > 0


def test_marks_for_nsight_systems(tmp_path: Path) -> None:
    """Without `nsys` around it nothing listens, and nothing is in the way."""
    prof = recorded(tmp_path, training(), nsys=True)
    assert prof.files == []
    assert list(tmp_path.iterdir()) == []
