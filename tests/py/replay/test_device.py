"""One rank on NCCL, recorded and replayed with its contents checked. Skipped where there is no GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.ranks import launched, recorded

torch: Any = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.device,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

SCRIPT = """
import sys

import kinetoscope as ks
import torch
import torch.distributed as dist
from cuda_nccl import exchange

dist.init_process_group("nccl", device_id=torch.device("cuda:0"))
group = dist.new_group([0])
with ks.profile(sys.argv[1], wait=0, warmup=1, active=2, repeat=1) as prof:
    for _ in range(3):
        exchange(group)
        prof.step()
dist.destroy_process_group()
"""
EVERY = {
    *("all_gather_base", "all_reduce", "all_to_allv", "allreduce_coalesced", "barrier", "broadcast"),
    "reduce_scatter_base",
}


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one")
    script = folder / "record.py"
    script.write_text(SCRIPT)
    return recorded(1, script, folder / "traces")


@pytest.mark.parametrize("options", [[], ["--blocking"], ["--use-timestamp"]])
def test_nccl_on_one_rank(one: Path, tmp_path: Path, options: list[str]) -> None:
    output = tmp_path / "replayed.json"
    command = ["-m", "kinetoscope", "replay-comms", "--trace-path", one, "--backend", "nccl", "--check", "-o", output]
    done = launched(1, *command, "--profile", tmp_path / "own", "--timeout", "60", *options)
    assert done.returncode == 0, done.stderr
    rows = {row["collective"]: row for row in json.loads(output.read_text())}
    assert set(rows) == EVERY
    for row in rows.values():
        assert row["num_replayed"] == 5 * row["num_calls"], row
        # On the device's clock: less than a second, and more than nothing.
        assert 0 < row["p50_ns"] < 1_000_000_000, row
    assert (tmp_path / "own/kineto_trace_0.json.gz").is_file()


def test_gloo_with_messages_on_a_gpu(one: Path, tmp_path: Path) -> None:
    output = tmp_path / "replayed.json"
    options = ["--backend", "gloo", "--device", "cuda", "--allow-ops", "all_reduce,broadcast", "--check"]
    done = launched(1, "-m", "kinetoscope", "replay-comms", "--trace-path", one, *options, "-o", output)
    assert done.returncode == 0, done.stderr
    assert {row["collective"] for row in json.loads(output.read_text())} == {"all_reduce", "broadcast"}
