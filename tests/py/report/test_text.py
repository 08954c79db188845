"""Numbers and names in words."""

from __future__ import annotations

import pytest
from kinetoscope._base import text

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("ns", "words"),
    [
        (None, "–"),
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1 µs"),
        (12_345, "12.35 µs"),
        (999_949, "999.9 µs"),
        (999_960, "1 ms"),
        (1_234_567_890, "1.235 s"),
        (98_765_432_100_000, "98,770 s"),
        (-1_500, "−1.5 µs"),
        (0.4, "0 ns"),
    ],
)
def test_duration(ns: float | None, words: str) -> None:
    assert text.duration(ns) == words


def test_share() -> None:
    shares = [text.share(1, 3), text.share(1, 1), text.share(0, 5), text.share(1, 0), text.share(None, 2)]
    assert shares == ["33.3 %", "100 %", "0.0 %", "–", "–"]
    assert [text.share(part, 9999) for part in (1, 9998)] == ["<0.1 %", ">99.9 %"]


def test_plural() -> None:
    assert [text.plural(number, "row") for number in (0, 1, 1234)] == ["0 rows", "1 row", "1,234 rows"]


def test_a_name_cannot_steer_a_terminal() -> None:
    assert text.printable("plain ok · Ω") == "plain ok · Ω"
    assert text.printable("a\x1b[31mb\r\n\u202e") == "a\\x1b[31mb\\r\\n\\u202e"


def test_the_ends_of_a_long_name_stay() -> None:
    assert text.clipped("short", 10) == "short"
    assert text.clipped("abcdefghijklmnop", 10) == "abcdef…nop"
    assert len(text.clipped("x" * 99, 12)) == 12


def test_aligned() -> None:
    assert (
        text.aligned(["name", "n"], [["a", "10"], ["bcdef", "1"]], [False, True]) == "name    n\na      10\nbcdef   1"
    )


@pytest.mark.parametrize(
    ("number", "words"),
    [(None, "–"), (0, "0 B"), (1023, "1,023 B"), (1024, "1 KiB"), (1_572_864, "1.5 MiB"), (-2048, "−2 KiB")],
)
def test_size(number: int | None, words: str) -> None:
    assert text.size(number) == words
    assert text.size((1 << 40) - 1) == "1 TiB"
    assert text.size(1 << 60) == "1,049,000 TiB"
