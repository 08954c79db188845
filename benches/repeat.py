"""Repeats the events of a trace, with shifted times and ids.

    python benches/repeat.py trace.json 18 long.json

Times shift by the span of the trace. `correlation`, `External id`, `Record function id`, `Ev Idx`
and flow ids shift by a number larger than any in the trace. So repetitions are not linked with each
other. All other text stays unchanged, with blanks, so events keep their length.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

IDS = ("correlation", "External id", "Record function id", "Ev Idx", "Python id", "Python parent id", "id")
STEP = 10_000_000
_MOVING = re.compile(rf'"(?P<key>ts|{"|".join(IDS)})"\s*:\s*(?P<whole>\d+)(?:\.(?P<rest>\d+))?')


class Number(NamedTuple):
    """A shifting number: its digits, its decimals, and its step per repetition."""

    digits: int
    num_decimals: int
    step: int

    def moved(self, times: int) -> str:
        """Its text in a repetition."""
        digits = self.digits + times * self.step
        if not self.num_decimals:
            return str(digits)
        whole, rest = divmod(digits, 10**self.num_decimals)
        return f"{whole}.{rest:0{self.num_decimals}}"


def repeat(source: Path, count: int, target: Path) -> None:
    """Writes `count` repetitions of the trace in `source` to `target`."""
    text = source.read_text(encoding="utf-8", errors="surrogateescape")
    start, end = _events(text)
    events = text[start:end].strip()
    found = list(_MOVING.finditer(events))
    numbers = _numbers(found)
    between = list(_between(events, found))
    with target.open("w", encoding="utf-8", errors="surrogateescape") as out:
        out.write(text[:start])
        for at in range(count):
            out.write(",\n    " if at else "\n    ")
            out.write("".join(f"{words}{number.moved(at)}" for words, number in zip(between, numbers, strict=False)))
            out.write(between[-1])
        out.write("\n  ")
        out.write(text[end:])


def _events(text: str) -> tuple[int, int]:
    """Where the inside of the array of events starts and ends."""
    start = text.index("[", text.index('"traceEvents"'))
    _, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    return start + 1, end - 1


def _numbers(found: list[re.Match[str]]) -> list[Number]:
    times = [int(match["whole"]) for match in found if match["key"] == "ts"]
    span = max(times) - min(times) + 1000
    return [_number(match, span) for match in found]


def _number(match: re.Match[str], span: int) -> Number:
    """Times move by `span`, ids by `STEP`; an id of 0 is none, and stays."""
    rest = match["rest"] or ""
    digits = int(match["whole"] + rest)
    if match["key"] == "ts":
        return Number(digits, len(rest), span * 10 ** len(rest))
    return Number(digits, len(rest), STEP if digits and not rest else 0)


def _between(text: str, found: list[re.Match[str]]) -> Iterator[str]:
    """Yields the text before each number, and after the last."""
    at = 0
    for match in found:
        yield text[at : match.start("whole")]
        at = match.end()
    yield text[at:]


if __name__ == "__main__":
    repeat(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
