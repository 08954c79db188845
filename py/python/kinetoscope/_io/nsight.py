"""Reports of Nsight Systems, which only its own program can read, and their exports."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from kinetoscope import _native
from kinetoscope._io.file import LocalFile
from kinetoscope._io.paths import is_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope._native import _Source

_UNKNOWN = {"binary data", "text that is no JSON object or array", "an empty file"}
"""What the core calls files that it does not recognise: reports are among them, their format is not published."""


class Report(LocalFile):
    """A report at a path."""

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """Its export, for as long as it is open. UnsupportedTraceError when it cannot be exported."""
        from kinetoscope._io.nsys import exported

        with exported(self) as export, LocalFile(export).opened() as source:
            yield source

    def execution(self) -> None:
        """None: it would have to be exported once more when that one cannot be read."""


def readable(file: File) -> File:
    """For a report the export beside it, unless that is older; or else the report, to be exported. Others as they are.

    OSError when the file cannot be read.
    """
    if not isinstance(file, LocalFile) or not is_report(file.name):
        return file
    if _native.sniff(file.head()[:1024]) not in _UNKNOWN:
        return file
    export = _export_of(file.path)
    return LocalFile(export) if os.path.isfile(export) and not _is_stale(export, file.path) else Report(file.path)


def stale(files: Mapping[str, File]) -> dict[str, str]:
    """The exports among these files that are older than the reports beside them, and why they are passed over."""
    local = {name: file.path for name, file in files.items() if isinstance(file, LocalFile)}
    reports = {_export_of(name): name for name in local if is_report(name)}
    return {
        export: f"passed over, it is older than {report}"
        for export, report in reports.items()
        if export in local and _is_stale(local[export], local[report])
    }


def _export_of(report: str) -> str:
    return f"{os.path.splitext(report)[0]}.sqlite"


def _is_stale(export: str, report: str) -> bool:
    return os.path.getmtime(export) < os.path.getmtime(report)
