"""What the journeys share: a training that a newcomer looks at, other people's traces, and a page to walk on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import kinetoscope as ks
import pytest
import synthetic_training

DATA = {
    "owlv2": "AMD-AGI__TraceLens/tests/traces/h100/google_owlv2-large-patch14-ensemble__1016001.json.gz",
    "resnet": "AMD-AGI__TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz",
    "graph": "AMD-AGI__TraceLens/tests/traces/inference/vllm_decode_full/graph_execution.json.gz",
    "lotus": "rajveerb__lotus/**/pytorch_profiles_imagenet_dataset/b512_gpu1/*.json.xz",
    "nccl": "facebookresearch__HolisticTraceAnalysis/tests/data/nccl_parser_config/nccl_data.json.gz",
    "segment": "pytorch-labs__segment-anything-fast/amg_example/amg_example_trace.json.gz",
    "alexnet": "facebookresearch__HolisticTraceAnalysis/tests/data/critical_path/alexnet/*.json.gz",
    "torchrec": "facebookresearch__torchrec/examples/golden_training/log/resnet18/*85866*.json",
    "mtia": "facebookresearch__HolisticTraceAnalysis/tests/data/mtia_inference_trace/mtia_inference_rank_0.json.gz",
    "particle": "harryjmoss__particle_transformer/profiler_trace_single_sample.json",
    "dlrm": "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto.tar.gz",
}


class Trained(NamedTuple):
    """The folders of two runs: one on two ranks, and one on one of them with a faster attention."""

    before: Path
    after: Path


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    before, after = (tmp_path_factory.mktemp(name) for name in ("train", "tuned"))
    synthetic_training.write(before, ranks=2)
    synthetic_training.write(after, attention_ns=20_000)
    return Trained(before, after)


@pytest.fixture(scope="session")
def training(trained: Trained) -> ks.Trace:
    return ks.read(trained.before / "kineto_trace_0.json.gz")


@pytest.fixture(scope="session")
def real(request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """Where one of other people's traces is."""

    def find(name: str) -> Path:
        shared: Path = request.getfixturevalue("shared")
        found = sorted(shared.glob(DATA[name]))
        if not found:
            pytest.skip(f"no {DATA[name]} in the folder of real traces")
        return found[0]

    return find


@pytest.fixture(scope="session")
def reported(
    training: ks.Trace, real: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], tuple[ks.Trace, Path]]:
    """A trace by its name, and its report, which is written once."""
    written: dict[str, tuple[ks.Trace, Path]] = {}

    def report(name: str) -> tuple[ks.Trace, Path]:
        if name not in written:
            trace = training if name == "training" else ks.read(real(name))
            written[name] = trace, trace.report(tmp_path_factory.mktemp(name) / f"{name}.html")
        return written[name]

    return report


class Look(NamedTuple):
    """The screen that a journey is made on."""

    scheme: str
    width: int


@pytest.fixture(params=[Look("light", 1400), Look("dark", 700)], ids=lambda look: f"{look.scheme}-{look.width}")
def look(request: pytest.FixtureRequest) -> Look:
    return request.param


@pytest.fixture
def visit(strict: Any, timeline_on: Any, look: Look) -> Callable[[Path], Any]:
    """Opens a report as its first reader does: at the top of the page."""

    def open_page(report: Path) -> Any:
        page = strict.page(look.scheme, width=look.width, height=900)
        page.goto(report.as_uri())
        return timeline_on(page).wait().settle()

    return open_page


@pytest.fixture
def snap(shot: Callable[[Any, str], None], look: Look) -> Callable[[Any, str], None]:
    """Takes a screenshot of a step, to be looked at."""
    return lambda timeline, step: shot(timeline.page, f"journey-{step}-{look.width}-{look.scheme}")
