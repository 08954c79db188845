"""Distributes analyses of a job over the workers of an executor, and combines the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kinetoscope import _native
from kinetoscope._analysis.request import written
from kinetoscope._analysis.result import AnalysisResult
from kinetoscope._base.threads import for_each
from kinetoscope._base.warnings import warn
from kinetoscope._load.recording import ReadResult
from kinetoscope._load.unread import FailedRead, skip_reasons
from kinetoscope._remote import worker
from kinetoscope._remote.worker import Query, run_each

if TYPE_CHECKING:
    from kinetoscope._load.member import Member

_Result = TypeVar("_Result")


class _Told(NamedTuple):
    """Answers of the ranks of a job."""

    traces: list[tuple[int | None, _native.Trace]]
    """Their communications."""
    asked: Sequence[tuple[str, str]]
    """Names and requests of the analyses."""
    replies: list[list[list[bytes]]]
    """By analysis and trace."""
    facts: list[bytes]
    failures: dict[int, FailedRead]
    """By index of the trace."""

    def queries(self) -> list[list[tuple[int, Query]]]:
        """Returns the next queries to each trace, each with the index of its analysis."""
        plans = [
            _native.plan(self.traces, replies, name, request)
            for (name, request), replies in zip(self.asked, self.replies, strict=True)
        ]
        return [
            [(at, Query(*self.asked[at], plan[index])) for at, plan in enumerate(plans) if plan[index]]
            for index in range(len(self.traces))
        ]


class Coordinator(NamedTuple):
    """Runs requests on the members of a job with an executor."""

    executor: Executor | None
    """None if all traces are in memory."""
    progress: bool | None = None
    """Whether to show a progress bar; None shows one in a terminal and in a notebook."""

    def inspect(self, members: Sequence[Member]) -> dict[Member, str]:
        """Reads all members without an inspection. Returns unreadable ones with the reason."""
        new = [member for member in members if member.inspection is None]
        failures: dict[Member, FailedRead] = {}
        for member, result in zip(new, self._run_each(worker.inspect, [(member, ()) for member in new]), strict=True):
            if isinstance(result, FailedRead):
                failures[member] = result
            else:
                member.set_inspection(result)
        return skip_reasons(members, failures)

    def analyze(self, members: Sequence[Member], name: str, request: dict[str, Any]) -> AnalysisResult:
        """Runs an analysis of inspected members.

        Warns about members that can no longer be read, and omits them. Raises TraceParseError if
        none remains, TraceError for a bad request, TypeError for an unknown option.
        """
        request_json = written(request)
        if _kind(name) == "one":
            _native.answer_of_packed([], name, request_json)  # checks the request before any worker reads
            results = self._analyze_each(members, name, request_json)
            return AnalysisResult(*_native.answer_of_packed(results, name, request_json))
        inspected = [member for member in members if member.inspection]
        return self._compare_ranks(inspected, name, request_json)

    def gather(
        self, members: Sequence[Member], file_of: Callable[[Member], tuple[str, str]]
    ) -> tuple[list[Member], _native.GatheredJob]:
        """Collects what the report of a job tells about its ranks. Returns it with the members.

        `file_of` returns the name of a member's file, and its address for a link. Warns about
        members that can no longer be read, and omits them. Raises TraceParseError if none remains.
        """
        asked = _native.report_comparisons()
        told = self._tell(members, asked, has_facts=True)
        if told.failures:
            return self.gather(_without(told.failures, members), file_of)
        facts = [(member.rank, fact) for member, fact in zip(members, told.facts, strict=True)]
        return list(members), _native.GatheredJob(facts, [*map(file_of, members)], told.traces, told.replies)

    def _compare_ranks(self, members: Sequence[Member], name: str, request: str) -> AnalysisResult:
        """Compares ranks. If a member can no longer be read, starts again without it."""
        told = self._tell(members, [(name, request)], has_facts=False)
        if told.failures:
            return self._compare_ranks(_without(told.failures, members), name, request)
        return AnalysisResult(*_native.answer_of_replies(told.traces, told.replies[0], name, request))

    def _tell(self, members: Sequence[Member], asked: Sequence[tuple[str, str]], *, has_facts: bool) -> _Told:
        """Sends queries to the ranks in rounds, until the analyses need no more replies.

        With `has_facts`, the first round also collects facts. Warns about members that can no
        longer be read, and stops.
        """
        told = _Told(_communications(members), asked, [[[] for _ in members] for _ in asked], [], {})
        while True:
            queries = told.queries()
            indices = [index for index, own in enumerate(queries) if own or (has_facts and not told.facts)]
            if not indices:
                return told
            needs_facts = has_facts and not told.facts
            ask = worker.report if needs_facts else worker.respond
            tasks = [(members[index], ([query for _, query in queries[index]],)) for index in indices]
            for index, result in zip(indices, self._run_each(ask, tasks), strict=True):
                if isinstance(result, FailedRead):
                    told.failures[index] = result
                    continue
                if needs_facts:
                    told.facts.append(result.pop())
                for (place, _), reply in zip(queries[index], result, strict=True):
                    told.replies[place][index].append(reply)
            if told.failures:
                _warn_unreadable(members, told.failures)
                return told

    def _analyze_each(self, members: Sequence[Member], name: str, request: str) -> list[tuple[int | None, bytes]]:
        """Returns the rank and the packed result of each readable member; warns about others."""
        results = self._run_each(worker.analyze, [(member, (name, request)) for member in members])
        failures = {index: result for index, result in enumerate(results) if isinstance(result, FailedRead)}
        _warn_unreadable(members, failures)
        return [
            (member.rank, result)
            for member, result in zip(members, results, strict=True)
            if not isinstance(result, FailedRead)
        ]

    def _run_each(
        self, function: Callable[..., _Result], tasks: Sequence[tuple[Member, tuple[Any, ...]]]
    ) -> list[_Result | FailedRead]:
        """Calls a function of `worker` for each member, in this process if its trace is here."""
        remote = [(member, arguments) for member, arguments in tasks if not member.is_read]
        recordings = [(member.recording, arguments) for member, arguments in remote]
        remote_results = run_each(self.executor, function, recordings, progress=self.progress) if self.executor else []
        local = [(member, arguments) for member, arguments in tasks if member.is_read]
        local_results = for_each(local, lambda task, _: function(_local_result(task[0]), *task[1]))
        results: dict[Member, _Result | FailedRead] = dict(
            zip([member for member, _ in local], local_results, strict=True)
        )
        results.update(zip([member for member, _ in remote], remote_results, strict=True))
        return [results[member] for member, _ in tasks]


def _communications(members: Sequence[Member]) -> list[tuple[int | None, _native.Trace]]:
    """Returns the communications of inspected members, each with its rank."""
    snapshots = [(member.rank, member.inspection.communications) for member in members if member.inspection]
    return [(rank, _native.Trace.from_snapshot(snapshot, max_threads=1)) for rank, snapshot in snapshots]


def _without(failures: Mapping[int, FailedRead], members: Sequence[Member]) -> list[Member]:
    return [member for index, member in enumerate(members) if index not in failures]


@cache
def _kind(name: str) -> str | None:
    """Returns `one` for an analysis of a single trace, `ranks` for a comparison, else None."""
    kinds = {entry["name"]: entry["kind"] for entry in json.loads(_native.analyses_json())}
    return kinds.get(name)


def _warn_unreadable(members: Sequence[Member], failures: Mapping[int, FailedRead]) -> None:
    """Warns about failures, by index of the member. Raises TraceParseError if all failed."""
    for index, failure in failures.items():
        warn(f"{' and '.join(members[index].pair.names)} can no longer be read and was skipped: {failure.reason}")
    if failures and len(failures) == len(members):
        reason = next(iter(failures.values())).reason
        raise _native.TraceParseError(f"expected readable traces, found none: {reason}")


def _local_result(member: Member) -> ReadResult:
    return ReadResult(member.trace, member.pair, member.failures)
