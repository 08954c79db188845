"""Takes the recording machine out of a recorded trace: absolute paths become relative, the host name goes.

The text is edited in place, never parsed and written again: numbers, order and layout stay as PyTorch wrote them.
"""

from __future__ import annotations

import gzip
import pickle
import re
import socket
import sysconfig
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def scrub(path: Path) -> None:
    """Rewrites a `.json.gz` file. AssertionError when something of the machine is left in it."""
    text = gzip.decompress(path.read_bytes()).decode()
    text = without_paths(text)
    text = re.sub(r'"host_name": "[^"]*"', '"host_name": "recorder"', text)
    text = re.sub(r'"traceName": "[^"]*"', f'"traceName": "{path.name}"', text)
    machine = re.search(
        rf'"/[a-z]+/|{re.escape(str(REPOSITORY))}|{re.escape(str(Path.home()))}/|"{socket.gethostname()}"', text
    )
    assert machine is None, f"{path.name}: {machine} is left"
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def without_paths(text: str) -> str:
    """Text whose paths are relative."""
    # longest first: the environment lies inside the repository, the repository may lie inside a home
    paths = sysconfig.get_paths()
    replaced = {paths["purelib"]: "site-packages", paths["stdlib"]: "python", str(REPOSITORY): ""}
    for prefix in sorted(replaced, key=len, reverse=True):
        short = replaced[prefix]
        text = text.replace(f"{prefix}/", f"{short}/" if short else "")
    return text


def relative(value: object) -> object:
    """The same plain data, with relative paths."""
    if isinstance(value, str):
        return without_paths(value)
    if isinstance(value, dict):
        return {key: relative(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(relative(of) for of in value)
    return value


def write_pickle(path: Path, value: object) -> None:
    """Writes plain data as a compressed pickle with relative paths, such as the allocator's snapshot."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(pickle.dumps(relative(value)), 9, mtime=0))


def scrub_folder(folder: Path) -> None:
    """Rewrites all `.json.gz` files of a folder, and the header of metrics."""
    for path in sorted(folder.glob("*.json.gz")):
        scrub(path)
        print(f"{path.relative_to(REPOSITORY)}: {path.stat().st_size / 1000:.0f} kB")
    for path in sorted(folder.glob("*.jsonl")):
        path.write_text(re.sub(r'"host": "[^"]*"', '"host": "recorder"', path.read_text(), count=1))
