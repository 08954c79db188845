"""Benchmarks of one operator: scripts that run, say what they assume, and contain nothing of a trace but values."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import math
import runpy
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from kinetoscope.replaying.operators.benchmark import of_recorded
from kinetoscope.replaying.operators.recorded import operators
from kinetoscope.replaying.operators.script import MAX_LINES
from kinetoscope.replaying.operators.value import RefusedValueError
from support.ranks import launched

FOLDERS = ("transformer_cpu", "mlp_gloo", "minimal_cpu")
NOT_OPERATORS = ("autograd::", "Optimizer", "enumerate")


def traces(data: Path, name: str) -> ks.Trace:
    return ks.read_dir(data / name)[0]


def run(text: str, path: Path) -> str:
    """Runs a script in this process, with few repetitions."""
    path.write_text(text)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        runpy.run_path(str(path))
    return said.getvalue()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    timer = pytest.importorskip("torch.utils.benchmark").Timer
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    monkeypatch.setattr(timer, "blocked_autorange", lambda self, **_: self.timeit(1))
    monkeypatch.setattr(sys, "argv", ["benchmark"])


@pytest.mark.torch
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_operator_of_a_recording_runs(data: Path, tmp_path: Path, folder: str) -> None:
    trace = traces(data, folder)
    num_run = 0
    first = {each.name: each for each in reversed(operators(trace))}
    for recorded in first.values():
        try:
            found = of_recorded(trace, recorded)
        except RefusedValueError:
            continue
        assert found.text.count("\n") <= MAX_LINES, recorded.name
        said = run(found.text, tmp_path / found.file_name)
        assert [line.split()[0] for line in said.splitlines()] == ["recorded", "measured", "with", "roofline"]
        num_run += 1
    assert num_run >= {"transformer_cpu": 75, "mlp_gloo": 30, "minimal_cpu": 20}[folder]


@pytest.mark.torch
@pytest.mark.usefixtures("quick")
def test_events_without_an_execution_trace_find_their_overload(data: Path, tmp_path: Path) -> None:
    trace = ks.read(data / "transformer_cpu/kineto_trace_0.json.gz", False)
    names = ["aten::bmm", "aten::addmm", "aten::_softmax", "aten::native_layer_norm", "aten::mm", "aten::gelu"]
    for name in [name for name in names if name in {each.name for each in operators(trace)}]:
        found = trace.benchmark(name=name)
        assert "the overload, storages, devices" in found.text
        assert "measured" in run(found.text, tmp_path / found.file_name), name


@pytest.mark.torch
def test_the_script_of_the_command(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    assert (
        main(["bench", str(data / "transformer_cpu"), "--operator", "aten::bmm", "--top", "2", "-o", str(folder)]) == 0
    )
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["01_aten_bmm.py", "02_aten_bmm.py"]
    done = subprocess.run([sys.executable, folder / names[0]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["recorded", "measured", "with", "roofline"]
    assert float(lines[1][-2].replace(",", "")) > 0


def test_shared_storages_and_layouts_are_kept(data: Path) -> None:
    trace = traces(data, "transformer_cpu")
    bmm = trace.benchmark(name="aten::bmm").text
    assert "make(torch.float32, (32, 16, 8), (8, 256, 1), offset=8192)" in bmm, "a part of a projection"
    rows = trace.benchmark(name="aten::cat", shapes=[[[16]] * 8]).text
    assert "STORAGE_0.view(torch.int64).as_strided((16,), (1,), 144)" in rows
    lookup = trace.benchmark(name="aten::embedding").text
    assert "random whole numbers below 64" in lookup
    assert "fill=partial(torch.randint, 64)" in lookup


def test_a_call_is_chosen_by_event_node_or_shapes(data: Path) -> None:
    trace = traces(data, "transformer_cpu")
    event_id, name, shapes, node_id = next(
        row
        for row in trace.events.select("id", "name", "input_shapes", "node_id").rows()
        if row[1] == "aten::mm" and row[3]
    )
    by_event = trace.benchmark(event_id)
    assert by_event.text == trace.benchmark(node_id=node_id).text
    assert (by_event.name, by_event.shapes) == (name, shapes)
    assert by_event.shapes == trace.benchmark(name="aten::mm", shapes=json.loads(shapes)).shapes
    with pytest.raises(ValueError, match="expected one of event_id, node_id and name, found none"):
        trace.benchmark()
    with pytest.raises(ValueError, match="such as aten::bmm"):
        trace.benchmark(name="aten::bmmm")
    with pytest.raises(ValueError, match="expected shapes of aten::mm as recorded"):
        trace.benchmark(name="aten::mm", shapes=[[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="found no node 123456789"):
        trace.benchmark(node_id=123456789)


def test_times_and_roofline_of_a_device(data: Path) -> None:
    trace = traces(data, "transformer_cuda")
    found = trace.benchmark(name="aten::addmm")
    assert found.recorded_ns is not None
    assert found.roofline_ns is not None
    assert f"RECORDED_NS = {found.recorded_ns:.0f}\nROOFLINE_NS = {found.roofline_ns:.0f}\n" in found.text
    assert "on the device, NVIDIA H100" in found.text
    assert '"cuda" if torch.cuda.is_available() else "cpu"' in found.text
    assert "flush.zero_()" in found.text


def test_a_generated_kernel_has_its_stored_source(data: Path, tmp_path: Path) -> None:
    trace = traces(data, "inference_cuda/compiled")
    found = trace.benchmark(name="triton_poi_fused_mul_silu_1")
    ast.parse(found.text)
    assert "def triton_poi_fused_mul_silu_1(" in found.text
    assert "import sys" in found.text.partition("DEVICE")[0]
    assert "triton_poi_fused_mul_silu_1.run(*ARGUMENTS, stream=" in found.text
    arguments = found.text.partition("ARGUMENTS = [")[2].partition("]")[0]
    assert arguments.count("make(torch.float16, (64, 1024))") == 2
    assert arguments.rstrip(",\n").endswith(" 65536"), "without the stream, which the trace recorded as 0"
    alone = tmp_path / "torch_et_0.json.gz"
    alone.write_bytes((data / "inference_cuda/compiled/torch_et_0.json.gz").read_bytes())
    with pytest.raises(ValueError, match="the source of the kernel is not beside the trace"):
        ks.read(alone).benchmark(name="triton_poi_fused_mul_silu_1")


@pytest.mark.torch
def test_the_operator_of_an_event(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(data / "transformer_cpu")
    rows = traces(data, "transformer_cpu").events.select("id", "name", "node_id").rows()
    event_id = next(row[0] for row in rows if row[1] == "aten::mm" and row[2])
    assert main(["bench", folder, "--event", str(event_id)]) == 0
    assert capsys.readouterr().out.strip() == traces(data, "transformer_cpu").benchmark(event_id).text.strip()
    for other in (["--operator", "aten::mm"], ["--top", "1"]):
        assert main(["bench", folder, "--event", str(event_id), *other]) == 2
        assert "expected --event without" in capsys.readouterr().err


# --- communications ---------------------------------------------------------------------------------------------------


def test_a_communication_names_the_command_that_replays_it(data: Path) -> None:
    trace = traces(data, "mlp_gloo")
    ids = [row[0] for row in trace.events.select("id", "name").rows() if row[1] == "c10d::allreduce_"]
    command = "torchrun --nproc-per-node 2 -m kinetoscope replay-comms --trace-path \\S+ --allow-ops all_reduce"
    with pytest.raises(ValueError, match=f"it communicates: replay it with {command} --max-msg-cnt 1$"):
        trace.benchmark(ids[0])
    with pytest.raises(ValueError, match=f"replay it as the last one of 3 with {command} --max-msg-cnt 3$"):
        trace.benchmark(ids[2])
    with pytest.raises(ValueError, match=f"replay it with {command} --max-msg-cnt 1$"):
        trace.benchmark(name="c10d::allreduce_")


def test_a_communication_of_nccl_is_found_below_its_operator(data: Path) -> None:
    trace = traces(data, "nccl_cuda")
    rows = trace.events.select("id", "name").rows()
    for name in ("c10d::allreduce_", "record_param_comms", "nccl:all_reduce"):
        event_id = next(row[0] for row in rows if row[1] == name)
        with pytest.raises(ValueError, match="--allow-ops all_reduce --max-msg-cnt 1 --backend nccl"):
            trace.benchmark(event_id)


@pytest.mark.torch
def test_the_named_command_replays_the_communication(data: Path) -> None:
    trace = traces(data, "mlp_gloo")
    ids = [row[0] for row in trace.events.select("id", "name").rows() if row[1] == "c10d::allreduce_"]
    with pytest.raises(ValueError, match="it communicates") as reason:
        trace.benchmark(ids[1])
    words = shlex.split(str(reason.value).partition("replay-comms ")[2])
    options = ["replay-comms", *words, "--warmup-iter", "0", "--num-replays", "1", "--json"]
    done = launched(2, "-m", "kinetoscope", *options)
    assert sum(row["num_calls"] for row in json.loads(done.stdout)) == 2 * 2, "two calls on each of two ranks"


# --- one operator of a written trace ----------------------------------------------------------------------------------

TENSOR = {"float": 4, "double": 8, "long int": 8, "int": 4, "bool": 1, "c10::BFloat16": 2}


def tensor(place: int, shape: list[int], dtype: str = "float", strides: list[int] | None = None) -> tuple[Any, ...]:
    """A recorded tensor in a storage of its own: value, type, shape and strides."""
    value = [10 + place, 50 + place, 0, math.prod(shape), TENSOR[dtype], "cpu"]
    steps = [math.prod(shape[at + 1 :]) for at in range(len(shape))]
    return value, f"Tensor({dtype})", shape, steps if strides is None else strides


def side(values: list[Any]) -> dict[str, list[Any]]:
    kinds = {bool: "Bool", int: "Int", float: "Double", str: "String", type(None): "None"}
    parts = [each if isinstance(each, tuple) else (each, kinds[type(each)], [], []) for each in values]
    listed = [list(column) for column in zip(*parts, strict=True)] or [[], [], [], []]
    return dict(zip(("values", "types", "shapes", "strides"), listed, strict=True))


def script(folder: Path, schema: str, *values: Any, results: Sequence[Any] = ()) -> str:
    name = schema.partition("(")[0].partition(".")[0]
    outputs = side(list(results))
    return written(folder, name=name, schema=schema, outputs=outputs, **side(list(values))).benchmark(node_id=2).text


GROWING = {
    "unsqueeze_": ("aten::unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)", [3, 4], [0]),
    "squeeze_": ("aten::squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", [3, 4, 1], [2]),
    "transpose_": ("aten::transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", [3, 4], [0, 1]),
    "t_": ("aten::t_(Tensor(a!) self) -> Tensor(a!)", [3, 4], []),
    "detach_": ("aten::detach_(Tensor(a!) self) -> Tensor(a!)", [3, 4], []),
    "mul_": ("aten::mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", [3, 4], [3]),
}
CHECK = """
assert len({each.data_ptr() for each in seen}) == len(seen) == 50
assert {tuple(each) for each in shapes} == {tuple(ARGUMENTS[0].shape)} and not any(views)
"""


@pytest.mark.torch
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("case", GROWING)
def test_an_operator_that_changes_its_inputs_gets_new_ones(tmp_path: Path, case: str) -> None:
    schema, shape, rest = GROWING[case]
    text = script(tmp_path, schema, tensor(0, shape), *rest)
    watched = (
        "ORIGINAL, seen, shapes, views = OPERATOR, [], [], []\n"
        "def OPERATOR(first, *rest, **named):\n"
        "    seen.append(first), shapes.append(first.shape), views.append(first._is_view())\n"
        "    return ORIGINAL(first, *rest, **named)\n"
    )
    text = text.replace("\n\ndef device_ns", f"\n{watched}\ndef device_ns")
    assert "measured" in run(text + CHECK, tmp_path / "x.py")


@pytest.mark.torch
@pytest.mark.usefixtures("quick")
def test_a_result_argument_grows_in_each_call(tmp_path: Path) -> None:
    schema = "aten::arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)"
    text = script(tmp_path, schema, 0, 9, 1, tensor(0, [0], "long int"))
    assert "measured" in run(f"{text}\nassert NAMED['out'].shape == (0,)\n", tmp_path / "x.py")


def test_large_inputs_are_not_copied(tmp_path: Path) -> None:
    large = tensor(0, [1 << 29])
    changed = "aten::unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)"
    result = (*large[:2], [1, 1 << 29], [1 << 29, 1])
    with pytest.raises(ValueError, match="it changes the shape of inputs of more than 1 GiB"):
        script(tmp_path, changed, large, 0, results=[result])
    text = script(tmp_path, "aten::zero_(Tensor(a!) self) -> Tensor(a!)", large, results=[large])
    assert "the state before each call" in text


@pytest.mark.torch
@pytest.mark.usefixtures("quick")
def test_words_of_python_are_overloads(tmp_path: Path) -> None:
    schema = "aten::random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)"
    text = script(tmp_path, schema, tensor(0, [3]), 0, 5, None)
    assert 'OPERATOR = getattr(torch.ops.aten.random_, "from")' in text
    assert "measured" in run(text, tmp_path / "x.py")


def test_sparse_inputs_are_refused(tmp_path: Path) -> None:
    sparse = ([59, 0, 0, 0, 0, ""], "Tensor(float)", [6, 6], [0, 0])
    with pytest.raises(ValueError, match="sparse"):
        script(tmp_path, "aten::_values(Tensor(a) self) -> Tensor(a)", sparse)


PACKED = (
    "aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, "
    "int total_length) -> (Tensor, Tensor)"
)
MASKS = ([tensor(1, [30], "bool")[0]], "GenericList[Tensor(bool)]", [[30]], [[1]])
VALUES: dict[str, tuple[str, list[Any], list[Any], str]] = {
    "cholesky": (
        "aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
        [tensor(0, [3, 6, 6]), False],
        [],
        "makes the matrices positive definite",
    ),
    "bernoulli": (
        "aten::bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
        [tensor(0, [4, 8]), tensor(1, [4, 8]), None],
        [],
        "random from 0 to 1 here",
    ),
    "mask": (
        "aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
        [tensor(0, [30, 8]), MASKS, tensor(2, [13, 8]), False],
        [],
        "values of indices: True for 13 of 30, in random places",
    ),
    "selected": (
        "aten::masked_select_backward(Tensor grad, Tensor input, Tensor mask) -> Tensor",
        [tensor(0, [36]), tensor(1, [10, 10]), tensor(2, [10, 10], "bool")],
        [],
        "values of mask: True for 36 of 100",
    ),
    "packed": (
        PACKED,
        [tensor(0, [11, 8]), tensor(1, [5], "long int"), False, 0.0, -1],
        [tensor(3, [5, 3, 8]), tensor(4, [3], "long int")],
        "values of batch_sizes: descending, with the sum 11",
    ),
    "errors": (
        "aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
        [tensor(0, [3], "int"), "linalg.inv", False],
        [],
        "values of info: 0: no error",
    ),
    "asserted": ("aten::_assert_async(Tensor self) -> ()", [tensor(0, [], "bool")], [], "values of self: 1: true"),
    "autocast": (
        "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
        [tensor(0, [4, 8], "c10::BFloat16"), tensor(1, [3, 8]), tensor(2, [3])],
        [tensor(3, [4, 3], "c10::BFloat16")],
        'torch.autocast(DEVICE.partition(":")[0], torch.bfloat16)',
    ),
}


@pytest.mark.torch
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("case", VALUES)
def test_values_are_those_that_the_operator_takes(tmp_path: Path, case: str) -> None:
    schema, values, results, words = VALUES[case]
    text = script(tmp_path, schema, *values, results=results)
    assert words in text
    assert "measured" in run(text, tmp_path / "x.py")


def test_autocast_is_only_for_operators_above_it(tmp_path: Path) -> None:
    schema = "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"
    for dtype in ("float", "c10::BFloat16"):
        text = script(tmp_path, schema, tensor(0, [4, 8], dtype), tensor(1, [3, 8], dtype), None)
        assert "autocast" not in text


def test_unrecorded_strides_are_named(tmp_path: Path) -> None:
    known = script(tmp_path, "aten::relu(Tensor self) -> Tensor", tensor(0, [3, 4]))
    unknown = script(tmp_path, "aten::relu(Tensor self) -> Tensor", tensor(0, [3, 4], strides=[]))
    assert "- strides: contiguous here" in unknown
    assert "strides" not in known.partition("import")[0]


def events(folder: Path, name: str, **arguments: Any) -> str:
    """The script of a single event, which has no execution trace."""
    event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": arguments}
    path = folder / "kineto_trace_0.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [event]}))
    return ks.read(path, False).benchmark(name=name).text


@pytest.mark.torch
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("name", "types", "concrete"),
    [
        ("aten::gelu", ["float", ""], ["", ""]),
        ("aten::pad", ["float", "ScalarList", "", "Scalar"], ["", "[1, 2]", "", "3."]),
        ("aten::to", ["float", "", "Scalar", "Scalar", "Scalar", ""], ["", "", "6", "False", "False", ""]),
    ],
)
def test_arguments_that_an_event_lacks_have_their_defaults(
    tmp_path: Path, name: str, types: list[str], concrete: list[str]
) -> None:
    lists: list[list[int]] = [[] for _ in types[1:]]
    arguments = {"Input Dims": [[6, 8], *lists], "Input type": types, "Input Strides": [[8, 1], *lists]}
    text = events(tmp_path, name, **arguments, **{"Concrete Inputs": concrete})
    assert "measured" in run(text, tmp_path / "x.py")


def test_a_sparse_input_of_an_event_is_refused(tmp_path: Path) -> None:
    arguments = {"Input Dims": [[6, 6]], "Input type": ["float"], "Input Strides": [[]], "Concrete Inputs": [""]}
    with pytest.raises(ValueError, match="no strides are recorded"):
        events(tmp_path, "aten::_values", **arguments)


@pytest.mark.torch
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("source", ["event", "node"])
def test_no_script_is_long(tmp_path: Path, source: str) -> None:
    """A call with many arguments of all kinds: shared storages, lists of other shapes, strides and offsets."""
    shapes = [[3 + at % 7, 2 + at] for at in range(120)]
    if source == "event":
        strides = [[1, 64] for _ in shapes]
        arguments = {"Input Dims": [shapes, []], "Input type": ["TensorList", "Scalar"]}
        lists = {"Input Strides": [strides, []], "Concrete Inputs": ["", "2."]}
        text = events(tmp_path, "aten::_foreach_add", **arguments, **lists)
    else:
        values = [[10 + at, 90 + at // 2, 4, math.prod(shape), 4, "cpu"] for at, shape in enumerate(shapes)]
        kinds = f"GenericList[{','.join(['Tensor(float)'] * len(shapes))}]"
        listed = (values, kinds, shapes, [[shape[1], 1] for shape in shapes])
        schema = "aten::_foreach_mul_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()"
        text = script(tmp_path, schema, listed, 2.0)
    assert text.count("\n") <= MAX_LINES
    assert "measured" in run(text, tmp_path / "x.py")


# --- hostile traces -----------------------------------------------------------------------------------------------


def written(folder: Path, **changes: Any) -> ks.Trace:
    """An Execution Trace of one operator."""
    example = {"values": [[7, 8, 0, 6, 4, "cpu"]], "shapes": [[2, 3]], "types": ["Tensor(float)"], "strides": [[3, 1]]}
    schema = changes.pop("schema", "aten::relu(Tensor self) -> Tensor")
    name = changes.pop("name", "aten::relu")
    outputs = changes.pop("outputs", example)
    inputs = {**example, **changes}
    attrs = [{"name": "op_schema", "type": "string", "value": schema}, {"name": "rf_id", "type": "uint64", "value": 1}]
    attrs.append({"name": "scope", "type": "uint64", "value": 0})
    empty: dict[str, list[object]] = {"values": [], "shapes": [], "types": [], "strides": []}
    root = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []}
    nodes = [
        {**root, "inputs": empty, "outputs": empty},
        {"id": 2, "name": name, "ctrl_deps": 1, "attrs": attrs, "inputs": inputs, "outputs": outputs},
    ]
    folder.mkdir(exist_ok=True)
    path = folder / "torch_et_0.json"
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}))
    return ks.read(path)


CODE = "__import__('os').system('touch broken')"
HOSTILE = {
    "negative": ({"shapes": [[-2, 3]]}, "negative shape"),
    "backwards": ({"strides": [[-3, 1]]}, "negative strides"),
    "huge": ({"shapes": [[1 << 40, 3]]}, "tensor of more than"),
    "spread": ({"strides": [[1 << 50, 1]]}, "tensor of more than"),
    "type": ({"types": [f"Tensor({CODE})"]}, "unknown type of tensor"),
    "device": ({"values": [[7, 8, 0, 6, 4, CODE]]}, "unknown device"),
    "shape": ({"shapes": [[CODE, 3]]}, "the shape of a tensor is not recorded"),
    "name": ({"name": f"aten::relu {CODE}", "schema": f"aten::relu {CODE}(Tensor self) -> Tensor"}, "not readable"),
    "parameter": ({"schema": f"aten::relu(Tensor {CODE}) -> Tensor"}, "not readable"),
    "other": ({"schema": "aten::from_file(Tensor self) -> Tensor"}, "differ"),
    "library": ({"name": "torch::relu", "schema": "torch::relu(Tensor self) -> Tensor"}, "not on the list"),
    "file": (
        {"name": "image::write_file", "schema": "image::write_file(Tensor self) -> Tensor"},
        "the library image is not on the list",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_calls_are_refused(tmp_path: Path, case: str) -> None:
    changes, why = HOSTILE[case]
    trace = written(tmp_path, **changes)
    with pytest.raises(ValueError, match=why):
        trace.benchmark(node_id=2)


def test_operators_that_touch_files_are_refused(tmp_path: Path) -> None:
    text = {
        "values": ["x", True, 8],
        "types": ["String", "Bool", "Int"],
        "shapes": [[], [], []],
        "strides": [[], [], []],
    }
    schema = "aten::from_file(str filename, bool? shared=None, int? size=0) -> Tensor"
    with pytest.raises(ValueError, match="it does not only compute"):
        written(tmp_path, name="aten::from_file", schema=schema, **text).benchmark(node_id=2)
    schema = "fbgemm::load(str file_path, bool? shared=None, int? size=0) -> Tensor"
    with pytest.raises(ValueError, match="it names a file"):
        written(tmp_path, name="fbgemm::load", schema=schema, **text).benchmark(node_id=2)


def test_texts_of_a_trace_stay_texts(tmp_path: Path) -> None:
    text = f'"\n{CODE}\n"""\\'
    values = {"values": [text, [[7, 8, 0, 6, 4, "cpu"]]], "shapes": [[], [[2, 3]]], "strides": [[], [[3, 1]]]}
    types = ["String", "GenericList[Tensor(float)]"]
    schema = "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor"
    trace = written(tmp_path, name="aten::einsum", schema=schema, types=types, **values)
    tree = ast.parse(trace.benchmark(node_id=2).text)
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert text in constants
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not {name for name in calls if "__import__" in name}
