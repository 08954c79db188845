//! Tests process groups that no file names: other ranks' calls tell them, or they stay open.

use std::sync::Arc;

use kinetoscope::analyze::RankedTrace;
use kinetoscope::link::rank::{CandidateGroup, GroupCall, InferenceSpan, JobRanks, infer_groups, settled_collectives};
use kinetoscope::link::{Collective, Collectives};
use kinetoscope::replay::write_param_collectives;
use kinetoscope::write::chakra::chakra_from_collectives;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

const LIST: &str = "GenericList[Tensor(float)]";

/// An operator of gloo by name and elements, and whether it ran.
type Call = (&'static str, i64, bool);

/// Threads of gloo, by the place of a call.
type Threads<'a> = &'a dyn Fn(usize) -> i64;

/// A rank of a job of two, with a group of its own.
fn gloo(rank: i64, calls: &[Call]) -> RankedTrace {
    on_threads(rank, calls, &|_| 9)
}

fn on_threads(rank: i64, calls: &[Call], threads: Threads<'_>) -> RankedTrace {
    let groups = json!([
        {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cpu:gloo", "ranks": [], "group_size": 2},
        {"pg_name": (rank + 1).to_string(), "backend_config": "cpu:gloo", "ranks": [rank], "group_size": 1},
    ]);
    in_groups(rank, &groups, (calls, threads))
}

/// A rank of a job of two, without a group of its own.
fn of_all(rank: i64, calls: &[Call]) -> RankedTrace {
    let all = json!([{"pg_name": "0", "backend_config": "cpu:gloo", "ranks": [], "group_size": 2}]);
    in_groups(rank, &all, (calls, &|_| 9))
}

fn in_groups(rank: i64, groups: &Value, (calls, threads): (&[Call], Threads<'_>)) -> RankedTrace {
    let node = |id: i64, name: &str, parent: i64, inputs: Value| {
        json!({"id": id, "name": name, "ctrl_deps": parent, "inputs": inputs,
            "outputs": {"values": [], "shapes": [], "types": []},
            "attrs": [{"name": "rf_id", "value": id}, {"name": "tid", "value": 1}]})
    };
    let none = || json!({"values": [], "shapes": [], "types": []});
    let text = |value: &Value| json!({"values": [value.to_string()], "shapes": [[]], "types": ["String"]});
    let mut nodes = vec![
        node(1, "[pytorch|profiler|execution_trace|process]", 1, none()),
        node(2, "## process_group:init ##", 1, text(groups)),
    ];
    let mut events = vec![json!({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1,
        "ts": 0, "dur": calls.len() as i64 * 100 + 90})];
    for (at, (name, elems, ran)) in calls.iter().enumerate() {
        let (id, start) = (at as i64 * 2 + 10, at as i64 * 100 + 10);
        let tensor = json!([7, 8, 0, elems, 4, "cpu"]);
        let root = json!({"values": [[tensor], "<Object>", 0, 0, false, -1], "shapes": [[[elems]], [], [], [], [], []],
            "types": [LIST, "Object", "Int", "Int", "Bool", "Int"]});
        let alike = json!({"values": [[tensor], "<Object>", "<Object>", "<None>", false, -1],
            "shapes": [[[elems]], [], [], [], [], []],
            "types": [LIST, "Object", "Object", "None", "Bool", "Int"]});
        let scattered = json!({"values": [[tensor], [[tensor, tensor]], "<Object>", 1, true, -1],
            "shapes": [[[elems]], [[[elems], [elems]]], [], [], [], []],
            "types": [LIST, "GenericList[GenericList[Tensor(float),Tensor(float)]]", "Object", "Int", "Bool", "Int"]});
        let inputs = match *name {
            "broadcast" => root,
            "scatter" => scattered,
            _ => alike,
        };
        let operator = format!("c10d::{name}_");
        let args = json!({"Record function id": id, "Input Dims": [[[elems]]], "Input type": ["TensorList"]});
        events.push(json!({"ph": "X", "cat": "cpu_op", "name": operator, "pid": 1, "tid": 1, "ts": start, "dur": 20,
            "args": args}));
        if *ran {
            let run = format!("gloo:{}", name.replace("allreduce", "all_reduce"));
            nodes.push(node(id, &operator, 1, inputs));
            let tensor = json!({"values": [tensor], "shapes": [[elems]], "types": ["Tensor(float)"]});
            nodes.push(node(id + 1, &run, 1, tensor));
            let args = json!({"Record function id": id + 1, "Input Dims": [[elems]], "Input type": ["float"]});
            events.push(
                json!({"ph": "X", "cat": "user_annotation", "name": run, "pid": 1, "tid": threads(at), "ts": start + 25,
                "dur": 30, "args": args}),
            );
        }
    }
    let kineto = json!({"distributedInfo": {"backend": "gloo", "rank": rank, "world_size": 2, "pg_config": [
        {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}]}, "traceEvents": events});
    let execution = json!({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes});
    let texts = [kineto.to_string(), execution.to_string()];
    let trace = read(texts.iter().map(|text| Input::new(text.as_bytes())), Limits::default()).unwrap();
    (Some(rank), Arc::new(LinkedTrace::new(trace)))
}

fn settled(traces: &[RankedTrace]) -> Vec<Collectives> {
    let found = settled_collectives(traces, InferenceSpan::Recording);
    found.into_iter().map(|settled| settled.unwrap().collectives).collect()
}

/// The size of a communication's group, whether it is of one rank alone, and the number of what it
/// shares with other ranks.
type Matched = (Option<i64>, bool, Option<u32>);

fn matched(traces: &[RankedTrace]) -> Vec<Vec<Matched>> {
    let job = JobRanks::new(traces.to_vec(), false);
    let row = |(row, shared): (&Collective, &Option<u32>)| (row.facts.group_size, row.is_local, *shared);
    let members = job.members.iter();
    members.map(|member| member.collectives().rows.iter().zip(&member.shared).map(row).collect()).collect()
}

const COMMON: [Call; 2] = [("allreduce", 4_096, true), ("broadcast", 4_096, true)];

#[test]
fn calls_of_a_group_of_one_rank_are_told_from_those_of_all() {
    let own = [("allreduce", 10, true), ("broadcast", 10, true), COMMON[0], COMMON[1]];
    let traces = [gloo(0, &own), gloo(1, &COMMON)];
    let common = [(Some(2), false, Some(0)), (Some(2), false, Some(1))];
    let alone = (Some(1), true, None);
    assert_eq!(matched(&traces), [vec![alone, alone, common[0], common[1]], common.to_vec()]);
}

#[test]
fn a_graph_and_a_param_file_have_the_inferred_groups() {
    let own = [("allreduce", 10, true), COMMON[0], COMMON[1]];
    let traces = [gloo(0, &own), gloo(1, &COMMON)];
    for (found, (_, linked)) in settled(&traces).iter().zip(&traces) {
        let chakra = chakra_from_collectives(linked, found).unwrap();
        let is_collective = |node: &&kinetoscope::chakra::ChakraNode| node.node_type.name() == Some("COMM_COLL_NODE");
        assert_eq!(chakra.nodes.iter().filter(is_collective).count(), 2);
        let mut param = Vec::new();
        let counts = write_param_collectives(linked, found, &mut param).unwrap();
        let param: Vec<Value> = serde_json::from_slice(&param).unwrap();
        let of_all = param.iter().filter(|row| row["comms"] != json!("init") && row["pg_id"] == json!(0));
        assert_eq!((of_all.count(), counts.num_groupless), (2, 0));
    }
    let (_, single) = of_all(0, &COMMON);
    assert_eq!(write_param_collectives(&single, single.collectives(), &mut Vec::new()).unwrap().num_groupless, 0);
    let mut alone = Vec::new();
    let counts = write_param_collectives(&traces[0].1, traces[0].1.collectives(), &mut alone).unwrap();
    assert_eq!(counts.num_groupless, 3);
}

#[test]
fn calls_that_each_rank_makes_alone_are_no_communication() {
    let traces = [0, 1].map(|rank| gloo(rank, &[COMMON[0], ("allreduce", 7 + rank, true), COMMON[1]]));
    let of_rank = [(Some(2), false, Some(0)), (Some(1), true, None), (Some(2), false, Some(1))];
    assert_eq!(matched(&traces), [of_rank, of_rank]);
}

/// Like calls on four threads, of which gloo gives a group two: those on 3 and 4 are of another.
#[test]
fn threads_tell_calls_of_two_groups_apart() {
    let like = [("broadcast", 64, true); 8];
    let threads = |at: usize| [1, 2, 3, 1, 2, 4, 1, 2][at];
    let other = |at: usize| [1, 1, 3, 2, 2, 3, 1, 2][at];
    let shared = |calls: &[Call]| {
        let traces = [on_threads(0, calls, &threads), on_threads(1, calls, &other)];
        matched(&traces)
            .remove(0)
            .into_iter()
            .map(|(size, is_local, shared)| (size, is_local, shared.is_some()))
            .collect::<Vec<_>>()
    };
    // Nothing says which of both groups has two ranks.
    assert!(shared(&like).into_iter().all(|row| row == (None, false, false)));
    // A root at place 1 of a group does.
    let mut certain = like;
    certain[0] = ("scatter", 64, true);
    let (all, alone) = ((Some(2), false, true), (Some(1), true, false));
    assert_eq!(shared(&certain), [all, all, alone, all, all, alone, all, all]);
}

#[test]
fn a_type_that_one_rank_does_not_record_tells_nothing() {
    let call = |dtype: Option<&str>, root| GroupCall {
        collective: String::from("scatter"),
        dtype: dtype.map(str::to_owned),
        root: Some(root),
        ..GroupCall::default()
    };
    let candidates = [vec![0, 1], vec![0], vec![1]].map(|members| CandidateGroup { size: members.len(), members });
    let inferred = |one, other| infer_groups(&[vec![one], vec![other]], &candidates).of_call.concat();
    assert_eq!(inferred(call(Some("float"), 0), call(None, 0)), [Some(0), Some(0)]);
    assert_eq!(inferred(call(Some("float"), 0), call(Some("int"), 0)), [Some(1), Some(2)]);
    assert_eq!(inferred(call(None, 1), call(None, 0)), [None, Some(2)]);
}

#[test]
fn calls_that_no_group_explains_stay_open() {
    // Rank 0 may reduce alone, but rank 1 has no group for that.
    let traces = [gloo(0, &[COMMON[0], ("broadcast", 5, true)]), of_all(1, &[("broadcast", 5, true), COMMON[0]])];
    let shared: Vec<_> = matched(&traces).concat().into_iter().map(|(.., shared)| shared).collect();
    assert_eq!(shared, [None; 4]);
}

#[test]
fn a_call_that_raised_an_error_matches_nothing() {
    let traces = [0, 1].map(|rank| gloo(rank, &[COMMON[0], ("allreduce", 3, false), COMMON[1]]));
    let of_rank = matched(&traces).remove(0);
    assert_eq!(of_rank.into_iter().map(|(.., shared)| shared).collect::<Vec<_>>(), [Some(0), Some(1), None]);
    let rows = &traces[0].1.collectives().rows;
    assert_eq!(rows.iter().map(|row| row.is_failed).collect::<Vec<_>>(), [false, false, true]);
}

/// A rank with records that tell only how large their group is.
fn sized(rank: i64, num_ranks: i64, size: i64, seq: Option<i64>) -> RankedTrace {
    let mut args = json!({"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 50, "Out msg nelems": 50,
        "Group size": size});
    if let Some(seq) = seq {
        args["Seq"] = json!(seq);
    }
    let event = json!({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 10,
        "dur": 5, "args": args});
    let text = json!({"distributedInfo": {"rank": rank, "world_size": num_ranks}, "traceEvents": [event]}).to_string();
    let trace = read([Input::new(text.as_bytes())], Limits::default()).unwrap();
    (Some(rank), Arc::new(LinkedTrace::new(trace)))
}

#[test]
fn a_collective_has_no_more_traces_than_its_group_has_ranks() {
    for seq in [None, Some(4)] {
        let shared = |ranks: &[i64], size: i64| -> Vec<usize> {
            let traces: Vec<_> = ranks.iter().map(|rank| sized(*rank, 4, size, seq)).collect();
            JobRanks::new(traces, false).shared.iter().map(|shared| shared.rows.len()).collect()
        };
        assert_eq!(shared(&[0, 1, 2, 3], 2), [0; 0]);
        // Nothing tells whether these two ranks are of one group.
        assert_eq!(shared(&[0, 2], 2), [0; 0]);
        assert_eq!(shared(&[0, 1, 2, 3], 4), [4]);
        assert_eq!(shared(&[0, 2], 4), [2]);
    }
}

#[test]
fn the_root_of_a_gather_gets_something_from_all_but_how_much_only_a_known_group_tells() {
    for (rank, size, expected) in [(0, None, None), (0, Some(2), Some(8)), (1, Some(2), Some(0))] {
        // A list of lists looks empty in an event.
        let event = json!({"ph": "X", "cat": "cpu_op", "name": "c10d::gather_", "pid": 1, "tid": 1, "ts": 10, "dur": 5,
            "args": {"Input Dims": [[], [[4]], [], [], [], []], "Concrete Inputs": ["", "", "", "0", "False", "-1"],
                "Input type": ["ScalarList", "TensorList", "", "Scalar", "Scalar", "Scalar"], "Group size": size}});
        let record = json!({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 11,
            "dur": 2, "args": {"Collective name": "gather", "Group size": size, "Rank": 0}});
        let events = if size.is_some() { vec![event, record] } else { vec![event] };
        let text = json!({"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events}).to_string();
        let linked = LinkedTrace::new(read([Input::new(text.as_bytes())], Limits::default()).unwrap());
        assert_eq!(linked.collectives().rows[0].facts.out_elems, expected, "rank {rank} of {size:?}");
    }
}
