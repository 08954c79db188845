//! Tests each method of linking nodes with events.

use std::collections::BTreeMap;

use kinetoscope::analyze::{coverage, health};
use kinetoscope::link::LinkMethod;
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::table::ColumnValues;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, WarningKind, read, write_snapshot};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// A fixture's Kineto trace and Execution Trace, to be changed.
pub(crate) struct Pair {
    kineto: Value,
    execution: Value,
}

impl Pair {
    pub(crate) fn of(folder: &str, rank: u32) -> Self {
        let document = |name: &str, list: &str| {
            let mut document: Value =
                serde_json::from_slice(&files::text(&format!("{folder}/{name}_{rank}.json.gz"))).unwrap();
            // Known by these however the files are changed.
            let elements = document[list].as_array_mut().unwrap();
            elements.iter_mut().enumerate().for_each(|(at, element)| element["tag"] = json!(at));
            document
        };
        Self { kineto: document("kineto_trace", "traceEvents"), execution: document("torch_et", "nodes") }
    }

    fn events(&mut self) -> &mut Vec<Value> {
        self.kineto["traceEvents"].as_array_mut().unwrap()
    }

    fn nodes(&mut self) -> &mut Vec<Value> {
        self.execution["nodes"].as_array_mut().unwrap()
    }

    /// Takes a key out of the arguments of all events.
    fn without_key(mut self, key: &str) -> Self {
        for args in self.events().iter_mut().filter_map(|event| event["args"].as_object_mut()) {
            args.remove(key);
        }
        self
    }

    /// Takes out all that the two files share but names and their order.
    pub(crate) fn without_ids(self) -> Self {
        let mut pair = self.without_key("Record function id").without_key("External id");
        for attrs in pair.nodes().iter_mut().filter_map(|node| node["attrs"].as_array_mut()) {
            attrs.retain(|attr| attr["name"] != "rf_id");
        }
        pair
    }

    pub(crate) fn trace(&self) -> Trace {
        let texts = [&self.kineto, &self.execution].map(|document| serde_json::to_vec(document).unwrap());
        read(texts.iter().map(|text| Input::new(text)), Limits::default()).unwrap()
    }

    fn linked(&self) -> LinkedTrace {
        LinkedTrace::new(self.trace())
    }
}

/// The tag of each linked event, with the tag of its node.
fn links(linked: &LinkedTrace) -> BTreeMap<String, String> {
    let table = |name: &str| kinetoscope::table::table(name).unwrap();
    let tags = |name: &str, column: &str| {
        let column = table(name).columns.iter().find(|other| other.name == column).unwrap();
        let rows = (table(name).num_rows)(linked);
        let ColumnValues::Text { bytes, ends, .. } = column.values(linked, 0..rows) else { return Vec::new() };
        let starts = std::iter::once(&0).chain(&ends);
        let tag = |text: &str| text[text.find("\"tag\"").unwrap()..].split([',', '}']).next().unwrap().to_owned();
        starts.zip(&ends).map(|(start, end)| tag(&bytes[*start..*end])).collect::<Vec<_>>()
    };
    let (events, nodes) = (tags("events", "args"), tags("nodes", "attrs"));
    let node_of = &linked.links.nodes.node_of_event;
    let link = |row: usize| Some((events[row].clone(), nodes[node_of.get(row)? as usize].clone()));
    (0..linked.trace.events.len()).filter_map(link).collect()
}

/// Every fixture that has record ids.
const PAIRS: [(&str, u32); 5] =
    [("transformer_cuda", 0), ("minimal_cpu", 0), ("synthetic_cuda", 0), ("mlp_gloo", 0), ("mlp_gloo", 1)];

#[test]
fn every_pair_is_linked_by_record_ids_and_as_well_without() {
    for (folder, rank) in PAIRS {
        let by_record = Pair::of(folder, rank).linked();
        let share = coverage(&by_record).nodes;
        assert_eq!(share.linked.get(&LinkMethod::RecordId), Some(&share.count), "{folder} {rank}: {share:?}");
        let by_names = Pair::of(folder, rank).without_ids().linked();
        let share = coverage(&by_names).nodes;
        assert_eq!(share.linked.get(&LinkMethod::Sequence), Some(&share.count), "{folder} {rank}: {share:?}");
        assert_eq!(links(&by_names), links(&by_record), "{folder} {rank}");
    }
}

/// Kineto writes no name with letters beyond ASCII, and backslashes as slashes.
#[test]
fn a_name_that_kineto_does_not_write_is_known_by_its_record_id() {
    let mut pair = Pair::of("minimal_cpu", 0);
    let named = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("ProfilerStep#"));
    let before = links(&pair.linked());
    for (name, written) in [("größe", "unknown"), ("a\\b\n", "a/b")] {
        pair.nodes().iter_mut().filter(|node| named(&node["name"])).for_each(|node| node["name"] = json!(name));
        pair.events().iter_mut().filter(|event| named(&event["name"])).for_each(|event| event["name"] = json!(written));
        assert_eq!(links(&pair.linked()), before, "{name}");
        pair = Pair::of("minimal_cpu", 0);
    }
}

#[test]
fn external_ids_link_where_they_are_the_record_ids() {
    for folder in ["minimal_cpu", "synthetic_cuda"] {
        let by_record = Pair::of(folder, 0).linked();
        let by_external = Pair::of(folder, 0).without_key("Record function id").linked();
        let share = coverage(&by_external).nodes;
        assert_eq!(share.linked.get(&LinkMethod::ExternalId), Some(&share.count), "{folder}: {share:?}");
        assert_eq!(links(&by_external), links(&by_record), "{folder}");
    }
}

#[test]
fn external_ids_that_are_no_record_ids_are_not_taken_for_them() {
    // There each file counts on its own.
    let linked = Pair::of("mlp_gloo", 0).without_key("Record function id").linked();
    assert_eq!(linked.links.nodes.how, Some(LinkMethod::Sequence));
}

#[test]
fn files_of_two_processes_are_linked_on_request_only() {
    let mut pair = Pair::of("mlp_gloo", 0);
    pair.execution = Pair::of("mlp_gloo", 1).execution;
    let linked = pair.linked();
    assert_eq!((linked.links.nodes.how, linked.links.nodes.node_of_event.num_set()), (None, 0));
    assert_eq!(linked.links.warnings.count(WarningKind::OtherProcess), 1);
    let asked = LinkedTrace::relink(pair.trace(), None).unwrap();
    assert_eq!(asked.links.nodes.how, Some(LinkMethod::Sequence));
}

#[test]
fn device_time_of_nodes_is_that_of_their_events_and_of_the_nodes_inside() {
    let linked = files::pair("synthetic_cuda");
    let (trace, total_ns) = (&linked.trace, linked.node_device_ns());
    let work = (0..trace.events.len()).filter(|row| trace.events.kind[*row].is_device_work());
    let owned = work.filter(|row| linked.links.operator.get(*row).is_some());
    let sum: i64 = owned.map(|row| trace.events.dur.at(row).0).sum();
    // The process has no event; all else is inside it.
    let process = trace.nodes.iter().position(|node| node.parent == Some(node.id)).unwrap();
    assert_eq!(total_ns[process], Some(sum));
    for (row, ns) in total_ns.iter().enumerate() {
        let event = linked.links.nodes.event_of_node.get(row);
        assert!(event.is_none_or(|event| *ns == Some(linked.device_time().total_ns[event as usize])));
    }
}

#[test]
fn ids_of_another_run_link_nothing_where_the_runs_part() {
    let mut pair = Pair::of("mlp_gloo", 0);
    pair.execution = Pair::of("mlp_gloo", 1).execution;
    pair.execution.as_object_mut().unwrap().remove("pid");
    // So far both made the same calls: nothing tells them apart.
    assert_eq!(pair.linked().links.nodes.how, Some(LinkMethod::RecordId));
    for attr in pair.nodes().iter_mut().filter_map(|node| node["attrs"].as_array_mut()).flatten() {
        if attr["name"] == "rf_id" && attr["value"].as_u64().unwrap() > 520 {
            attr["value"] = json!(attr["value"].as_u64().unwrap() + 3);
        }
    }
    let linked = pair.linked();
    assert_eq!((linked.links.nodes.how, linked.links.nodes.node_of_event.num_set()), (None, 0));
    assert!(linked.links.nodes.confidence > 0.75, "most names agree by the time");
    assert_eq!(linked.links.warnings.count(WarningKind::ForeignExecutionTrace), 1);
}

#[test]
fn what_only_one_file_names_otherwise_is_no_other_run() {
    let mut pair = Pair::of("mlp_gloo", 0);
    let before = links(&pair.linked());
    pair.nodes()
        .iter_mut()
        .filter(|node| node["name"] == "aten::t")
        .for_each(|node| node["name"] = json!("transposed"));
    let after = links(&pair.linked());
    assert!(after.len() < before.len() && after.len() * 100 > before.len() * 75);
    assert!(after.iter().all(|(event, node)| before.get(event) == Some(node)));
}

/// The iteration that is linked.
fn chosen(linked: &LinkedTrace) -> Option<i64> {
    linked.links.nodes.windows.iter().find(|window| window.is_linked).map(|window| window.iteration)
}

#[test]
fn one_iteration_is_found_among_many() {
    let whole = Pair::of("synthetic_cuda", 0).without_ids().linked();
    let (trace, before) = (&whole.trace, links(&whole));
    // Of three iterations only the second stays.
    let [first, next] = [1, 2].map(|step| whole.links.iterations[step].event as usize);
    let [first_id, next_id] =
        [first, next].map(|event| trace.nodes[whole.links.nodes.node_of_event.get(event).unwrap() as usize].id);
    let mut few_nodes = Pair::of("synthetic_cuda", 0).without_ids();
    few_nodes.nodes().retain(|node| (first_id..next_id).contains(&node["id"].as_u64().unwrap()));
    let mut few_events = Pair::of("synthetic_cuda", 0).without_ids();
    let rows: Vec<_> =
        (0..trace.events.len()).filter(|row| trace.events.start.at(first) <= trace.events.start.at(*row)).collect();
    let rows = rows.into_iter().filter(|row| trace.events.start.at(*row) < trace.events.start.at(next));
    let positions: Vec<_> = rows.map(|row| u64::from(trace.events.position.at(row))).collect();
    few_events.events().retain(|event| positions.contains(&event["tag"].as_u64().unwrap()));
    for pair in [few_nodes, few_events] {
        let part = pair.linked();
        assert_eq!(part.links.nodes.how, Some(LinkMethod::Window), "{:?}", part.links.nodes.windows);
        assert_eq!(chosen(&part), Some(1));
        // The others differ from it by a call or two.
        let confidence = part.links.nodes.confidence;
        assert!((0.51..0.7).contains(&confidence), "{confidence}");
        let after = links(&part);
        assert!(after.len() > 50);
        assert!(after.iter().all(|(event, node)| before.get(event) == Some(node)));
    }
}

#[test]
fn a_thread_that_lacks_its_first_calls_stays_in_its_iteration() {
    let mut pair = Pair::of("synthetic_cuda", 0).without_ids();
    let whole = pair.linked();
    let (trace, before) = (&whole.trace, links(&whole));
    let [step, next] = [1, 2].map(|step| whole.links.iterations[step].event as usize);
    let [first, last] =
        [step, next].map(|event| trace.nodes[whole.links.nodes.node_of_event.get(event).unwrap() as usize].id);
    pair.nodes().retain(|node| (first..last).contains(&node["id"].as_u64().unwrap()));
    // Backward runs on a thread of its own, layer by layer: the next iteration's first would fit
    // after this one's last.
    let is_backward = |row: &usize| {
        let is_inside =
            (trace.events.start.at(step)..trace.events.start.at(next)).contains(&trace.events.start.at(*row));
        is_inside
            && kinetoscope::link::is_call(trace, *row)
            && trace.events.track.at(*row) != trace.events.track.at(step)
    };
    let mut lost: Vec<_> = (0..trace.events.len()).filter(is_backward).collect();
    lost.sort_by_key(|row| trace.events.start.at(*row));
    let lost: Vec<_> = lost[..4].iter().map(|row| u64::from(trace.events.position.at(*row))).collect();
    pair.events().retain(|event| !lost.contains(&event["tag"].as_u64().unwrap()));
    let after = links(&LinkedTrace::relink(pair.trace(), Some(1)).unwrap());
    assert!(after.len() > 40, "{}", after.len());
    assert!(after.iter().all(|(event, node)| before.get(event) == Some(node)));
}

#[test]
fn an_iteration_that_is_asked_for_is_kept_in_a_snapshot() {
    let mut pair = Pair::of("minimal_cpu", 0).without_ids();
    let steps: Vec<_> = pair.linked().links.iterations.iter().map(|step| step.number).collect();
    let is_step = |node: &Value| node["name"].as_str().unwrap().starts_with("ProfilerStep#");
    let first =
        pair.nodes().iter().filter(|node| is_step(node)).map(|node| node["id"].as_u64().unwrap()).min().unwrap();
    let second =
        pair.nodes().iter().filter(|node| is_step(node)).map(|node| node["id"].as_u64().unwrap()).max().unwrap();
    pair.nodes().retain(|node| (first + 1..second).contains(&node["id"].as_u64().unwrap()));
    for step in steps {
        let linked = LinkedTrace::relink(pair.trace(), Some(step)).unwrap();
        assert_eq!(chosen(&linked), Some(step));
        let snapshot = write_snapshot(&linked.trace).unwrap();
        assert_eq!(chosen(&LinkedTrace::new(read_snapshot(&snapshot, Limits::default()).unwrap())), Some(step));
    }
    let error = LinkedTrace::relink(pair.trace(), Some(99)).unwrap_err().to_string();
    let expected =
        "expected an iteration that matches the other recording, found 99; matching iterations: 1 (100 %), 2 (100 %)";
    assert_eq!(error, expected);
}

#[test]
fn what_is_linked_nowhere_says_why() {
    let kineto = files::trace(r#"[{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1}]"#);
    let coverage = coverage(&LinkedTrace::new(kineto));
    let text = serde_json::to_string(&coverage).unwrap();
    assert!(
        text.contains(r#""operators":{"count":1,"num_linked":0,"linked":{},"unlinked":{"no_partner":1}}"#),
        "{text}"
    );
    assert!(text.contains(r#""reasons":{"no_partner":"no second file, or nothing in it can be linked"#), "{text}");
}

fn is_call(event: &Value) -> bool {
    event["cat"] == "cpu_op" || event["cat"] == "user_annotation"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_order_of_the_file_changes_no_link(at in 0..PAIRS.len(), seed in any::<u64>()) {
        let (folder, rank) = PAIRS[at];
        let mut pair = Pair::of(folder, rank).without_ids();
        let before = links(&pair.linked());
        for elements in [pair.kineto["traceEvents"].take(), pair.execution["nodes"].take()] {
            let Value::Array(mut elements) = elements else { panic!() };
            elements.sort_by_cached_key(|element| mixed(seed, &element["tag"]));
            let is_node = elements.iter().any(|element| element["attrs"].is_array());
            *(if is_node { &mut pair.execution["nodes"] } else { &mut pair.kineto["traceEvents"] }) = Value::Array(elements);
        }
        prop_assert_eq!(links(&pair.linked()), before);
    }

    #[test]
    fn other_numbers_change_no_link(at in 0..PAIRS.len(), step in 1..9_u64, first in 0..1_000_000_u64) {
        let (folder, rank) = PAIRS[at];
        let mut pair = Pair::of(folder, rank).without_ids();
        let before = links(&pair.linked());
        for node in pair.nodes() {
            for key in ["id", "ctrl_deps"] {
                node[key] = json!(node[key].as_u64().unwrap() * step + first);
            }
            for attr in node["attrs"].as_array_mut().unwrap().iter_mut().filter(|attr| attr["name"] == "tid") {
                attr["value"] = json!(attr["value"].as_u64().unwrap() + first);
            }
        }
        prop_assert_eq!(links(&pair.linked()), before);
    }

    #[test]
    fn what_is_missing_misleads_nothing(at in 0..PAIRS.len(), seed in any::<u64>(), lacks_nodes in any::<bool>()) {
        let (folder, rank) = PAIRS[at];
        let mut pair = Pair::of(folder, rank).without_ids();
        let before = links(&pair.linked());
        let is_kept = |element: &Value| !mixed(seed, &element["tag"]).is_multiple_of(20);
        if lacks_nodes {
            pair.nodes().retain(is_kept);
        } else {
            pair.events().retain(|event| !is_call(event) || is_kept(event));
        }
        let after = links(&pair.linked());
        for (event, node) in &after {
            prop_assert_eq!(before.get(event), Some(node), "{} {} {}", folder, rank, event);
        }
        prop_assert!(after.len() * 100 >= before.len() * 80, "{} of {} in {}", after.len(), before.len(), folder);
    }

    #[test]
    fn annotations_that_come_twice_change_no_other_link(at in 0..PAIRS.len()) {
        let (folder, rank) = PAIRS[at];
        let mut pair = Pair::of(folder, rank).without_ids();
        let before = links(&pair.linked());
        let mut again: Vec<_> = pair.events().iter().filter(|event| event["cat"] == "user_annotation").cloned().collect();
        again.iter_mut().for_each(|event| event["tag"] = json!(1_000_000 + event["tag"].as_u64().unwrap()));
        pair.events().extend(again);
        let mut after = links(&pair.linked());
        after.retain(|event, _| before.contains_key(event));
        for (event, node) in &after {
            prop_assert_eq!(before.get(event), Some(node), "{} {} {}", folder, rank, event);
        }
        prop_assert!(after.len() * 100 >= before.len() * 95, "{} of {} in {}", after.len(), before.len(), folder);
    }
}

/// A number that seems to have nothing to do with the tag.
fn mixed(seed: u64, tag: &Value) -> u64 {
    let mixed = (seed ^ tag.as_u64().unwrap_or(0)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32
}

#[test]
fn a_node_without_its_parent_is_called_by_its_id() {
    let graph = json!({"schema": "1.0.1", "nodes": [
        {"id": 2, "name": "a", "parent": 1}, {"id": 40, "name": "b", "parent": 7}, {"id": 40, "name": "c", "parent": 2}]});
    let linked = LinkedTrace::new(read([Input::new(graph.to_string().as_bytes())], Limits::default()).unwrap());
    let first = |kind: &str| health(&linked).into_iter().find(|row| row.kind == kind).map(|row| row.first);
    assert_eq!(first("missing_parent").as_deref(), Some("node 2"));
    assert_eq!(first("duplicate_node").as_deref(), Some("node 40"));
}
