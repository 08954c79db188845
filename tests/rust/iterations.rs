//! Tests which iteration an event belongs to, with misplaced annotations.

use kinetoscope::{LinkedTrace, WarningKind};
use serde_json::json;

use crate::{files, shared};

/// A trace of one thread: names with their starts, durations and `External id`, in µs.
fn linked(calls: &[(&str, i64, i64, i64)]) -> LinkedTrace {
    let event = |(name, ts, dur, id): &(&str, i64, i64, i64)| {
        let cat = if name.starts_with("aten") { "cpu_op" } else { "user_annotation" };
        json!({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": {"External id": id}})
    };
    let events: Vec<_> = calls.iter().map(event).collect();
    LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string()))
}

/// Number, start and duration in µs of each iteration.
fn iterations(linked: &LinkedTrace) -> Vec<(i64, i64, i64)> {
    let iterations = linked.links.iterations.iter();
    iterations.map(|row| (row.number, row.start.0 / 1_000, row.dur.0 / 1_000)).collect()
}

/// The number of each event's iteration.
fn numbers(linked: &LinkedTrace) -> Vec<Option<i64>> {
    let number = |at: u32| linked.links.iterations[at as usize].number;
    (0..linked.trace.events.len()).map(|row| linked.links.iteration.get(row).map(number)).collect()
}

fn num_late(linked: &LinkedTrace) -> u64 {
    linked.links.warnings.count(WarningKind::LateStep)
}

#[test]
fn an_annotation_that_begins_when_its_iteration_ends_is_taken_to_begin_before() {
    // As PyTorch 2.5.1 writes it with stacks: the numbers tell the order.
    let linked = linked(&[
        ("ProfilerStep#2", 1_100, 50, 10),
        ("load", 100, 50, 11),
        ("aten::mm", 600, 300, 12),
        ("ProfilerStep#3", 2_100, 50, 20),
        ("load", 1_240, 50, 21),
        ("aten::mm", 1_600, 300, 22),
        ("ProfilerStep#4", 3_100, 50, 30),
        ("aten::mm", 2_600, 300, 31),
    ]);
    assert_eq!(iterations(&linked), [(2, 100, 1_050), (3, 1_150, 1_000), (4, 2_150, 1_000)]);
    let expected = [2, 2, 2, 3, 3, 3, 4, 4].map(Some);
    assert_eq!(numbers(&linked), expected);
    let health = kinetoscope::analyze::health(&linked);
    let told = health.iter().find(|row| row.kind == "late_step").unwrap();
    assert_eq!((told.count, told.first.as_str()), (3, "event 0"));
}

#[test]
fn what_was_called_between_two_iterations_is_in_neither() {
    let apart = linked(&[
        ("ProfilerStep#2", 100, 50, 10),
        ("aten::mm", 110, 20, 11),
        ("aten::load", 400, 500, 12),
        ("ProfilerStep#3", 1_000, 50, 20),
        ("aten::mm", 1_010, 20, 21),
    ]);
    assert_eq!(iterations(&apart), [(2, 100, 50), (3, 1_000, 50)]);
    assert_eq!(numbers(&apart), [Some(2), Some(2), None, Some(3), Some(3)]);
    assert_eq!(num_late(&apart), 0);
    // One of them begins late, and something was called before it.
    let late = linked(&[
        ("ProfilerStep#2", 100, 50, 10),
        ("aten::mm", 110, 20, 11),
        ("aten::load", 400, 100, 12),
        ("ProfilerStep#3", 1_000, 50, 20),
        ("aten::mm", 600, 20, 21),
    ]);
    assert_eq!(iterations(&late), [(2, 100, 50), (3, 600, 450)]);
    assert_eq!((numbers(&late)[2], num_late(&late)), (None, 1));
}

#[test]
fn numbers_that_begin_anew_tell_no_order() {
    let linked = linked(&[
        ("ProfilerStep#2", 100, 50, 500),
        ("aten::mm", 110, 20, 501),
        ("aten::mm", 400, 100, 502),
        ("ProfilerStep#0", 1_000, 50, 1),
        ("aten::mm", 1_010, 20, 2),
    ]);
    assert_eq!(iterations(&linked), [(2, 100, 50), (0, 1_000, 50)]);
    assert_eq!(num_late(&linked), 0);
}

#[test]
fn no_iteration_of_a_real_trace_begins_late() {
    for (name, trace) in shared::traces() {
        assert_eq!(num_late(&LinkedTrace::new(trace)), 0, "{name}");
    }
}
