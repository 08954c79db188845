"""Communications that were recorded here, replayed here: on as many ranks, on fewer, and where they do not fit."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope.replaying.operators.unit import is_communication
from support.ranks import launched, recorded

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SCRIPT = Path(__file__).parents[2] / "record/communications.py"
REPLAY = ("-m", "kinetoscope", "replay-comms", "--timeout", "20", "--num-replays", "3", "--warmup-iter", "1")
EVERY = {
    *("all_gather", "all_gather_base", "all_reduce", "all_to_all", "all_to_allv", "allreduce_coalesced", "barrier"),
    *("broadcast", "gather", "recv", "reduce", "reduce_scatter", "reduce_scatter_base", "scatter", "send"),
}


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(2, SCRIPT, tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="session")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(4, SCRIPT, tmp_path_factory.mktemp("four"))


def replayed(num_ranks: int, folder: Path, *options: str) -> tuple[list[dict[str, Any]], str]:
    """The rows of the table, and what is said besides."""
    output = folder / "replayed.json"
    done = launched(num_ranks, *REPLAY, "--trace-path", folder, "-o", output, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(output.read_text()), done.stderr


def test_two_ranks(two: Path) -> None:
    rows, _ = replayed(2, two, "--check")
    assert {row["collective"] for row in rows} == EVERY
    for row in rows:
        assert row["num_replayed"] == 3 * row["num_calls"], row
        assert 0 < row["p50_ns"] <= row["p95_ns"] <= row["p99_ns"], row
    found = {(row["collective"], row["dtype"], row["bytes"]): row for row in rows}
    # Each rank does it once in each of two iterations.
    large = found["all_reduce", "float", 4800]
    assert (large["num_calls"], large["total_bytes"], large["group_size"]) == (4, 19200, 2)
    assert large["algorithm_gbps"] == pytest.approx(4800 / large["p50_ns"])
    assert large["bus_gbps"] == pytest.approx(large["algorithm_gbps"])
    gathered = found["all_gather_base", "float", 9600]
    assert gathered["bus_gbps"] == pytest.approx(gathered["algorithm_gbps"] / 2)
    barrier = found["barrier", "byte", 0]
    assert (barrier["num_recorded"], barrier["bus_gbps"]) == (4, None)
    assert barrier["replayed_to_recorded"] == pytest.approx(barrier["p50_ns"] / barrier["recorded_p50_ns"])


def test_four_ranks_and_groups_that_gloo_does_not_name(four: Path) -> None:
    rows, said = replayed(4, four, "--check", "--blocking", "--rebalance", "equal")
    assert {row["collective"] for row in rows} == EVERY
    groups = {(row["collective"], row["dtype"], row["bytes"]): (row["group_size"], row["num_calls"]) for row in rows}
    assert groups["all_reduce", "int", 28] == (2, 4)
    assert groups["all_reduce", "float", 36] == groups["broadcast", "float", 36] == (2, 4)
    assert groups["all_reduce", "float", 4800] == (4, 8)
    assert "inferred the groups of" in said
    # Each rank sent ten rows of two elements in parts of one to four rows; now five elements to each.
    assert "of exchanges equal in size" in said
    assert groups["all_to_allv", "float", 80] == (4, 8)


def test_fewer_ranks_than_were_recorded(four: Path, tmp_path: Path) -> None:
    refused = launched(2, *REPLAY, "--trace-path", four)
    assert refused.returncode != 0
    assert refused.stderr.count("expected 4 ranks as recorded, found 2: use shrink (--shrink)") == 2
    folder = Path(shutil.copytree(four, tmp_path / "four"))
    rows, said = replayed(2, folder, "--shrink", "--check")
    assert "4 ranks recorded, 2 replay" in said
    assert {row["group_size"] for row in rows} == {2}
    assert {row["collective"] for row in rows} == EVERY
    assert {row["bytes"] for row in rows if row["collective"] == "all_gather_base"} == {9600}
    assert not {row["bytes"] for row in rows} & {36}, "a group of ranks that are gone"


def test_ranks_that_disagree_say_so_instead_of_waiting(two: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(two, tmp_path / "two"))
    path = folder / "torch_et_1.json.gz"
    edited = json.loads(gzip.decompress(path.read_bytes()))
    node = next(node for node in edited["nodes"] if node["name"] == "c10d::_allgather_base_")
    for tensor in (node["inputs"]["values"][0], node["inputs"]["values"][1]):
        tensor[3] //= 2
    (folder / "torch_et_1.json").write_text(json.dumps(edited))
    path.unlink()
    done = launched(2, *REPLAY, "--trace-path", folder)
    assert done.returncode != 0
    assert done.stderr.count("disagree") >= 2, done.stderr
    assert "all_gather_base of 1200 float" in done.stderr
    assert "all_gather_base of 600 float" in done.stderr


IN_PYTHON = """
import sys
from pathlib import Path
import kinetoscope as ks
from kinetoscope.replaying import backend, replay

{before}
try:
    result = ks.replay_comms(sys.argv[1], timeout=3, num_replays=2, warmup_iter=0, {options})
except Exception as error:
    print(f"FOUND {{type(error).__name__}} {{error}}\\n", end="", flush=True)
    import os
    os._exit(0)
if result.rank == 0:
    print(result.num_ranks, "ranks", len(result), [path.name for path in result.profile])
    names = [task.read_text() for task in Path("/proc/self/task").glob("*/comm")]
    print(sum("gloo" in name for name in names), "gloo threads left")
"""


def in_python(tmp_path: Path, folder: Path, options: str, before: str = "") -> str:
    script = tmp_path / "replay.py"
    script.write_text(IN_PYTHON.format(before=before, options=options))
    done = launched(2, script, folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wrong_contents_are_found(two: Path, tmp_path: Path) -> None:
    wrong = (
        "right = backend._CALLS['reduce_scatter_base']\n"
        "def call(distributed, buffers, group):\n"
        "    buffers.given[0][-1] += 1\n"
        "    return right(distributed, buffers, group)\n"
        "backend._CALLS['reduce_scatter_base'] = call\n"
    )
    said = in_python(tmp_path, two, "check=True", wrong)
    assert said.count("FOUND CheckError") == 2, said
    assert "reduce_scatter_base of 1200 float" in said
    assert "at element 599 of tensor 0" in said


def test_a_rank_that_does_not_come_is_told(two: Path, tmp_path: Path) -> None:
    sleeping = (
        "import os, time\n"
        "if os.environ['RANK'] == '1':\n"
        "    backend.Backend.start = lambda self, buffers: time.sleep(8)\n"
    )
    said = in_python(tmp_path, two, "allow_ops=['all_reduce']", sleeping)
    assert "FOUND TimeoutError expected all_reduce of 1200 float to complete in time" in said, said


def test_the_trace_of_the_replay(two: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    said = in_python(tmp_path, two, f"profile={str(folder)!r}, use_timestamp=True, max_msg_cnt=5")
    assert "2 ranks" in said
    assert "kineto_trace_0.json.gz" in said
    assert "0 gloo threads left" in said, "one that outlives the interpreter aborts the process, rarely"
    again = ks.replay_comms(folder, dry_run=True, allow_ops=["all_gather", "all_reduce"])
    assert again.num_ranks == 2
    # Four all-reduces' worth of two types and an all-gather, in two passes on two ranks; passes begin together.
    assert again.select("collective", "dtype", "num_calls").rows() == [
        ("all_gather", "float", 4),
        ("all_reduce", "float", 4),
        ("all_reduce", "long", 4),
    ]


# --- without torchrun ---------------------------------------------------------------------------------------------


def test_what_mpi_says_of_its_ranks_is_heard(two: Path) -> None:
    said = {"OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": f"job-{os.getpid()}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *REPLAY, "--trace-path", str(two), "--csv", "--allow-ops", "barrier,all_reduce"]
    ranks = [
        subprocess.Popen(
            command,
            env={**os.environ, **said, "OMPI_COMM_WORLD_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    answers = [rank.communicate(timeout=60) for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], answers
    assert {line.split(",")[0] for line in answers[0][0].splitlines()[1:]} == {"all_reduce", "barrier"}
    assert answers[1][0] == "", "rank 0 says it"


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no MPI is installed")
def test_under_mpirun(two: Path) -> None:
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, *REPLAY]
    done = subprocess.run(
        [*command, "--trace-path", str(two), "--csv", "--check"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert {line.split(",")[0] for line in done.stdout.splitlines()[1:]} == EVERY


# --- recorded columns ---------------------------------------------------------------------------------------------

RECORDED = ("num_recorded", "recorded_p50_ns", "recorded_p99_ns", "recorded_algorithm_gbps", "recorded_bus_gbps")


def recorded_columns(rows: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    return {(row["collective"], row["dtype"], *(row[name] for name in RECORDED)) for row in rows}


def planned(folder: Path) -> list[dict[str, Any]]:
    table = ks.replay_comms(folder, dry_run=True)
    return [json.loads(line) for line in table.json_lines().splitlines()]


def test_fewer_ranks_keep_the_recorded_columns(two: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(two, tmp_path / "two"))
    rows, _ = replayed(1, folder, "--shrink")
    assert {row["group_size"] for row in rows} == {1}
    assert {"all_reduce", "all_gather_base", "all_to_allv", "gather"} <= {row["collective"] for row in rows}
    assert recorded_columns(rows) <= recorded_columns(planned(two))


def test_operators_compare_no_communications(two: Path, tmp_path: Path) -> None:
    output = tmp_path / "replayed.json"
    options = ("--timeout", "20", "--num-replays", "1", "--warmup-iter", "0", "-o", output)
    done = launched(2, "-m", "kinetoscope", "replay", two, *options)
    assert done.returncode == 0, done.stderr
    assert "replay-comms compares them" in done.stderr
    rows = json.loads(output.read_text())
    calls = [row for row in rows if is_communication(row["name"])]
    assert all(row["num_run"] and row["recorded_run_ns"] for row in calls)
    assert {(row["replayed_ns"], row["replayed_to_recorded"]) for row in calls} == {(None, None)}
    assert all(row["replayed_ns"] for row in rows if row not in calls and row["num_run"])
