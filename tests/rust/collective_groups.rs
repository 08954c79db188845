//! Tests process groups that no name tells: addresses that differ from rank to rank, and groups of
//! one rank.

use std::sync::Arc;

use kinetoscope::analyze::RankedTrace;
use kinetoscope::link::rank::JobRanks;
use kinetoscope::write::chakra::{chakra_from_trace, comm_groups};
use kinetoscope::{Input, Limits, LinkedTrace, read};
use serde_json::{Value, json};

use crate::job::{asked, column, rows};
use crate::worker::assert_alike;

/// A call: the address of its group, the group's size, its number, and its elements.
type Call = (i64, i64, i64, i64);

/// A rank whose all-reduces run on a device, with its Execution Trace of schema 1.0.1 or without. A
/// call of one rank launches nothing. `late` moves the second call.
fn rank(rank: i64, calls: &[Call], late: i64, with_nodes: bool) -> RankedTrace {
    let (mut events, mut nodes, mut id) = (Vec::new(), Vec::new(), 2);
    // Each call of the three is inside of the one before.
    let mut put = |name: &str, start: i64, dur: i64, inputs: Value, types: Value, id: i64| {
        let parent = if name.starts_with("c10d") { 1 } else { id - 1 };
        events.push(json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur,
            "args": {"External id": id}}));
        nodes.push(
            json!({"name": name, "id": id, "rf_id": id, "parent": parent, "tid": 1, "scope": 0, "inputs": inputs,
            "input_shapes": [], "input_types": types, "outputs": [], "output_shapes": [], "output_types": []}),
        );
    };
    let mut devices = Vec::new();
    for (at, (address, size, seq, elems)) in calls.iter().enumerate() {
        let start = 1_000 * (at as i64 + 1) + if at == 1 { late } else { 0 };
        let tensors = json!([[5, 6, 0, elems, 2, "cuda:0"]]);
        let list = "GenericList[Tensor(c10::Half)]";
        put("c10d::allreduce_", start, 60, json!([tensors]), json!([list]), id);
        let inputs = json!([tensors, seq, address, 0, "allreduce", [], [], size]);
        let types = json!([list, "Int", "Int", "Int", "String", "GenericList[]", "GenericList[]", "Int"]);
        put("record_param_comms", start + 2, 50, inputs, types, id + 1);
        put("nccl:all_reduce", start + 4, 40, json!([tensors[0]]), json!(["Tensor(c10::Half)"]), id + 2);
        id += 3;
        if *size > 1 {
            devices.push(json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                "ts": start + 10, "dur": 5, "args": {"correlation": id}}));
            // All ranks end at once.
            let end = 1_000 * (at as i64 + 1) + 500;
            devices.push(json!({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce()", "pid": 0, "tid": 9,
                "ts": start + 20, "dur": end - start - 20, "args": {"correlation": id, "device": 0, "stream": 9}}));
        }
    }
    events.extend(devices);
    let kineto = json!({"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events}).to_string();
    let root = json!({"name": "[pytorch|profiler|execution_trace|process]", "id": 1, "rf_id": 1, "parent": 1,
        "tid": 1, "scope": 0, "inputs": [], "input_shapes": [], "input_types": [], "outputs": [],
        "output_shapes": [], "output_types": []});
    nodes.insert(0, root);
    let execution = json!({"schema": "1.0.1", "nodes": nodes}).to_string();
    let texts = if with_nodes { vec![kineto, execution] } else { vec![kineto] };
    let trace = read(texts.iter().map(|text| Input::new(text.as_bytes())), Limits::default()).unwrap();
    (Some(rank), Arc::new(LinkedTrace::new(trace)))
}

fn shared(traces: &[RankedTrace]) -> usize {
    JobRanks::new(traces.to_vec(), false).shared.len()
}

#[test]
fn a_call_of_one_rank_spoils_nothing_and_is_no_communication() {
    for with_nodes in [true, false] {
        let calls = |address: i64| [(address, 2, 337, 1_024), (address, 2, 338, 2_048), (address + 9, 1, 5, 1)];
        let traces = [rank(0, &calls(700), 0, with_nodes), rank(1, &calls(900), 300, with_nodes)];
        assert_eq!(shared(&traces), 2, "with nodes: {with_nodes}");
        let answer = asked("collectives", &traces, &json!({}));
        assert_eq!(json!(column(&answer, "collective_skew", "skew_ns")), json!([0, 300_000]));
        assert_eq!(column(&answer, "collectives", "rank").len(), 4);
        let stragglers = asked("stragglers", &traces, &json!({}));
        let found = rows(&stragglers, "stragglers", &["rank", "num_collectives", "caused_wait_ns"]);
        assert_eq!(json!(found), json!([[1, 2, 300_000], [0, 2, 0]]), "with nodes: {with_nodes}");
        assert_alike(&traces, &json!({}));
    }
}

#[test]
fn a_graph_has_no_communication_of_one_rank() {
    let (_, linked) = rank(0, &[(700, 2, 337, 1_024), (709, 1, 5, 1)], 0, true);
    let chakra = chakra_from_trace(&linked).unwrap();
    let communicates =
        chakra.nodes.iter().filter(|node| node.node_type.name().is_some_and(|name| name.starts_with("COMM")));
    assert_eq!(communicates.count(), 1);
    let counted: Vec<_> = chakra.warnings.iter().map(|warning| (warning.kind.name(), warning.count)).collect();
    assert!(counted.contains(&("local_collective", 1)), "{counted:?}");
}

#[test]
fn several_groups_match_by_their_calls() {
    // Groups of two and of all four, in another order on each rank.
    let calls = |rank: i64| {
        let (pair, all) = (rank * 10 + 1, rank * 10 + 2);
        [(all, 4, 1, 64), (pair, 2, rank / 2 * 100 + 7, 32 + rank / 2), (all, 4, 2, 128)]
    };
    let traces: Vec<_> = (0..4).map(|number| rank(number, &calls(number), 0, true)).collect();
    let job = JobRanks::new(traces, false);
    let members: Vec<Vec<u32>> =
        job.shared.iter().map(|shared| shared.rows.iter().map(|(member, _)| *member).collect()).collect();
    assert_eq!(members, [vec![0, 1, 2, 3], vec![0, 1], vec![0, 1, 2, 3], vec![2, 3]]);
}

#[test]
fn groups_that_look_alike_are_not_guessed() {
    // Two pairs with equal numbers and sizes: nothing tells who belongs to whom.
    let calls = |rank: i64| [(rank * 10 + 1, 2, 7, 32), (rank * 10 + 2, 4, 1, 64)];
    let traces: Vec<_> = (0..4).map(|number| rank(number, &calls(number), 0, true)).collect();
    let job = JobRanks::new(traces, false);
    let sizes: Vec<_> = job.shared.iter().map(|shared| shared.rows.len()).collect();
    assert_eq!(sizes, [4]);
}

#[test]
fn a_kernel_that_is_lost_makes_no_call_local() {
    // The second call of rank 1 launched, but its kernel is not in the file.
    let calls = [(0, 2, 1, 8), (0, 2, 2, 8)];
    let (own, linked) = rank(1, &calls, 0, false);
    let mut trace = linked.trace.clone();
    let kernel = (0..trace.events.len()).rev().find(|row| trace.is_on_device(*row)).unwrap();
    trace.events.kind[kernel] = kinetoscope::EventKind::Other;
    let lossy = (own, Arc::new(LinkedTrace::new(trace)));
    assert!(lossy.1.collectives().rows.iter().all(|row| !row.is_local));
}

/// A gloo rank of two, which also has a group of its own: a broadcast from rank 0, and a message.
fn with_own_group(rank: i64) -> LinkedTrace {
    let groups =
        json!([{"pg_name": "0", "pg_size": 2, "ranks": [0, 1]}, {"pg_name": "1", "pg_size": 1, "ranks": [rank]}]);
    let call = |name: &str, start: i64, inputs: Value| {
        json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": 5,
            "args": {"Concrete Inputs": inputs}})
    };
    let message = if rank == 0 { "c10d::send" } else { "c10d::recv_" };
    let events = [
        call("c10d::broadcast_", 10, json!(["", "", "0", "0", "False", "-1"])),
        call(message, 20, json!(["", "", (1 - rank).to_string(), "0"])),
    ];
    let document =
        json!({"distributedInfo": {"rank": rank, "world_size": 2, "pg_config": groups}, "traceEvents": events});
    LinkedTrace::new(read([Input::new(document.to_string().as_bytes())], Limits::default()).unwrap())
}

#[test]
fn a_group_of_one_rank_hides_no_root_and_no_peer() {
    for rank in [0, 1] {
        let linked = with_own_group(rank);
        let rows = &linked.collectives().rows;
        assert_eq!(rows[0].root_rank, Some(0), "rank {rank}");
        assert_eq!((rows[1].src_rank, rows[1].dst_rank), (Some(0), Some(1)), "rank {rank}");
    }
}

/// A record with these arguments beside the usual ones.
fn recorded(world: Option<i64>, args: &Value) -> LinkedTrace {
    let mut all = json!({"Collective name": "allreduce", "Process Group Name": "5", "Group size": 4});
    all.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
    let event = json!({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 1, "dur": 2,
        "args": all});
    let document = json!({"distributedInfo": {"rank": 0, "world_size": world}, "traceEvents": [event]});
    LinkedTrace::new(read([Input::new(document.to_string().as_bytes())], Limits::default()).unwrap())
}

#[test]
fn ranks_of_a_group_are_known_by_their_spacing_or_because_it_has_all() {
    let groups = |linked: &LinkedTrace, num_ranks| comm_groups(linked, num_ranks);
    assert_eq!(groups(&recorded(Some(4), &json!({})), None), r#"{"5":[0,1,2,3]}"#);
    assert_eq!(groups(&recorded(None, &json!({})), Some(4)), r#"{"5":[0,1,2,3]}"#);
    assert_eq!(groups(&recorded(Some(8), &json!({})), None), "{}");
    let spaced = json!({"Global rank start": 1, "Global rank stride": 2});
    assert_eq!(groups(&recorded(Some(8), &spaced), None), r#"{"5":[1,3,5,7]}"#);
    // Kineto cut the list, and the spacing has no end.
    let cut = json!({"Process Group Ranks": "[0, 2, ...]", "Global rank start": 0, "Global rank stride": -1});
    assert_eq!(groups(&recorded(Some(8), &cut), None), "{}");
    let huge = json!({"Global rank start": 1, "Global rank stride": 1, "Group size": 1_i64 << 60});
    assert_eq!(groups(&recorded(None, &huge), None), "{}");
}
