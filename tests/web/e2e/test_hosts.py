"""Outputs in frames as those of VS Code and Colab: other origins, no storage, and strict policies.

Neither host runs here. `docs/hosts.md` says what to look at in them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any, Literal

import kinetoscope as ks
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

STATIC = Path(ks.__file__).parent / "_static"
OPAQUE = "allow-scripts"
"""Sandbox of a frame without an origin of its own: less than Colab gives."""
WEBVIEW = "allow-scripts allow-same-origin allow-forms allow-pointer-lock allow-downloads"
"""Sandbox of the webview of VS Code that has all outputs of a notebook."""
POLICY = (
    "default-src 'none'; script-src https://*.vscode-cdn.net 'unsafe-inline' 'unsafe-eval'; "
    "style-src https://*.vscode-cdn.net 'unsafe-inline'; img-src https://*.vscode-cdn.net https: http: data:; "
    "font-src https:; connect-src https:; child-src https: data:"
)
"""Policy of that webview with `notebook.experimental.enableCsp`. By default, it has none."""
NO_INLINE = POLICY.replace("script-src https://*.vscode-cdn.net 'unsafe-inline' 'unsafe-eval'", "script-src 'none'")
STORELESS = """<script>for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"])
Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError") } });</script>"""
# The interface that anywidget gives to a widget, on messages that Python answers.
MODEL = """
const listeners = new Map();
const told = (window.told = []);
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const emit = (name, ...args) => { for (const listener of [...(listeners.get(name) ?? [])]) listener(...args); };
const model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; told.push(name); },
  save_changes() {},
  send: async (message) => {
    for (const { id, data } of await answer(message)) {
      const part = { id, chunk: 0, num_chunks: 1, packed: false };
      emit("msg:custom", { type: "answers", parts: [part] }, [new DataView(bytes(data).buffer)]);
    }
  },
  on: (name, listener) => { listeners.set(name, [...(listeners.get(name) ?? []), listener]); },
  off: (name, listener) => { listeners.set(name, (listeners.get(name) ?? []).filter((each) => each !== listener)); },
};
const { default: widget } = await import(address);
await widget.initialize({ model });
await widget.render({ model, el: document.getElementById("output") });
"""


class Output:
    """A frame as a host has for an output."""

    def __init__(self, page: Any, folder: Path) -> None:
        self.page = page
        self._folder = folder

    def show(self, body: str, *, sandbox: str, policy: str = "", count: int = 1) -> Any:
        """Shows HTML in `count` frames, and returns the last one."""
        meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">' if policy else ""
        content = escape(f"<!doctype html><meta charset=utf-8>{meta}<body>{body}")
        frame = f'<iframe class=host sandbox="{sandbox}" style="width:100%;height:600px" srcdoc="{content}"></iframe>'
        path = self._folder / "host.html"
        path.write_text(f"<!doctype html><meta charset=utf-8><body>{frame * count}", encoding="utf-8")
        self.page.goto(path.as_uri())
        return self.page.frame_locator("iframe.host >> nth=-1")


@pytest.fixture
def output(strict_pages: Callable[[str], Any], tmp_path: Path) -> Output:
    return Output(strict_pages("file://").page("light", width=1280, height=1300), tmp_path)


@pytest.fixture
def widget(cuda: ks.Trace) -> Iterator[Any]:
    pytest.importorskip("anywidget")
    made = cuda.timeline()
    yield made
    made.close()


def script(widget: Any, kind: Literal["blob", "data"]) -> str:
    """The widget as a module at a `blob:` or `data:` address."""
    code = base64.b64encode(widget._esm.encode()).decode()
    state = {name: value for name, value in widget.get_state().items() if name.startswith("_") and name != "_esm"}
    address = f'"data:text/javascript;base64,{code}"'
    if kind == "blob":
        address = f'URL.createObjectURL(new Blob([atob("{code}")], {{ type: "text/javascript" }}))'
    facts = json.dumps(state, default=str).replace("<", "\\u003c")
    return (
        f"<div id=output></div><script type=module>const state = {facts};\nconst address = {address};{MODEL}</script>"
    )


def answering(page: Any, widget: Any) -> None:
    """Answers messages of widgets as Python does."""

    def answer(message: dict[str, Any]) -> list[dict[str, str]]:
        if message["type"] == "get":
            found = {message["id"]: widget._file(message)}
        else:
            found = {ask["id"]: widget._timeline_session.query(ask["request"]) for ask in message["asks"]}
        return [{"id": name, "data": base64.b64encode(content).decode()} for name, content in found.items()]

    page.expose_binding("answer", lambda _source, message: answer(message))


def has_picture(frame: Any) -> None:
    image = frame.locator("img[src^='data:image/svg']").first
    expect(image).to_be_visible()
    assert image.evaluate("image => image.complete && image.naturalWidth") > 100


@pytest.mark.parametrize("kind", ["blob", "data"])
def test_the_widget_lives_without_an_origin(output: Output, widget: Any, kind: Any) -> None:
    answering(output.page, widget)
    frame = output.show(script(widget, kind), sandbox=OPAQUE)
    frame.locator(".ks-tracks[data-cost]").wait_for()
    assert frame.locator("body").evaluate("() => origin") == "null"
    output.page.set_viewport_size({"width": 1280, "height": 900})
    frame.locator(".ks-stage").focus()
    output.page.keyboard.press("/")
    output.page.keyboard.insert_text("aten::mm")
    output.page.keyboard.press("Enter")
    expect(frame.locator(".ks-event-name")).to_contain_text("aten::mm")
    assert "_selection" in frame.locator("body").evaluate("() => told")


def test_each_frame_loads_its_own_viewer(output: Output, widget: Any) -> None:
    answering(output.page, widget)
    output.show(script(widget, "blob"), sandbox=OPAQUE, count=2)
    for number in range(2):
        output.page.frame_locator(f"iframe.host >> nth={number}").locator(".ks-tracks[data-cost]").wait_for()


def test_the_widget_needs_no_storage(output: Output, widget: Any) -> None:
    answering(output.page, widget)
    frame = output.show(STORELESS + script(widget, "blob"), sandbox=WEBVIEW)
    frame.locator(".ks-tracks[data-cost]").wait_for()
    assert frame.locator("[role=alert]").count() == 0


def test_a_widget_whose_viewer_is_forbidden_keeps_its_picture(output: Output, widget: Any) -> None:
    answering(output.page, widget)
    # The host loads the widget itself, but allows it to load no code.
    policy = POLICY.replace("script-src", "script-src data:")
    frame = output.show(script(widget, "data"), sandbox=WEBVIEW, policy=policy)
    said = frame.locator("[role=alert]")
    expect(said).to_contain_text("Cannot show the timeline")
    expect(said).to_contain_text("This is a static picture")
    expect(frame.locator("#output svg").first).to_be_visible()


@pytest.mark.parametrize("policy", ["", POLICY, NO_INLINE])
@pytest.mark.parametrize("sandbox", [OPAQUE, WEBVIEW, ""])
def test_the_fallback_is_a_picture_with_its_hint(output: Output, widget: Any, sandbox: str, policy: str) -> None:
    frame = output.show(widget._repr_mimebundle_()[0]["text/html"], sandbox=sandbox, policy=policy)
    has_picture(frame)
    expect(frame.locator("body")).to_contain_text("run the cell in a notebook with Jupyter widgets")


@pytest.mark.parametrize(("sandbox", "policy"), [(OPAQUE, ""), (WEBVIEW, ""), (WEBVIEW, POLICY)])
def test_render_static_is_interactive_where_inline_scripts_are(
    output: Output, cuda: ks.Trace, sandbox: str, policy: str
) -> None:
    body = STORELESS + cuda.render_static()._repr_html_()
    frame = output.show(body, sandbox=sandbox, policy=policy).frame_locator("iframe")
    frame.locator(".ks-tracks[data-cost]").wait_for()
    assert frame.locator("[role=alert]").count() == 0


@pytest.mark.parametrize(("sandbox", "policy"), [(OPAQUE, NO_INLINE), (WEBVIEW, NO_INLINE), ("", "")])
def test_render_static_without_scripts_is_a_picture_with_a_hint(
    output: Output, cuda: ks.Trace, sandbox: str, policy: str
) -> None:
    frame = output.show(cuda.render_static()._repr_html_(), sandbox=sandbox, policy=policy).frame_locator("iframe")
    expect(frame.locator("#ks-timeline svg").first).to_be_visible()
    content = frame.locator("#ks-timeline").evaluate("element => getComputedStyle(element, '::after').content")
    hints = [content, *frame.locator("noscript p").all_inner_texts()]
    assert "so the timeline is a static picture." in " ".join(hints)
