"""Makes empty CUDA libraries, so that torch from PyPI imports on a machine without CUDA.

usage: cuda_stubs.py TORCH_LIB OUT

PyPI's torch links CUDA libraries of two gigabytes or more, which a recording on the CPU never
needs. The stubs in OUT have the names, functions and symbol versions that the libraries in
TORCH_LIB link. Each function returns 100, cudaErrorNoDevice. Needs cc and binutils.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

LIBRARY = re.compile(r"NEEDED.*\[(lib(?:cu|nccl|nv)[^]]*)\]")
FUNCTION = re.compile(r"^ *[Uwv] (_*(?:cu|nv|nccl)\w+)(?:@@?(\S+))?$", re.MULTILINE)
VERSIONS = re.compile(r"File: (\S+)  Cnt.*\n((?:.*Name: .*\n)+)")

Functions = dict[str, list[str]]
"""Functions of a stub by their symbol version; `""` has none."""


def _run(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - own words


def stubs_of(libraries: list[Path]) -> dict[str, Functions]:
    """Returns the functions of each library that is linked and absent."""
    own = {path.name for path in libraries}
    absent = sorted({name for path in libraries for name in LIBRARY.findall(_run("readelf", "-d", path))} - own)
    file_of = {version: file for path in libraries for file, version in _versions(path)}
    stubs: dict[str, Functions] = {name: defaultdict(list) for name in absent}
    linked = {pair for path in libraries for pair in FUNCTION.findall(_run("nm", "-D", "--undefined-only", path))}
    for function, version in sorted(linked):
        file = file_of.get(version, absent[0])
        if file in stubs:
            stubs[file][version].append(function)
    return stubs


def _versions(path: Path) -> Iterator[tuple[str, str]]:
    for file, names in VERSIONS.findall(_run("readelf", "-V", path)):
        for version in re.findall(r"Name: (\S+)", names):
            yield file, version


def compile_stub(path: Path, functions: Functions) -> None:
    """Compiles one library."""
    source, script = path.with_suffix(".c"), path.with_suffix(".map")
    names = [name for versioned in functions.values() for name in versioned]
    source.write_text("\n".join(f"long {name}(void) {{ return 100; }}" for name in names), encoding="utf-8")
    nodes = [f"{version} {{ {'; '.join(of)}; }};" for version, of in functions.items() if version]
    script.write_text("\n".join(nodes), encoding="utf-8")
    options = ["-shared", "-fPIC", "-fno-builtin", f"-Wl,-soname,{path.name}"]
    versions = [f"-Wl,--version-script={script}"] if nodes else []
    _run("cc", *options, *versions, "-o", path, source)


def main() -> None:
    """Makes the stubs."""
    libraries, out = sorted(Path(sys.argv[1]).glob("*.so*")), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for name, functions in stubs_of(libraries).items():
        compile_stub(out / name, functions)


if __name__ == "__main__":
    main()
