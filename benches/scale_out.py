"""Reads, reduces and reports a job of a thousand ranks with an executor: time and memory."""

from __future__ import annotations

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import job
import kinetoscope as ks
from case import Measured, Skipped
from fresh import apart
from kinetoscope._remote import worker

FEW, MANY = 64, 1024
NUM_WORKERS = 2
_START_S = 1.0


def measure() -> list[Measured]:
    """Time for each rank beside that of fewer, and the largest process of all."""
    return _compared(_Answered, "reading and five analyses")[0]


def measure_report() -> list[Measured]:
    """Time of the report for each rank beside that of fewer, its largest process, and its page."""
    found, (page_bytes,) = _compared(_Reported, "reading and the report")
    return [*found, Measured(found[0].subject, [page_bytes / 1e6], f"{page_bytes / 1e6:.1f} MB", "the page")]


def _compared(case: type[_Answered | _Reported], work: str) -> tuple[list[Measured], list[int]]:
    """Time for each rank beside that of fewer, the largest process, and further figures of many."""
    try:
        few, many = job.write(FEW), job.write(MANY)
    except FileNotFoundError:
        raise Skipped("no archive of eight ranks at hand") from None
    apart(case(few))
    seconds, *_ = apart(case(few))
    more_seconds, peak_bytes, *others = apart(case(many))
    each, more = (took / num * 1e3 for took, num in ((seconds, FEW), (more_seconds, MANY)))
    subject = f"DLRM as {MANY:,} ranks, {NUM_WORKERS} workers: {work}"
    found = [
        Measured(
            subject, [more / each], f"{more:.1f} ms a rank, {more_seconds:.0f} s", f"{each:.1f} ms a rank of {FEW}"
        ),
        Measured(subject, [peak_bytes / 2**30], f"{peak_bytes / 2**20:.0f} MiB", "the largest process"),
    ]
    return found, others


def _forget() -> None:
    """Workers keep what they read last: of fewer ranks all, of more a part."""
    worker._MAX_CACHED_EVENTS = 0  # noqa: SLF001 - what is compared is reading


class _Answered:
    """The seconds that answers take, and the peak of the largest process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self) -> tuple[float, int]:
        with ProcessPoolExecutor(NUM_WORKERS, multiprocessing.get_context("spawn"), _forget) as executor:
            list(executor.map(time.sleep, [_START_S] * NUM_WORKERS))  # each is there before the first is done
            start = time.perf_counter()
            ranks = ks.read_dir(self._folder, executor=executor, progress=False)
            found = ranks.stragglers()
            ranks.collectives()
            ranks.breakdown()
            ranks.findings()
            ranks.job_critical_path()
            seconds = time.perf_counter() - start
        late = found.select("rank", "caused_wait_ns").rows()[0]
        if late[0] != job.STRAGGLER:
            raise RuntimeError(f"expected rank {job.STRAGGLER} as the straggler, found {late}")
        return seconds, _peak_bytes()


class _Reported:
    """The seconds that a report takes, the largest process's peak, and the page's size."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self) -> tuple[float, int, int]:
        with (
            TemporaryDirectory() as folder,
            ProcessPoolExecutor(NUM_WORKERS, multiprocessing.get_context("spawn"), _forget) as executor,
        ):
            list(executor.map(time.sleep, [_START_S] * NUM_WORKERS))  # as above
            start = time.perf_counter()
            ranks = ks.read_dir(self._folder, executor=executor, progress=False)
            page = ranks.report(Path(folder, "report.html"))
            seconds = time.perf_counter() - start
            num_bytes = page.stat().st_size
            if f"rank {job.STRAGGLER} (most waited for" not in page.read_text(encoding="utf-8"):
                raise RuntimeError(f"expected rank {job.STRAGGLER} as the straggler on the page, found another one")
        return seconds, _peak_bytes(), num_bytes


def _peak_bytes() -> int:
    """Peak memory of the largest of this process and its workers, which have ended."""
    return max(resource.getrusage(who).ru_maxrss * 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
