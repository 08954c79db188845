"""Records tests/data/viztracer_cpu: three training steps, by torch.profiler and VizTracer at once.

Both have the same annotations. Needs `pip install viztracer`.

    python tests/record/companion.py
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from scrub import REPOSITORY, scrub
from torch.profiler import ProfilerActivity, profile, record_function
from viztracer import VizTracer

FOLDER = REPOSITORY / "tests/data/viztracer_cpu"
NUM_STEPS = 3

TRACER = VizTracer(verbose=0, file_info=False, ignore_c_function=True, max_stack_depth=5)
MODEL = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
OPTIMIZER = torch.optim.SGD(MODEL.parameters(), lr=0.1)


@contextmanager
def annotated(name: str) -> Iterator[None]:
    """Annotates a part of the program for both tools."""
    with record_function(name), TRACER.log_event(name):
        yield


def load(step: int) -> torch.Tensor:
    time.sleep(0.001 * (1 + step))
    return torch.randn(32, 64)


def train(step: int) -> None:
    with annotated("load"):
        batch = load(step)
    with annotated("forward"):
        loss = MODEL(batch).square().mean()
    with annotated("backward"):
        loss.backward()
    with annotated("optimizer"):
        OPTIMIZER.step()
        OPTIMIZER.zero_grad()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    train(0)
    TRACER.start()
    with profile(activities=[ProfilerActivity.CPU]) as recorder:
        for step in range(NUM_STEPS):
            with annotated("step"):
                train(step)
            recorder.step()
    TRACER.stop()
    save("torch", recorder.export_chrome_trace)
    save("viztracer", lambda path: TRACER.save(output_file=path))


def save(name: str, write: object) -> None:
    """Writes a trace, compressed and without the recording machine."""
    plain = FOLDER / f"{name}.json"
    assert callable(write)
    write(str(plain))
    path = Path(f"{plain}.gz")
    path.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    scrub(path)
    assert b"(/" not in gzip.decompress(path.read_bytes()), f"{path.name}: a path is left"


if __name__ == "__main__":
    main()
