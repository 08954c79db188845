"""The desk: what becomes of answers when nobody can take them any more."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from kinetoscope._notebook.batching import MESSAGE_BYTES
from kinetoscope._notebook.request_queue import Desk

pytestmark = pytest.mark.unit


def wait_until_empty(desk: Desk) -> None:
    deadline = time.monotonic() + 20
    while desk._is_manned:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_who_asks_after_a_failure_is_answered() -> None:
    sent: list[str] = []

    def send(content: dict[str, Any], _buffers: list[bytes]) -> None:
        sent.append(content["parts"][0]["id"])
        if len(sent) == 1:
            raise OSError("expected a socket, found none")

    desk = Desk(lambda _: b"answer", send)
    desk.take([{"id": "a"}])
    wait_until_empty(desk)
    desk.take([{"id": "b"}])
    deadline = time.monotonic() + 20
    while len(sent) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    desk.close()
    assert sent == ["a", "b"]


def test_what_is_left_of_a_file_is_not_sent_after_closing() -> None:
    content = random.Random(7).randbytes(4 * MESSAGE_BYTES)
    sent: list[int] = []

    def send(_content: dict[str, Any], buffers: list[bytes]) -> None:
        sent.append(sum(map(len, buffers)))
        desk.close()

    desk = Desk(lambda _: content, send)
    desk.take([{"id": "a"}])
    wait_until_empty(desk)
    desk.take([{"id": "b"}])
    assert not desk._is_manned
    assert sent == [MESSAGE_BYTES]


def test_a_question_that_fails_after_closing_is_not_answered() -> None:
    sent: list[str] = []

    def fail(_: object) -> bytes:
        desk.close()
        raise ValueError("no such event")

    desk = Desk(fail, lambda content, _: sent.append(content["type"]))
    desk.take([{"id": "a"}])
    wait_until_empty(desk)
    assert sent == []
