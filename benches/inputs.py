"""Inputs: traces of other projects if available, else our largest; and long ones."""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import kinetoscope as ks
from crowd import write as write_crowd
from repeat import repeat
from repeat_pair import repeat_pair

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache/bench"
SHARED = Path(os.environ.get("KINETOSCOPE_SHARED") or ROOT.parent / "shared") / "data"
LARGE = SHARED / "AMD-AGI__TraceLens/tests/traces/h100/google_owlv2-large-patch14-ensemble__1016001.json.gz"
ARCHIVE = SHARED / "facebookresearch__param/et_replay/tests/inputs/dlrm_kineto.tar.gz"
EXECUTIONS = ARCHIVE.with_name("dlrm_pytorch_et.tar.gz")
SHORT_BYTES = 56_000_000
LONG_BYTES = 1_000_000_000
NUM_RANKS = 8


class Input(NamedTuple):
    """A file with its name for the table."""

    name: str
    path: Path


def prepare() -> None:
    """Generates missing inputs; best in a separate process, because it needs memory."""
    for make in (short, long_gzip, folder, long_packets):
        make()


def large() -> Input:
    """The large trace, in a gzip stream; our own largest where it is not."""
    if LARGE.exists():
        return Input("owlv2", LARGE)
    return Input("transformer_cpu (own)", largest_fixture())


def largest_fixture() -> Path:
    """The largest of the repository's own Kineto traces."""
    fixtures = (ROOT / "tests/data").glob("*/kineto_trace_*.json.gz")
    return max(fixtures, key=lambda path: path.stat().st_size)


def plain() -> Input:
    """The JSON of the large trace."""
    source = large()
    path = CACHE / f"{_stem(source)}.json"
    return Input(source.name, _made(path, lambda part: part.write_bytes(gzip.decompress(source.path.read_bytes()))))


def short() -> Input:
    """As much JSON as the large trace has."""
    return _repeated(SHORT_BYTES)


def long() -> Input:
    """About a gigabyte of JSON."""
    return _repeated(LONG_BYTES)


def _repeated(num_bytes: int) -> Input:
    once = plain()
    count = round(num_bytes / once.path.stat().st_size)
    if count == 1:
        return once
    path = CACHE / f"{_stem(once)}-{count}.json"
    return Input(f"{once.name} × {count}", _made(path, lambda part: repeat(once.path, count, part)))


def long_gzip() -> Input:
    """The same in a gzip stream."""
    source = long()
    return Input(source.name, _made(source.path.with_suffix(".json.gz"), lambda part: _compress(source.path, part)))


def packets() -> Input:
    """The large trace as packets of Perfetto."""
    return _packets(1)


def long_packets() -> Input:
    """About a gigabyte of them."""
    return _packets(round(LONG_BYTES / packets().path.stat().st_size))


def _packets(count: int) -> Input:
    once = plain()
    path = CACHE / f"{_stem(once)}-{count}.pftrace"
    return Input(f"{once.name} × {count}" if count > 1 else once.name, _made(path, partial(_write_packets, count)))


def _write_packets(count: int, target: Path) -> None:
    """Writes so many repetitions; their JSON is several times as long, and does not stay."""
    text = target.with_suffix(".json")
    repeat(plain().path, count, text)
    ks.read(text).to_perfetto(target)
    text.unlink()


def crowd() -> Input:
    """A million events that are made up."""
    return Input("crowd", _made(CACHE / "crowd.json", write_crowd))


def archive() -> Input | None:
    """Eight ranks in one archive, where it is at hand."""
    return Input("dlrm, 8 ranks", ARCHIVE) if ARCHIVE.exists() else None


def folder() -> Input:
    """The same eight in a folder; our own largest trace, eight times, where the archive is not."""
    found = archive()
    if found is None:
        return Input(f"transformer_cpu (own) × {NUM_RANKS}", _made(CACHE / "copies", _copy_fixture))
    return Input(found.name, _made(CACHE / "dlrm", lambda part: _unpack(found.path, part)))


def pair(num_nodes: int) -> Input:
    """Returns a folder with an Execution Trace of about that many nodes, and its Kineto trace."""
    is_there = ARCHIVE.exists() and EXECUTIONS.exists()
    name, nodes_once = ("dlrm, rank 0", 1672) if is_there else ("transformer_cpu (own)", 3226)
    once = _made(CACHE / f"{name.split()[0].strip(',')}-pair", _unpack_pair if is_there else _copy_pair)
    count = max(1, round(num_nodes / nodes_once))
    path = CACHE / f"{once.name}-{count}"
    execution, kineto = once / "torch_et_0.json", once / "kineto_trace_0.json"
    return Input(f"{name} × {count}", _made(path, lambda part: repeat_pair(execution, kineto, count, part)))


def _unpack_pair(target: Path) -> None:
    target.mkdir()
    for source, rank_0, name in (
        (EXECUTIONS, "dlrm_eg_0.json", "torch_et_0.json"),
        (ARCHIVE, "worker0_", "kineto_trace_0.json"),
    ):
        with tarfile.open(source) as members:
            (member,) = (member for member in members if Path(member.name).name.startswith(rank_0))
            content = members.extractfile(member)
            if content is not None:
                (target / name).write_bytes(content.read())


def _copy_pair(target: Path) -> None:
    target.mkdir()
    for name in ("torch_et_0.json", "kineto_trace_0.json"):
        source = ROOT / "tests/data/transformer_cpu" / f"{name}.gz"
        (target / name).write_bytes(gzip.decompress(source.read_bytes()))


def size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _stem(source: Input) -> str:
    return source.name.split()[0]


def _made(path: Path, make: Callable[[Path], object]) -> Path:
    """Returns a generated file; generates it again if the generator has changed."""
    recipes = (
        Path(__file__),
        *(Path(__file__).with_name(name) for name in ("crowd.py", "repeat.py", "repeat_pair.py")),
    )
    if path.exists() and path.stat().st_mtime > max(recipe.stat().st_mtime for recipe in recipes):
        return path
    part = path.with_name(f"{path.name}.part")
    for old in (part, path):
        shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    make(part)
    os.utime(part)
    return part.rename(path)


def _compress(source: Path, target: Path) -> None:
    with source.open("rb") as text, gzip.open(target, "wb", compresslevel=6) as stream:
        shutil.copyfileobj(text, stream, 1 << 20)


def _unpack(source: Path, target: Path) -> None:
    target.mkdir()
    with tarfile.open(source) as members:
        for member in members:
            content = members.extractfile(member)
            if content is not None:
                (target / Path(member.name).name).write_bytes(content.read())


def _copy_fixture(target: Path) -> None:
    target.mkdir()
    for rank in range(NUM_RANKS):
        shutil.copy(largest_fixture(), target / f"kineto_trace_{rank}.json.gz")
