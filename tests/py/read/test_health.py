"""Defects and notes of other people's traces, counted anew from the plain documents."""

from __future__ import annotations

import gzip
import json
import lzma
import math
import re
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest

pytestmark = pytest.mark.shared

DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
LAUNCH = {"cuda_runtime", "cuda_driver"}
MUST_RUN = re.compile("(cuda|cu|hip)(Ext|Graph|Module|ExtModule)?(Launch|Memcpy)(?!HostFunc).*")
ENQUEUES = re.compile("(cuda|cu|hip)(Ext|Graph|Module|ExtModule)?(Launch|Memcpy|Memset)(?!HostFunc).*")

COUNTED = {
    "AMD-AGI__TraceLens/tests/traces/h100/Falconsai_nsfw_image_detection__1016002.json.gz": {},
    "AMD-AGI__TraceLens/tests/traces/h100/gaunernst_bert-small-uncased__1016001.json.gz": {},
    "AMD-AGI__TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz": {},
    "HazyResearch__zoology/trace.json": {"lost_device_work": 268},
    "facebookresearch__HolisticTraceAnalysis/tests/data/nccl_parser_config/nccl_data.json.gz": {},
    "facebookresearch__HolisticTraceAnalysis/tests/data/triton_example/triton_example.json.gz": {},
    "_derived/invalid_utf8_names.json": {"invalid_utf8": 8},
    "_derived/trunc_json_mid_event.json": {"truncated": 1},
}
"""Files, and the defects that are known of them besides those counted here."""

OTHERS = {
    "_derived/et_unfinished_101.json": {"unfinished_execution_trace": 1, "missing_parent": 5},
    "_derived/gzip_multimember.json.gz": {},
    "_derived/nan_inf_tokens.json": {"irregular_json": 4},
    "_derived/trunc_gzip_60pct.json.gz": {"damaged_compression": 1, "truncated": 1, "missing_launch": 1},
    "IBM__aiu-trace-analyzer/tests/test_data/basic_event_test_cases.json": {"unmatched_end": 1, "unfinished_begin": 1},
    "pytorch__kineto/tb_plugin/samples/resnet50_num_workers_0/worker0.pt.trace.json.gz": {},
}
"""Files whose defects alone are known."""


def health(trace: ks.Trace, severity: str) -> dict[str, int]:
    rows = trace.health.select("kind", "count", "severity").rows()
    return {kind: count for kind, count, found in rows if found == severity}


def events(path: Path) -> list[dict[str, Any]]:
    """The complete events, of a file that is cut those before the cut."""
    content = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)(path.read_bytes())
    text = content.decode(errors="replace")
    try:
        found = json.loads(text, parse_float=Decimal)["traceEvents"]
    except json.JSONDecodeError:
        whole = text[: text.rindex("},\n")] + "}]}"
        found = json.loads(whole, parse_float=Decimal)["traceEvents"]
    return [event for event in found if event.get("ph") == "X"]


def notes(events: list[dict[str, Any]]) -> dict[str, int]:
    """What is no defect, by brute force."""
    correlations = {
        event["args"].get("correlation") for event in events if event.get("cat") in DEVICE | {"cuda_sync"}
    } - {None, 0}
    launches = [event for event in events if event.get("cat") in LAUNCH and ENQUEUES.fullmatch(event["name"])]
    idle = [event for event in launches if event["args"].get("correlation") not in correlations]
    idle = [event for event in idle if not MUST_RUN.fullmatch(event["name"])]
    numbers = {event["args"].get("correlation") for event in events if event.get("cat") in LAUNCH}
    work = [event["args"].get("correlation") for event in events if event.get("cat") in DEVICE]
    unlaunched = [number for number in work if number not in numbers]
    first = min(numbers - {None}, default=math.inf)
    counts = Counter(
        zero_duration=sum(not event["dur"] for event in events),
        launch_without_device_event=len(idle),
        unrecorded_launch=sum(number is None or number < first for number in unlaunched),
        partial_overlap=num_partial_overlaps(events),
    )
    return {kind: count for kind, count in counts.items() if count}


def num_partial_overlaps(events: list[dict[str, Any]]) -> int:
    is_coarse = all(isinstance(event["ts"], int) for event in events)
    tracks: defaultdict[tuple[bool, str, str], list[tuple[Any, Any, bool]]] = defaultdict(list)
    for event in events:
        is_device = event.get("cat") in DEVICE | {"cuda_sync", "gpu_user_annotation"}
        end = event["ts"] + event["dur"]
        is_exact = is_device or not is_coarse or event.get("cat") in LAUNCH
        tracks[is_device, str(event["pid"]), str(event["tid"])].append((event["ts"], end, is_exact))
    return sum(_outlasts(sorted(spans)) for spans in tracks.values())


def _outlasts(spans: list[tuple[Any, Any, bool]]) -> int:
    """Whole microseconds may be cut by one: a host event may seem to end one after what it is inside of."""
    count, still = 0, []
    for start, end, is_exact in spans:
        still = [(other, last) for other, last in still if last > start]
        slack = 0 if is_exact else 1
        count += any(other < start and last + slack < end for other, last in still)
        still.append((start, end))
    return count


@pytest.mark.parametrize(("name", "defects"), COUNTED.items(), ids=lambda value: Path(str(value)).name)
def test_defects_and_notes_are_what_is_in_the_file(name: str, defects: dict[str, int], shared: Path) -> None:
    trace = ks.read(shared / name, et=False)
    assert health(trace, "defect") == defects
    assert health(trace, "note") == notes(events(shared / name))


@pytest.mark.parametrize(("name", "defects"), OTHERS.items(), ids=lambda value: Path(str(value)).name)
def test_defects_are_known(name: str, defects: dict[str, int], shared: Path) -> None:
    assert health(ks.read(shared / name, et=False), "defect") == defects


def test_launches_outside_the_window_are_missed_on_two_ranks(shared: Path) -> None:
    job = ks.read(shared / "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto.tar.gz", et=False)
    assert isinstance(job, ks.TraceSet)
    missed = {rank: health(job[rank], "note").get("unrecorded_launch", 0) for rank in range(8)}
    assert missed == {rank: 64 if rank in (1, 3) else 0 for rank in range(8)}
