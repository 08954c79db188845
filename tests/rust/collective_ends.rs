//! Tests the source and destination of a collective where only operator arguments state them.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::link::rank::JobRanks;
use kinetoscope::replay::write_param_comms;
use serde_json::{Value, json};

use crate::files;

/// Operator arguments as Kineto writes them: a text each, empty for non-numbers.
const GIVEN: [(&str, &[&str]); 6] = [
    ("c10d::send", &["", "", "1", "0"]),
    ("c10d::recv_", &["", "", "1", "0"]),
    ("c10d::broadcast_", &["", "", "1", "0", "False", "-1"]),
    ("c10d::reduce_", &["", "", "", "1", "0", "-1"]),
    ("c10d::gather_", &["[]", "", "", "1", "-1"]),
    ("c10d::scatter_", &["", "[]", "", "1", "False", "-1"]),
];

fn recorded(info: &Value, given: &[(&str, &[&str])]) -> LinkedTrace {
    let event = |(at, (name, inputs)): (usize, &(&str, &[&str]))| {
        json!({"ph": "X", "name": name, "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 10 * (at + 1), "dur": 5,
            "args": {"Concrete Inputs": inputs, "Input Dims": [[8]], "Input type": ["float"]}})
    };
    let events: Vec<_> = given.iter().enumerate().map(event).collect();
    LinkedTrace::new(files::trace(&json!({"distributedInfo": info, "traceEvents": events}).to_string()))
}

/// A rank's job with groups of these ranks.
fn job(rank: i64, groups: &[&[i64]]) -> Value {
    let group = |(at, ranks): (usize, &&[i64])| json!({"pg_name": at.to_string(), "ranks": ranks});
    json!({"rank": rank, "world_size": 8, "pg_config": groups.iter().enumerate().map(group).collect::<Vec<_>>()})
}

/// The source, the destination and the root of each communication.
fn ends(linked: &LinkedTrace) -> Vec<[Option<i64>; 3]> {
    linked.collectives().rows.iter().map(|row| [row.src_rank, row.dst_rank, row.root_rank]).collect()
}

#[test]
fn an_operator_says_its_root_and_its_other_side() {
    let found = ends(&recorded(&job(0, &[&[0, 1], &[0, 1]]), &GIVEN));
    let root = [None, None, Some(1)];
    assert_eq!(found, [[Some(0), Some(1), None], [Some(1), Some(0), None], root, root, root, root]);
    // Of who sends nothing is said.
    let any = recorded(&job(0, &[&[0, 1]]), &[("c10d::recv_any_source_", &["", "", "7"])]);
    assert_eq!(ends(&any), [[None, Some(0), None]]);
}

#[test]
fn its_node_says_it_where_the_event_does_not() {
    let node = |id: u64, name: &str, values: Value| {
        json!({"id": id, "name": name, "ctrl_deps": 1, "attrs": [],
            "inputs": {"values": values, "shapes": [], "types": []}})
    };
    let nodes = [
        node(5, "c10d::send", json!([[[7, 8, 0, 4, 4, "cpu"]], "<Object>", 1, 0])),
        node(6, "c10d::reduce_", json!([[[7, 8, 0, 4, 4, "cpu"]], "<Object>", "<Object>", 1, 0, -1])),
        node(7, "c10d::gather_", json!([[], [], "<Object>", "<Object>", -1])),
    ];
    let info = json!([{"pg_name": "0", "ranks": [3, 5]}]).to_string();
    let group = json!({"id": 3, "name": "## process_group:init ##", "ctrl_deps": 1, "attrs": [],
        "inputs": {"values": [info], "shapes": [[]], "types": ["String"]}});
    let nodes: Vec<_> = [group].into_iter().chain(nodes).collect();
    let linked = LinkedTrace::new(files::trace(&json!({"nodes": nodes}).to_string()));
    assert_eq!(ends(&linked), [[None, Some(5), None], [None, None, Some(5)], [None, None, None]]);
}

#[test]
fn a_place_is_a_rank_where_all_groups_that_it_may_be_of_agree() {
    let send: [(&str, &[&str]); 1] = [GIVEN[0]];
    let to = |info: &Value| ends(&recorded(info, &send))[0][1];
    assert_eq!(to(&job(4, &[&[0, 2, 4], &[1, 3, 5]])), Some(2), "this rank is not in the other");
    assert_eq!(to(&job(0, &[&[0, 2, 4], &[0, 2]])), Some(2));
    assert_eq!(to(&job(0, &[&[0, 2, 4], &[0, 4]])), None);
    assert_eq!(to(&job(0, &[&[0, 2, 4], &[0]])), Some(2), "the other has no such place");
    assert_eq!(to(&json!({"rank": 0, "world_size": 2})), Some(1));
    assert_eq!(to(&json!({"rank": 0, "world_size": 4})), None, "its groups are not recorded");
}

#[test]
fn who_sends_and_who_receives_are_found_to_be_one() {
    let send = recorded(&job(0, &[&[0, 1]]), &[GIVEN[0]]);
    let recv = recorded(&job(1, &[&[0, 1]]), &[("c10d::recv_", &["", "", "0", "0"])]);
    let mut out = Vec::new();
    write_param_comms(&send, &mut out).unwrap();
    let written: Vec<Value> = serde_json::from_slice(&out).unwrap();
    let written = written.iter().find(|operation| operation["comms"] == "send").unwrap();
    assert_eq!((&written["src_rank"], &written["dst_rank"]), (&json!(0), &json!(1)));
    let both = JobRanks::new(vec![(Some(0), Arc::new(send)), (Some(1), Arc::new(recv))], false);
    assert_eq!(both.shared.iter().map(|shared| shared.rows.clone()).collect::<Vec<_>>(), [[(0, 0), (1, 0)]]);
}
