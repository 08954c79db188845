"""Jobs whose ranks are read and reduced by the workers of an executor; what they say is put together here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kinetoscope import _native, afar
from kinetoscope.afar import Failed, ask_each
from kinetoscope.answer import Answer, answered_of_job
from kinetoscope.notice import warn
from kinetoscope.recording import Read
from kinetoscope.request import written

if TYPE_CHECKING:
    from kinetoscope.traceset import Member

_T = TypeVar("_T")


class Scattered(NamedTuple):
    """Who asks the members of a job."""

    executor: Executor
    progress: bool | None = None

    def look(self, members: Sequence[Member]) -> dict[Member, str]:
        """Has those read that nobody has looked at yet. Gives those that cannot be read, and why."""
        new = [member for member in members if member.look is None]
        failures: dict[Member, str] = {}
        for member, found in zip(new, self._ask(afar.look, [(member, ()) for member in new]), strict=True):
            if isinstance(found, Failed):
                failures[member] = found.why
            else:
                member.looked(found)
        return failures

    def answer(self, members: Sequence[Member], name: str, request: dict[str, Any]) -> Answer:
        """An analysis of these members, of which somebody has looked at each."""
        text, kind = written(request), _kind(name)
        if kind == "one":
            _native.answer_of_packed([], name, text)  # what is wrong with the question is told before anyone is asked
            return Answer(*_native.answer_of_packed(self._told(afar.answer, members, name, text), name, text))
        if kind == "whole":
            return answered_of_job(_unpacked(self._told(afar.bring, members)), name, request)
        met = _unpacked([(member.rank, member.look.communications) for member in members if member.look])
        ways = _native.ways(met, name, text)
        asked = [(member, (way,)) for member, way in zip(members, ways, strict=True) if way]
        said = dict(zip([member for member, _ in asked], self._ask(afar.tell, asked), strict=True))
        told = [said.get(member, b"") for member in members]
        found = [(trace, one) for trace, one in zip(met, told, strict=True) if not isinstance(one, Failed)]
        self._warn(members, told)
        return Answer(*_native.answer_of_told([trace for trace, _ in found], [said for _, said in found], name, text))

    def _told(
        self, question: Callable[..., bytes], members: Sequence[Member], *arguments: str
    ) -> list[tuple[int | None, bytes]]:
        """What each says, with its rank; who can no longer be read is left out, and told."""
        said = self._ask(question, [(member, arguments) for member in members])
        self._warn(members, said)
        return [(member.rank, one) for member, one in zip(members, said, strict=True) if not isinstance(one, Failed)]

    def _ask(self, question: Callable[..., _T], asked: Sequence[tuple[Member, tuple[Any, ...]]]) -> list[_T | Failed]:
        """Who was read here answers here."""
        far = [(member, arguments) for member, arguments in asked if not member.is_read]
        recordings = [(member.recording, arguments) for member, arguments in far]
        said = ask_each(self.executor, question, recordings, progress=self.progress)
        found = dict(zip([member for member, _ in far], said, strict=True))
        return [found[member] if member in found else question(_read(member), *more) for member, more in asked]

    def _warn(self, members: Sequence[Member], said: Sequence[object]) -> None:
        failed = [(member, one.why) for member, one in zip(members, said, strict=True) if isinstance(one, Failed)]
        for member, why in failed:
            warn(f"{' and '.join(member.pair.names)} can no longer be read and is left out: {why}")
        if failed and len(failed) == len(members):
            raise _native.TraceParseError(f"expected traces, found none that can be read: {failed[0][1]}")


@cache
def _kind(name: str) -> str | None:
    """Whether an analysis is of `one` trace, compares `ranks`, or needs the `whole` of all; None for none."""
    kinds = {entry["name"]: entry["kind"] for entry in json.loads(_native.analyses_json())}
    return kinds.get(name)


def _read(member: Member) -> Read:
    return Read(member.trace, member.pair, member.failures)


def _unpacked(snapshots: Sequence[tuple[int | None, bytes]]) -> list[tuple[int | None, _native.Trace]]:
    return [(rank, _native.Trace.from_snapshot(snapshot, max_threads=1)) for rank, snapshot in snapshots]
