"""Records tests/data/proton_cuda: Triton's profiler Proton, as a tree and as a Chrome trace.

python tests/record/cuda_proton.py
"""

from __future__ import annotations

import torch
from scrub import REPOSITORY

FOLDER = REPOSITORY / "tests/data/proton_cuda"
WIDTH = 256


def main() -> None:
    import triton.profiler as proton

    FOLDER.mkdir(parents=True, exist_ok=True)
    for form in ("tree", "trace"):
        proton.start(str(FOLDER / form), context="shadow", data=form)
        batch = torch.randn(WIDTH, WIDTH, device="cuda")
        for _ in range(3):
            with proton.scope("step"):
                with proton.scope("product", metrics={"flops": 2 * WIDTH**3}):
                    batch = batch @ batch
                batch = batch.softmax(-1)
        torch.cuda.synchronize()
        proton.finalize()


if __name__ == "__main__":
    main()
