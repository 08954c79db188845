"""The request queue: failures while sending, and requests after the front-end is closed."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from kinetoscope._notebook.batching import MESSAGE_BYTES
from kinetoscope._notebook.request_queue import RequestQueue

pytestmark = pytest.mark.unit


def wait_until_empty(queue: RequestQueue) -> None:
    deadline = time.monotonic() + 20
    while queue._has_thread:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_who_asks_after_a_failure_is_answered() -> None:
    sent: list[str] = []

    def send(content: dict[str, Any], _buffers: list[bytes]) -> None:
        sent.append(content["parts"][0]["id"])
        if len(sent) == 1:
            raise OSError("expected a socket, found none")

    queue = RequestQueue(lambda _: b"answer", send)
    queue.put([{"id": "a"}])
    wait_until_empty(queue)
    queue.put([{"id": "b"}])
    deadline = time.monotonic() + 20
    while len(sent) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    queue.close()
    assert sent == ["a", "b"]


def test_what_is_left_of_a_file_is_not_sent_after_closing() -> None:
    content = random.Random(7).randbytes(4 * MESSAGE_BYTES)
    sent: list[int] = []

    def send(_content: dict[str, Any], buffers: list[bytes]) -> None:
        sent.append(sum(map(len, buffers)))
        queue.close()

    queue = RequestQueue(lambda _: content, send)
    queue.put([{"id": "a"}])
    wait_until_empty(queue)
    queue.put([{"id": "b"}])
    assert not queue._has_thread
    assert sent == [MESSAGE_BYTES]


def test_a_question_that_fails_after_closing_is_not_answered() -> None:
    sent: list[str] = []

    def fail(_: object) -> bytes:
        queue.close()
        raise ValueError("no such event")

    queue = RequestQueue(fail, lambda content, _: sent.append(content["type"]))
    queue.put([{"id": "a"}])
    wait_until_empty(queue)
    assert sent == []
