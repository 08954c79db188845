"""The program of Nsight Systems, which alone can read its reports."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope._native import UnsupportedTraceError

if TYPE_CHECKING:
    from kinetoscope._io.file import LocalFile


@contextmanager
def exported(report: LocalFile) -> Generator[str]:
    """The export of a report, made in a folder that is removed afterwards.

    UnsupportedTraceError when there is no `nsys`, or when it fails, with what it says.
    """
    nsys = shutil.which("nsys")
    if nsys is None:
        raise UnsupportedTraceError(
            f"expected an export of Nsight Systems, found a report and no nsys to export it: {report.label}; "
            f"where nsys is, run: nsys export --type sqlite {shlex.quote(report.label)}"
        )
    with tempfile.TemporaryDirectory(prefix="kinetoscope-") as folder:
        export = Path(folder) / f"{Path(report.path).stem}.sqlite"
        _export(nsys, Path(report.path), export)
        yield str(export)


def _export(nsys: str, report: Path, export: Path) -> None:
    command = [nsys, "export", "--type", "sqlite", "--output", str(export), str(report.absolute())]
    done = subprocess.run(  # noqa: S603 - the program that the user has on the path, and paths
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode or not export.is_file():
        said = b" ".join((done.stderr or done.stdout).split()).decode(errors="replace") or "nothing"
        raise UnsupportedTraceError(
            f"expected an export of {report}, found that nsys export ended with code {done.returncode}, saying: {said}"
        )
