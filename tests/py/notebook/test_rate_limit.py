"""The rate limit: no three seconds hold more than a Jupyter server passes on."""

from __future__ import annotations

import pytest
from kinetoscope._notebook.batching import MESSAGE_BYTES
from kinetoscope._notebook.rate_limit import RateLimit

pytestmark = pytest.mark.unit

SERVER_BYTES = 3_000_000
SERVER_S = 3.0
JITTER_S = 0.4
"""How much later than another a message may reach the server."""
LEAST_BYTES_PER_S = 600_000


class Clock:
    """Time that passes only while a sender sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds + 1e-6


def test_a_server_drops_nothing() -> None:
    clock = Clock()
    limit = RateLimit(lambda: clock.now, clock.sleep)
    sent: list[tuple[float, int]] = []
    for number in range(60):
        size, reserve = (20_000, 0) if number % 7 == 0 else (MESSAGE_BYTES, 400_000)
        limit.wait(size, reserve)
        sent.append((clock.now, size))
    for start, _ in sent:
        seen = sum(size for at, size in sent if start <= at < start + SERVER_S + JITTER_S)
        assert seen <= SERVER_BYTES
    assert sum(size for _, size in sent) / (clock.now - 100) >= LEAST_BYTES_PER_S


def test_an_urgent_answer_does_not_wait_for_a_file() -> None:
    clock = Clock()
    limit = RateLimit(lambda: clock.now, clock.sleep)
    for _ in range(6):
        limit.wait(MESSAGE_BYTES, 400_000)
    before = clock.now
    limit.wait(50_000)
    assert clock.now == before


def test_a_message_above_the_limit_is_sent_alone() -> None:
    clock = Clock()
    limit = RateLimit(lambda: clock.now, clock.sleep)
    for _ in range(2):
        limit.wait(9_000_000)
    assert clock.now >= 100 + SERVER_S
