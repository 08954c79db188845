"""Who may import whom in the front-end, as ARCHITECTURE.md draws it."""

from __future__ import annotations

import pytest
from rules import circles, tree, web
from rules.layers import Edge, Layers, findings

pytestmark = pytest.mark.unit

LAYERS = Layers(
    modules={
        "base": {"base"},
        "source": {"source"},
        "timeline": {"timeline"},
        "report": {"report"},
        "host": {"host", "host/widget"},
        "lab": {"lab"},
        "glue": {"wasm/dist/kinetoscope_wasm.js"},
        "module": {"kinetoscope:wasm"},
        "panels": {"preact", "preact/hooks"},
        "notebook": {"@anywidget/types"},
    },
    may_import={
        "base": set(),
        "source": {"base", "glue"},
        "timeline": {"base", "source", "panels"},
        "report": {"base", "source", "panels"},
        "host": {"base", "source", "timeline", "report", "panels", "module"},
        "lab": {"base", "source", "report", "host"},
    },
    exceptions={("host/widget", "@anywidget/types"): "the widget is what knows the notebook"},
)


def module(path: str) -> str:
    """The folder of web/ that a path is in, but the widget's module by its name: it alone may know the notebook."""
    if not path.startswith("wasm/web/"):
        return path
    folder, _, file = path.removeprefix("wasm/web/").partition("/")
    return "host/widget" if (folder, file.removesuffix(".ts")) == ("host", "widget") else folder


def edges(sources: dict[str, str]) -> list[Edge]:
    """Imports between the folders, and of packages."""
    return [
        Edge(f"{name}:{line}", module(name), module(target))
        for name, source in sources.items()
        for line, target in web.imports(name, source)
    ]


def web_sources() -> dict[str, str]:
    return {name: tree.text(name) for name in tree.under("wasm/web", ".ts", ".tsx")}


def test_web() -> None:
    found = findings(LAYERS, edges(web_sources()))
    assert not found, "\n".join(found)


def test_no_large_circle() -> None:
    found = circles.findings(web.file_imports(web_sources()))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("num_files", "num_found"), [(3, 0), (4, 1)])
def test_a_large_circle_is_found(num_files: int, num_found: int) -> None:
    sources = {
        f"wasm/web/base/f{at}.ts": f'import type {{ T }} from "../base/f{(at + 1) % num_files}";'
        for at in range(num_files)
    }
    sources["wasm/web/base/other.tsx"] = 'import "./f0";\nimport { h } from "preact";'
    found = circles.findings(web.file_imports(sources))
    assert len(found) == num_found
    assert all("other.tsx" not in line for line in found)


@pytest.mark.parametrize(
    ("path", "source", "found"),
    [
        ("base/a.ts", 'import { b } from "../source/b";', "base (base) may not import source (source)"),
        ("timeline/paint/a.ts", 'export { b } from "../../report/b";', "may not import report (report)"),
        ("report/a.ts", 'import type {\n  B,\n} from "../host/b";', "report (report) may not import host (host)"),
        ("timeline/a.ts", 'import { Session } from "../../dist/kinetoscope_wasm.js";', "_wasm.js (glue)"),
        ("host/page.ts", 'import type { Render } from "@anywidget/types";', "@anywidget/types (notebook)"),
        ("source/a.ts", 'const b = await import("../timeline/b");', "may not import timeline (timeline)"),
        ("report/a.ts", 'import "d3";', "expected every module in a layer, found d3 in none"),
    ],
)
def test_an_import_upwards_is_found(path: str, source: str, found: str) -> None:
    layers = LAYERS._replace(exceptions={})
    (line,) = findings(layers, edges({f"wasm/web/{path}": source}))
    assert line.endswith(found)


def test_what_is_no_import_upwards_is_let_be() -> None:
    sources = {
        "wasm/web/timeline/a.ts": 'import { h } from "preact";\nimport { b } from "./b";\nimport "../base/c";',
        "wasm/web/source/a.ts": 'import { Session } from "../../dist/kinetoscope_wasm.js";',
        "wasm/web/host/widget.ts": 'import type { Render } from "@anywidget/types";\nimport a from "kinetoscope:wasm";',
    }
    found = findings(LAYERS, edges(sources))
    assert not found, "\n".join(found)
