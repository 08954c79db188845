"""Reports of Nsight Systems, which only its own program can read: exported first."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kinetoscope import _native
from kinetoscope.file import File, LocalFile

if TYPE_CHECKING:
    from kinetoscope._native import _Source

_REPORT = re.compile(r"\.(nsys-rep|qdrep)$", re.IGNORECASE)
_UNKNOWN = {"binary data", "text that is no JSON object or array", "an empty file"}
"""What the core calls files that it does not recognise: reports are among them, their format is not published."""


def is_report(name: str) -> bool:
    """Whether the name is that of a report."""
    return _REPORT.search(name) is not None


def is_export(head: bytes) -> bool:
    """Whether a file that starts with these bytes is an export: a database with a table of texts among the first."""
    return _native.sniff(head[:1024]) == "an SQLite database" and b"StringIds" in head


class Report(NamedTuple):
    """A report at a path."""

    path: Path

    @property
    def label(self) -> str:
        """The path."""
        return LocalFile(self.path).label

    @property
    def size(self) -> int:
        """0 when the file is gone."""
        return LocalFile(self.path).size

    def head(self) -> bytes:
        """The first bytes."""
        return LocalFile(self.path).head()

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """Its export, made in a folder that is removed afterwards.

        UnsupportedTraceError when there is no `nsys`, or when it fails, with what it says.
        """
        nsys = shutil.which("nsys")
        if nsys is None:
            raise _native.UnsupportedTraceError(
                f"expected an export of Nsight Systems, found a report and no nsys to export it: {self.label}; "
                f"where nsys is, run: nsys export --type sqlite {shlex.quote(self.label)}"
            )
        with tempfile.TemporaryDirectory(prefix="kinetoscope-") as folder:
            export = Path(folder) / f"{self.path.stem}.sqlite"
            _export(nsys, self.path, export)
            with LocalFile(export).opened() as source:
                yield source


def readable(file: File) -> File:
    """For a report the export beside it, unless that is older; or else the report, to be exported. Others as they are.

    OSError when the file cannot be read.
    """
    if not isinstance(file, LocalFile) or not is_report(file.path.name):
        return file
    if _native.sniff(file.head()[:1024]) not in _UNKNOWN:
        return file
    export = file.path.with_suffix(".sqlite")
    return LocalFile(export) if export.is_file() and not _is_stale(export, file.path) else Report(file.path)


def stale(files: Mapping[str, File]) -> dict[str, str]:
    """The exports among these files that are older than the reports beside them, and why they are passed over."""
    local = {name: file.path for name, file in files.items() if isinstance(file, LocalFile)}
    reports = {str(Path(name).with_suffix(".sqlite")): name for name in local if is_report(name)}
    return {
        export: f"passed over, it is older than {report}"
        for export, report in reports.items()
        if export in local and _is_stale(local[export], local[report])
    }


def _is_stale(export: Path, report: Path) -> bool:
    return export.stat().st_mtime < report.stat().st_mtime


def _export(nsys: str, report: Path, export: Path) -> None:
    command = [nsys, "export", "--type", "sqlite", "--output", str(export), str(report.absolute())]
    done = subprocess.run(  # noqa: S603 - the program that the user has on the path, and paths
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode or not export.is_file():
        said = b" ".join((done.stderr or done.stdout).split()).decode(errors="replace") or "nothing"
        raise _native.UnsupportedTraceError(
            f"expected an export of {report}, found that nsys export ended with code {done.returncode}, saying: {said}"
        )
