//! Execution Traces with times and device work.

use kinetoscope::LinkedTrace;
use kinetoscope::write::linked::{Rules, Tally, write_linked};
use serde_json::{Value, json};

use crate::files;

const BOTH: [Rules; 2] = [Rules::Exact, Rules::LikeChakra];

fn written(linked: &LinkedTrace, rules: Rules) -> (Vec<Value>, Tally) {
    let mut out = Vec::new();
    let tally = write_linked(linked, rules, &mut out).expect("memory to write to");
    let mut document: Value = serde_json::from_slice(&out).expect("strict JSON");
    (serde_json::from_value(document["nodes"].take()).expect("nodes"), tally)
}

fn linked(events: &Value, nodes: &Value) -> LinkedTrace {
    let inputs = [json!({"traceEvents": events}).to_string(), json!({"schema": "x", "nodes": nodes}).to_string()];
    let inputs = inputs.each_ref().map(|text| kinetoscope::Input::new(text.as_bytes()));
    LinkedTrace::new(kinetoscope::read(inputs, kinetoscope::Limits::default()).expect("a pair"))
}

#[test]
fn ids_count_from_zero_and_parents_come_first() {
    for folder in ["synthetic_cuda", "mlp_gloo", "hostile"] {
        for rules in BOTH {
            let linked = files::pair(folder);
            let (nodes, tally) = written(&linked, rules);
            assert_eq!(nodes.len(), tally.num_nodes + tally.num_device_events, "{folder}");
            for (place, node) in nodes.iter().enumerate() {
                assert_eq!(node["id"], place, "{folder}");
                assert!(node.get("cat").is_none() || node["ctrl_deps"].as_u64().unwrap() < place as u64, "{folder}");
            }
        }
    }
}

#[test]
fn times_at_the_ends_of_the_scale_are_written() {
    let event = |name: &str, start: &str, dur: &str, id: u32| {
        json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "args": {"Record function id": id},
            "ts": start.parse::<f64>().unwrap(), "dur": dur.parse::<f64>().unwrap()})
    };
    let events = json!([event("a", "-9e15", "9e15", 1), event("b", "-8e15", "9e15", 2), event("c", "9e15", "9e15", 3)]);
    let node = |name: &str, id: u32| json!({"name": name, "id": id, "rf_id": id, "parent": id});
    let linked = linked(&events, &json!([node("a", 1), node("b", 2), node("c", 3)]));
    for rules in BOTH {
        assert_eq!(written(&linked, rules).1.num_linked, 3);
    }
}

#[test]
fn nodes_that_share_an_id_get_their_own() {
    let node = |parent: u64| json!({"name": "a", "id": 7, "rf_id": 1, "ctrl_deps": parent});
    let event = json!({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 1, "args": {"Record function id": 1}});
    let linked = linked(&json!([event]), &json!([node(7), node(9), node(9)]));
    let (nodes, _) = written(&linked, Rules::Exact);
    let ids: Vec<_> = nodes.iter().map(|node| (node["id"].as_u64(), node["ctrl_deps"].as_u64())).collect();
    assert_eq!(ids, [(Some(0), Some(0)), (Some(1), Some(3)), (Some(2), Some(3))]);
}

#[test]
fn a_chain_deeper_than_any_stack_is_no_trouble() {
    let nodes: Vec<_> =
        (1..50_000_u64).map(|id| json!({"name": "a", "id": id, "rf_id": id, "parent": id - 1})).collect();
    let linked = linked(&json!([]), &json!(nodes));
    assert_eq!(written(&linked, Rules::Exact).0.len(), 49_999);
}
