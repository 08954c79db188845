//! Tests calls that one of two files lacks.

use kinetoscope::analyze::{UnlinkedReason, VerdictState, coverage, health, verdict};
use kinetoscope::{Input, Limits, LinkedTrace, read};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Iterations of a loop: each with operators of one thread, in both files.
struct Loop {
    num_iterations: u64,
    has_ids: bool,
}

const OPERATORS: [&str; 5] = ["aten::linear", "aten::mm", "aten::relu", "aten::mm", "aten::sum"];

const PLENTY: Loop = Loop { num_iterations: 6, has_ids: true };

impl Loop {
    fn calls(&self) -> impl Iterator<Item = (u64, u64, String)> + '_ {
        (0..self.num_iterations).flat_map(|iteration| {
            let names = OPERATORS.iter().map(|name| (*name).to_owned());
            let step = format!("ProfilerStep#{iteration}");
            let first = iteration * 10 + 1;
            std::iter::once((first, iteration, step))
                .chain(names.enumerate().map(move |(at, name)| (first + 1 + at as u64, iteration, name)))
        })
    }

    fn events(&self) -> Vec<Value> {
        let event = |(id, iteration, name): (u64, u64, String)| {
            let is_step = name.starts_with("ProfilerStep");
            let (start, dur) = if is_step { (iteration * 1_000, 990) } else { (iteration * 1_000 + id % 10 * 50, 40) };
            json!({"ph": "X", "cat": if is_step { "user_annotation" } else { "cpu_op" }, "name": name, "pid": 1,
                "tid": 1, "ts": start, "dur": dur, "args": if self.has_ids { json!({"Record function id": id}) } else { json!({}) }})
        };
        self.calls().map(event).collect()
    }

    fn nodes(&self) -> Vec<Value> {
        let node = |(id, _, name): (u64, u64, String)| {
            let scope = if name.starts_with("ProfilerStep") { 7 } else { 0 };
            let parent = if scope == 7 { 1 } else { id / 10 * 10 + 1 + 100 };
            json!({"id": id + 100, "name": name, "ctrl_deps": parent,
                "inputs": {"values": [], "shapes": [], "types": []},
                "outputs": {"values": [], "shapes": [], "types": []},
                "attrs": [{"name": "rf_id", "type": "uint64", "value": id}, {"name": "tid", "type": "uint64", "value": 1},
                    {"name": "scope", "type": "uint64", "value": scope}]})
        };
        let root = json!({"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []});
        std::iter::once(root).chain(self.calls().map(node)).collect()
    }
}

fn linked(events: &[Value], nodes: &[Value]) -> LinkedTrace {
    let texts = [json!({"traceEvents": events}), json!({"schema": "1.1.1-chakra.0.0.4", "nodes": nodes})];
    let texts = texts.map(|document| document.to_string());
    LinkedTrace::new(read(texts.iter().map(|text| Input::new(text.as_bytes())), Limits::default()).unwrap())
}

/// Counts of the defects about calls that one file lacks: operators without node, nodes without
/// event.
fn missing(linked: &LinkedTrace) -> [u64; 2] {
    let rows = health(linked);
    ["operator_without_node", "node_without_event"]
        .map(|kind| rows.iter().find(|row| row.kind == kind).map_or(0, |row| row.count))
}

/// Removes some of the calls of a name.
fn without(list: &[Value], name: &str, is_removed: impl Fn(usize) -> bool) -> Vec<Value> {
    let mut at = 0;
    let is_kept = |call: &&Value| {
        let is_named = call["name"] == name;
        at += usize::from(is_named);
        !is_named || !is_removed(at - 1)
    };
    list.iter().filter(is_kept).cloned().collect()
}

#[test]
fn two_whole_files_lack_nothing() {
    for has_ids in [true, false] {
        let whole = Loop { has_ids, ..PLENTY };
        let linked = linked(&whole.events(), &whole.nodes());
        assert_eq!(missing(&linked), [0, 0]);
        assert_eq!(verdict(&linked).state, VerdictState::Complete);
    }
}

#[test]
fn nodes_removed_from_the_execution_trace_are_a_defect() {
    for has_ids in [true, false] {
        let whole = Loop { has_ids, ..PLENTY };
        let nodes = without(&whole.nodes(), "aten::mm", |at| at % 3 == 1);
        let linked = linked(&whole.events(), &nodes);
        assert_eq!(missing(&linked), [4, 0], "{:?}", coverage(&linked));
        let verdict = verdict(&linked);
        assert_eq!(verdict.state, VerdictState::Incomplete);
        let problem = verdict.problems.iter().find(|problem| problem.name == "operator_without_node").unwrap();
        assert_eq!(problem.count, 4);
        assert!(problem.message.contains("4 × aten::mm"), "{}", problem.message);
        let first = problem.events[0] as usize;
        assert_eq!(linked.trace.event_name(first), "aten::mm");
    }
}

#[test]
fn events_removed_from_the_kineto_trace_are_a_defect() {
    let events = without(&PLENTY.events(), "aten::relu", |at| at == 2 || at == 3);
    let linked = linked(&events, &PLENTY.nodes());
    assert_eq!(missing(&linked), [0, 2]);
    let found = verdict(&linked);
    assert_eq!((found.state, found.problems[0].name), (VerdictState::Incomplete, "node_without_event"));
    assert!(found.problems[0].message.contains("node 1"), "{}", found.problems[0].message);
}

#[test]
fn all_operators_of_a_name_may_be_missing() {
    let linked = linked(&PLENTY.events(), &without(&PLENTY.nodes(), "aten::relu", |_| true));
    assert_eq!(missing(&linked), [6, 0]);
    let reasons: Vec<_> = coverage(&linked).operators.unlinked.into_iter().collect();
    assert_eq!(reasons, [(UnlinkedReason::NameAbsent, 6)]);
}

#[test]
fn a_shorter_window_of_the_execution_trace_is_a_reason_and_no_defect() {
    let nodes: Vec<_> =
        PLENTY.nodes().into_iter().filter(|node| (121..150).contains(&node["id"].as_u64().unwrap())).collect();
    let linked = linked(&PLENTY.events(), &nodes);
    assert_eq!(missing(&linked), [0, 0]);
    let reasons = coverage(&linked).operators.unlinked;
    assert!(reasons.contains_key(&UnlinkedReason::OutsideWindow), "{reasons:?}");
    assert!(!reasons.contains_key(&UnlinkedReason::Unmatched), "{reasons:?}");
}

#[test]
fn a_pause_of_the_execution_trace_is_a_reason_and_no_defect() {
    let in_pause = |node: &Value| (121..140).contains(&node["id"].as_u64().unwrap());
    let nodes: Vec<_> = PLENTY.nodes().into_iter().filter(|node| !in_pause(node)).collect();
    let linked = linked(&PLENTY.events(), &nodes);
    assert_eq!(missing(&linked), [0, 0]);
    assert_eq!(coverage(&linked).operators.unlinked.get(&UnlinkedReason::OutsideWindow), Some(&10));
}

#[test]
fn calls_under_way_as_a_recording_ends_are_no_defect() {
    // Both files end inside `aten::linear`: each lacks the call that was open as it stopped.
    let (mut events, mut nodes) = (PLENTY.events(), PLENTY.nodes());
    events.retain(|event| event["args"]["Record function id"].as_u64().unwrap() < 53);
    nodes.retain(|node| node["id"].as_u64().unwrap() < 153);
    for (id, name, parent) in [(60_u64, "aten::outer", 1_u64), (61, "aten::inner", 160), (62, "aten::inner", 160)] {
        let attrs = json!([{"name": "rf_id", "value": id}, {"name": "tid", "value": 1}, {"name": "scope", "value": 0}]);
        nodes.push(json!({"id": id + 100, "name": name, "ctrl_deps": parent, "attrs": attrs}));
        let (start, dur) = if id == 60 { (6_000, 500) } else { (6_000 + (id - 60) * 100, 50) };
        events.push(json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur,
            "args": {"Record function id": id}}));
    }
    let is_outer = |call: &&Value| call["name"] != "aten::outer";
    let open_node: Vec<_> = nodes.iter().filter(is_outer).cloned().collect();
    assert_eq!(missing(&linked(&events, &open_node)), [0, 0]);
    let open_event: Vec<_> = events.iter().filter(is_outer).cloned().collect();
    assert_eq!(missing(&linked(&open_event, &nodes)), [0, 0]);
}

#[test]
fn another_run_is_told_once_and_not_call_by_call() {
    let renamed = |node: Value| {
        let mut node = node;
        if node["name"] != "aten::mm" && node["id"] != 1 {
            node["name"] = json!("aten::mm");
        }
        node
    };
    let nodes: Vec<_> = PLENTY.nodes().into_iter().map(renamed).collect();
    let linked = linked(&PLENTY.events(), &nodes);
    assert_eq!(missing(&linked), [0, 0]);
    assert!(health(&linked).iter().any(|row| row.kind == "foreign_execution_trace"));
}

#[test]
fn events_without_record_ids_have_that_reason() {
    let mut events = PLENTY.events();
    events[8]["args"] = json!({});
    let linked = linked(&events, &PLENTY.nodes());
    // The node of that id has no event, and nothing says whether that is this one.
    assert_eq!(coverage(&linked).operators.unlinked.get(&UnlinkedReason::NoRecordId), Some(&1));
    assert_eq!(missing(&linked)[0], 0);
}

proptest! {
    #[test]
    fn each_removed_call_is_counted_once(
        removed in prop::collection::btree_set(0..30_usize, 0..12), is_node in any::<bool>()
    ) {
        // The first and the last operator stay, so that the window is known.
        let is_removed = |at: usize| at > 0 && at < 29 && removed.contains(&at);
        let keep = |list: Vec<Value>| {
            let mut at = 0;
            let mut kept = Vec::new();
            for call in list {
                let is_operator = call["name"].as_str().unwrap().starts_with("aten::");
                if !is_operator || !is_removed(at) {
                    kept.push(call);
                }
                at += usize::from(is_operator);
            }
            kept
        };
        let whole = PLENTY;
        let linked = if is_node {
            linked(&whole.events(), &keep(whole.nodes()))
        } else {
            linked(&keep(whole.events()), &whole.nodes())
        };
        let num_removed = (0..30).filter(|at| is_removed(*at)).count() as u64;
        prop_assert_eq!(missing(&linked), if is_node { [num_removed, 0] } else { [0, num_removed] });
    }
}
