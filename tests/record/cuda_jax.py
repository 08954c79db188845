"""Records tests/data/jax_cuda: three training steps of JAX, as `jax.profiler` writes them.

python tests/record/cuda_jax.py
"""

from __future__ import annotations

import gzip
import sysconfig
import tempfile
from pathlib import Path

from scrub import REPOSITORY, without_paths

FOLDER = REPOSITORY / "tests/data/jax_cuda"
WIDTH, BATCH = 512, 128


def main() -> None:
    import jax
    import jax.numpy as jnp

    def loss(weights: list[jax.Array], batch: jax.Array) -> jax.Array:
        for weight in weights:
            batch = jnp.tanh(batch @ weight)
        return (batch**2).mean()

    @jax.jit
    def step(weights: list[jax.Array], batch: jax.Array) -> list[jax.Array]:
        gradients = jax.grad(loss)(weights, batch)
        return [weight - 0.1 * gradient for weight, gradient in zip(weights, gradients, strict=True)]

    weights = [jnp.ones((WIDTH, WIDTH)) for _ in range(3)]
    batch = jnp.ones((BATCH, WIDTH))
    weights = step(weights, batch)
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            for number in range(3):
                with jax.profiler.StepTraceAnnotation("train", step_num=number):
                    weights = jax.block_until_ready(step(weights, batch))
        FOLDER.mkdir(parents=True, exist_ok=True)
        (written,) = Path(folder).rglob("*.trace.json.gz")
        text = without_paths(gzip.decompress(written.read_bytes()).decode())
        (FOLDER / "recorder.trace.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        (profile,) = Path(folder).rglob("*.xplane.pb")
        (FOLDER / "recorder.xplane.pb.gz").write_bytes(gzip.compress(_without_paths(profile.read_bytes()), 9, mtime=0))


def _without_paths(protobuf: bytes) -> bytes:
    """Of the same length, as its fields say how long they are."""
    paths = sysconfig.get_paths()
    for prefix in (paths["purelib"], paths["stdlib"], str(REPOSITORY)):
        protobuf = protobuf.replace(f"{prefix}/".encode(), b"." + b"/" * len(prefix.encode()))
    return protobuf


if __name__ == "__main__":
    main()
