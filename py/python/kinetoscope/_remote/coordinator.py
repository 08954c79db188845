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
from kinetoscope._base.warnings import warn
from kinetoscope._load.recording import ReadResult
from kinetoscope._remote import worker
from kinetoscope._remote.worker import Failure, run_each

if TYPE_CHECKING:
    from kinetoscope._load.member import Member

_Result = TypeVar("_Result")


class Coordinator(NamedTuple):
    """Runs requests on the members of a job with an executor."""

    executor: Executor
    progress: bool | None = None
    """Whether to show a progress bar; None shows one in a terminal and in a notebook."""

    def inspect(self, members: Sequence[Member]) -> dict[Member, str]:
        """Reads all members without an inspection. Returns unreadable ones with the reason."""
        new = [member for member in members if member.inspection is None]
        failures: dict[Member, str] = {}
        for member, result in zip(new, self._run_each(worker.inspect, [(member, ()) for member in new]), strict=True):
            if isinstance(result, Failure):
                failures[member] = result.reason
            else:
                member.set_inspection(result)
        return failures

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

    def _compare_ranks(self, members: Sequence[Member], name: str, request: str) -> AnalysisResult:
        """Sends queries to the ranks in rounds, until the analysis needs no more replies.

        If a member can no longer be read, starts again without it.
        """
        snapshots = [(member.rank, member.inspection.communications) for member in members if member.inspection]
        traces = [(rank, _native.Trace.from_snapshot(snapshot, max_threads=1)) for rank, snapshot in snapshots]
        replies: list[list[bytes]] = [[] for _ in traces]
        while any(plan := _native.plan(traces, replies, name, request)):
            queries = [(index, query) for index, query in enumerate(plan) if query]
            tasks = [(members[index], (name, request, query)) for index, query in queries]
            results = self._run_each(worker.respond, tasks)
            failures: dict[int, Failure] = {}
            for (index, _), result in zip(queries, results, strict=True):
                if isinstance(result, Failure):
                    failures[index] = result
                else:
                    replies[index].append(result)
            if failures:
                _warn_unreadable(members, failures)
                remaining = [member for index, member in enumerate(members) if index not in failures]
                return self._compare_ranks(remaining, name, request)
        return AnalysisResult(*_native.answer_of_replies(traces, replies, name, request))

    def _analyze_each(self, members: Sequence[Member], name: str, request: str) -> list[tuple[int | None, bytes]]:
        """Returns the rank and the packed result of each readable member; warns about others."""
        results = self._run_each(worker.analyze, [(member, (name, request)) for member in members])
        failures = {index: result for index, result in enumerate(results) if isinstance(result, Failure)}
        _warn_unreadable(members, failures)
        return [
            (member.rank, result)
            for member, result in zip(members, results, strict=True)
            if not isinstance(result, Failure)
        ]

    def _run_each(
        self, function: Callable[..., _Result], tasks: Sequence[tuple[Member, tuple[Any, ...]]]
    ) -> list[_Result | Failure]:
        """Calls a function of `worker` for each member, in this process if its trace is here."""
        remote = [(member, arguments) for member, arguments in tasks if not member.is_read]
        recordings = [(member.recording, arguments) for member, arguments in remote]
        remote_results = run_each(self.executor, function, recordings, progress=self.progress)
        results = dict(zip([member for member, _ in remote], remote_results, strict=True))
        return [
            results[member] if member in results else function(_local_result(member), *arguments)
            for member, arguments in tasks
        ]


@cache
def _kind(name: str) -> str | None:
    """Returns `one` for an analysis of a single trace, `ranks` for a comparison, else None."""
    kinds = {entry["name"]: entry["kind"] for entry in json.loads(_native.analyses_json())}
    return kinds.get(name)


def _warn_unreadable(members: Sequence[Member], failures: Mapping[int, Failure]) -> None:
    """Warns about failures, by index of the member. Raises TraceParseError if all failed."""
    for index, failure in failures.items():
        warn(f"{' and '.join(members[index].pair.names)} can no longer be read and was skipped: {failure.reason}")
    if failures and len(failures) == len(members):
        reason = next(iter(failures.values())).reason
        raise _native.TraceParseError(f"expected readable traces, found none: {reason}")


def _local_result(member: Member) -> ReadResult:
    return ReadResult(member.trace, member.pair, member.failures)
