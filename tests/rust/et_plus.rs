//! Tests Execution Traces with times and device work (ET+).

use kinetoscope::LinkedTrace;
use kinetoscope::write::et_plus::{EtPlusRules, EtPlusTally, write_et_plus};
use serde_json::{Value, json};

use crate::files;

const BOTH: [EtPlusRules; 2] = [EtPlusRules::Exact, EtPlusRules::LikeChakra];

fn written(linked: &LinkedTrace, rules: EtPlusRules) -> (Vec<Value>, EtPlusTally) {
    let mut out = Vec::new();
    let tally = write_et_plus(linked, rules, &mut out).expect("memory to write to");
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
    let (nodes, _) = written(&linked, EtPlusRules::Exact);
    let ids: Vec<_> = nodes.iter().map(|node| (node["id"].as_u64(), node["ctrl_deps"].as_u64())).collect();
    assert_eq!(ids, [(Some(0), Some(0)), (Some(1), Some(3)), (Some(2), Some(3))]);
}

#[test]
fn a_chain_deeper_than_any_stack_is_no_trouble() {
    let nodes: Vec<_> =
        (1..50_000_u64).map(|id| json!({"name": "a", "id": id, "rf_id": id, "parent": id - 1})).collect();
    let linked = linked(&json!([]), &json!(nodes));
    assert_eq!(written(&linked, EtPlusRules::Exact).0.len(), 49_999);
}

fn op(name: &str, start: u64, dur: u64, id: u64) -> Value {
    json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur, "args": {"Record function id": id}})
}

fn call(name: &str, start: u64, dur: u64, id: u64) -> Value {
    json!({"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur, "args": {"correlation": id}})
}

fn work(category: &str, stream: u64, start: u64, dur: u64, more: &Value) -> Value {
    let mut event = json!({"ph": "X", "cat": category, "name": category, "pid": 0, "tid": stream, "ts": start, "dur": dur, "args": {"device": 0, "stream": stream}});
    event["args"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

#[test]
fn what_a_thread_begins_after_a_wait_depends_on_what_it_waited_for() {
    let events = json!([
        op("first", 0, 10, 1),
        call("cudaLaunchKernel", 2, 2, 1),
        work("kernel", 7, 5, 40, &json!({"correlation": 1})),
        op("item", 20, 40, 2),
        call("cudaMemcpyAsync", 22, 2, 2),
        work("gpu_memcpy", 7, 45, 5, &json!({"correlation": 2})),
        op("inside", 25, 2, 3),
        call("cudaStreamSynchronize", 30, 25, 3),
        op("after", 70, 10, 4),
        op("within", 72, 2, 5),
        call("cudaDeviceSynchronize", 90, 9, 4),
    ]);
    let node =
        |name: &str, id: u64, parent: u64| json!({"name": name, "id": 10 + id, "rf_id": id, "parent": 10 + parent});
    let nodes = [("first", 1, 0), ("item", 2, 0), ("inside", 3, 2), ("after", 4, 0), ("within", 5, 4)];
    let linked = linked(&events, &json!(nodes.map(|(name, id, parent)| node(name, id, parent))));
    let (nodes, _) = written(&linked, EtPlusRules::Exact);
    let waits = nodes.iter().filter(|node| node.get("sync_dep").is_some());
    assert_eq!(
        waits.map(|node| (&node["name"], &node["sync_dep"])).collect::<Vec<_>>(),
        [(&json!("after"), &json!([3]))]
    );
    assert_eq!(nodes[3]["cat"], "gpu_memcpy");
    let (nodes, _) = written(&linked, EtPlusRules::LikeChakra);
    assert!(nodes.iter().all(|node| node.get("sync_dep").is_none()));
}

#[test]
fn work_that_waits_for_another_stream_depends_on_its_work() {
    let on_event = json!({"cuda_sync_kind": "Stream Wait Event", "correlation": 4, "wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 2});
    let events = json!([
        op("first", 0, 10, 1),
        call("cudaLaunchKernel", 2, 2, 1),
        work("kernel", 7, 5, 40, &json!({"correlation": 1})),
        call("cudaEventRecord", 12, 1, 2),
        op("second", 20, 20, 2),
        call("cudaStreamWaitEvent", 21, 1, 4),
        work("cuda_sync", 8, 21, 1, &on_event),
        call("cudaLaunchKernel", 25, 2, 3),
        work("kernel", 8, 50, 5, &json!({"correlation": 3})),
    ]);
    let node = |name: &str, id: u64| json!({"name": name, "id": id, "rf_id": id, "parent": 0});
    let linked = linked(&events, &json!([node("first", 1), node("second", 2)]));
    let (nodes, _) = written(&linked, EtPlusRules::Exact);
    let waits: Vec<_> = nodes.iter().map(|node| node.get("sync_dep")).collect();
    assert_eq!(waits, [None, None, None, Some(&json!([1]))]);
}

#[test]
fn nothing_waits_for_what_has_a_larger_id_or_none() {
    let pairs = ["synthetic_cuda", "mlp_gloo", "hostile"].map(files::pair);
    let mut num_waits = 0;
    for linked in pairs {
        let (nodes, _) = written(&linked, EtPlusRules::Exact);
        for (id, node) in (0_u64..).zip(&nodes) {
            let waits = node.get("sync_dep").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64);
            for source in waits {
                assert!(source < id && nodes[source as usize].get("cat").is_some());
                num_waits += 1;
            }
        }
    }
    assert!(num_waits > 0);
}
