"""Reads recordings of served folders without following links."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope import _native
from kinetoscope._base.threads import for_each
from kinetoscope._io.cache import cache_folder
from kinetoscope._io.discovery import pair_up
from kinetoscope._io.file import LocalFile, files_in
from kinetoscope._io.header import peek
from kinetoscope._io.paths import execution_beside, is_report, is_trace, metrics_beside
from kinetoscope._load.companions import place_companions
from kinetoscope._load.job import read_dir
from kinetoscope._load.member import Member
from kinetoscope._load.read import Options, read
from kinetoscope.trace_set import TraceSet, read_here

if TYPE_CHECKING:
    from kinetoscope._io.source import File


class UnlinkedFile(LocalFile):
    """A file of a job. Metrics beside it are left out if they are a link."""

    def metrics(self) -> File | None:
        """Opens the file with the name that `profile` gives to metrics."""
        name = metrics_beside(self.name)
        return None if name is None or Path(self.path).with_name(name).is_symlink() else super().metrics()


def unlinked_files(folder: Path) -> list[Path]:
    """Returns the files of a folder, sorted, without links and hidden files."""
    return [folder / name for name in files_in(folder) if not (folder / name).is_symlink()]


def read_file(path: Path, max_bytes: int) -> object:
    """Reads a file as `read` does, without an Execution Trace beside it that is a link.

    If it or the metrics are a link, the metrics are left out. Raises the errors of `read`.
    """
    if not any(path.with_name(name).is_symlink() for name in _names_beside(path)):
        return read(path, max_bytes=max_bytes)
    name = execution_beside(path.name, [file.name for file in unlinked_files(path.parent)])
    with ExitStack() as stack:
        # `read` looks for files beside a path, but not beside an open file.
        file = stack.enter_context(path.open("rb"))
        execution = False if name is None else stack.enter_context(path.with_name(name).open("rb"))
        return read(file, execution, max_bytes=max_bytes)


def read_job(folder: Path, max_bytes: int) -> TraceSet:
    """Reads the traces of a folder as `read_dir` does, without links and reports.

    Raises TraceError if no file is a trace.
    """
    found = unlinked_files(folder)
    if len(found) == len(files_in(folder)) and not any(is_report(file.name) for file in found):
        return read_dir(folder, max_bytes=max_bytes, progress=False)
    files = {file.name: UnlinkedFile(file) for file in found if is_trace(file.name) and not is_report(file.name)}
    heads = dict(zip(files, for_each(list(files.values()), lambda file, _: peek(file)), strict=True))
    pairing = pair_up(files, heads)
    options = Options(max_bytes, cache_folder(None))
    job = read_here([Member(pair, files, heads, options) for pair in pairing.pairs], pairing.copies, progress=False)
    if not len(job):
        raise _native.TraceParseError(f"expected traces in {folder.name}, found none")
    members, unplaced = place_companions(job.members)
    return TraceSet(members, job.skipped | unplaced)


def _names_beside(path: Path) -> list[str]:
    """Returns the names of files that `read` opens beside a file, if they exist."""
    execution = execution_beside(path.name, files_in(path.parent))
    names = [execution, metrics_beside(path.name), execution and metrics_beside(execution)]
    return [name for name in names if name]
