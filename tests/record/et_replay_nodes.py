"""Records which nodes PARAM's `et_replay` replays, of Execution Traces here and of PARAM's own ones.

    python -m pip install --no-deps --target .cache/et_replay HolisticTraceAnalysis==0.5.0 pydot pyparsing
    PYTHONPATH=.cache/et_replay:.cache/et_replay/param_bench python tests/record/et_replay_nodes.py ../shared/data

writes tests/golden/param/nodes.json. tests/py/replay/test_et_replay.py compares `ks.replay` with it.
That version of HTA brings `et_replay` along. Python must have torch and kinetoscope.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "golden/param/nodes.json"
OWN = (
    *("transformer_cpu", "transformer_cuda", "compiled_cuda", "mlp_gloo", "nccl_cuda"),
    *("pipeline_gloo", "decode_cuda", "graph_cuda"),
)
PARAM = "facebookresearch__param/et_replay/tests/inputs"
SHARED = (
    *(f"{PARAM}/va883ec1__resnet_et.json.gz", f"{PARAM}/1.1.0-chakra.0.0.4/resnet_2gpu_et.json.gz"),
    *(f"{PARAM}/linear_et.json.gz",),
    "facebookresearch__HolisticTraceAnalysis/tests/data/execution_trace/benchmark_simple_add_et.json.gz",
)


def nodes(path: Path) -> list[int]:
    """Returns the ids of the nodes that et_replay replays, by its own rules and in its order."""
    sys.modules["fbgemm_gpu"] = MagicMock()  # it takes a model's modules from there, and needs none here
    sys.modules["fbgemm_gpu.split_table_batched_embeddings_ops"] = MagicMock()
    from et_replay import et_replay_utils, execution_trace  # pyright: ignore[reportMissingImports] - of another folder

    trace = execution_trace.ExecutionTrace(json.loads(gzip.decompress(path.read_bytes())))
    found: list[int] = []
    pending: list[Any] = [trace.get_nodes(clean=True)[1]]
    while pending:
        for child in pending.pop().children:
            if et_replay_utils.is_qualified(child):
                found.append(child.id)
            else:
                pending.append(child)
    return sorted(found)


def main(shared: str) -> None:
    """Writes the nodes of all files."""
    own = {f"{name}/torch_et_0.json.gz": TESTS / "data" / name / "torch_et_0.json.gz" for name in OWN}
    others = {name: Path(shared, name) for name in SHARED}
    found = {name: nodes(path) for name, path in {**own, **others}.items() if path.exists()}
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    GOLDEN.write_text(json.dumps(found, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
