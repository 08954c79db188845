"""Audits wheels and source distributions: `audit.py FOLDER`. Call scripts/audit.sh.

* twine: metadata that PyPI accepts
* abi3audit: calls beyond the stable ABI
* auditwheel: symbols of the C library beyond the tag; for musl, libraries beyond that library,
  because auditwheel reads such wheels on musl only
* the bill of materials against the schema of CycloneDX
* licences in the wheel
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from wheel_contents import content_faults

TOOLS = Path(sys.executable).parent
_CONSISTENT = re.compile(r'platform tag:\s+"([^"]+)"')
_LINUX = re.compile(r"(?P<libc>manylinux|musllinux)_(?P<major>\d+)_(?P<minor>\d+)_(?P<machine>\w+)")


def main() -> None:
    """Prints a line per file, and ends with 1 if one has a fault."""
    (folder,) = sys.argv[1:]
    files = sorted([*Path(folder).glob("*.whl"), *Path(folder).glob("*.tar.gz")])
    if not files:
        sys.exit(f"audit: error: expected wheels or source distributions in {folder}, found none")
    faults = {file: list(faults_of(file)) for file in files}
    for file, found in faults.items():
        print(f"audit: {file.name}: {'; '.join(found) if found else 'no faults'}")
    sys.exit(any(faults.values()))


def faults_of(file: Path) -> Iterator[str]:
    """Faults of a file, one line each."""
    yield from failure("twine", "check", "--strict", str(file))
    if file.suffix != ".whl":
        return
    yield from content_faults(file)
    yield from bom_faults(file)
    if "-abi3-" in file.name:
        yield from failure("abi3audit", "--strict", str(file))
    if "musllinux" in file.name:
        yield from musl_faults(needed_libraries(file))
    elif "linux" in file.name:
        yield from linux_faults(file.name, output("auditwheel", "show", str(file)))


def linux_faults(name: str, shown: str) -> list[str]:
    """Compares the tag of a wheel with the oldest that auditwheel finds it to suit."""
    found = _CONSISTENT.search(shown)
    actual, stated = (_LINUX.search(text) for text in (found[1] if found else "", name))
    if actual is None or stated is None:
        return [f"auditwheel: expected a wheel for several distributions, found {found[1] if found else shown}"]
    same = (actual["libc"], actual["machine"]) == (stated["libc"], stated["machine"])
    if not same or _version(actual) > _version(stated):
        return [f"auditwheel: expected {stated[0]}, found that it needs {actual[0]}"]
    return []


def musl_faults(needed: Iterable[str]) -> list[str]:
    """Libraries that an extension module for musl needs besides the C library."""
    others = sorted(name for name in needed if name != "libc.so" and not name.startswith("libc.musl-"))
    return [f"expected no library besides libc.so, found {', '.join(others)}"] if others else []


def needed_libraries(wheel: Path) -> set[str]:
    """Shared libraries that extension modules of a wheel need and that the wheel lacks."""
    from elftools.elf.elffile import ELFFile  # pyright: ignore[reportMissingImports] - in .cache/audit

    needed: set[str] = set()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for name in names:
            if name.endswith(".so") or ".so." in name:
                section: Any = ELFFile(io.BytesIO(archive.read(name))).get_section_by_name(".dynamic")
                needed |= {tag.needed for tag in section.iter_tags("DT_NEEDED")}
    return needed - {Path(name).name for name in names}


def bom_faults(wheel: Path) -> Iterator[str]:
    """Validates each bill of materials in a wheel."""
    from cyclonedx.schema import SchemaVersion  # pyright: ignore[reportMissingImports] - in .cache/audit
    from cyclonedx.validation.json import JsonStrictValidator  # pyright: ignore[reportMissingImports] - as above

    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if "/sboms/" in name]
        for name in names:
            content = archive.read(name).decode()
            fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(content)
            if fault is not None:
                yield f"{name}: {fault}"


def failure(tool: str, *arguments: str) -> list[str]:
    """The output of a tool that fails, as one fault."""
    done = _run(tool, *arguments)
    return [f"{tool}: {' '.join((done.stdout + done.stderr).split())}"] if done.returncode else []


def output(tool: str, *arguments: str) -> str:
    """The output of a tool."""
    return _run(tool, *arguments).stdout


def _run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - own commands
        [str(TOOLS / tool), *arguments], check=False, capture_output=True, encoding="utf-8"
    )


def _version(match: re.Match[str]) -> tuple[int, int]:
    return int(match["major"]), int(match["minor"])


if __name__ == "__main__":
    main()
