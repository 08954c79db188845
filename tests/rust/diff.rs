//! Tests comparisons: parts add up, chance is recognized, planted changes are found.

use std::collections::BTreeMap;
use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{AnalysisResult, diff};
use kinetoscope::table::{ColumnValues, TableRows};
use serde_json::{Value, json};

use crate::files;

/// Iterations of 1 ms; in each, calls with the kernels that they launch.
struct Run<'a> {
    calls: &'a [(&'a str, &'a str, i64)],
    iterations: i64,
    /// How much longer each kernel of an iteration takes than in the first, in µs.
    jitter: i64,
}

impl Run<'_> {
    fn linked(&self) -> Arc<LinkedTrace> {
        let mut events: Vec<Value> = Vec::new();
        let mut event = |category: &str, name: &str, tid: i64, (start, dur): (i64, i64), id: i64| {
            let pid = i64::from(tid == 2);
            events.push(
                json!({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": dur,
                               "args": {"correlation": id, "device": 0, "stream": 7, "Input Dims": [[4, 4]]}}),
            );
        };
        for iteration in 0..self.iterations {
            let start = iteration * 1_000;
            event("user_annotation", &format!("ProfilerStep#{iteration}"), 2, (start, 1_000), 0);
            event("cpu_op", "aten::linear", 2, (start, 500), 0);
            for (at, (operator, kernel, dur)) in (0..).zip(self.calls) {
                let (id, begin) = (iteration * 100 + at + 1, start + at * 20);
                event("cpu_op", operator, 2, (begin, 20), 0);
                event("cuda_runtime", "cudaLaunchKernel", 2, (begin + 2, 2), id);
                let dur = dur + (iteration * 7 % 3) * self.jitter;
                event("kernel", kernel, 7, (start + 100 + at * 200, dur), id);
            }
        }
        Arc::new(LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string())))
    }
}

fn run<'a>(calls: &'a [(&'a str, &'a str, i64)], jitter: i64) -> Run<'a> {
    Run { calls, iterations: 4, jitter }
}

const CALLS: [(&str, &str, i64); 2] = [("aten::addmm", "gemm", 50), ("aten::relu", "relu", 20)];

fn table<'a>(answer: &'a AnalysisResult, name: &str) -> &'a dyn TableRows {
    answer.tables.iter().find(|table| table.name() == name).expect("a table of the answer").as_ref()
}

/// Rows of a table as JSON objects.
pub(crate) fn rows(answer: &AnalysisResult, name: &str) -> Vec<BTreeMap<&'static str, Value>> {
    let table = table(answer, name);
    let of_row = |row: usize| {
        let cell = |at: usize| (table.column_name(at), cell(&table.values(at, row..row + 1)));
        (0..table.num_columns()).map(cell).collect()
    };
    (0..table.num_rows()).map(of_row).collect()
}

fn cell(values: &ColumnValues) -> Value {
    match values {
        ColumnValues::Int(values) => json!(values.get(0)),
        ColumnValues::UInt(values) => json!(values.get(0)),
        ColumnValues::Float(values) => json!(values.get(0)),
        ColumnValues::Bool(values) => json!(values.get(0)),
        ColumnValues::Text { bytes, valid, .. } => json!(valid[0].then_some(bytes)),
    }
}

/// Some columns of all rows.
pub(crate) fn picked(answer: &AnalysisResult, name: &str, columns: &[&str]) -> Vec<Vec<Value>> {
    rows(answer, name).iter().map(|row| columns.iter().map(|column| row[column].clone()).collect()).collect()
}

fn compared(before: &Run<'_>, after: &Run<'_>) -> AnalysisResult {
    diff(&before.linked(), &after.linked(), "{}").expect("an answer")
}

#[test]
fn the_parts_add_up_to_the_step() {
    let answer = compared(&run(&CALLS, 3), &run(&[("aten::addmm", "gemm", 91), ("aten::relu", "relu", 7)], 1));
    let parts = picked(&answer, "diff", &["part", "before_ns", "after_ns", "change_ns"]);
    assert_eq!(parts[0][0], "step");
    for column in 1..4 {
        let ns = |row: &Vec<Value>| row[column].as_i64().unwrap_or(0);
        assert_eq!(parts[1..].iter().map(ns).sum::<i64>(), ns(&parts[0]));
    }
    // Jitter is 0, 3, 6, 0 microseconds more for each of two kernels; then 0, 1, 2, 0.
    let compute: Vec<Value> = vec![json!("compute"), json!(70_000 + 4_500), json!(98_000 + 1_500), json!(25_000)];
    assert_eq!(parts[1], compute);
    assert_eq!(parts[5][3], json!(-25_000)); // it comes out of idle time
}

#[test]
fn nothing_changed_between_a_trace_and_itself() {
    let answer = compared(&run(&CALLS, 3), &run(&CALLS, 3));
    assert_eq!(rows(&answer, "diff_structure"), []);
    for name in ["diff", "diff_operators", "diff_kernels", "diff_shapes"] {
        for row in rows(&answer, name) {
            assert_eq!((&row["change_ns"], &row["is_significant"]), (&json!(0), &json!(false)), "{name}");
        }
    }
}

#[test]
fn a_change_is_significant_when_it_is_more_than_iterations_differ() {
    let slower = [("aten::addmm", "gemm", 54), CALLS[1]];
    let found = |jitter| {
        let answer = compared(&run(&CALLS, jitter), &run(&slower, jitter));
        picked(&answer, "diff_kernels", &["name", "change_ns", "is_significant"])
    };
    assert_eq!(found(0)[0], [json!("gemm"), json!(4_000), json!(true)]);
    assert_eq!(found(20)[0], [json!("gemm"), json!(4_000), json!(false)]);
    let once = Run { iterations: 1, ..run(&CALLS, 0) };
    assert_eq!(rows(&compared(&once, &once), "diff")[0]["p_value"], Value::Null);
}

#[test]
fn what_came_and_went_is_told_by_name() {
    let answer = compared(&run(&CALLS, 0), &run(&[CALLS[0], ("aten::gelu", "gelu", 30)], 0));
    let status = picked(&answer, "diff_operators", &["name", "status", "change_ns", "after_count"]);
    assert_eq!(status[0], [json!("aten::gelu"), json!("added"), json!(30_000), json!(1.0)]);
    assert_eq!(status[1], [json!("aten::relu"), json!("removed"), json!(-20_000), json!(0.0)]);
    let places = picked(&answer, "diff_structure", &["path", "status", "before", "after", "change_ns"]);
    assert_eq!(
        places,
        [[json!("aten::linear"), json!("replaced"), json!("aten::relu"), json!("aten::gelu"), json!(10_000)]]
    );
}

#[test]
fn another_kernel_under_the_same_call_is_one_change() {
    let answer = compared(&run(&CALLS, 0), &run(&[("aten::addmm", "splitk", 35), CALLS[1]], 0));
    let places = picked(&answer, "diff_structure", &["path", "status", "before", "after", "change_ns"]);
    let path = "aten::linear / aten::addmm";
    assert_eq!(places, [[json!(path), json!("replaced"), json!("gemm"), json!("splitk"), json!(-15_000)]]);
}

#[test]
fn one_call_more_moves_no_other() {
    let calls = [("aten::addmm", "gemm", 50), ("aten::clone", "copy", 5), ("aten::relu", "relu", 20)];
    let answer = compared(&run(&CALLS, 0), &run(&calls, 0));
    let places = picked(&answer, "diff_structure", &["path", "status", "before", "after", "count"]);
    assert_eq!(places, [[json!("aten::linear"), json!("added"), Value::Null, json!("aten::clone"), json!(1)]]);
}

#[test]
fn without_a_device_the_step_is_what_its_thread_did() {
    let host = |dur: i64| {
        let json = json!([
            {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": dur},
            {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 1, "tid": 1, "ts": 6, "dur": 2}]);
        Arc::new(LinkedTrace::new(files::trace(&json.to_string())))
    };
    let answer = diff(&host(20), &host(60), "{}").expect("an answer");
    let parts = picked(&answer, "diff", &["part", "change_ns"]);
    let expected = [("step", 0), ("aten::mm", 40_000), ("between operators", -40_000)];
    assert_eq!(parts, expected.map(|(name, ns)| vec![json!(name), json!(ns)]));
    assert!(diff(&host(20), &host(60), r#"{"colour": 1}"#).is_err());
    let empty = Arc::new(LinkedTrace::new(files::trace("[]")));
    assert_eq!(diff(&empty, &empty, "{}").expect("an answer").reason.as_deref(), Some("neither trace has events"));
}

#[test]
fn the_picture_leads_from_before_to_after_by_what_changed() {
    let slower = [("aten::addmm", "gemm", 90), ("aten::relu", "relu", 20)];
    let answer = diff(&run(&CALLS, 0).linked(), &run(&slower, 0).linked(), "{}").unwrap();
    let svg = kinetoscope::view::chart(&*answer.tables[0], answer.plot, answer.reason.as_deref());
    let titles: Vec<_> = svg.split("<g><title>").skip(1).filter_map(|rest| rest.split('<').next()).collect();
    assert_eq!(titles, ["step before: 1 ms", "compute: +40 µs", "idle: −40 µs", "step after: 1 ms"]);
    assert!(svg.contains("the axis starts at"));
    assert!(svg.contains("<desc>") && svg.contains("step: from 1 ms to 1 ms: compute +40 µs, idle −40 µs."));
    let same = diff(&run(&CALLS, 0).linked(), &run(&CALLS, 0).linked(), "{}").unwrap();
    let svg = kinetoscope::view::chart(&*same.tables[0], same.plot, same.reason.as_deref());
    assert_eq!(svg.matches("<g><title>").count(), 2);
}
