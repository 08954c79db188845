"""Two ranks on gloo, recorded here: PARAM's reader finds each key that it needs."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

PROGRAM = """
import sys
import torch, torch.distributed as dist
import torch.distributed.nn  # imported later, it keeps the process group and its threads
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile

rank, folder = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
observer = ExecutionTraceObserver().register_callback(f"{folder}/et_{rank}.json")
with profile(activities=[ProfilerActivity.CPU], record_shapes=True, execution_trace_observer=observer) as prof:
    x = torch.ones(8)
    dist.all_reduce(x)
    dist.broadcast(x, 1)
    dist.all_gather_into_tensor(torch.empty(16), x)
    dist.reduce_scatter_tensor(torch.empty(4), x)
    sent, received = [[1, 3], [2, 5]][rank], [[1, 2], [3, 5]][rank]
    dist.all_to_all_single(torch.empty(sum(received), 10), torch.ones(sum(sent), 10), received, sent)
    dist.all_to_all_single(torch.empty(4), torch.ones(4))
    try:
        dist.all_gather_into_tensor(torch.empty(7), torch.ones(4))
    except (RuntimeError, ValueError):
        pass
    if rank == 0:
        dist.send(x, 1)
    else:
        dist.recv(x, 0)
    dist.gather(x, [torch.empty(8), torch.empty(8)] if rank == 0 else None, 0)
    dist.barrier()
    dist.all_reduce(x)
    prof.step()
prof.export_chrome_trace(f"{folder}/kineto_{rank}.json")
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gloo")
    command = [sys.executable, "-c", PROGRAM]
    ranks = [subprocess.Popen([*command, str(rank), str(folder)], stderr=subprocess.PIPE) for rank in range(2)]
    for rank in ranks:
        _, errors = rank.communicate(timeout=240)
        assert rank.returncode == 0, errors.decode()
    return folder


def operations(trace: ks.Trace, folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        path = trace.to_param_comms(folder / "comms.json")
    return json.loads(path.read_text()), [str(warning.message) for warning in issued]


@pytest.mark.parametrize("rank", [0, 1])
def test_what_gloo_ran_loads_in_param(recorded: Path, tmp_path: Path, rank: int) -> None:
    trace = ks.read(recorded / f"kineto_{rank}.json", recorded / f"et_{rank}.json")
    found, issued = operations(trace, tmp_path)
    names = [operation["comms"] for operation in found]
    assert names == [
        *("init", "all_reduce", "broadcast", "all_gather_base", "reduce_scatter_base", "all_to_allv", "all_to_allv"),
        *("send" if rank == 0 else "recv", "gather", "barrier", "all_reduce"),
    ]
    assert ["they raised an error" in message for message in issued] == [True]
    for operation in found[1:]:
        assert operation["pg_id"] == 0
        assert operation["world_size"] == 2
        if operation["comms"] != "barrier":
            assert {"in_msg_size", "out_msg_size", "dtype"} <= operation.keys()
    uneven, even = found[5:7]
    sent, received = [[[1, 3], [1, 2]], [[2, 5], [3, 5]]][rank]
    assert uneven["in_split"] == [rows * 10 for rows in sent]
    assert uneven["out_split"] == [rows * 10 for rows in received]
    assert (even["in_split"], even["out_split"]) == ([2, 2], [2, 2])
    p2p, gather = found[7:9]
    assert (p2p["src_rank"], p2p["dst_rank"], p2p["use_batch"]) == (0, 1, False)
    assert (gather["in_msg_size"], gather["out_msg_size"], gather["root"]) == (8, 16 if rank == 0 else 0, 0)
