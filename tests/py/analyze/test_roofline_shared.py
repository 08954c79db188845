"""Operations and bytes of everybody's operators are those of TraceLens's own reports on the same traces, or better.

What differs, and why: TraceLens adds an operation an element for the bias of `addmm` (torch's counter does not) and for
a copy (which computes nothing), reads the gradient of a convolution once for each result, and takes the statistics of
a layer's normalisation for one a channel, not one a row.
"""

from __future__ import annotations

from pathlib import Path

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.shared

TRACES = "AMD-AGI__TraceLens/tests/traces"
OWL = f"{TRACES}/h100/google_owlv2-large-patch14-ensemble__1016001.json.gz"
BERT = f"{TRACES}/h100/gaunernst_bert-small-uncased__1016001.json.gz"
RESNET = f"{TRACES}/mi300/resnet_act_checkpoint.json.gz"
MIB = 1 << 20

# Operator, how its shapes start; GFLOPS, Data Moved (MB) and Kernel Time (µs)_sum of the report.
EQUAL = [
    (OWL, "aten::bmm", "[[16,5185,64],[16,64,5185]]", 55.0588928, 840.6953430175781, 130015.7),
    (OWL, "aten::bmm", "[[16,5185,5185],", 55.0588928, 840.6953430175781, 99311.41),
    (OWL, "aten::cudnn_convolution", "[[1,3,1008,1008],", 6.242697216, 17.08740234375, 1350.803),
    (OWL, "aten::mul", "[[1,5185,4096],[1,5185,4096]]", 0.02123776, 121.5234375, 5223.73),
    (OWL, "aten::mul", "[[1,5185,4096],[]]", 0.02123776, 81.01563262939453, 3687.324),
    (OWL, "aten::add", "[[1,12,5,5],[1,1,5,5],[]]", 3e-07, 0.0011920928955078125, 287.137),
    (OWL, "aten::sigmoid", "[[1,5185,4096]]", 0.02123776, 81.015625, 3988.498),
    (BERT, "aten::_flash_attention_forward", "[[1,141,8,64],", 0.040716288, 0.55078125, 37.408),
    (RESNET, "aten::miopen_convolution", "[[10,512,7,7],[512,512,3,3]", 2.31211008, 5.45703125, 943.530),
]

# GFLOPS and Data Moved (MB) of the report, then ours.
DIFFERENT = [
    (OWL, "aten::addmm", "[[1024],[5185,1024],", (10.87904256, 22.255859375), (10.87373312, 22.255859375)),
    (OWL, "aten::copy_", "[[1,16,5185,64],", (0.00530944, 20.25390625), (0, 20.25390625)),
    (OWL, "aten::native_layer_norm", "[[1,5185,1024],", (0.026553344, 20.265625), (0.0265472, 20.29736328125)),
    (
        RESNET,
        "aten::convolution_backward",
        "[[10,64,56,56],[10,64,56,56],[64,64,3,3]",
        (4.62422016, 15.453125),
        (4.62422016, 11.625),
    ),
]


def row(folder: Path, file: str, name: str, shapes: str) -> tuple[float, float, float]:
    table = ks.read(folder / file).roofline()
    rows = table.select("name", "input_shapes", "flops", "bytes", "total_ns").rows()
    ((flops, size, ns),) = [row[2:] for row in rows if row[0] == name and row[1].startswith(shapes)]
    return flops / 1e9, size / MIB, ns / 1e3


@pytest.mark.parametrize(("file", "name", "shapes", "report"), [(*case[:3], case[3:]) for case in EQUAL])
def test_as_tracelens(shared: Path, file: str, name: str, shapes: str, report: tuple[float, float, float]) -> None:
    found = row(shared, file, name, shapes)
    assert found[:2] == pytest.approx(report[:2])
    assert found[2] == pytest.approx(report[2], abs=0.005)


@pytest.mark.parametrize(("file", "name", "shapes", "theirs", "ours"), DIFFERENT)
def test_not_as_tracelens(
    shared: Path, file: str, name: str, shapes: str, theirs: tuple[float, float], ours: tuple[float, float]
) -> None:
    found = row(shared, file, name, shapes)[:2]
    assert found == pytest.approx(ours)
    assert found != pytest.approx(theirs)


def test_nothing_is_faster_than_its_device(shared: Path) -> None:
    for file in (OWL, RESNET):
        rows = ks.read(shared / file).roofline().select("bytes", "share_of_peak", "bound").rows()
        # What is no larger than the caches may come from there.
        assert all(share < 1 for size, share, bound in rows if size > 64 * MIB or bound == "compute")
