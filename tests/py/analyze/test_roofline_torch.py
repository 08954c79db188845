"""Operations of operators are those that torch's own formulas count, for calls recorded here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

torch: Any = pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")]

MATRICES = ("matmul", "convolution", "attention")


def recorded(run: Callable[[], object], folder: Path, **options: bool) -> tuple[ks.Trace, Any]:
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, record_shapes=True, **options) as prof:
        run()
    path = folder / "trace.json"
    prof.export_chrome_trace(str(path))
    return ks.read(path), prof


def counted(trace: ks.Trace) -> Counter[str]:
    found: Counter[str] = Counter()
    for family, name, count, flops in trace.roofline(on="host").select("family", "name", "count", "flops").rows():
        found[name] += count * flops
        found[family] += count * flops
    return found


def tensor(*shape: int) -> Any:
    return torch.randn(*shape, requires_grad=True)


def products() -> None:
    torch.mm(tensor(3, 4), tensor(4, 5))
    torch.addmm(tensor(5), tensor(3, 4), tensor(4, 5))
    torch.bmm(tensor(2, 3, 4), tensor(2, 4, 5))
    torch.baddbmm(tensor(2, 3, 5), tensor(2, 3, 4), tensor(2, 4, 5))
    torch.matmul(tensor(2, 7, 3, 4), tensor(4, 6))
    torch.nn.functional.linear(tensor(2, 7, 4), tensor(6, 4), tensor(6)).sum().backward()


def convolutions() -> None:
    functional = torch.nn.functional
    functional.conv1d(tensor(2, 4, 19), tensor(6, 4, 3), dilation=2, padding=3).sum().backward()
    functional.conv2d(tensor(2, 4, 9, 8), tensor(6, 4, 3, 3), tensor(6), stride=2, padding=1).sum().backward()
    functional.conv2d(tensor(2, 4, 9, 8), tensor(6, 2, 3, 3), tensor(6), groups=2)
    functional.conv3d(tensor(1, 2, 5, 6, 7), tensor(3, 2, 2, 2, 2)).sum().backward()
    functional.conv_transpose2d(
        tensor(2, 4, 5, 6), tensor(4, 3, 3, 3), stride=2, padding=1, output_padding=1
    ).sum().backward()


def test_groups_share_the_work_of_gradients_too(tmp_path: Path) -> None:
    # Where there are groups, torch's counter takes the gradient of the weight for that of as many channels without any.
    input_, weight = tensor(2, 4, 9, 8), tensor(6, 2, 3, 3)
    trace, _ = recorded(lambda: torch.nn.functional.conv2d(input_, weight, groups=2).sum().backward(), tmp_path)
    found = counted(trace)
    assert found["aten::convolution"] == 2 * (2 * 6 * 7 * 6) * (2 * 3 * 3)
    assert found["aten::convolution_backward"] == 2 * found["aten::convolution"]


def attention() -> None:
    query, key, value = tensor(2, 3, 33, 16), tensor(2, 3, 47, 16), tensor(2, 3, 47, 16)
    torch.nn.functional.scaled_dot_product_attention(query, key, value).sum().backward()


@pytest.mark.parametrize("run", [products, convolutions, attention])
def test_as_the_flop_counter_counts(run: Callable[[], None], tmp_path: Path) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        run()
    if run is attention and not counter.get_total_flops():
        pytest.skip("this version of torch does not count the fused attention of the CPU")
    trace, _ = recorded(run, tmp_path)
    found = counted(trace)
    assert counter.get_total_flops() > 0
    assert sum(found[family] for family in MATRICES) == counter.get_total_flops()


def test_as_the_profiler_counts(tmp_path: Path) -> None:
    def run() -> None:
        with torch.no_grad():
            torch.add(tensor(3, 4), tensor(3, 4))
            torch.mul(tensor(3, 4), tensor(3, 4))
            torch.mm(tensor(8, 4), tensor(4, 5))
            torch.nn.functional.conv2d(tensor(2, 4, 9, 8), tensor(6, 4, 3, 3), stride=2)

    trace, prof = recorded(run, tmp_path, with_flops=True)
    found = counted(trace)
    theirs = {average.key: average.flops for average in prof.key_averages() if average.flops}
    assert set(theirs) == {"aten::add", "aten::mul", "aten::mm", "aten::conv2d"}
    assert found["convolution"] == theirs.pop("aten::conv2d")
    matmul = theirs.pop("aten::mm")
    assert found["matmul"] == matmul
    assert {name: found[name] for name in theirs} == theirs


def test_a_causal_mask_halves_what_is_computed(tmp_path: Path) -> None:
    def run(*, is_causal: bool) -> int:
        query = tensor(1, 2, 64, 8)
        attend = torch.nn.functional.scaled_dot_product_attention
        trace, _ = recorded(lambda: attend(query, query, query, is_causal=is_causal), tmp_path)
        return counted(trace)["attention"]

    assert run(is_causal=False) == 2 * 2 * 64 * 64 * (8 + 8)
    assert run(is_causal=True) == 2 * 2 * (64 * 65 // 2) * (8 + 8)
