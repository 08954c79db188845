"""Does all that can be done with mutants of the fixtures.

`mutants.py SEED.NUMBER` does so with one mutant, and shows the traceback of each error.

`mutants.py SEED FIRST STEP SECONDS FOLDER` does so with many, in child processes, for SECONDS of
processor time: with the mutant FIRST, and then with every STEP-th one. FOLDER gets the mutants that
fail.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import kinetoscope as ks
from support.growth import work
from support.mutant_files import MAKERS, Files, packed

MOST_SECONDS = 10
"""Of processor time for one mutant."""
MOST_SECONDS_OF_WAITING = 300
"""For one mutant, by the clock: a thread may wait forever, which takes no processor time."""
MOST_BYTES = 4 << 30
"""Of address space."""
ALLOWED = (ks.TraceError, OSError)

TESTS = Path(__file__).resolve().parents[1]

Action = Callable[[], object]


def mutant(seed: str, number: int) -> Files:
    """The files of a mutant. The same seed and number always give the same bytes."""
    dice = random.Random(f"{seed}.{number}")
    files = dice.choice(MAKERS)(dice)
    return {name: packed(dice, content) for name, content in files.items()}


# --- everything that can be done ------------------------------------------------------------------


def work_on(files: Files, place: Path) -> Iterator[tuple[str, Action]]:
    """Reads a mutant, and yields all that can be done with what was read, by name."""
    for name, content in files.items():
        (place / name).write_bytes(content)
    out = place / "out"
    out.mkdir()
    found: list[Any] = []
    for name, read in readings(files, place).items():
        yield f"read {name}", lambda read=read: found.append(read())
    for recording in found:
        yield from work_on_recording(recording, out)
    traces = [recording for recording in found if isinstance(recording, ks.Trace)]
    if len(traces) > 1:
        yield "diff of both", lambda: repr(ks.diff(traces[0], traces[-1]))


def readings(files: Files, place: Path) -> dict[str, Action]:
    name, content = next(iter(files.items()))
    if len(files) > 1:
        return {"folder": lambda: ks.read_dir(place), "file": lambda: ks.read(place / name)}
    if not name.startswith("trace"):
        return {"path": lambda: ks.read(place / name)}
    return {"bytes": lambda: ks.read(content), "merged": lambda: ks.read(place / name, ranks="merge")}


def work_on_recording(recording: Any, out: Path) -> Iterator[tuple[str, Action]]:
    yield "repr", lambda: repr(recording)
    yield "HTML", recording._repr_html_
    if isinstance(recording, ks.Trace):
        yield from work_on_trace(recording, out)
    elif isinstance(recording, ks.TraceSet):
        yield from work_on_job(recording, out)
    else:
        yield "metadata", lambda: recording.metadata
        for name in recording.table_names:
            yield f"table {name}", lambda name=name: read_table(recording.table(name))
        if hasattr(recording, "memory"):
            yield "memory", lambda: read_result(recording.memory())
        if isinstance(recording, ks.Chakra):
            yield "write", lambda: ks.read(recording.save(out / "again.et"))


def work_on_trace(trace: ks.Trace, out: Path) -> Iterator[tuple[str, Action]]:
    yield from work(trace, out).items()
    parts: list[ks.Trace] = []
    range_ns = (trace.origin_ns, trace.origin_ns + 50_000)
    yield "facts", lambda: (trace.metadata, trace.coverage, trace.comm_groups, trace.rank, trace.verdict)
    yield "HTML", trace._repr_html_
    yield "JSON lines", lambda: check_lines(trace.events)
    yield "PARAM", lambda: json.loads(trace.to_param_comms(out / "param.json").read_bytes())
    yield "ET+ like Chakra", lambda: len(trace.nodes) and trace.to_et_plus(out / "et_plus.json", like_chakra=True)
    yield "relink", lambda: len(trace.nodes) and trace.relink()
    yield "part", lambda: parts.append(trace.trim(*range_ns))
    yield "shrunk", lambda: parts.append(trace.shrink(len(trace.snapshot()) * 2 // 3))
    yield "redacted", lambda: parts.append(trace.redact(keep_modules=True))
    yield "loaded", lambda: parts.append(ks.Trace.from_snapshot(trace.snapshot()))
    yield (
        "written",
        lambda: trace.num_events and parts.append(ks.read(trace.to_chrome(out / "again.json"), ranks="merge")),
    )
    for part in parts:
        yield "diff with a part", lambda part=part: repr(ks.diff(trace, part))
        yield "part's report", lambda part=part: part.report(out / "part.html")
    yield (
        "events of the written",
        lambda: trace.num_events and expect_same_events(trace, ks.read(out / "again.json", ranks="merge")),
    )


def work_on_job(job: ks.TraceSet, out: Path) -> Iterator[tuple[str, Action]]:
    for trace in job:
        yield from work(trace, out).items()
    yield "clocks", lambda: read_table(job.clock_offsets)
    for name in ("stragglers", "job_critical_path", "collectives", "summary", "findings", "problems", "breakdown"):
        yield f"job's {name}", lambda name=name: read_result(job.analyze(name))
    yield "job's report", lambda: job.report(out / "job.html")
    yield "job's export", lambda: job.export(out / "job.csv")
    yield "job's diff", lambda: repr(ks.diff(job, job))
    yield "job's Chakra", lambda: job.to_chakra(out / "rank.et", allow_mismatches=True)


def read_table(table: ks.Table) -> None:
    table.to_arrow()
    repr(table)


def read_result(result: Any) -> None:
    repr(result)
    for table in result.tables.values():
        read_table(table)


def check_lines(table: ks.Table) -> None:
    for line in filter(None, table.json_lines().split("\n")):
        if len(line) < 10_000:
            json.loads(line, parse_int=str)  # Python refuses thousands of digits


def expect_same_events(before: ks.Trace, after: ks.Trace) -> None:
    columns = ("id", "name", "start_ns", "dur_ns")
    assert after.events.select(*columns).rows() == before.events.select(*columns).rows()


# --- one mutant, and many of them -----------------------------------------------------------------


def failures(files: Files) -> Iterator[str]:
    """Yields the name and the traceback of each action that raises another error than allowed."""
    with tempfile.TemporaryDirectory() as place:
        actions = work_on(files, Path(place))
        while True:
            name = "next action"
            try:
                name, act = next(actions)
                act()
            except StopIteration:
                return
            except ALLOWED:
                continue
            except BaseException:  # noqa: BLE001 - a panic is no Exception
                yield f"{name}: {traceback.format_exc()}"


def work_forever(seed: str, first: int, step: int) -> None:
    """Works on mutants, and writes a line of JSON before each and for each failure."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    for limit in (signal.SIGPROF, signal.SIGALRM):  # each ends the process, also within the core
        signal.signal(limit, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    for number in count(first, step):
        signal.setitimer(signal.ITIMER_PROF, 0)
        files = mutant(seed, number)
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        signal.alarm(MOST_SECONDS_OF_WAITING)
        tell(number=number, used=time.process_time())
        for failure in failures(files):
            tell(number=number, failure=failure)


def tell(**facts: object) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def run(seed: str, first: int, step: int, seconds: float, folder: Path) -> tuple[int, list[str]]:
    """Works on mutants in child processes. Returns their number, and what failed."""
    found: list[str] = []
    number, num_done, left = first, 0, seconds
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    while left > 0:
        command = [sys.executable, __file__, "--forever", seed, str(number), str(step)]
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as child,
        ):
            assert child.stdout is not None
            used = 0.0
            for line in child.stdout:
                facts = json.loads(line)
                number = facts["number"]
                if "failure" in facts:
                    found.append(saved(seed, number, facts["failure"], folder))
                    continue
                used, num_done = facts["used"], num_done + 1
                if used > left:
                    child.kill()
                    break
            errors.seek(0)
            last_words = errors.read()[-2000:]
        left -= max(used, 0.1)
        if left > 0:
            found.append(saved(seed, number, f"the process ended with {child.returncode}: {last_words}", folder))
            left -= MOST_SECONDS * (child.returncode == -signal.SIGPROF)
        number += step
    return num_done, found


def saved(seed: str, number: int, failure: str, folder: Path) -> str:
    place = folder / f"{seed}.{number}"
    place.mkdir(parents=True, exist_ok=True)
    for name, content in mutant(seed, number).items():
        (place / name).write_bytes(content)
    return f"python tests/support/mutants.py {seed}.{number} (saved in {place}): {failure}"


def main(arguments: list[str]) -> None:
    match arguments:
        case ["--forever", seed, first, step]:
            work_forever(seed, int(first), int(step))
        case [seed, first, step, seconds, folder]:
            num_done, found = run(seed, int(first), int(step), float(seconds), Path(folder))
            sys.stdout.write("\n".join([*found, f"{num_done} mutants, {len(found)} failures\n"]))
        case [name]:
            seed, number = name.rsplit(".", 1)
            sys.stdout.write("\n".join(failures(mutant(seed, int(number)))) or "no failure\n")
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
