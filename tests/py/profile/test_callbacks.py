"""Recordings in the training loops of Lightning, transformers and accelerate, where those are installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from support.recorded import iterations, observed

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.torch,
    pytest.mark.usefixtures("nothing_left_running"),
    pytest.mark.filterwarnings("ignore"),
]

WINDOW: dict[str, Any] = {"wait": 1, "warmup": 1, "active": 2}


def batches(number: int) -> Any:
    return torch.utils.data.DataLoader(torch.randn(number, 4), batch_size=1)


# --- Lightning ----------------------------------------------------------------------------------------------------


def fit(callback: Any, folder: Path, *, fails_at: int | None = None) -> None:
    import pytorch_lightning as lightning

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch: Any, index: int) -> Any:
            if index == fails_at:
                raise LookupError
            return self.layer(batch).square().mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    quiet: dict[str, Any] = {"enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", devices=1, logger=False, default_root_dir=folder, callbacks=[callback], **quiet
    )
    trainer.fit(Module(), batches(6))


def test_lightning(tmp_path: Path) -> None:
    pytest.importorskip("pytorch_lightning")
    from kinetoscope.callbacks.lightning import Profile

    callback = Profile(tmp_path / "traces", **WINDOW)
    fit(callback, tmp_path)
    assert repr(callback) == f"<kinetoscope callback for Lightning: {callback.profile!r}>"
    assert iterations(callback.profile.trace) == [2, 3]
    assert any("backward" in name.lower() for (name,) in callback.profile.trace.events.select("name").rows())


def test_lightning_that_fails(tmp_path: Path) -> None:
    pytest.importorskip("pytorch_lightning")
    from kinetoscope.callbacks.lightning import Profile

    callback = Profile(tmp_path / "traces")
    with pytest.raises(LookupError):
        fit(callback, tmp_path, fails_at=2)
    assert [*observed(callback.profile.trace), *iterations(callback.profile.trace)] == [0, 1, 2]


# --- transformers -------------------------------------------------------------------------------------------------


def train(folder: Path, callback: Any, *, fails_at: int | None = None) -> None:
    transformers = pytest.importorskip("transformers")

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
            self.num_batches = 0

        def forward(self, x: Any) -> Any:
            self.num_batches += 1
            if self.num_batches == fails_at:
                raise LookupError
            return {"loss": self.layer(x).square().mean()}

    quiet: dict[str, Any] = {"report_to": [], "save_strategy": "no", "disable_tqdm": True, "use_cpu": True}
    arguments = transformers.TrainingArguments(
        str(folder), per_device_train_batch_size=1, gradient_accumulation_steps=2, max_steps=6, **quiet
    )
    data = [{"x": torch.randn(4)} for _ in range(20)]
    transformers.Trainer(model=Model(), args=arguments, train_dataset=data, callbacks=[callback]).train()


def transformers_profile(folder: Path, **options: Any) -> Any:
    pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    from kinetoscope.callbacks.transformers import Profile

    return Profile(folder, **options)


def test_transformers(tmp_path: Path) -> None:
    callback = transformers_profile(tmp_path / "traces", **WINDOW)
    train(tmp_path, callback)
    assert repr(callback) == f"<kinetoscope callback for transformers: {callback.profile!r}>"
    assert iterations(callback.profile.trace) == [2, 3]
    # two batches for each step of the optimizer
    names = [name for (name,) in callback.profile.trace.events.select("name").rows()]
    assert (names.count("aten::linear"), sum(name.startswith("Optimizer.step") for name in names)) == (6, 3)


def test_a_training_of_transformers_after_one_that_raised(tmp_path: Path) -> None:
    failing = transformers_profile(tmp_path / "failing", active=9)
    with pytest.raises(LookupError):
        train(tmp_path, failing, fails_at=6)
    callback = transformers_profile(tmp_path / "traces", **WINDOW)
    train(tmp_path, callback)
    assert [*observed(failing.profile.trace), *iterations(failing.profile.trace)] == [0, 1, 2]
    assert iterations(callback.profile.trace) == [2, 3]


# --- accelerate ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_handler", [True, False])
def test_accelerate(tmp_path: Path, *, is_handler: bool) -> None:
    accelerate = pytest.importorskip("accelerate")
    from kinetoscope.callbacks.accelerate import Profile

    handler = Profile(tmp_path / "traces", **WINDOW)
    accelerator = accelerate.Accelerator(cpu=True, kwargs_handlers=[handler] if is_handler else [])
    model = torch.nn.Linear(4, 1)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1), batches(6))
    with accelerator.profile(*([] if is_handler else [handler])) as prof:
        for batch in loader:
            optimizer.zero_grad()
            accelerator.backward(model(batch).square().mean())
            optimizer.step()
            prof.step()
    assert isinstance(prof, ks.profile)
    assert "traces" in repr(handler)
    assert "wait=1" in repr(handler)
    assert iterations(prof.trace) == [2, 3]
    assert len(prof.files) == 2
