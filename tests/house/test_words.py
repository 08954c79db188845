"""What no file may say, and what some must."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from rules import tree, words

pytestmark = pytest.mark.unit

# What is compiled into, or travels with, what users get.
SHIPPED = ("core/src", "py/src", "py/python", "wasm/src", "wasm/web")
BUNDLE = tree.ROOT / "py/python/kinetoscope/_static"
# Names of things that stand for machines in the checks themselves and in what removes them from fixtures.
ABOUT_MACHINES = {
    "tests/house/rules/words.py": "the pattern",
    "tests/house/test_words.py": "bad examples",
    "tests/record/scrub.py": "takes a machine's paths out of recordings",
}
# Addresses that are recognised, not fetched.
RECOGNISED = {
    "py/python/kinetoscope/_export/flame.py": "the name of the schema that speedscope's files state",
    "core/src/read/container.rs": "the first line of a Git LFS pointer, to say what was found instead of a trace",
}

# What a button of the page opens in a tab of its own, when the reader presses it; no page fetches it.
OPENED = "https://ui.perfetto.dev"


def gather(found: list[str]) -> None:
    assert not found, "\n".join(found)


def test_what_is_shipped_names_no_address() -> None:
    sources = [name for folder in SHIPPED for name in tree.under(folder) if name not in RECOGNISED]
    gather([line for name in sources for line in words.addresses(name, _fetched(tree.text(name)))])


def test_the_bundle_names_no_address() -> None:
    built = sorted(path for path in BUNDLE.glob("*") if path.suffix in {".css", ".js"})
    if not built:
        pytest.skip("the front-end is not built: make wasm")
    gather([line for path in built for line in words.addresses(path.name, _fetched(path.read_text(encoding="utf-8")))])


def _fetched(text: str) -> str:
    """A text without what is opened, not fetched."""
    return text.replace(OPENED, "")


def test_no_file_names_a_machine() -> None:
    names = [name for name in tree.files() if not name.endswith(".gz") and name not in ABOUT_MACHINES]
    gather([line for name in names for line in words.machine_paths(name, tree.text(name))])


def test_no_recording_names_a_machine() -> None:
    found: list[str] = []
    for name in tree.under("tests/data", ".gz"):
        recorded = gzip.decompress((tree.ROOT / name).read_bytes()).decode("utf-8", "replace")
        found += words.machine_paths(name, recorded)[:1]
    gather(found)


def test_the_lockfile_names_no_registry() -> None:
    assert '"resolved"' not in tree.text("wasm/package-lock.json")


def test_an_opt_out_gives_its_reason() -> None:
    gather([line for name in tree.under("", ".py", ".pyi") for line in words.opt_outs(name, tree.text(name))])


def test_a_dependency_gives_its_reason() -> None:
    manifests = [*tree.under("", "Cargo.toml"), *tree.under("", "pyproject.toml"), "wasm/package.json"]
    gather([line for name in manifests for line in words.unexplained(name, tree.text(name))])


def test_the_version_is_one() -> None:
    workspace = re.search(r'^version = "([^"]+)"', tree.text("Cargo.toml"), re.MULTILINE)
    assert workspace is not None
    assert json.loads(tree.text("wasm/package.json"))["version"] == workspace[1]
    assert 'dynamic = ["version"]' in tree.text("py/pyproject.toml")
    assert f"## [{workspace[1]}]" in tree.text("CHANGELOG.md")
    assert f"\nversion: {workspace[1]}\n" in tree.text("CITATION.cff")
    members = re.search(r"^members = \[([^]]*)\]", tree.text("Cargo.toml"), re.MULTILINE)
    assert members is not None
    crates = [f"{member}/Cargo.toml" for member in re.findall(r'"([^"]+)"', members[1])]
    assert [name for name in crates if "version.workspace = true" not in tree.text(name)] == []


def test_notebooks_are_stripped() -> None:
    found: list[str] = []
    for name in tree.under("", ".ipynb"):
        cells = json.loads(tree.text(name))["cells"]
        found += [name for cell in cells if cell.get("outputs") or cell.get("execution_count")]
    gather(found)


def test_an_address_is_found() -> None:
    assert words.addresses("a.ts", 'load("https://cdn.example/d3.js")') != []
    assert words.addresses("a.ts", 'const SVG = "http://www.w3.org/2000/svg";') == []


@pytest.mark.parametrize("path", ["/root/x", "/home/ada/x", "C:\\Users\\ada", "/work/x", "/work/x/y", "/Users/ada/x"])
def test_a_machine_is_found(path: str) -> None:
    assert words.machine_paths("a.md", f"see {path}") != []


@pytest.mark.parametrize("path", ["base/home/x", "$HOME/x", "network/work/x", "tests/root/x", "./work/x"])
def test_a_path_that_any_machine_has_is_let_be(path: str) -> None:
    assert words.machine_paths("a.md", f"see {path}") == []


def test_an_opt_out_without_reason_is_found() -> None:
    assert words.opt_outs("a.py", "x = 1  # noqa: S101\n") != []
    assert words.opt_outs("a.py", "x = 1  # type: ignore[x]\n") != []
    assert words.opt_outs("a.py", "x = 1  # noqa: S101 - a reason\n") == []


@pytest.mark.parametrize(
    ("name", "bad", "good"),
    [
        ("Cargo.toml", '[dependencies]\nx = "1"', '[dependencies]\nx = "1" # why'),
        ("pyproject.toml", 'dependencies = [\n    "x>=1",\n]', 'dependencies = [\n    "x>=1", # why\n]'),
        ("pyproject.toml", 'pandas = ["pandas>=2"]', 'pandas = ["pandas>=2"] # why'),
        ("package.json", '{"dependencies": {"x": "1"}}', '{"//": {"x": "why"}, "dependencies": {"x": "1"}}'),
    ],
)
def test_an_unexplained_dependency_is_found(name: str, bad: str, good: str) -> None:
    assert words.unexplained(name, bad) != []
    assert words.unexplained(name, good) == []
