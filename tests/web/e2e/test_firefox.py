"""The report in Firefox, opened from disk. Driven over WebDriver BiDi, which Firefox speaks by itself."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import kinetoscope as ks

pytestmark = pytest.mark.browser

PATIENCE_S = 60
READY = """new Promise((done) => {
    const look = () => {
        const root = document.querySelector("#ks-timeline > div")?.shadowRoot;
        if (!root?.querySelector(".ks-tracks[data-cost]")) return setTimeout(look, 100);
        const canvas = root.querySelector(".ks-tracks");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const colors = new Set(new Uint32Array(data.buffer)).size;
        const said = [...document.querySelectorAll("[role=alert]")].map((alert) => alert.textContent);
        done(JSON.stringify({ colors, said, rows: root.querySelectorAll(".ks-track").length }));
    };
    look();
})"""


class Firefox:
    """A running Firefox with one page."""

    def __init__(self, path: str, profile: Path) -> None:
        websocket = pytest.importorskip("websocket", reason="no WebSocket client to talk to Firefox with")
        environment = {**os.environ, "HOME": str(profile), "MOZ_HEADLESS": "1"}
        self._log = profile / "log"
        with self._log.open("w") as log:
            command = [path, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        self._socket = websocket.create_connection(
            f"{self._address()}/session", timeout=PATIENCE_S, suppress_origin=True
        )
        self._ids = count(1)
        self.ask("session.new", capabilities={})
        self._page = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def _address(self) -> str:
        for _ in range(10 * PATIENCE_S):
            found = re.search(r"ws://\S+", self._log.read_text())
            if found:
                return found[0]
            time.sleep(0.1)
        message = f"expected Firefox to listen, found:\n{self._log.read_text()[-2000:]}"
        raise AssertionError(message)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == number:
                assert answer["type"] == "success", answer
                return answer["result"]

    def open(self, page: Path, width: int, height: int) -> None:
        self.ask("browsingContext.setViewport", context=self._page, viewport={"width": width, "height": height})
        self.ask("browsingContext.navigate", context=self._page, url=page.as_uri(), wait="complete")

    def evaluate(self, expression: str) -> Any:
        target = {"context": self._page}
        result = self.ask("script.evaluate", expression=expression, target=target, awaitPromise=True)
        assert result["type"] == "success", result
        return result["result"].get("value")

    def screenshot(self) -> bytes:
        return base64.b64decode(self.ask("browsingContext.captureScreenshot", context=self._page)["data"])

    def close(self) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait(30)


@pytest.fixture
def firefox(tmp_path: Path) -> Iterator[Firefox]:
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        pytest.skip("no Firefox on the path")
    profile = tmp_path / "profile"
    profile.mkdir()
    running = Firefox(path, profile)
    yield running
    running.close()


def test_the_report_is_alive_in_firefox(
    firefox: Firefox, cuda: ks.Trace, reports: Callable[..., Path], keep: Callable[[bytes, str], None]
) -> None:
    firefox.open(reports(cuda), 1280, 900)
    state = json.loads(firefox.evaluate(READY))
    assert state["said"] == []
    assert state["rows"] >= 4
    assert state["colors"] > 20, "a picture, not a blank"
    firefox.evaluate("document.querySelector('#ks-timeline').scrollIntoView()")
    keep(firefox.screenshot(), "report-firefox")
