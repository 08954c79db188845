//! Tests traces whose operators have their overloads in their names.

use std::sync::Arc;

use kinetoscope::analyze::{LinkCoverage, Selection, UnlinkedReason, analysis, coverage, diff};
use kinetoscope::link::LinkMethod;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;
use crate::scene::Scene;

/// An operator of both files: base name, overload, record id, start and duration.
type Call = (&'static str, &'static str, u64, i64, i64);

const CALLS: [Call; 6] = [
    ("aten::linear", "", 1, 0, 100),
    ("aten::addmm", "", 2, 10, 50),
    ("aten::add_", "Tensor", 3, 110, 20),
    ("aten::sum", "dim_IntList", 4, 140, 20),
    ("aten::arange", "", 5, 170, 20),
    ("aten::arange", "start_out", 6, 172, 10),
];

/// The files of a recording; the Kineto file with overloads or without, by record ids or by names.
fn recorded(calls: &[Call], has_overloads: bool, has_ids: bool) -> [Value; 2] {
    let name = |(base, overload, ..): &Call| match *overload {
        "" => (*base).to_owned(),
        overload if has_overloads => format!("{base}.{overload}"),
        _ => (*base).to_owned(),
    };
    let event = |call: &Call| {
        let (.., id, start, dur) = *call;
        json!({"ph": "X", "cat": "cpu_op", "name": name(call), "pid": 1, "tid": 1, "ts": start, "dur": dur,
            "args": {"Record function id": if has_ids { id } else { 0 },
                "Input Dims": [[4, 4], [4, 4], []], "Input type": ["float", "float", "Scalar"]}})
    };
    let node = |(base, _, id, ..): &Call| {
        json!({"id": id + 10, "name": base, "ctrl_deps": 1, "inputs": {"values": [], "shapes": [], "types": []},
            "outputs": {"values": [], "shapes": [], "types": []},
            "attrs": [{"name": "rf_id", "type": "uint64", "value": id}, {"name": "tid", "type": "uint64", "value": 1}]})
    };
    let events: Vec<_> = calls.iter().map(event).collect();
    let nodes: Vec<_> = calls.iter().map(node).collect();
    [json!({"traceEvents": events}), json!({"schema": "1.1.1-chakra.0.0.4", "nodes": nodes})]
}

fn linked(documents: &[Value]) -> Arc<LinkedTrace> {
    let texts: Vec<_> = documents.iter().map(Value::to_string).collect();
    let trace = read(texts.iter().map(|text| Input::new(text.as_bytes())), Limits::default()).expect("a trace");
    Arc::new(LinkedTrace::new(trace))
}

fn covered(calls: &[Call], has_overloads: bool, has_ids: bool) -> LinkCoverage {
    coverage(&linked(&recorded(calls, has_overloads, has_ids)))
}

#[test]
fn operators_with_overloads_find_their_nodes_by_record_id_and_by_name() {
    for has_overloads in [true, false] {
        for (has_ids, method) in [(true, LinkMethod::RecordId), (false, LinkMethod::Sequence)] {
            let found = covered(&CALLS, has_overloads, has_ids);
            assert_eq!(found.operators.linked.get(&method), Some(&6), "{has_overloads} {has_ids}: {found:?}");
            assert_eq!((found.nodes.num_linked, found.confidence), (6, 1.0));
        }
    }
}

#[test]
fn another_overload_is_no_name_that_the_other_file_lacks() {
    let [kineto, mut execution] = recorded(&CALLS, true, true);
    execution["nodes"].as_array_mut().unwrap().retain(|node| node["id"] != 16);
    let found = coverage(&linked(&[kineto, execution]));
    assert_eq!(found.operators.unlinked.into_iter().collect::<Vec<_>>(), [(UnlinkedReason::Unmatched, 1)]);
}

#[test]
fn another_operator_under_the_same_id_is_no_overload() {
    let mut calls = CALLS;
    let kineto = recorded(&calls, true, true)[0].clone();
    calls.iter_mut().for_each(|call| call.0 = if call.0 == "aten::add_" { "aten::add" } else { call.0 });
    let found = coverage(&linked(&[kineto, recorded(&calls, true, true)[1].clone()]));
    assert_eq!(found.operators.num_linked, 5);
}

fn rows(linked: &Arc<LinkedTrace>, name: &str) -> Vec<Value> {
    let answer = analysis(name).unwrap().answer(linked, r#"{"on": "host"}"#).expect("an answer");
    files::rows(&*answer.tables[0])
}

#[test]
fn an_overload_has_the_cost_model_of_its_operator() {
    let cost = |has_overloads| {
        let rows = rows(&linked(&recorded(&CALLS, has_overloads, true)), "roofline");
        let pick = |row: &Value| (row["family"].clone(), row["flops"].clone(), row["bytes"].clone());
        rows.iter().map(pick).collect::<Vec<_>>()
    };
    assert!(cost(true).len() >= 2, "{:?}", cost(true));
    let sorted = |mut rows: Vec<(Value, Value, Value)>| {
        rows.sort_by_key(|row| format!("{row:?}"));
        rows
    };
    assert_eq!(sorted(cost(true)), sorted(cost(false)));
}

#[test]
fn findings_know_operators_with_overloads() {
    let steps = |overload: &str| {
        let mut scene = Scene::default();
        scene.annotation("Optimizer.step#SGD.step", 0, 1_000);
        (0..20).for_each(|at| {
            scene.operator(&format!("aten::add_{overload}"), at * 40, 20);
        });
        scene.only("unfused_optimizer")
    };
    assert_eq!(steps(".Tensor"), steps(""));
    let moved = |[to, to_copy]: [&str; 2]| {
        let mut scene = Scene::default();
        scene.operator("aten::zeros", 0, 50).operator("aten::zero_", 10, 30);
        scene.operator(to, 100, 100).operator(to_copy, 110, 80).operator("aten::copy_", 120, 60);
        scene.only("created_on_host")
    };
    assert_eq!(moved(["aten::to.device", "aten::_to_copy"]), moved(["aten::to", "aten::_to_copy"]));
}

#[test]
fn a_trace_with_overloads_compares_with_one_without() {
    let [with, without] = [true, false].map(|has| linked(&[recorded(&CALLS, has, true)[0].clone()]));
    for (pair, overloads) in [([&with, &without], true), ([&without, &with], true), ([&with, &with], false)] {
        let answer = diff(pair[0], pair[1], "{}").expect("an answer");
        let table = answer.tables.iter().find(|table| table.name() == "diff_operators").expect("operators");
        let rows = files::rows(&**table);
        assert!(rows.iter().all(|row| row["status"] == "both" && row["change_ns"] == 0), "{rows:?}");
        let named = |name: &str| rows.iter().find(|row| row["name"] == name).map(|row| row["overloads"].clone());
        if overloads {
            assert_eq!(named("aten::arange"), Some(json!("start_out")));
            assert_eq!((named("aten::add_"), named("aten::addmm")), (Some(json!("Tensor")), Some(Value::Null)));
        } else {
            // Both have overloads: each stays a row.
            assert_eq!((named("aten::add_.Tensor"), named("aten::add_")), (Some(Value::Null), None));
        }
    }
}

#[test]
fn communication_keeps_its_pattern_under_an_overload() {
    use kinetoscope::trace::collective::{CollectivePattern, known};
    let names = ["_c10d_functional::all_reduce.default", "c10d::send.x", "c10d::allreduce_.overload"];
    let patterns = [CollectivePattern::AllReduce, CollectivePattern::Send, CollectivePattern::AllReduce];
    assert_eq!(names.map(|name| known(name).map(|(_, pattern)| pattern)), patterns.map(Some));
}

/// Calls one after another, of few names and overloads.
fn calls() -> impl Strategy<Value = Vec<Call>> {
    let names = ["aten::add_", "aten::mul", "my::op", "aten::empty"];
    let overloads = ["", "Tensor", "Scalar", "memory_format"];
    let call = (prop::sample::select(names.to_vec()), prop::sample::select(overloads.to_vec()));
    prop::collection::vec(call, 1..40).prop_map(|calls| {
        let call = |(at, (name, overload)): (usize, (&'static str, &'static str))| {
            (name, overload, at as u64 + 1, at as i64 * 10, 5)
        };
        calls.into_iter().enumerate().map(call).collect()
    })
}

proptest! {
    #[test]
    fn overloads_change_no_link(calls in calls(), has_ids in any::<bool>()) {
        let [with, without] = [true, false].map(|has| linked(&recorded(&calls, has, has_ids)));
        let nodes = |linked: &LinkedTrace| {
            (0..calls.len()).map(|row| linked.links.nodes.node_of_event.get(row)).collect::<Vec<_>>()
        };
        prop_assert_eq!(nodes(&with), nodes(&without));
        let operators = |linked| kinetoscope::analyze::operators(&Selection::all(linked)).iter().map(|row| row.total_ns).sum::<i64>();
        prop_assert_eq!(operators(&with), operators(&without));
    }
}
