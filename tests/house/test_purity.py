"""The core is pure: no printing, no files, no clock, no surroundings, no globals."""

from __future__ import annotations

import pytest
from rules import purity, tree

pytestmark = pytest.mark.unit


def test_core() -> None:
    found = [line for name in tree.under("core/src", ".rs") for line in purity.impurities(name, tree.text(name))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        'fn f() { println!("x"); }',
        'fn f() { eprint!("x"); }',
        "fn f() { dbg!(1); }",
        "use std::fs::File;",
        "fn f() { let _ = std::env::args(); }",
        "use std::time::Instant;",
        "use std::io::{self, stdin};",
        "static COUNT: std::sync::atomic::AtomicU32 = AtomicU32::new(0);",
        "static CACHE: LazyLock<Vec<u8>> = LazyLock::new(Vec::new);",
        "thread_local! {}",
        "use std::hash::RandomState;",
    ],
)
def test_reaching_outside_is_found(source: str) -> None:
    (line,) = purity.impurities("core/src/a.rs", f"\n{source}")
    assert line.startswith("core/src/a.rs:2: found ")


@pytest.mark.parametrize(
    "source",
    [
        "// println!\n//! std::fs",
        'const TEXT: &str = "std::time";',
        "use std::io::Read;",
        "static NAMES: [&str; 2] = [];",
        "#[cfg(test)]\nmod tests {\n    use std::fs;\n}",
    ],
)
def test_what_stays_inside_is_let_be(source: str) -> None:
    assert purity.impurities("core/src/a.rs", source) == []
