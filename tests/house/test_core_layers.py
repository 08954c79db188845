"""Who may import whom in the core, and between the crates, as ARCHITECTURE.md draws it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
from rules import circles, rust, tree
from rules.layers import Edge, Layers, findings

pytestmark = pytest.mark.unit

LAYERS = Layers(
    modules={
        "base": {
            *(
                "error",
                "event_kind",
                "warning",
                "time",
                "id",
                "column",
                "strings",
                "threads",
                "sort",
                "sorted_map",
                "varint",
            ),
            *("label", "nearest_name", "operator_name", "perfetto", "vendor"),
        },
        "json": {"json"},
        "chakra": {"chakra"},
        "memory": {"memory"},
        "flight": {"flight"},
        "table": {"table"},
        "trace": {"trace"},
        "read": {"read"},
        "replay": {"replay"},
        "write": {"write"},
        "edit": {"edit"},
        "link": {"link"},
        "analyze": {"analyze"},
        "schema": {"schema"},
        "view": {"view"},
    },
    may_import={
        "base": set(),
        "json": {"base"},
        "chakra": {"base"},
        "memory": {"base"},
        "flight": {"base", "memory"},
        "table": {"base", "json", "chakra", "flight", "memory", "trace", "link"},
        "trace": {"base", "json"},
        "read": {"base", "json", "chakra", "flight", "memory", "trace"},
        "replay": {"base", "json", "table", "trace", "link"},
        "write": {"base", "json", "chakra", "trace", "link"},
        "link": {"base", "json", "trace"},
        "edit": {"base", "json", "memory", "trace", "link"},
        "analyze": {"base", "json", "flight", "memory", "table", "trace", "link"},
        "schema": {"base", "memory", "table", "link", "replay", "analyze"},
        "view": {"base", "json", "memory", "table", "trace", "link", "analyze", "edit"},
    },
    exceptions={
        ("read", "write"): "the snapshot's layout is one: what write/snapshot lays down, read/snapshot takes up"
    },
)

STRICT = LAYERS._replace(exceptions={})

# What no other crate may depend on: each host's own bridge stays in that host.
BRIDGES = {
    "core": {"arrow", "js-sys", "kinetoscope-py", "kinetoscope-wasm", "pyo3", "wasm-bindgen"},
    "py": {"js-sys", "kinetoscope-wasm", "wasm-bindgen"},
    "wasm": {"arrow", "kinetoscope-py", "pyo3"},
}


def edges(sources: dict[str, str]) -> list[Edge]:
    """Imports between the top-level modules; `lib.rs` is the table of contents and may name them all."""
    found: list[Edge] = []
    for name, source in sources.items():
        path = PurePosixPath(name.removeprefix("core/src/"))
        if path.name in {"lib.rs", "tests.rs"}:
            continue
        top = path.parts[0].removesuffix(".rs")
        found += [Edge(f"{name}:{line}", top, target) for line, target in rust.imports(str(path), source)]
    return found


def bridges(crate: str, manifest: str) -> list[str]:
    """Dependencies that belong to another crate."""
    names = re.findall(r"^([\w-]+)(?:\.workspace)? *=", manifest, re.MULTILINE)
    return [
        f"{crate}/Cargo.toml: {name} may not enter {crate}"
        for name in names
        if any(name == bridge or name.startswith(f"{bridge}-") for bridge in BRIDGES[crate])
    ]


def sources(folder: str) -> dict[str, str]:
    """Rust files by their path from the folder, without files of unit tests."""
    names = [name for name in tree.under(folder, ".rs") if not name.endswith("/tests.rs")]
    return {name.removeprefix(f"{folder}/"): tree.text(name) for name in names}


def test_core() -> None:
    files = {name: tree.text(name) for name in tree.under("core/src", ".rs")}
    found = findings(LAYERS, edges(files))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", ["core/src", "py/src", "wasm/src"])
def test_no_large_circle(folder: str) -> None:
    found = circles.findings(rust.file_imports(sources(folder)))
    assert not found, "\n".join(found)


def test_type_names_are_unique() -> None:
    found = rust.repeated_types({name: tree.text(name) for name in tree.under("core/src", ".rs")})
    assert not found, "\n".join(found)


def test_crates() -> None:
    assert [line for crate in BRIDGES for line in bridges(crate, tree.text(f"{crate}/Cargo.toml"))] == []


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("json.rs", "use crate::trace::Trace;", "json (json) may not import trace (trace)"),
        ("json.rs", "use crate::{error::{Error, Position}, read::{self, Input}};", "may not import read (read)"),
        ("trace/event.rs", "use super::super::view;", "trace (trace) may not import view (view)"),
        ("link/mod.rs", "use super::analyze::summary;", "link (link) may not import analyze (analyze)"),
        ("time.rs", "fn f() -> crate::json::Text { '\"'; }", "time (base) may not import json (json)"),
        ("view/mod.rs", "use crate::Trace;", "expected every module in a layer, found Trace in none"),
        ("error.rs", 'use crate::write::Snapshot; // "', "error (base) may not import write (write)"),
    ],
)
def test_an_import_upwards_is_found(path: str, source: str, found: str) -> None:
    (line,) = findings(STRICT, edges({f"core/src/{path}": source}))
    assert line.startswith(f"core/src/{path}:1: ")
    assert line.endswith(found)


@pytest.mark.parametrize(
    "source",
    [
        "// use crate::view;\n/* crate::view::x */",
        'const TEXT: &str = "use crate::view;";',
        'const TEXT: &str = r#"a " use crate::view;"#;',
        "use crate::error::Error;\nuse super::element::Element;",
        "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::view::query;\n}",
    ],
)
def test_what_is_no_import_upwards_is_let_be(source: str) -> None:
    assert findings(STRICT, edges({"core/src/read/kineto.rs": source})) == []


def test_a_cycle_within_a_layer_is_found() -> None:
    sources = {"core/src/time.rs": "use crate::id::A;", "core/src/id.rs": "use crate::time::B;"}
    assert findings(STRICT, edges(sources)) == ["cycle through id, time"]


def test_an_exception_is_for_something() -> None:
    layers = STRICT._replace(exceptions={("json", "trace"): "reason"})
    assert findings(layers, edges({"core/src/json.rs": "use crate::trace::Trace;"})) == []
    assert findings(layers, []) == ["exception ('json', 'trace'): nothing needs it"]


def test_a_bridge_in_the_wrong_crate_is_found() -> None:
    assert bridges("core", "[dependencies]\npyo3.workspace = true\n") == ["core/Cargo.toml: pyo3 may not enter core"]
    assert bridges("wasm", '[dependencies]\narrow-array = "1"\n') == ["wasm/Cargo.toml: arrow-array may not enter wasm"]


@pytest.mark.parametrize(
    "last",
    [
        "use super::b::B;",
        "use crate::a::{d::{C, D}, b::B as Other};",
        "fn f() -> super::b::B { todo!() }",
        "pub(super) fn f() { crate::a::b::f() }",
    ],
)
def test_a_large_circle_is_found(last: str) -> None:
    files = {
        "lib.rs": "mod a;\npub use a::B;",
        "a/mod.rs": "mod b;\nmod c;\nmod d;\nmod e;\npub use b::B;",
        "a/b.rs": "use super::c::C;",
        "a/c.rs": "use crate::a::d::D;",
        "a/d.rs": "use super::e::{self, E};",
        "a/e.rs": last,
    }
    (line,) = circles.findings(rust.file_imports(files))
    assert line == "circle of 4 files, expected at most 3: a/b.rs, a/c.rs, a/d.rs, a/e.rs"


def test_mod_rs_is_a_file_of_a_circle() -> None:
    files = {
        "a/mod.rs": "mod b;\nmod c;\nmod d;\nfn f() { b::f() }",
        "a/b.rs": "use super::c::f;",
        "a/c.rs": "use super::d::f;",
        "a/d.rs": "use super::Limits;",
    }
    (line,) = circles.findings(rust.file_imports(files))
    assert line.endswith(": a/b.rs, a/c.rs, a/d.rs, a/mod.rs")


@pytest.mark.parametrize(
    "source",
    [
        "mod b;",
        "pub(in crate::a::b) fn f() {}",
        "// use super::b::B;",
        'const TEXT: &str = "super::b::B";',
        "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use super::super::b::B;\n}",
    ],
)
def test_a_file_that_is_not_imported_is_in_no_circle(source: str) -> None:
    files = {"a/b.rs": "use super::c::C;", "a/c.rs": source}
    assert circles.findings(rust.file_imports(files), most=1) == []


@pytest.mark.parametrize(
    "second",
    [
        "struct Row(u32);",
        "pub enum Row<'a> { A(&'a str) }",
        "pub(super) type Row = (u32, u32);",
        "trait Row: Sized {}",
        "#[cfg(test)]\nmod tests {\n    struct Row;\n}",
        "fn f() {\n    struct Row;\n}",
    ],
)
def test_a_second_type_of_a_name_is_found(second: str) -> None:
    files = {"core/src/a.rs": "pub struct Row {}", "core/src/b.rs": f"\n{second}"}
    (line,) = rust.repeated_types(files)
    place, _, words = line.partition(": expected one type of the name ")
    assert place.startswith("core/src/a.rs:1, core/src/b.rs:")
    assert words == "Row, found 2"


@pytest.mark.parametrize(
    "second",
    ["// struct Row;", 'const TEXT: &str = "\nstruct Row;";', "trait Query {\n    type Row;\n}", "enum Rows { Row }"],
)
def test_another_use_of_a_name_is_no_second_type(second: str) -> None:
    assert rust.repeated_types({"core/src/a.rs": "pub struct Row {}", "core/src/b.rs": second}) == []
