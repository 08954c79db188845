"""Jobs whose ranks are read and reduced by the workers of an executor; what they say is put together here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kinetoscope import _native
from kinetoscope._analysis.request import written
from kinetoscope._analysis.result import AnalysisResult
from kinetoscope._base.warnings import warn
from kinetoscope._load.recording import Read
from kinetoscope._remote import worker
from kinetoscope._remote.worker import Failed, ask_each

if TYPE_CHECKING:
    from kinetoscope.trace_set import Member

_T = TypeVar("_T")


class Scattered(NamedTuple):
    """Who asks the members of a job."""

    executor: Executor
    progress: bool | None = None

    def look(self, members: Sequence[Member]) -> dict[Member, str]:
        """Has those read that nobody has looked at yet. Gives those that cannot be read, and why."""
        new = [member for member in members if member.look is None]
        failures: dict[Member, str] = {}
        for member, found in zip(new, self._ask(worker.look, [(member, ()) for member in new]), strict=True):
            if isinstance(found, Failed):
                failures[member] = found.why
            else:
                member.looked(found)
        return failures

    def answer(self, members: Sequence[Member], name: str, request: dict[str, Any]) -> AnalysisResult:
        """An analysis of these members, of which somebody has looked at each."""
        text, kind = written(request), _kind(name)
        if kind == "one":
            _native.answer_of_packed([], name, text)  # what is wrong with the question is told before anyone is asked
            return AnalysisResult(*_native.answer_of_packed(self._told(worker.answer, members, name, text), name, text))
        return self._compared([member for member in members if member.look], name, text)

    def _compared(self, members: Sequence[Member], name: str, text: str) -> AnalysisResult:
        """Asks in rounds, until nothing is left to ask. Without whoever can no longer be read, it begins anew."""
        met = _unpacked([(member.rank, member.look.communications) for member in members if member.look])
        told: list[list[bytes]] = [[] for _ in met]
        while any(questions := _native.plan(met, told, name, text)):
            asked = [(at, question) for at, question in enumerate(questions) if question]
            said = self._ask(worker.tell, [(members[at], (name, text, question)) for at, question in asked])
            failed = {at: one for (at, _), one in zip(asked, said, strict=True) if isinstance(one, Failed)}
            if failed:
                _warn(members, failed)
                return self._compared([member for at, member in enumerate(members) if at not in failed], name, text)
            for (at, _), one in zip(asked, said, strict=True):
                if not isinstance(one, Failed):
                    told[at].append(one)
        return AnalysisResult(*_native.answer_of_replies(met, told, name, text))

    def _told(
        self, question: Callable[..., bytes], members: Sequence[Member], *arguments: str
    ) -> list[tuple[int | None, bytes]]:
        """What each says, with its rank; who can no longer be read is left out, and told."""
        said = self._ask(question, [(member, arguments) for member in members])
        _warn(members, {at: one for at, one in enumerate(said) if isinstance(one, Failed)})
        return [(member.rank, one) for member, one in zip(members, said, strict=True) if not isinstance(one, Failed)]

    def _ask(self, question: Callable[..., _T], asked: Sequence[tuple[Member, tuple[Any, ...]]]) -> list[_T | Failed]:
        """Who was read here answers here."""
        far = [(member, arguments) for member, arguments in asked if not member.is_read]
        recordings = [(member.recording, arguments) for member, arguments in far]
        said = ask_each(self.executor, question, recordings, progress=self.progress)
        found = dict(zip([member for member, _ in far], said, strict=True))
        return [found[member] if member in found else question(_read(member), *more) for member, more in asked]


@cache
def _kind(name: str) -> str | None:
    """Whether an analysis is of `one` trace, or compares `ranks`; None for none."""
    kinds = {entry["name"]: entry["kind"] for entry in json.loads(_native.analyses_json())}
    return kinds.get(name)


def _warn(members: Sequence[Member], failed: Mapping[int, Failed]) -> None:
    """Who can no longer be read, by their places. TraceParseError when that is all of them."""
    for at, one in failed.items():
        warn(f"{' and '.join(members[at].pair.names)} can no longer be read and is left out: {one.why}")
    if failed and len(failed) == len(members):
        why = next(iter(failed.values())).why
        raise _native.TraceParseError(f"expected traces, found none that can be read: {why}")


def _read(member: Member) -> Read:
    return Read(member.trace, member.pair, member.failures)


def _unpacked(snapshots: Sequence[tuple[int | None, bytes]]) -> list[tuple[int | None, _native.Trace]]:
    return [(rank, _native.Trace.from_snapshot(snapshot, max_threads=1)) for rank, snapshot in snapshots]
