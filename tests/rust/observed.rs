//! Tests traces in which the observer of the Execution Trace ran in some of the iterations.

use std::sync::Arc;

use kinetoscope::analyze::{Selection, SelectionRequest, UnlinkedReason, analysis, coverage, verdict};
use kinetoscope::link::{LinkMethod, is_call};
use kinetoscope::write::clean_iteration;
use kinetoscope::{Input, Limits, LinkedTrace, WarningKind, read};
use serde_json::{Value, json};

use crate::files;

/// Fixtures with several iterations, all of them observed.
const FOLDERS: [&str; 7] =
    ["minimal_cpu", "mlp_gloo", "transformer_cuda", "synthetic_cuda", "compiled_cuda", "graph_cuda", "nccl_cuda"];

/// A fixture's documents.
struct Pair {
    kineto: Value,
    execution: Value,
}

impl Pair {
    fn of(folder: &str) -> Self {
        let document = |name: &str| serde_json::from_slice(&files::text(&format!("{folder}/{name}"))).unwrap();
        Self { kineto: document("kineto_trace_0.json.gz"), execution: document("torch_et_0.json.gz") }
    }

    fn events(&mut self) -> &mut Vec<Value> {
        self.kineto["traceEvents"].as_array_mut().unwrap()
    }

    /// The start and the end of each iteration, in µs.
    fn spans(&self) -> Vec<(f64, f64)> {
        let steps = self.kineto["traceEvents"].as_array().unwrap().iter();
        let steps = steps.filter(|event| event["cat"] == "user_annotation" && is_step(event));
        let mut spans: Vec<_> =
            steps.map(|event| (number(event, "ts"), number(event, "ts") + number(event, "dur"))).collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        spans
    }

    /// As if the observer had run in one iteration alone.
    fn observed_in(mut self, place: usize) -> Self {
        let (start, end) = self.spans()[place];
        for event in self.events().iter_mut().filter(|event| event["args"]["Record function id"].is_u64()) {
            let ts = number(event, "ts");
            if ts < start || end <= ts {
                event["args"]["Record function id"] = json!(0);
            }
        }
        let ids: Vec<_> =
            self.events().iter().filter_map(|event| event["args"]["Record function id"].as_u64()).collect();
        let id_of = |node: &Value| {
            let attrs = node["attrs"].as_array()?;
            attrs.iter().find(|attr| attr["name"] == "rf_id")?["value"].as_u64()
        };
        let nodes = self.execution["nodes"].as_array_mut().unwrap();
        nodes.retain(|node| id_of(node).is_none_or(|id| id == 0 || ids.contains(&id)));
        self
    }

    fn linked(&self) -> Arc<LinkedTrace> {
        let texts = [&self.kineto, &self.execution].map(|document| serde_json::to_vec(document).unwrap());
        let inputs = texts.iter().map(|text| Input::new(text));
        Arc::new(LinkedTrace::new(read(inputs, Limits::default()).unwrap()))
    }
}

fn is_step(event: &Value) -> bool {
    event["name"].as_str().is_some_and(|name| name.starts_with("ProfilerStep#"))
}

fn number(event: &Value, key: &str) -> f64 {
    event[key].as_f64().unwrap()
}

/// The numbers of observed iterations, and of others.
fn numbers(linked: &LinkedTrace) -> [Vec<i64>; 2] {
    let all = &linked.links.iterations;
    [true, false].map(|is| all.iter().filter(|one| one.is_observed == is).map(|one| one.number).collect())
}

/// The node of each call of an iteration, by the name of the call and the text of the node.
fn nodes_of(linked: &LinkedTrace, place: u32) -> Vec<(String, Option<String>)> {
    let (trace, links) = (&linked.trace, &linked.links);
    let mut calls: Vec<_> = (0..trace.events.len())
        .filter(|row| is_call(trace, *row) && links.iteration.get(*row) == Some(place))
        .filter(|row| !trace.event_name(*row).starts_with("ProfilerStep#"))
        .collect();
    calls.sort_by_key(|row| (trace.events.track.at(*row).index(), trace.events.start.at(*row), trace.record_id(*row)));
    let described = |(node, _): (u32, LinkMethod)| {
        let node = &trace.nodes[node as usize];
        let inputs = [node.inputs.shapes, node.inputs.types].map(|id| trace.strings.text(id).to_owned());
        format!("{} {} {inputs:?}", trace.strings.text(node.name), trace.strings.text(node.schema))
    };
    calls.iter().map(|row| (trace.event_name(*row).to_owned(), links.nodes.find(*row).map(described))).collect()
}

#[test]
fn nodes_of_the_observed_iteration_stand_for_the_calls_of_the_others() {
    for folder in FOLDERS {
        let truth = Pair::of(folder).linked();
        let num_iterations = truth.links.iterations.len();
        for observed in [0, num_iterations - 1] {
            let linked = Pair::of(folder).observed_in(observed).linked();
            let [is, is_not] = numbers(&linked);
            assert_eq!((is.len(), is_not.len()), (1, num_iterations - 1), "{folder}");
            let (mut num_all, mut num_linked, mut num_wrong) = (0, 0, 0);
            for place in 0..num_iterations as u32 {
                let pairs = nodes_of(&linked, place).into_iter().zip(nodes_of(&truth, place));
                for ((name, found), (true_name, expected)) in pairs {
                    assert_eq!(name, true_name, "{folder}");
                    num_all += usize::from(expected.is_some());
                    num_linked += usize::from(found.is_some());
                    num_wrong += usize::from(found.is_some() && found != expected);
                }
            }
            assert!(num_linked * 100 >= num_all * 99, "{folder}: {num_linked} of {num_all}");
            assert_eq!(num_wrong, 0, "{folder}");
            assert_eq!(linked.links.warnings.count(WarningKind::OperatorWithoutNode), 0, "{folder}");
            assert_eq!(linked.links.warnings.count(WarningKind::NodeWithoutEvent), 0, "{folder}");
        }
    }
}

#[test]
fn links_say_how_they_were_found() {
    let linked = Pair::of("transformer_cpu").observed_in(0).linked();
    let share = coverage(&linked).operators;
    let [by_id, stands_in] = [LinkMethod::RecordId, LinkMethod::ObservedIteration].map(|how| share.linked[&how]);
    assert!(by_id > 1000 && stands_in > 1000, "{share:?}");
    assert_eq!(share.num_linked, share.count, "iterations included");
    assert_eq!(coverage(&linked).nodes.linked.keys().collect::<Vec<_>>(), [&LinkMethod::RecordId]);
    let edges = linked.edge_list().iter().filter(|edge| edge.how == LinkMethod::ObservedIteration);
    assert_eq!(edges.clone().count() as u64, stands_in);
    assert!(edges.into_iter().all(|edge| edge.confidence < 1.0));
}

/// The method of the first call of that name in the second iteration, which alone changes.
fn method_of(name: &str, change: impl Fn(&mut Value)) -> Option<LinkMethod> {
    let mut pair = Pair::of("transformer_cpu").observed_in(0);
    let (start, end) = pair.spans()[1];
    let calls = pair.events().iter_mut().filter(|event| event["name"] == name && number(event, "ts") > start);
    let changed = calls.min_by(|a, b| number(a, "ts").total_cmp(&number(b, "ts"))).unwrap();
    assert!(number(changed, "ts") < end);
    changed["args"]["is changed"] = json!(true);
    change(changed);
    let linked = pair.linked();
    let is_changed = |row: &usize| {
        let mut text = String::new();
        linked.trace.args.rest_json(&linked.trace.strings, linked.trace.events.args(*row), &mut text);
        text.contains("is changed")
    };
    let row = (0..linked.trace.events.len()).find(is_changed).unwrap();
    linked.links.nodes.find(row).map(|(_, how)| how)
}

#[test]
fn a_stand_in_has_the_types_of_the_call_and_says_when_values_differ() {
    assert_eq!(method_of("aten::addmm", |_| ()), Some(LinkMethod::ObservedIteration));
    let types = json!(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar"]);
    assert_eq!(method_of("aten::addmm", |event| event["args"]["Input type"] = types.clone()), None);
    let value = json!(["", "", "", "1", "7"]);
    let how = method_of("aten::addmm", |event| event["args"]["Concrete Inputs"] = value.clone());
    assert_eq!(how, Some(LinkMethod::ObservedPlace));
    let rate = json!(["", "", "", "1", "0.5"]);
    let how = method_of("aten::addmm", |event| event["args"]["Concrete Inputs"] = rate.clone());
    assert_eq!(how, Some(LinkMethod::ObservedIteration), "a learning rate changes");
}

#[test]
fn without_inputs_a_stand_in_is_less_sure() {
    let mut pair = Pair::of("transformer_cpu").observed_in(0);
    for event in pair.events() {
        for key in ["Input Dims", "Input type", "Concrete Inputs"] {
            event["args"].as_object_mut().map(|args| args.remove(key));
        }
    }
    let linked = pair.linked();
    let edges = linked.edge_list();
    let of = |how: LinkMethod| edges.iter().filter(move |edge| edge.how == how);
    assert_eq!(of(LinkMethod::ObservedIteration).count(), 0);
    assert!(of(LinkMethod::ObservedPlace).count() > 1000);
    assert!(of(LinkMethod::ObservedPlace).all(|edge| edge.confidence <= 0.5));
}

#[test]
fn written_times_are_those_of_an_iteration_without_the_observer() {
    for (folder, observed, place) in [("transformer_cpu", 0, 1), ("minimal_cpu", 0, 1), ("minimal_cpu", 1, 0)] {
        let linked = Pair::of(folder).observed_in(observed).linked();
        let expected = linked.links.iterations[place].number;
        assert_eq!(clean_iteration([&*linked]), Some(expected), "the first");
        let relinked = LinkedTrace::relink(linked.trace.clone(), Some(expected)).unwrap();
        let links = &relinked.links;
        assert_eq!(links.nodes.how, Some(LinkMethod::ObservedIteration));
        for node in 0..linked.trace.nodes.len() {
            let Some(event) = linked.links.nodes.event_of_node.get(node) else { continue };
            let clean = links.nodes.event_of_node.get(node).expect("the same calls") as usize;
            let names = [relinked.trace.event_name(clean), linked.trace.event_name(event as usize)];
            let is_named_alike = |name: &str| names[0] == names[1] || name.starts_with("ProfilerStep#");
            assert!(names.into_iter().all(is_named_alike), "{names:?}");
            let at = links.iteration.get(clean).unwrap() as usize;
            assert_eq!(links.iterations[at].number, expected);
        }
        assert_eq!(clean_iteration([&relinked]), None, "it was chosen");
    }
    assert_eq!(clean_iteration([&*Pair::of("transformer_cuda").linked()]), None, "all are observed");
}

#[test]
fn other_calls_and_other_shapes_have_no_stand_in() {
    let mut pair = Pair::of("transformer_cpu").observed_in(0);
    let (start, _) = pair.spans()[1];
    let mut later: Vec<_> =
        pair.events().iter_mut().filter(|event| event["cat"] == "cpu_op" && number(event, "ts") > start).collect();
    later.sort_by(|a, b| number(a, "ts").total_cmp(&number(b, "ts")));
    later[100]["name"] = json!("aten::cosh");
    let reshaped = later[150..].iter_mut().find(|event| event["name"] == "aten::addmm").unwrap();
    let moved = number(reshaped, "ts");
    reshaped["args"]["Input Dims"] = json!([[9], [9, 9], [9, 9], [], []]);
    let linked = pair.linked();
    let (trace, links) = (&linked.trace, &linked.links);
    let unlinked: Vec<_> = (0..trace.events.len())
        .filter(|row| is_call(trace, *row) && links.nodes.find(*row).is_none())
        .map(|row| trace.event_name(row))
        .collect();
    assert!(unlinked.contains(&"aten::cosh"), "{unlinked:?}");
    assert!(unlinked.contains(&"aten::addmm"), "{unlinked:?} {moved}");
    assert!(unlinked.len() < 6, "{unlinked:?}");
    let reasons = coverage(&linked).operators.unlinked;
    assert_eq!(reasons, [(UnlinkedReason::NotObserved, unlinked.len() as u64)].into());
}

/// The rows of the first table of an analysis.
fn rows(linked: &Arc<LinkedTrace>, name: &str, request: &Value) -> Vec<Value> {
    let answer = analysis(name).unwrap().answer(linked, &request.to_string()).unwrap();
    files::rows(&*answer.tables[0])
}

#[test]
fn results_leave_the_observed_iteration_out() {
    let linked = Pair::of("synthetic_cuda").observed_in(0).linked();
    assert_eq!(numbers(&linked), [vec![0], vec![1, 2]]);
    let iterations = |request: Value| {
        rows(&linked, "breakdown", &request).iter().map(|row| row["iteration"].as_i64()).collect::<Vec<_>>()
    };
    assert_eq!(iterations(json!({})), [Some(1), Some(2)]);
    assert_eq!(iterations(json!({"observed": true})), [Some(0), Some(1), Some(2)]);
    assert_eq!(iterations(json!({"iteration": 0})), [Some(0)]);
    let count = |request: Value| {
        let rows = rows(&linked, "operators", &request);
        rows.iter().find(|row| row["name"] == "aten::addmm").unwrap()["count"].as_i64().unwrap()
    };
    assert_eq!(count(json!({})) * 3, count(json!({"observed": true})) * 2);
    // Nothing is left out where the observer ran throughout, or never.
    let all = Pair::of("synthetic_cuda").linked();
    assert_eq!(all.clean_range(), None);
    assert_eq!(Selection::of(&all, &SelectionRequest::default()).unwrap().extent(), None);
}

#[test]
fn problems_say_what_the_observer_cost() {
    let problem = |linked: &LinkedTrace| {
        let problems = verdict(linked).problems.into_iter();
        problems.filter(|problem| problem.name == "observed_times").map(|one| (one.message, one.is_shown)).next()
    };
    let (message, is_shown) = problem(&Pair::of("synthetic_cuda").observed_in(1).linked()).unwrap();
    assert!(message.starts_with("1 of 3 iterations ran with the Execution Trace observer"), "{message}");
    assert!(message.contains("(538.4 µs each, 540.2 µs without it): results leave them out"), "{message}");
    assert!(!is_shown);
    let mut pair = Pair::of("synthetic_cuda");
    pair.kineto["kinetoscope_unrecorded_ns"] = json!(400_000);
    let (message, is_shown) = problem(&pair.linked()).unwrap();
    assert!(message.ends_with("which slows the host (540.2 µs each, 400.0 µs without it)"), "{message}");
    assert!(is_shown);
    // Without iterations, the ids tell.
    pair.events().retain(|event| !is_step(event));
    assert_eq!(
        problem(&pair.linked()).unwrap().0,
        "the recording ran with the Execution Trace observer, which slows the host"
    );
    pair.events().iter_mut().filter(|event| event["args"].is_object()).for_each(|event| {
        event["args"].as_object_mut().unwrap().remove("Record function id");
    });
    assert_eq!(problem(&pair.linked()), None);
    // The remark is part of the default selection, and of each that meets it.
    let linked = Pair::of("synthetic_cuda").observed_in(0).linked();
    let names = |request: Value| {
        rows(&linked, "problems", &request).iter().map(|row| row["problem"].clone()).collect::<Vec<_>>()
    };
    assert!(names(json!({})).contains(&json!("observed_times")));
    assert!(names(json!({"iteration": 0})).contains(&json!("observed_times")));
    assert!(!names(json!({"iteration": 2})).contains(&json!("observed_times")));
}

#[test]
fn an_empty_iteration_at_the_end_is_none() {
    let mut pair = Pair::of("synthetic_cuda");
    let mut stub =
        pair.events().iter().rfind(|event| event["cat"] == "user_annotation" && is_step(event)).unwrap().clone();
    let end = pair.spans()[2].1;
    (stub["name"], stub["ts"], stub["dur"]) = (json!("ProfilerStep#3"), json!(end + 1.0), json!(8.0));
    pair.events().push(stub.clone());
    assert_eq!(pair.linked().links.iterations.len(), 3);
    let mut work = stub.clone();
    (work["name"], work["cat"], work["ts"], work["dur"]) =
        (json!("aten::add"), json!("cpu_op"), json!(end + 2.0), json!(3.0));
    pair.events().push(work);
    assert_eq!(pair.linked().links.iterations.len(), 4);
    pair.events().pop();
    pair.events().retain(|event| is_step(event) || event["ts"].as_f64().is_none_or(|ts| ts <= end));
    let shortest = pair.spans()[..3].iter().map(|(start, end)| end - start).fold(f64::MAX, f64::min);
    pair.events().last_mut().unwrap()["dur"] = json!(shortest * 0.4);
    assert_eq!(pair.linked().links.iterations.len(), 3);
    pair.events().last_mut().unwrap()["dur"] = json!(shortest * 0.9);
    assert_eq!(pair.linked().links.iterations.len(), 4, "its events were lost");
}
