"""Writes the generated pages of the documentation. mkdocs-gen-files runs it (see mkdocs.yml)."""

from __future__ import annotations

import sys
from pathlib import Path

import mkdocs_gen_files

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/record"))  # last: its modules have common names

import command_line
import examples
import links
import reference
import tutorials

ROOT = Path(__file__).resolve().parents[2]


def write(page: str, content: str | bytes) -> None:
    """Adds a page or a file to the site, at a path below docs."""
    mode = "w" if isinstance(content, str) else "wb"
    with mkdocs_gen_files.open(page, mode) as file:
        file.write(content)


for name, page in links.ROOT_PAGES.items():
    if name != "README.md":
        write(page, (ROOT / name).read_text(encoding="utf-8"))
for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
    write(f"tutorials/{path.stem}.md", tutorials.executed(path))
write("assets/iframe-worker.js", (ROOT / "wasm/node_modules/iframe-worker/shim/index.js").read_bytes())
write("reference/cli.md", command_line.page())
for page, content in reference.pages(ROOT / "tests/data"):
    write(page, content)
for page, content in examples.files(ROOT / "tests/data"):
    write(page, content)
