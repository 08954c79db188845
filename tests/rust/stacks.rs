//! Tests self time of stacks of Python frames.

use kinetoscope::analyze::{Selection, stacks};
use serde_json::{Value, json};

use crate::files;

fn frame(name: &str, start: i64, dur: i64) -> Value {
    json!({"ph": "X", "cat": "python_function", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur})
}

/// The stack, how often it was entered, its host time in microseconds.
fn found(events: &[Value], depth: usize) -> Vec<(String, u64, i64)> {
    let linked = std::sync::Arc::new(kinetoscope::LinkedTrace::new(files::trace(&json!(events).to_string())));
    let rows = stacks(&Selection::all(&linked), depth);
    rows.into_iter().map(|row| (row.stack(), row.count, row.self_ns / 1_000)).collect()
}

#[test]
fn time_belongs_to_the_innermost_frame() {
    let operator = json!({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 10});
    let events = [frame("main", 0, 100), frame("step", 2, 20), operator, frame("step", 40, 30), frame("loss", 45, 5)];
    let expected = [("main", 1, 50), ("main;step", 2, 45), ("main;step;loss", 1, 5)];
    assert_eq!(found(&events, 256), expected.map(|(stack, count, us)| (stack.to_owned(), count, us)));
    let expected = [("main", 1, 50), ("step", 2, 45), ("loss", 1, 5)];
    assert_eq!(found(&events, 1), expected.map(|(stack, count, us)| (stack.to_owned(), count, us)));
}

#[test]
fn where_an_object_lives_makes_no_other_stack() {
    let call = |address: &str, start| frame(&format!("<built-in method run of Engine object at {address}>"), start, 10);
    let events = [frame("main", 0, 100), call("0x7f00", 10), call("0x7faa", 30)];
    assert_eq!(found(&events, 256)[1], (String::from("main;<built-in method run of Engine object>"), 2, 20));
}
