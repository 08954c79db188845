"""Garbage on the wire: the server answers errors, lives on, and prints nothing but messages."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the SDK is not installed")

pytestmark = pytest.mark.unit

SECONDS = 120
TRACE = "minimal_cpu/kineto_trace_0.json.gz"


class Wire:
    """A server in another process, and its messages."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        words = [sys.executable, "-m", "kinetoscope", "mcp", str(folder)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)
        self.answers: Queue[bytes] = Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.number = 0

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.answers.put(line)

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self, method: str, params: Any) -> dict[str, Any]:
        """Sends a request, and returns its answer; others are passed over."""
        self.number += 1
        number = f"request {self.number}"
        self.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())
        return self.answer_to(number)

    def answer_to(self, number: str) -> dict[str, Any]:
        """Returns the answer to a request; others are passed over."""
        while True:
            try:
                message = json.loads(self.answers.get(timeout=SECONDS))
            except Empty:
                pytest.fail(f"no answer to {number}; exit code {self.process.poll()}")
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message

    def call(self, tool: str, arguments: Any) -> dict[str, Any]:
        return self.answer("tools/call", {"name": tool, "arguments": arguments})

    def expect_alive(self) -> None:
        answer = self.call("list_traces", {"limit": 1})
        assert answer["result"]["structuredContent"]["num_recordings"] > 10
        assert self.process.poll() is None


@pytest.fixture(scope="module")
def wire(data: Path) -> Iterator[Wire]:
    wire = Wire(data)
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    assert wire.answer("initialize", params)["result"]["serverInfo"]["name"] == "kinetoscope"
    wire.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    yield wire
    assert wire.process.stdin
    wire.process.stdin.close()
    assert wire.process.wait(SECONDS) == 0
    wire.reader.join(SECONDS)
    assert wire.process.stdout
    wire.process.stdout.close()
    while not wire.answers.empty():
        assert json.loads(wire.answers.get())["jsonrpc"] == "2.0"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"garbage",
        b"{",
        b"[]",
        b"null",
        b"42",
        b'"text"',
        b"\xff\xfe\x00\x80",
        b"\x00" * 100,
        b"{}",
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 7, "method": 5}',
        b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": []}',
        b'{"jsonrpc": "2.0", "id": 9, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 10, "error": {"code": "x"}}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}',
        b'[{"jsonrpc": "2.0", "id": 11, "method": "ping"}]',
        b"[" * 20_000,
        b'{"a":' * 20_000,
        b'{"jsonrpc": "2.0", "id": 1e400, "method": "ping"}',
    ],
    ids=range(21),
)
def test_lines_that_are_no_message(wire: Wire, line: bytes) -> None:
    wire.send(line)
    wire.expect_alive()


def test_a_line_of_many_megabytes_is_dropped(wire: Wire) -> None:
    text = "x" * (24 << 20)
    wire.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": text}}).encode())
    wire.send(b"y" * (5 << 20))
    wire.expect_alive()


@pytest.mark.parametrize(
    "method", ["nope", "tools/nope", "", "resources/subscribe", "sampling/createMessage", "a" * 9_999]
)
def test_unknown_methods_get_errors(wire: Wire, method: str) -> None:
    assert "error" in wire.answer(method, {})
    wire.expect_alive()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("nope", {}),
        ("digest", {}),
        ("digest", None),
        ("digest", []),
        ("digest", {"trace": None}),
        ("digest", {"trace": 5}),
        ("digest", {"trace": ["a"]}),
        ("digest", {"trace": {"a": 1}}),
        ("digest", {"trace": TRACE, "max_chars": "many"}),
        ("digest", {"trace": TRACE, "max_chars": 1e308}),
        ("digest", {"trace": TRACE, "max_chars": -5}),
        ("digest", {"trace": "\ud800".encode("utf-8", "surrogatepass").decode("utf-8", "replace")}),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "options": "x"}),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "options": {"short_ns": {"a": []}}}),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "options": {"short_ns": 10**30}}),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "part": {"start_ns": "now"}}),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "part": {"iteration": 2**70}}),
        ("analyze", {"trace": TRACE, "analysis": "kernels", "columns": [1, 2]}),
        ("event", {"trace": TRACE, "event_id": -(2**70)}),
        ("event", {"trace": TRACE, "event_id": 1.5}),
        ("event", {"trace": TRACE, "event_id": 1, "rank": 2**70}),
        ("search", {"trace": TRACE, "text": "dur>", "limit": 1}),
        ("search", {"trace": TRACE, "text": "a", "offset": 2**40}),
        ("sql", {"trace": TRACE, "query": ""}),
        ("sql", {"trace": TRACE, "query": "\x00"}),
        ("sql", {"trace": TRACE, "query": "(" * 9_000}),
        ("timeline_image", {"trace": TRACE, "start_ns": -(2**62), "end_ns": 2**62}),
        ("timeline_image", {"trace": TRACE, "start_ns": 2**80, "end_ns": 2**81}),
        ("explain_gap", {"trace": TRACE, "after_id": 0}),
        ("explain_gap", {"trace": TRACE, "stream": 2**62, "time_ns": -(2**62)}),
        ("memory", {"trace": "memory_cuda/trained.pickle.gz", "at": "never"}),
        ("memory", {"trace": "memory_cuda/trained.pickle.gz", "at": "9" * 40}),
        ("list_traces", {"offset": -1}),
        ("list_traces", {"limit": 10**20}),
    ],
    ids=range(34),
)
def test_wrong_arguments_get_errors(wire: Wire, tool: str, arguments: Any) -> None:
    answer = wire.call(tool, arguments)
    assert "error" in answer or answer["result"].get("isError") or tool in {"timeline_image", "search"}, answer
    assert "Traceback" not in json.dumps(answer)
    wire.expect_alive()


def test_mutated_requests(wire: Wire) -> None:
    """Bytes of requests are changed at random, by a fixed seed."""
    choose = random.Random(38)
    request = {"name": "analyze", "arguments": {"trace": TRACE, "analysis": "operators", "limit": 2, "part": {}}}
    whole = json.dumps({"jsonrpc": "2.0", "id": 1_000, "method": "tools/call", "params": request}).encode()
    for _ in range(300):
        line = bytearray(whole)
        for _ in range(choose.randint(1, 8)):
            at = choose.randrange(len(line))
            line[at : at + choose.randint(0, 3)] = bytes(
                choose.choice(b'{}[]":,0x-\\ \xff') for _ in range(choose.randint(0, 3))
            )
        wire.send(bytes(line).replace(b"\n", b" "))
    wire.expect_alive()


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_message_that_is_too_long_is_refused_by_its_id(wire: Wire, place: str) -> None:
    params = {"name": "search", "arguments": {"trace": "a", "text": "x" * 1_100_000}}
    fields = {"jsonrpc": "2.0", "method": "tools/call", "params": params}
    message = {"id": "long", **fields} if place == "first" else {**fields, "id": "long"}
    wire.send(json.dumps(message).encode())
    found = wire.answer_to("long")["error"]
    assert found == {"code": -32600, "message": "expected a message of at most 1 MiB, found a longer one"}
    wire.expect_alive()


def test_lines_are_read_in_bounded_pieces() -> None:
    import io

    import anyio
    from kinetoscope._mcp.stdio import BoundedLines, LongMessage

    refused: list[LongMessage] = []

    async def refuse(message: LongMessage) -> None:
        refused.append(message)

    async def read(content: bytes) -> list[str]:
        return [line async for line in BoundedLines(io.BytesIO(content), refuse, max_line=40)]

    ids = [b"", b'"id": 7, ', b'"id": 007, ', b'"id": "a\tb", ', b'"id": "\xff", ']
    longer = b"".join(b"{" + each + b"x" * 100 + b"}\n" for each in ids)
    assert anyio.run(read, b"one\n" + longer + b"two\nend") == ["one\n", "two\n", "end"]
    assert [message.id for message in refused] == [None, 7, 7, "a\tb", "\ufffd"]
