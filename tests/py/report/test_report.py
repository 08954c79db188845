"""The report: one file, whole without scripts and without a network, safe with any trace."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import kinetoscope as ks
import pytest
from kinetoscope import _native
from kinetoscope._report.page import asset
from support.pages import packed_bytes

BUILT = Path(ks.__file__).parent / "_static/viewer.js"
pytestmark = [
    pytest.mark.unit,
    pytest.mark.skipif(not BUILT.is_file(), reason="the front-end is not built: make wasm"),
]

_TAGS = """
html head meta title style body main header nav section h1 h2 h3 p details summary dl div dt dd ul ol li a b i small
figcaption figure noscript table caption thead tbody tr th td span script svg g rect text tspan line path circle desc
"""
_ATTRIBUTES = """
lang charset http-equiv content name class id scope title type colspan role tabindex href aria-label aria-hidden
aria-sort data-analysis data-table data-options data-name data-rank data-row xmlns
viewbox width height x y dx rx cx cy r d fill fill-opacity stroke stroke-opacity stroke-width stroke-linejoin
stroke-dasharray transform font-size font-family font-weight text-anchor
"""


class Page(HTMLParser):
    """What a browser would make of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        attributes = self.tags[-1][1]
        if self.cdata_elem == "script":
            self.scripts.append((attributes, data))
        elif self.cdata_elem == "style":
            self.styles.append(data)
        else:
            self.words.append(data)


@pytest.fixture(scope="module", params=["cuda", "hostile", "transformer"])
def text(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    trace: ks.Trace = request.getfixturevalue(request.param)
    path = trace.report(tmp_path_factory.mktemp("report") / "report.html")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_only_our_elements_and_attributes(page: Page) -> None:
    assert {tag for tag, _ in page.tags} <= set(_TAGS.split())
    assert {name for _, attributes in page.tags for name in attributes} <= set(_ATTRIBUTES.split())


def test_the_scripts_are_ours(page: Page) -> None:
    kinds = [(attributes.get("type"), attributes.get("class")) for attributes, _ in page.scripts]
    data = "application/octet-stream;base85"
    assert kinds == [(data, "ks-wasm"), (data, "ks-snapshot"), (data, "ks-script"), (None, None)]


def test_the_policy_lets_only_them_run(page: Page) -> None:
    policies = [
        a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in (policies[0] or "").split(";"))
    script = gzip.decompress(packed_bytes(page.scripts[-2][1]))
    assert script == asset("viewer.js")
    hashes = (hashlib.sha256(code).digest() for code in (page.scripts[-1][1].encode(), script))
    allowed = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes)
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"{allowed} 'wasm-unsafe-eval'"
    assert "connect-src" not in rules


def test_carries_all_it_needs(page: Page, text: str) -> None:
    contents = {attributes.get("class"): content for attributes, content in page.scripts}
    assert packed_bytes(contents["ks-wasm"]) == asset("kinetoscope.wasm.gz")
    assert ks.Trace.from_snapshot(packed_bytes(contents["ks-snapshot"])).num_events > 0
    links = [attributes["href"] or "" for _, attributes in page.tags if "href" in attributes]
    assert all(link.startswith("#") for link in links)
    assert not re.search(r"""(src|href|action|data|poster)\s*=\s*["']?(https?:|//|file:)""", text)
    assert not re.search(r"@import|url\((?!#|data:)", "".join(page.styles))


@pytest.mark.parametrize("content", [b"", b"a", b"ab", b"abc", b"abcd", b"\xff" * 9, bytes(range(256))])
def test_text_of_bytes_is_that_of_the_standard_library(content: bytes) -> None:
    text = _native.base85(content)
    assert text == base64.b85encode(content).decode().replace("<", ",")
    assert packed_bytes(text) == content


def test_the_summary_is_there_without_scripts(page: Page) -> None:
    words = " ".join(page.words)
    for title in ("Operators", "Unavailable sections", "Health", "Recording"):
        assert title in words
    assert any(tag == "svg" for tag, _ in page.tags)


def test_names_stay_text(hostile: ks.Trace) -> None:
    from kinetoscope._report.page import report_page

    page = Page(report_page([(None, hostile)], "</title><script>window.hostile = 1</script>"))
    words = " ".join(page.words)
    assert "</script><script>window.hostile = 1; alert(1)</script>" in words
    assert "</title><script>window.hostile = 1</script>" in words
    assert len(page.scripts) == 4, "the core, the trace, ours, and what unpacks it"


def test_takes_its_name_at_the_end(cuda: ks.Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space"):
            cuda.report(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "before"
    assert cuda.report(path) == path
    assert path.stat().st_mode & 0o044, "others may read it"


def test_budget(shared: Path, tmp_path: Path) -> None:
    name = "AMD-AGI__TraceLens/tests/traces/h100/google_owlv2-large-patch14-ensemble__1016001.json.gz"
    path = ks.read(shared / name).report(tmp_path / "report.html")
    assert path.stat().st_size <= 2_800_000
