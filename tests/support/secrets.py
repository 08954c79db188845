"""Traces with a secret in every place for a text, in many forms, and the texts of outputs."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, product
from pathlib import Path
from typing import Any

from protobuf import Node, attribute, metadata, stream
from support.pages import packed_bytes, without_packed

Event = dict[str, Any]

HEX = "5ec7e7c0de5ec7e7c0de5ec7e7c0de5ec7e7c0de"
DIGITS = "314159265358979323846264"
BASE64 = "czNjcjN0LXNlY3JldC1vZi1jb3Jw"
FORMS = (
    "s3cr3t",
    "S3CR3T",
    "nccl:s3cr3t",
    "nccl:all_reduce s3cr3t",
    "aten::s3cr3t",
    "aten::add.s3cr3t",
    "torch::s3cr3t",
    "torch::autograd::CppNode<S3cr3t>",
    "cuda_s3cr3t",
    "cudaS3cr3t",
    "hipS3cr3t_v2",
    "AscendCL@s3cr3t",
    "S3cr3tBackward0",
    "[pytorch|profiler|s3cr3t|thread]",
    "[pytorch|profiler|execution_trace|s3cr3t]",
    "/srv/s3cr3t/train.py",
    "C:\\s3cr3t\\train.py",
    "s3://s3cr3t:s3cr3t@bucket/x?token=s3cr3t",
    "s3cr3t@example.com",
    f"{BASE64}==",
    HEX,
    f"0x{HEX}",
    DIGITS,
    "\u00e9s3cr3t\u00df\u4e2d",
    json.dumps({"s3cr3t": ["s3cr3t", '"s3cr3t"\\']}),
    "train.py(12): s3cr3t",
    "[[2, 3], ['s3cr3t']]",
    "nn.Module: S3cr3t_0",
    "ProfilerStep#s3cr3t",
    "ProfilerStep#7 s3cr3t",
    "XBLOCK=16,s3cr3t=4",
    "triton_poi_fused_s3cr3t_0",
    "Optimizer.step#S3cr3t.step",
    "Torch-Compiled Region: s3cr3t",
    "## Call CompiledFxGraph s3cr3t ##",
    "## process_group:init s3cr3t ##",
    "NVIDIA H100 s3cr3t",
    "Communication s3cr3t",
    "Stream #1 s3cr3t",
    "gpu_memcpy_s3cr3t",
    "s3cr3t(...) -> ...",
    "aten::add(Tensor s3cr3t) -> Tensor",
    "1.1.1-chakra.0.0.4 s3cr3t",
    "--token=s3cr3t",
    "<s3cr3t>",
)
"""The secret alone, and behind or within what the redaction keeps."""

MARKS = ("s3cr3t", HEX, DIGITS, BASE64.lower())
KERNEL_MARK = "k3rn3l"
KERNELS = (
    KERNEL_MARK,
    f"void {KERNEL_MARK}::add<float>(int)",
    f"void at::native::vectorized_elementwise_kernel<4, {KERNEL_MARK}::Functor<float> >(int)",
    f"triton_poi_fused_{KERNEL_MARK}_0",
    f"ncclDevKernel_{KERNEL_MARK}",
    f"cutlass_80_{KERNEL_MARK}_align4",
    f"ampere_{KERNEL_MARK}_nn",
    f"_ZN2at6native6{KERNEL_MARK}",
)
"""Names of kernels, which stay in a redaction that is not strict."""

CATEGORIES = (
    *("cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver", "gpu_memcpy", "gpu_memset"),
    *("cuda_sync", "gpu_user_annotation", "overhead", "fwdbwd", "xpu_runtime", "hpu_op", "ac2g", "Trace"),
)
KEYS = (
    *("Concrete Inputs", "Input type", "Input Dims", "Input Strides", "Call stack", "Module Hierarchy", "dtype"),
    *("Collective name", "Process Group Name", "Process Group Description", "Process Group Ranks", "Group size"),
    *("In msg nelems", "Out msg nelems", "In split size", "Out split size", "Is asynchronized op", "Seq", "Comms Id"),
    *("kernel_file", "kernel_backend", "kernel_kwargs", "kernel_hash", "kernel", "name", "labels", "stream", "device"),
    *("Python id", "Python parent id", "Python module id", "Device Type", "Addr", "Bytes", "cuda_sync_kind", "context"),
    *("External id", "correlation", "Sequence number", "Fwd thread id", "Record function id", "grid", "block", "cbid"),
    *("Op schema", "Task Type", "Trace name", "Runtime library", "hip_kernel", "wait_on_stream", "op_schema", "note"),
)
KERNEL_CATEGORIES = ("kernel", "concurrent_kernel", "cuda_graph", "mtia_ccp_events")
KERNEL_KEYS = ("kernel", "kernel_name")


def texts_of(form: str) -> Iterator[Any]:
    """Yields values with the form: a text, in a list, below a key, and as a key."""
    yield from (form, [form, 1], {"inner": form}, {form: 1}, [[form]], {"a": [{"b": form, form: {form: form}}]})


def args_of(form: str) -> Event:
    """Returns arguments with the form under each known key and as keys."""
    values = list(texts_of(form))
    known = {key: values[at % len(values)] for at, key in enumerate(KEYS) if key not in KERNEL_KEYS}
    return known | {f"note {at}": value for at, value in enumerate(values)} | {form: form}


def events_of(at: int, form: str) -> Iterator[Event]:
    """Yields events with the form in every place."""
    base: Event = {"pid": 1, "tid": 2, "ts": 100 * at, "dur": 1}
    for number, category in enumerate(CATEGORIES):
        event = base | {"ph": "X", "cat": category, "ts": 100 * at + 2 * number}
        yield event | {"name": form, "args": args_of(form), form: form, "id": form, "tts": form}
        yield event | {"name": f"{form} {number}", "tid": 3, "args": form, "pid": 0}
    yield base | {"ph": "X", "cat": form, "name": form, "tid": form}
    yield base | {"ph": "X", "cat": f"{form}_runtime", "name": form, "pid": form, "tid": form}
    yield base | {"ph": "X", "name": form, "tid": 9, "args": {"nested": args_of(form)}}
    yield base | {"ph": "i", "s": "t", "cat": form, "name": form, "args": args_of(form)}
    yield base | {"ph": "C", "name": form, "args": {form: 3, "x": form}}
    for phase in "sf":
        yield base | {"ph": phase, "id": form, "cat": form, "name": form, "bp": form, "args": args_of(form)}
    for name in ("process_name", "process_labels", "thread_name", "process_sort_index", form):
        yield base | {"ph": "M", "name": name, "tid": form, "args": {"name": form, "labels": form, form: form}}
    yield {"ph": form, "name": form}


def header_of(form: str) -> Event:
    """Returns the header of a Kineto trace with the form in every place."""
    device = {"id": 0, "name": form, "computeMajor": 9, form: form, "uuid": form}
    group = {"pg_name": form, "pg_desc": form, "backend_config": form, "ranks": [0], form: form}
    distributed = {"backend": form, "rank": 0, "world_size": 2, "hosts": [form], "pg_config": [group], form: form}
    return {
        "schemaVersion": form,
        "deviceProperties": [device],
        "computeProperties": [device],
        "distributedInfo": distributed,
        "displayTimeUnit": form,
        "kinetoscope": {"torch": form, "argv": [form], form: form},
        "kinetoscope_edits": [{"edit": form, form: form}],
        **dict.fromkeys(("cuda_driver_version", "hip_driver_version", "rocprofiler_version", "with_stack"), form),
        **dict.fromkeys(("traceName", "host_name", "username", "job", form), form),
        "env": {form: form},
    }


def kineto(forms: Iterable[str], header: str, kernels: Iterable[str] = ()) -> bytes:
    """Returns a Kineto trace with the forms in every place of its events."""
    events = list(chain.from_iterable(events_of(at, form) for at, form in enumerate(forms)))
    for at, (name, category) in enumerate(product(kernels, KERNEL_CATEGORIES)):
        args = {"stream": 7, "device": 0, "kernel": name, "kernel_name": name}
        events.append({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7, "ts": at, "dur": 1, "args": args})
    return json.dumps(header_of(header) | {"traceEvents": events}).encode()


def nodes_of(at: int, form: str) -> Iterator[Event]:
    """Yields nodes with the form in every place, as the newest schema has them."""
    values = {"values": [form, [form], 1], "shapes": [form, [form], []], "types": [form, "String", form]}
    groups = json.dumps([{"pg_name": form, "pg_desc": form, "ranks": [], form: form}])
    names = (form, "aten::add", f"## process_group:init {form}", "record_param_comms", "[pytorch|profiler|execution_x")
    for number, name in enumerate(names):
        attrs = [("rf_id", "uint64", 10 * at + number + 1), ("scope", "uint64", 7 * (number % 2)), ("tid", "uint64", 1)]
        keys = ("op_schema", "kernel_file", "kernel_backend", "collective_name", "dtype", "pg_name", "pg_desc", form)
        attrs += [(key, "string", form) for key in keys] + [("unknown", form, form)]
        yield {
            "id": 10 * at + number + 2,
            "name": name if name != "[pytorch|profiler|execution_x" else f"[pytorch|profiler|execution_trace|{form}]",
            "ctrl_deps": 1,
            "inputs": values | {"values": [groups]} if "process_group" in name else values,
            "outputs": values | {"strides": [form, [form], []]},
            "attrs": [{"name": key, "type": kind, "value": value} for key, kind, value in attrs],
            form: form,
            "comment": form,
        }


def execution(forms: Iterable[str], header: str) -> bytes:
    """Returns an Execution Trace with the forms in every place."""
    nodes = list(chain.from_iterable(nodes_of(at, form) for at, form in enumerate(forms)))
    facts = {"schema": f"1.1.1-chakra.0.0.4 {header}", "pid": 1, "time": header, "host": header, header: header}
    return json.dumps(facts | {"nodes": nodes}).encode()


def old_execution(forms: Iterable[str]) -> bytes:
    """Returns an Execution Trace of the first schema: flat nodes."""
    nodes = [
        {"id": at + 2, "rf_id": at + 1, "parent": 1, "name": form, "scope": 7 * (at % 2), "tid": 1}
        | {"inputs": [form, [form]], "input_shapes": [form, []], "input_types": [form, "String"]}
        | {"outputs": [form], "output_shapes": [form], "output_types": [form], "op_schema": form, form: form}
        for at, form in enumerate(forms)
    ]
    return json.dumps({"schema": "1.0.1", "pid": 1, "nodes": nodes}).encode()


def chakra(forms: Iterable[str]) -> bytes:
    """Returns a Chakra trace with the forms in every place."""
    messages = [metadata(attrs=[attribute("schema", "string", "1.0.2-chakra.0.0.4")])]
    for at, form in enumerate(forms):
        attrs = [attribute("is_cpu_op", "bool", value=True), attribute("note", "string", form, form)]
        attrs += [attribute(form, "string", form), attribute("op_schema", "string", form)]
        messages.append(Node(at + 1, form, 4, start=at, dur=1, inputs=(form, form, form), attrs=attrs).encoded())
    return stream(*messages)


def nsight(source: Path, target: Path, form: str) -> Path:
    """Copies an export of Nsight Systems, with the form in every text but those of enums."""
    target.write_bytes(source.read_bytes())
    with closing(sqlite3.connect(target)) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        for table in tables:
            columns = connection.execute(f'pragma table_info("{table}")').fetchall()
            texts = [column[1] for column in columns if column[2].upper() == "TEXT"]
            for column in texts if not table.startswith("ENUM_") else []:
                # Names come from the fixture itself.
                changes = f'update "{table}" set "{column}" = ?1 where "{column}" is not null'  # noqa: S608 - as above
                connection.execute(changes, (form,))
        connection.commit()
    return target


def snapshot_texts(snapshot: bytes) -> str:
    """Returns the sections of a snapshot, inflated."""
    at, texts = len(b"kscope\0") + 1, []
    for _ in range(4):
        length, stored = (int.from_bytes(snapshot[start : start + 8], "little") for start in (at, at + 8))
        body = snapshot[at + 20 : at + 20 + stored]
        texts.append(body if length == stored else zlib.decompress(body, -15))
        assert len(texts[-1]) == length
        at += 20 + stored
    return b"\n".join(texts).decode("utf-8", "replace")


def unpacked(path: Path) -> str:
    """Returns the texts of a file, inflated: a page with its snapshots, a snapshot, or gzip."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    if path.suffix == ".kscope":
        return snapshot_texts(content)
    text = content.decode("utf-8", "replace")
    found = re.findall(r'class="ks-snapshot"[^>]*>([^<]*)<', text) if path.suffix == ".html" else []
    assert found or path.suffix != ".html"
    return "\n".join([without_packed(text), *(snapshot_texts(packed_bytes(part)) for part in found)])


def leaks(text: str, marks: Iterable[str]) -> list[str]:
    """Returns the surroundings of the secrets in a text: at most three of each."""
    lower = text.lower()
    places = [(mark, match.start()) for mark in marks for match in list(re.finditer(re.escape(mark), lower))[:3]]
    return [f"{mark}: …{text[max(at - 80, 0) : at + 60]}…" for mark, at in places]
