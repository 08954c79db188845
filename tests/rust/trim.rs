//! Tests trimming a trace to a range.

use std::collections::BTreeSet;

use kinetoscope::edit::{TrimmedTrace, trim};
use kinetoscope::link::EdgeKind;
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::time::{TimeRange, Ts};
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::{Input, Limits, LinkedTrace, Trace, WarningKind, read, write_snapshot};
use proptest::prelude::*;
use serde_json::json;

use crate::{files, laws, shared};

/// The second iteration; of a trace without, its middle third.
pub(crate) fn second(linked: &LinkedTrace) -> TimeRange {
    if let Some(iteration) = linked.links.iterations.get(1) {
        return iteration.range();
    }
    let TimeRange { start, end } = linked.trace.range();
    let third = end.since(start).0 / 3;
    TimeRange { start: Ts(start.0 + third), end: Ts(start.0 + 2 * third) }
}

const ITERATION: usize = 3;

/// Links of an event, by ids of the whole trace.
fn links_of(linked: &LinkedTrace, row: usize, id: &dyn Fn(u32) -> u32) -> [Option<i64>; 5] {
    let links = &linked.links;
    let event = |row: Option<u32>| row.map(|row| i64::from(id(linked.trace.events.position.at(row as usize))));
    [
        event(links.nesting.parent.get(row)),
        event(links.launch.get(row)),
        event(links.operator.get(row)),
        links.iteration.get(row).map(|at| links.iterations[at as usize].number),
        links.nodes.node_of_event.get(row).map(|node| linked.trace.nodes[node as usize].id as i64),
    ]
}

/// The edges between events, by ids of the whole trace.
fn edges(linked: &LinkedTrace, id: &dyn Fn(u32) -> u32) -> BTreeSet<(u32, u32, &'static str, &'static str)> {
    let of = |row: u32| id(linked.trace.events.position.at(row as usize));
    let edges = linked.edge_list().iter().filter(|edge| edge.kind != EdgeKind::Node);
    edges.map(|edge| (of(edge.source), of(edge.target), edge.kind.name(), edge.how.name())).collect()
}

fn assert_linked_as_before(name: &str, linked: &LinkedTrace, range: TimeRange, trimmed: &TrimmedTrace) {
    let part = LinkedTrace::new(trimmed.trace.clone());
    let events = &linked.trace.events;
    let before = |id: u32| trimmed.ids[id as usize];
    let mut inside = BTreeSet::new();
    for row in (0..events.len()).filter(|row| range.overlaps(events.start.at(*row), events.dur.at(*row))) {
        let id = trimmed.id(events.position.at(row)).expect("an event that was kept");
        let now = part.trace.events.row_at(id).unwrap();
        let (mut old, mut new) = (links_of(linked, row, &|id| id), links_of(&part, now, &before));
        // Events that reach into the range keep an iteration outside of it.
        if events.start.at(row) < range.start && !linked.trace.is_on_device(row) {
            (old[ITERATION], new[ITERATION]) = (None, None);
        }
        assert_eq!(old, new, "{name}: the links of {} {}", events.position.at(row), linked.trace.event_name(row));
        inside.insert(events.position.at(row));
    }
    let touching = |edges: BTreeSet<(u32, u32, &'static str, &'static str)>| -> BTreeSet<_> {
        edges.into_iter().filter(|(source, target, ..)| inside.contains(source) || inside.contains(target)).collect()
    };
    let (old, new) = (touching(edges(linked, &|id| id)), touching(edges(&part, &before)));
    let differ: Vec<_> = old.symmetric_difference(&new).take(5).collect();
    assert!(differ.is_empty(), "{name}: {} edges differ, {differ:?}", old.symmetric_difference(&new).count());
}

/// The part, written and read.
fn written(trace: &Trace) -> Trace {
    let mut json = Vec::new();
    write_chrome(trace, &mut json).unwrap();
    read([Input::new(&json)], Limits::default()).unwrap()
}

fn assert_reads_back(name: &str, trimmed: &TrimmedTrace) {
    let mut trace = trimmed.trace.clone();
    trace.nodes.clear();
    let again = [written(&trace), read_snapshot(&write_snapshot(&trace).unwrap(), Limits::default()).unwrap()];
    let before = shared::seen(&LinkedTrace::new(trace));
    for again in again {
        shared::assert_same(name, "writing the part", &before, again);
    }
}

fn assert_whole(name: &str, trace: Trace) {
    let linked = LinkedTrace::new(trace);
    let range = second(&linked);
    let trimmed = trim(&linked, range);
    assert_linked_as_before(name, &linked, range, &trimmed);
    assert_reads_back(name, &trimmed);
}

#[test]
fn the_second_iteration_of_every_trace_is_linked_as_before() {
    for (name, trace) in shared::traces() {
        eprintln!("{name}");
        assert_whole(&name, trace);
    }
}

#[test]
fn fixtures_with_their_nodes_are_linked_as_before() {
    for folder in ["synthetic_cuda", "transformer_cpu", "minimal_cpu", "mlp_gloo"] {
        assert_whole(folder, files::pair(folder).trace);
    }
}

#[test]
fn work_that_waited_for_another_stream_is_linked_with_it_in_a_part_of_its_own() {
    let folder = "facebookresearch__HolisticTraceAnalysis/tests/data";
    for name in [
        "critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz",
        "trace_diff/control/control.json.gz",
    ] {
        let Some(trace) = shared::trace(&format!("{folder}/{name}")) else { continue };
        let linked = LinkedTrace::new(trace);
        let events = &linked.trace.events;
        let waits = linked.sync_edges().iter().filter(|edge| linked.trace.is_on_device(edge.target as usize));
        let targets: Vec<_> = waits.map(|edge| edge.target as usize).collect();
        assert!(targets.len() > 4, "{name}");
        for row in targets {
            let range = TimeRange { start: events.start.at(row), end: events.end(row) };
            assert_linked_as_before(name, &linked, range, &trim(&linked, range));
        }
    }
}

proptest! {
    #[test]
    fn a_part_is_linked_as_before(events in laws::events(), start in 0..15_000_i64, length in 0..8_000_i64) {
        let linked = laws::linked(&events);
        let range = TimeRange { start: Ts(start), end: Ts(start + length) };
        let trimmed = trim(&linked, range);
        assert_reads_back("part", &trimmed);
        let left_out = events.len() - trimmed.trace.events.len();
        prop_assert_eq!(trimmed.trace.warnings.count(WarningKind::Trimmed), left_out as u64);
        let all = trim(&linked, TimeRange { start: Ts(-1), end: Ts(1 << 40) });
        prop_assert_eq!(all.trace.events.len(), events.len());
    }
}

#[test]
fn an_iteration_is_alone_though_functions_of_python_reach_into_it() {
    let event = |cat: &str, name: &str, ts: i64, dur: i64| json!({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur});
    let events = json!([
        event("user_annotation", "ProfilerStep#1", 0, 100),
        event("python_function", "torch/profiler/profiler.py(1): step", 95, 10),
        event("user_annotation", "ProfilerStep#2", 101, 100),
        event("cpu_op", "aten::add", 120, 5),
    ]);
    let linked = LinkedTrace::new(read([Input::new(events.to_string().as_bytes())], Limits::default()).unwrap());
    let part = LinkedTrace::new(trim(&linked, linked.links.iterations[1].range()).trace);
    let numbers: Vec<_> = part.links.iterations.iter().map(|iteration| iteration.number).collect();
    assert_eq!((numbers, part.trace.events.len()), (vec![2], 3));
}
