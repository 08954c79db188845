"""What is replayed: plans of real and of hostile traces, and how ranks are held against each other. Nothing runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import kinetoscope as ks
import pytest
from kinetoscope._cli.main import main
from kinetoscope.replaying.agree import DisagreementError, agree
from kinetoscope.replaying.contents import expected, given
from kinetoscope.replaying.infer import infer
from kinetoscope.replaying.message import Group, Message
from kinetoscope.replaying.plan import Step
from kinetoscope.replaying.shrink import shrunk

pytestmark = pytest.mark.unit

ALL = Group("0", 2, (0, 1))
FOUR = Group("0", 4, (0, 1, 2, 3))


def message(name: str = "all_reduce", elems: int = 8, group: Group | None = ALL, **others: Any) -> Message:
    facts: dict[str, Any] = {"in_elems": (elems,), "out_elems": (elems,), **others}
    root, peer = facts.pop("root", None), facts.pop("peer", None)
    return Message(name, group, root, peer, "float", 4, **facts)


def steps(*messages: Message, is_async: bool | None = False) -> list[Step]:
    return [Step(one, is_async=is_async) for one in messages]


# --- whether ranks agree ------------------------------------------------------------------------------------------


def test_ranks_that_do_the_same_agree() -> None:
    plan = [*steps(message(), is_async=True), *steps(message("barrier")), Step(None, 0)]
    agreement = agree({0: plan, 1: plan})
    assert [sorted(meeting.messages) for meeting in agreement.meetings] == [[0, 1], [0, 1]]
    assert not agreement.left


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (message(elems=9), "sizes differ: all_reduce of 8 float; all_reduce of 9 float"),
        (message("reduce", root=0), "names differ"),
        (message()._replace(dtype="double"), "types differ"),
    ],
)
def test_a_difference_names_ranks_and_messages(other: Message, why: str) -> None:
    with pytest.raises(DisagreementError, match=f"ranks 0 and 1 disagree about communication 1 of group 0: {why}"):
        agree({0: steps(message(), message()), 1: steps(message(), other)})


def test_roots_and_parts_are_compared() -> None:
    with pytest.raises(DisagreementError, match="roots differ"):
        agree({0: steps(message("broadcast", root=0)), 1: steps(message("broadcast", root=1))})
    one = message("all_to_allv", 5, in_split=(2, 3), out_split=(2, 1))
    other = message("all_to_allv", 5, in_split=(1, 3), out_split=(3, 3))
    agree({0: steps(one._replace(out_elems=(3,))), 1: steps(other._replace(in_elems=(4,), out_elems=(6,)))})
    with pytest.raises(DisagreementError, match="parts differ"):
        agree({0: steps(one), 1: steps(other._replace(out_split=(1, 5), out_elems=(6,)))})


@pytest.mark.parametrize(
    "impossible",
    [
        message("broadcast", root=2),
        message("all_gather_base", 4, out_elems=(9,)),
        message("reduce_scatter", 4, in_elems=(4, 4, 4)),
        message("all_to_allv", 4, in_split=(1, 1, 2), out_split=(2, 2)),
        message("all_to_all", in_elems=(4,), out_elems=(4, 4)),
    ],
)
def test_what_no_group_so_large_can_do_is_refused(impossible: Message) -> None:
    with pytest.raises(DisagreementError, match="expected sizes for 2 ranks, found"):
        agree({0: steps(impossible), 1: steps(impossible)})


def test_an_order_without_an_end_is_found() -> None:
    own = Group("1", 2, (0, 1))
    first, second = message(), message(group=own)
    with pytest.raises(DisagreementError, match="rank 0 waits in all_reduce of 8 float, its step 0; rank 1 waits"):
        agree({0: steps(first, second), 1: steps(second, first)})
    agree({0: steps(first, second, is_async=True), 1: steps(second, first)})
    with pytest.raises(DisagreementError, match=r"rank 0 waits .* rank 1 has ended"):
        agree({0: steps(first, first), 1: steps(first)})


def test_sequence_numbers_tell_which_rank_lacks_which_call() -> None:
    calls = [Step(message(elems=elems), is_async=False, seq=seq) for seq, elems in enumerate((100, 200, 300))]
    with pytest.raises(DisagreementError, match=r"^ranks disagree: rank 1 lacks all_reduce of 200 float \(seq 1 of"):
        agree({0: calls, 1: [calls[0], calls[2]]})
    same = [step._replace(message=message()) for step in calls]
    with pytest.raises(DisagreementError, match=r"rank 1 lacks all_reduce of 8 float \(seq 1 of"):
        agree({0: same, 1: [same[0], same[2]]})
    # numbers that ranks count on their own tell nothing
    with pytest.raises(DisagreementError, match="disagree about communication 1 of group 0: sizes differ"):
        agree({0: calls, 1: [calls[0]._replace(seq=7), calls[2]._replace(seq=8)]})


def test_sends_meet_receives() -> None:
    to, back = message("send", peer=1), message("recv", peer=0)
    agree({0: steps(to, is_async=None), 1: steps(back, is_async=None)})
    with pytest.raises(DisagreementError, match="no partner for send of 8 float"):
        agree({0: steps(to, is_async=None), 1: []})
    with pytest.raises(DisagreementError, match="sizes differ"):
        agree({0: steps(to, is_async=None), 1: steps(back._replace(in_elems=(9,)), is_async=None)})
    with pytest.raises(DisagreementError, match="expected the other side"):
        agree({0: steps(to._replace(peer=7)), 1: []})


def test_of_plans_that_were_cut_only_what_all_do_is_left() -> None:
    agreement = agree({0: steps(message(), message(elems=9)), 1: steps(message())}, is_cut=True)
    assert (len(agreement.meetings), agreement.left) == (1, {(0, 1)})


def test_tags_tell_what_is_taken_first() -> None:
    sent = [message("send", elems, peer=1)._replace(tag=elems) for elems in (5, 9)]
    taken = [message("recv", elems, peer=0)._replace(tag=elems) for elems in (9, 5)]
    assert len(agree({0: steps(*sent, is_async=None), 1: steps(*taken, is_async=None)}).meetings) == 2
    with pytest.raises(DisagreementError, match="no partner for send"):
        agree({0: steps(sent[0], is_async=None), 1: steps(taken[0], is_async=None)})


# --- groups that are not recorded ---------------------------------------------------------------------------------

FIRST, LAST = Group("1", 2, (0, 1)), Group("2", 2, (2, 3))


def found(groups: dict[int, list[Step]]) -> list[str]:
    inferred = infer(groups, [FOUR, FIRST, LAST])
    return [" ".join(inferred[rank, at].name for at in range(len(groups[rank]))) for rank in sorted(groups)]


def test_the_largest_group_that_does_the_same_is_it() -> None:
    all_of_them, some = message(group=None), message(elems=3, group=None)
    assert found({rank: steps(all_of_them, some, all_of_them) for rank in range(4)}) == ["0 0 0"] * 4


def test_a_group_does_not_take_what_all_do_soon() -> None:
    common, own = message(group=None), message(elems=3, group=None)
    groups = {rank: steps(common) for rank in (0, 1)} | {rank: steps(own, common) for rank in (2, 3)}
    assert found(groups) == ["0", "0", "2 0", "2 0"]


def test_sizes_tell_a_group() -> None:
    gathered = message("all_gather_base", 4, None, out_elems=(8,))
    assert found({rank: steps(gathered) for rank in range(4)}) == ["1", "1", "2", "2"]


def test_what_fits_no_group_is_a_disagreement() -> None:
    groups = {rank: steps(message(elems=rank, group=None)) for rank in range(4)}
    with pytest.raises(DisagreementError, match="rank 0 does all_reduce of 0 float, its step 0; rank 1 does"):
        found(groups)


def test_a_send_is_of_the_group_in_which_it_is_taken() -> None:
    to, back = message("send", group=None, peer=1), message("recv", group=None, peer=0)
    assert found({0: [], 1: [], 2: steps(to), 3: steps(back)}) == ["", "", "2", "2"]
    assert found({0: steps(to), 1: steps(back), 2: [], 3: []}) == ["0", "0", "", ""]


def test_a_receive_from_anyone_takes_what_nobody_else_does() -> None:
    to, anyone = message("send", group=None, peer=0), message("recv", group=None)
    named, world = message("recv", group=None, peer=2), {0, 1, 2, 3}
    groups = {0: steps(anyone, named, anyone), **{rank: steps(to) for rank in world - {0}}}
    inferred = infer(groups, [FOUR])
    assert inferred.peers == {(0, 0): 1, (0, 2): 3}
    assert set(inferred.values()) == {FOUR}


# --- fewer ranks --------------------------------------------------------------------------------------------------

HALF = Group("0", 4, (0, 1))


def test_messages_for_fewer_ranks() -> None:
    gathered = shrunk(message("all_gather_base", 4, FOUR, out_elems=(16,)), HALF, 0)
    assert gathered is not None
    assert (gathered.in_elems, gathered.out_elems) == ((4,), (8,))
    scattered = shrunk(message("reduce_scatter", 4, FOUR, in_elems=(4,) * 4), HALF, 1)
    assert scattered is not None
    assert scattered.in_elems == (4, 4)
    parts = message("all_to_allv", 10, FOUR, in_split=(1, 2, 3, 4), out_split=(1, 2, 3, 4))
    exchange = shrunk(parts, HALF, 0)
    assert exchange is not None
    assert (exchange.in_split, exchange.in_elems) == ((1, 2), (3,))
    rooted = shrunk(message("gather", 4, FOUR, out_elems=(), root=3), HALF, 0)
    assert rooted is not None
    assert (rooted.root, rooted.out_elems) == (0, (4, 4))
    assert shrunk(message("send", 4, FOUR, peer=3), HALF, 0) is None
    assert shrunk(message(group=LAST), Group("2", 2, ()), 0) is None


# --- contents -----------------------------------------------------------------------------------------------------


def test_contents_of_an_exchange_are_those_that_were_sent() -> None:
    one = message("all_to_allv", 5, in_split=(2, 3), out_split=(2, 1))._replace(out_elems=(3,))
    other = message("all_to_allv", 4, in_split=(1, 3), out_split=(3, 3))._replace(out_elems=(6,))
    sent, kept = given(one, 0, 7)[0], given(other, 1, 7)[0]
    taken = expected(one, 0, 7)
    assert taken == [[sent[0], kept[0]]]
    assert expected(other, 1, 7) == [[sent[1], kept[1]]]


def test_contents_of_a_reduction_are_sums() -> None:
    values = [given(message(), place, 4)[0][0][1] for place in range(2)]
    assert expected(message(), 0, 4) == [[(8, sum(values))]]
    assert expected(message(reduction="max"), 1, 4) == [[(8, max(values))]]
    assert expected(message("reduce", root=1), 0, 4) is None


# --- files --------------------------------------------------------------------------------------------------------


def test_a_job_that_was_recorded(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = data / "mlp_gloo"
    result = ks.replay_comms(folder, dry_run=True)
    assert (result.num_ranks, result.rank, result.notes) == (2, 0, [])
    rows = result.select("collective", "group_size", "dtype", "num_calls", "num_replayed", "p50_ns").rows()
    assert rows == [("all_reduce", 2, "float", 6, 0, None)]
    assert main(["replay-comms", "--trace-path", str(folder), "--dry-run", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("all_reduce,0,2,float,6,0,")
    assert "1 row" in repr(result)
    assert "all_reduce" in result._repr_html_()


def test_the_result_as_files(data: Path, tmp_path: Path) -> None:
    result = ks.replay_comms(ks.read_dir(data / "mlp_gloo"), dry_run=True)
    rows = json.loads(result.export(tmp_path / "replayed.json").read_text())
    assert [row["collective"] for row in rows] == ["all_reduce"]
    assert "all_reduce" in result.export(tmp_path / "replayed.csv").read_text()


@pytest.mark.shared
def test_the_dlrm_set(shared: Path) -> None:
    path = shared / "facebookresearch__param/et_replay/tests/inputs/dlrm_pytorch_et.tar.gz"
    result = ks.replay_comms(path, dry_run=True)
    assert result.num_ranks == 8
    found = result.select("collective", "group_size", "dtype", "num_calls", "bytes").rows()
    assert set(found) == {
        ("all_reduce", 8, "float", 8, 448),
        ("all_reduce", 8, "float", 8, 907_840),
        ("all_reduce", 8, "float", 8, 1_576_964),
        ("all_to_allv", 8, "float", 16, 24_576),
        ("all_to_allv", 8, "int", 8, 1536),
        ("all_to_allv", 8, "int", 6, 13_568),
        ("all_to_allv", 8, "int", 1, 18_944),
        ("all_to_allv", 8, "int", 1, 53_248),
        ("all_to_allv", 8, "long", 8, 192),
    }
    half = ks.replay_comms(path, dry_run=True, allow_ops=["all_to_allv"], max_msg_cnt=3)
    assert {row[0] for row in half.select("collective").rows()} == {"all_to_allv"}
    assert sum(row[0] for row in half.select("num_calls").rows()) == 24


def written(folder: Path, *, elems: int = 4, size: int = 1, rank: int = 0, name: str = "allreduce") -> Path:
    """An Execution Trace of one communication, an all-reduce, in a group of so many ranks."""
    config = json.dumps([{"pg_name": "0", "ranks": [], "group_size": size}])
    tensor = [[[7, 8, 0, elems, 4, "cpu"]], [1, False], ["0", ""], rank, name, [], [], 0, 1, size]
    types = ["GenericList[Tensor(float)]", "Tuple[Int,Bool]", "Tuple[String,String]", "Int", "String"]
    types += ["GenericList[]", "GenericList[]", "Int", "Int", "Int"]
    root = {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []}
    empty: dict[str, list[object]] = {"values": [], "shapes": [], "types": []}
    nodes = [
        {**root, "inputs": empty, "outputs": empty},
        {
            "id": 2,
            "name": "## process_group:init ##",
            "ctrl_deps": 1,
            "attrs": [],
            "inputs": {"values": [config], "shapes": [[]], "types": ["String"]},
            "outputs": empty,
        },
        {
            "id": 3,
            "name": "record_param_comms",
            "ctrl_deps": 1,
            "attrs": [],
            "inputs": {"values": tensor, "shapes": [[] for _ in tensor], "types": types},
            "outputs": {"values": tensor[:1], "shapes": [[]], "types": types[:1]} if name == "allreduce" else empty,
        },
    ]
    folder.mkdir(exist_ok=True)
    path = folder / f"torch_et_{rank}.json"
    path.write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}))
    return folder


def test_hostile_sizes_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    ks.replay_comms(written(tmp_path / "fine"), dry_run=True)
    with pytest.raises(
        ValueError, match=r"of 4,294,967,296 bytes at most, found 4,000,000,000,000 in all_reduce \(node 3"
    ):
        ks.replay_comms(written(tmp_path / "large", elems=10**12), dry_run=True)
    with pytest.raises(ValueError, match="found negative or too many ones"):
        ks.replay_comms(written(tmp_path / "negative", elems=-5), dry_run=True)
    with pytest.raises(ValueError, match="expected 1,000,000,000,000 ranks as recorded"):
        ks.replay_comms(written(tmp_path / "many", size=10**12), dry_run=True)
    shrunk_to_one = ks.replay_comms(written(tmp_path / "many", size=10**12), dry_run=True, shrink=True)
    assert shrunk_to_one.select("group_size", "num_calls").rows() == [(1, 1)]
    assert any("1 × all_reduce shrunk" in note for note in shrunk_to_one.notes)


def test_a_call_that_failed_when_it_was_recorded_is_left_out(tmp_path: Path) -> None:
    replayed = ks.replay_comms(written(tmp_path, name="all_gather"), dry_run=True)
    assert len(replayed) == 0
    assert "1 × all_gather not replayed: its tensors are not recorded" in " ".join(replayed.notes)


def test_ranks_of_files_that_disagree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "job", size=2)
    written(tmp_path / "job", size=2, elems=5, rank=1)
    assert main(["replay-comms", "--trace-path", str(tmp_path / "job"), "--dry-run"]) == 2
    assert "ranks 0 and 1 disagree about communication 0 of group 0: sizes differ" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"backend": "mpi"}, "expected backend of gloo, nccl, found mpi"),
        ({"backend": "nccl", "device": "cpu"}, "expected a GPU for nccl"),
        ({"num_replays": 0}, "expected num_replays of at least 1, found 0"),
        ({"use_timestamp": True}, "expected a Kineto trace"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ks.replay_comms(written(tmp_path / "one"), dry_run=True, **options)


def test_names_are_known_by_their_letters(data: Path) -> None:
    found = [ks.replay_comms(data / "mlp_gloo", dry_run=True, allow_ops=[name]) for name in ("all_reduce", "AllReduce")]
    assert len(found[0]) > 0
    assert found[0].rows() == found[1].rows()
    with pytest.raises(ValueError, match=r"expected names of all_gather, .*, found all_reduced"):
        ks.replay_comms(data / "mlp_gloo", dry_run=True, allow_ops=["all_reduced"])


def test_a_dry_run_needs_no_torch(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import kinetoscope as ks\n"
        f"print(len(ks.replay_comms({str(written(tmp_path / 'one'))!r}, dry_run=True)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_options_under_the_names_of_param(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(data / "mlp_gloo")
    named = ["--auto-shrink", "--allow-list", "all_reduce", "--max-msg-cnt", "0", "--bitwidth", "8", "--reuse-tensors"]
    assert main(["replay-comms", "--trace-path", f"{folder},{folder}", "--dry-run", *named]) == 0
    said = capsys.readouterr()
    assert said.out.count("all_reduce") == 2, "each path has its table"
    assert "--bitwidth has no effect: messages are replayed with their recorded types" in said.err
    assert "--reuse-tensors has no effect" in said.err
    assert main(["replay-comms", "--trace-path", folder, "--enable-profiler", "--dry-run"]) == 2
    assert "expected --output-path DIR with --enable-profiler" in capsys.readouterr().err


def test_one_trace_for_all_ranks(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "torch_et_0.json.gz").write_bytes((data / "mlp_gloo/torch_et_0.json.gz").read_bytes())
    with pytest.raises(ValueError, match="expected 2 ranks as recorded, found 1"):
        ks.replay_comms(folder, dry_run=True)
    (folder / "torch_et_1.json.gz").write_bytes((data / "mlp_gloo/torch_et_1.json.gz").read_bytes())
    assert ks.replay_comms(folder, dry_run=True, use_one_trace=True).num_ranks == 2


def test_variables_of_mvapich(monkeypatch: pytest.MonkeyPatch) -> None:
    from kinetoscope.replaying.world import world

    for name in ("RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MV2_COMM_WORLD_RANK", "3")
    monkeypatch.setenv("MV2_COMM_WORLD_SIZE", "8")
    assert world() == (3, 8)
