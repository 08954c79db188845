"""Jobs that the workers of a dask cluster read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

distributed: Any = pytest.importorskip("distributed")

NUM_WORKERS = 4

# what distributed leaves to the garbage collector when a cluster is closed is not ours
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    cluster = distributed.LocalCluster(
        n_workers=NUM_WORKERS, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=None
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def folder(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight ranks, of two recordings, and a file that cannot be read."""
    folder = tmp_path_factory.mktemp("job")
    for rank in range(8):
        for sort in ("kineto_trace", "torch_et"):
            shutil.copy(data / f"mlp_gloo/{sort}_{rank % 2}.json.gz", folder / f"{sort}_{rank}.json.gz")
    (folder / "kineto_trace_8.json.gz").write_bytes(b"nothing")
    return folder


def num_kept() -> int:
    """Traces that this worker has read, as it says itself."""
    from kinetoscope._remote import worker

    return len(worker._trace_cache)


def test_every_worker_has_its_part(client: Any, folder: Path) -> None:
    with client.get_executor() as executor:
        far = ks.read_dir(folder, executor=executor)
        near = ks.read_dir(folder)
        assert repr(far) == repr(near)
        assert "kineto_trace_8.json.gz" in far.skipped
        for name in ("operators", "collectives", "stragglers", "findings"):
            assert far.analyze(name).rows() == near.analyze(name).rows(), name
        assert not any(member.is_read for member in far.members)
    kept = client.run(num_kept)
    assert len(kept) == NUM_WORKERS
    assert sum(kept.values()) >= len(far)
    assert sum(number > 0 for number in kept.values()) > 1
