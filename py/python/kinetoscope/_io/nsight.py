"""Reads reports of Nsight Systems (`.nsys-rep`) through their SQLite exports.

The format of a report is not public. Only the program `nsys` can read one and export it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from kinetoscope import _native
from kinetoscope._base.system import quoted
from kinetoscope._io.file import LocalFile
from kinetoscope._io.inputs import note_input
from kinetoscope._io.paths import is_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kinetoscope._io.source import File
    from kinetoscope._native import _Source

_UNKNOWN = {"binary data", "text that is not a JSON object or array", "an empty file"}
"""Formats that a report may have, in the words of `_native.sniff`, which cannot recognise one."""


class NsightReport(LocalFile):
    """A report without a usable export beside it."""

    @contextmanager
    def opened(self) -> Generator[_Source]:
        """Exports the report, and opens the export until the block ends.

        Raises UnsupportedTraceError if the export fails.
        """
        note_input(self.path)
        with _exported(self) as export, LocalFile(export).opened() as source:
            yield source

    def execution(self) -> None:
        """Returns None: if an Execution Trace fails, `read` would export the report again."""


def resolve_report(file: File) -> File:
    """Returns the export beside a report, or an NsightReport if that is missing or stale.

    Returns other files unchanged. Raises OSError for an unreadable file.
    """
    if not isinstance(file, LocalFile) or not is_report(file.name):
        return file
    if _native.sniff(file.head()[:1024]) not in _UNKNOWN:
        return file
    export = _export_path(file.path)
    if os.path.isfile(export) and not _is_stale(export, file.path):
        return LocalFile(export)
    return NsightReport(file.path)


def stale_exports(files: Mapping[str, File]) -> dict[str, str]:
    """Returns the exports that are older than the reports beside them, each with the reason."""
    paths = {name: file.path for name, file in files.items() if isinstance(file, LocalFile)}
    reports = {_export_path(name): name for name in paths if is_report(name)}
    return {
        export: f"skipped: it is older than {report}"
        for export, report in reports.items()
        if export in paths and _is_stale(paths[export], paths[report])
    }


def _export_path(report: str) -> str:
    return f"{os.path.splitext(report)[0]}.sqlite"


def _is_stale(export: str, report: str) -> bool:
    return os.path.getmtime(export) < os.path.getmtime(report)


@contextmanager
def _exported(report: NsightReport) -> Generator[str]:
    """Runs `nsys export` into a temporary folder, and yields the path of the export.

    Raises UnsupportedTraceError if `nsys` is not installed or fails.
    """
    import shutil
    import tempfile

    nsys = shutil.which("nsys")
    if nsys is None:
        raise _native.UnsupportedTraceError(
            f"expected an export of the Nsight Systems report {report.label}, found none, and nsys is not on the "
            f"path; run on a machine with nsys: nsys export --type sqlite {quoted(report.label)}"
        )
    # after Ctrl-C a thread may still read the export, and Windows removes no file that is open
    with tempfile.TemporaryDirectory(prefix="kinetoscope-", ignore_cleanup_errors=True) as folder:
        export = os.path.join(folder, _export_path(report.name))
        _run_export(nsys, report, export)
        yield export


def _run_export(nsys: str, report: NsightReport, export: str) -> None:
    import subprocess

    # an absolute path does not begin with a hyphen, as an option does
    path = os.path.join(os.getcwd(), report.path)
    command = [nsys, "export", "--type", "sqlite", "--output", export, path]
    done = subprocess.run(  # noqa: S603 - the user's own nsys; the arguments are paths
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode or not os.path.isfile(export):
        output = b" ".join((done.stderr or done.stdout).split()).decode(errors="replace") or "no output"
        raise _native.UnsupportedTraceError(
            f"expected an export of {report.label}, "
            f"found that nsys export failed with exit code {done.returncode}: {output}"
        )
