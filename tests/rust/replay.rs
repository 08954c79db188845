//! Tests replay plans and measurements.

use std::sync::Arc;

use kinetoscope::replay::{
    MessageSizes, PLAN, ReplayCall, ReplayPlan, ReplaySample, measured, plan, write_param_comms,
};
use kinetoscope::table::{ColumnValues, TableRows};
use kinetoscope::{Input, Limits, LinkedTrace, read};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// A node with inputs, their types, and outputs.
fn node(id: u64, parent: u64, name: &str, [inputs, types, outputs]: [Value; 3]) -> Value {
    let tensors: Vec<_> = outputs.as_array().into_iter().flatten().map(|_| "Tensor(float)").collect();
    json!({"id": id, "name": name, "ctrl_deps": parent, "attrs": [],
        "inputs": {"values": inputs, "shapes": [], "types": types},
        "outputs": {"values": outputs, "shapes": [], "types": tensors}})
}

fn tensor(id: u64, elems: i64) -> Value {
    json!([id, id, 0, elems, 4, "cpu"])
}

fn planned(nodes: &[Value]) -> ReplayPlan {
    let text = json!({"schema": "1.1.1-chakra.0.0.4", "nodes": nodes}).to_string();
    plan(&LinkedTrace::new(read([Input::new(text.as_bytes())], Limits::default()).unwrap()))
}

fn one(nodes: &[Value]) -> ReplayCall {
    let plan = planned(nodes);
    assert_eq!(plan.calls.len(), 1, "{:?}", plan.calls);
    plan.calls[0].clone()
}

#[test]
fn an_operator_says_its_parts_and_its_root() {
    let types =
        json!(["Tensor(float)", "Tensor(float)", "Object", "GenericList[Int,Int]", "GenericList[Int,Int]", "Bool"]);
    let given = json!([tensor(1, 8), tensor(2, 6), "<Object>", [3, 1], [1, 2], true]);
    let call = one(&[node(2, 1, "c10d::alltoall_base_", [given, types, json!([])])]);
    assert_eq!((call.collective.as_str(), call.is_async, call.group_name), ("all_to_allv", Some(true), None));
    assert_eq!((call.message.in_elems, call.message.out_elems), (vec![6], vec![8]));
    assert_eq!((call.message.in_split, call.message.out_split), (vec![1, 2], vec![3, 1]));

    let types = json!(["GenericList[Tensor(float)]", "Object", "Int", "Int", "Bool", "Int"]);
    let given = json!([[tensor(1, 5)], "<Object>", 3, 0, false, -1]);
    let call = one(&[node(2, 1, "c10d::broadcast_", [given, types, json!([])])]);
    assert_eq!((call.root_place, call.is_async, call.message.in_elems), (Some(3), Some(false), vec![5]));

    let types = json!(["GenericList[Tensor(float)]", "Object", "Int", "Int"]);
    let call = one(&[node(2, 1, "c10d::recv_", [json!([[tensor(1, 5)], "<Object>", 2, 0]), types, json!([])])]);
    assert_eq!((call.is_p2p, call.peer_place, call.root_place, call.is_async), (true, Some(2), None, None));
    assert_eq!(call.tag, Some(0));
    let types = json!(["GenericList[Tensor(float)]", "Object", "Int"]);
    let given = json!([[tensor(1, 5)], "<Object>", 7]);
    let call = one(&[node(2, 1, "c10d::recv_any_source_", [given, types, json!([])])]);
    assert_eq!((call.is_p2p, call.peer_place, call.tag), (true, None, Some(7)));
}

#[test]
fn an_exchange_of_one_tensor_is_in_parts_of_it() {
    let args = json!({"Collective name": "all_to_all", "dtype": "Float", "In msg nelems": 16, "Out msg nelems": 16,
        "Group size": 4, "Process Group Name": "0"});
    let event = json!({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 5, "dur": 3,
        "args": args});
    let text = json!({"distributedInfo": {"rank": 0, "world_size": 4}, "traceEvents": [event]}).to_string();
    let linked = LinkedTrace::new(read([Input::new(text.as_bytes())], Limits::default()).unwrap());
    let call = plan(&linked).calls.remove(0);
    assert_eq!((call.collective.as_str(), call.message.in_elems), ("all_to_allv", vec![16]));
    let mut param = Vec::new();
    write_param_comms(&linked, &mut param).unwrap();
    let param: Vec<Value> = serde_json::from_slice(&param).unwrap();
    assert_eq!((&param[0]["in_split"], &param[0]["out_split"]), (&json!([4, 4, 4, 4]), &json!([4, 4, 4, 4])));
}

#[test]
fn a_root_without_tensors_of_others_has_its_own() {
    let types = json!(["GenericList[]", "GenericList[Tensor(float)]", "Object", "Int", "Bool", "Int"]);
    let call =
        one(&[node(2, 1, "c10d::gather_", [json!([[], [tensor(1, 4)], "<Object>", 1, false, -1]), types, json!([])])]);
    assert_eq!((call.message.in_elems, call.message.out_elems, call.root_place), (vec![4], vec![], Some(1)));
}

#[test]
fn a_functional_operator_names_its_group_and_is_waited_for_by_its_tensor() {
    let types = json!(["Tensor(float)", "String", "String"]);
    let nodes = [
        node(2, 1, "_c10d_functional::all_reduce", [json!([tensor(1, 4), "max", "7"]), types, json!([tensor(2, 4)])]),
        node(3, 1, "_c10d_functional::wait_tensor", [json!([tensor(2, 4)]), json!(["Tensor(float)"]), json!([])]),
    ];
    let plan = planned(&nodes);
    let [call, wait] = plan.calls.as_slice() else { panic!("two, found {:?}", plan.calls) };
    assert_eq!((call.reduction.as_deref(), call.group_name.as_deref()), (Some("max"), Some("7")));
    assert_eq!((call.is_async, wait.collective.as_str(), wait.wait_of), (Some(true), "wait", Some(0)));
}

/// A record of NCCL, with its number, and its place among all.
fn record(id: u64, parent: u64, name: &str, seq: i64, elems: i64) -> Value {
    let given = json!([tensor(1, elems), [seq, false], ["0", ""], 1, name, [], [], 0, 1, 2]);
    let types = json!([
        "Tensor(float)",
        "Tuple[Int,Bool]",
        "Tuple[String,String]",
        "Int",
        "String",
        "GenericList[]",
        "GenericList[]",
        "Int",
        "Int",
        "Int"
    ]);
    node(id, parent, "record_param_comms", [given, types, json!([tensor(1, elems)])])
}

#[test]
fn sends_and_receives_that_began_as_one_are_a_batch() {
    let nodes = [
        record(2, 1, "allreduce", 1, 4),
        record(3, 1, "send", 2, 4),
        record(4, 1, "recv", 2, 4),
        node(5, 1, "nccl:coalesced", [json!([]), json!([]), json!([])]),
        record(6, 1, "send", 3, 4),
    ];
    let batches: Vec<_> = planned(&nodes).calls.iter().map(|call| (call.collective.clone(), call.batch)).collect();
    let expected = [("all_reduce", None), ("send", Some(0)), ("recv", Some(0)), ("send", None)];
    assert_eq!(batches, expected.map(|(name, batch)| (name.to_owned(), batch)));
}

#[test]
fn recordings_of_gloo_have_their_operators_alone() {
    let found = plan(&files::pair("mlp_gloo"));
    assert_eq!((found.calls.len(), found.num_left_out), (3, 0));
    assert!(found.calls.iter().all(|call| call.collective == "all_reduce" && call.dur_ns.is_some()));
    let rows = PLAN.of(&Arc::new(found));
    let column = (0..rows.num_columns()).find(|at| rows.column_name(*at) == "in_elems").unwrap();
    assert_eq!(rows.values(column, 0..1).text(0).map(|text| text.starts_with('[')), Some(true));
}

fn cell(rows: &dyn TableRows, name: &str, row: usize) -> Value {
    let column = (0..rows.num_columns()).find(|at| rows.column_name(*at) == name).unwrap();
    match rows.values(column, 0..rows.num_rows()) {
        ColumnValues::Int(values) => json!(values.get(row)),
        ColumnValues::Float(values) => json!(values.get(row)),
        other => json!(other.text(row)),
    }
}

#[test]
fn samples_of_all_ranks_are_one_row() {
    let sample = |replayed: std::ops::RangeInclusive<i64>| ReplaySample {
        collective: String::from("all_reduce"),
        dtype: String::from("float"),
        sizes: MessageSizes { group_size: 4, in_bytes: 1000, out_bytes: 1000, kept_bytes: [None; 2] },
        num_calls: 2,
        recorded_ns: vec![25, 50],
        replayed_ns: replayed.collect(),
        ..ReplaySample::default()
    };
    let exchange = ReplaySample {
        collective: String::from("all_to_allv"),
        sizes: MessageSizes { group_size: 2, in_bytes: 600, out_bytes: 400, kept_bytes: [Some(100), Some(350)] },
        recorded_sizes: Some(MessageSizes { group_size: 3, in_bytes: 900, out_bytes: 900, kept_bytes: [None; 2] }),
        recorded_ns: vec![30],
        replayed_ns: vec![10],
        ..ReplaySample::default()
    };
    let rows = measured(vec![exchange, sample(1..=60), sample(61..=100)]);
    assert_eq!(rows.num_rows(), 2);
    let all = |name: &str| cell(&*rows, name, 0);
    assert_eq!((all("num_calls"), all("total_bytes")), (json!(4), json!(4000)));
    assert_eq!((all("p50_ns"), all("p95_ns"), all("p99_ns")), (json!(50), json!(95), json!(99)));
    // 2(n−1)/n of the bytes over the median.
    assert_eq!((all("algorithm_gbps"), all("bus_gbps")), (json!(20.0), json!(30.0)));
    assert_eq!((all("recorded_p50_ns"), all("replayed_to_recorded")), (json!(25), json!(2.0)));
    // Bytes that stay on the rank are not on the bus.
    assert_eq!(cell(&*rows, "bus_gbps", 1), json!(50.0));
    // Recorded sizes over the recorded time.
    assert_eq!(cell(&*rows, "recorded_algorithm_gbps", 1), json!(30.0));
}

proptest! {
    #[test]
    fn whatever_the_arguments_are_there_is_a_plan(
        values in prop::collection::vec(prop_oneof![Just(json!(null)), Just(json!(-1)), Just(json!([[1]])), Just(tensor(1, i64::MAX))], 0..6),
        types in prop::collection::vec(prop_oneof![Just("Int"), Just("GenericList[Int]"), Just("Tensor(float)"), Just("Bool")], 0..6),
        name in prop_oneof![Just("c10d::alltoall_base_"), Just("c10d::send"), Just("_c10d_functional::broadcast"), Just("record_param_comms")],
    ) {
        let found = planned(&[node(2, 1, name, [json!(values), json!(types), json!([])])]);
        prop_assert!(found.calls.len() <= 1);
    }
}
