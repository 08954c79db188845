"""Records tests/data/minimal_cpu: two iterations of one linear layer, small enough to read by eye.

python tests/record/minimal.py
"""

from __future__ import annotations

import kinetoscope as ks
import torch
from scrub import REPOSITORY, scrub_folder

FOLDER = REPOSITORY / "tests/data/minimal_cpu"


def main() -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with ks.profile(FOLDER, warmup=1, active=2) as prof:
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.ones(3, 4)).sum().backward()
            optimizer.step()
            prof.step()
    scrub_folder(FOLDER)


if __name__ == "__main__":
    main()
