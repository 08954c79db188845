//! Tests which work a comparison counts: that of the step which launched it, of kinds that both
//! traces recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{AnalysisResult, diff};
use kinetoscope::write::chrome::write_chrome;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::diff::{picked, rows};
use crate::files;

/// A kernel: its step, start after the step's start and duration in µs, stream and name.
type Work = (usize, i64, i64, i64, &'static str);

/// Length of a step in µs.
const STEP: i64 = 100;

/// Steps that launch kernels in their first half.
fn run(num_steps: usize, work: &[Work]) -> Arc<LinkedTrace> {
    let mut events = Vec::new();
    let mut event = |cat: &str, name: &str, (pid, tid): (i64, i64), (ts, dur): (i64, i64), id: i64| {
        let args = json!({"correlation": id, "device": 0, "stream": tid, "Input Dims": [[id % 2]]});
        let args = if cat == "user_annotation" { json!({}) } else { args };
        events.push(
            json!({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}),
        );
    };
    for step in 0..num_steps as i64 {
        event("user_annotation", &format!("ProfilerStep#{step}"), (1, 1), (step * STEP, STEP), 0);
    }
    for (at, (step, start, dur, stream, name)) in (1..).zip(work) {
        let begin = *step as i64 * STEP + at % 40;
        // Every third launch is outside of operators.
        if at % 3 != 0 {
            event("cpu_op", &format!("aten::{name}"), (1, 2), (begin, 1), at);
        }
        event("cuda_runtime", "cudaLaunchKernel", (1, 2 + at % 3 / 2), (begin, 1), at);
        event("kernel", name, (0, *stream), (*step as i64 * STEP + start, *dur), at);
    }
    linked(&json!({ "traceEvents": events }))
}

fn linked(json: &Value) -> Arc<LinkedTrace> {
    Arc::new(LinkedTrace::new(files::trace(&json.to_string())))
}

fn compared(before: &Arc<LinkedTrace>, after: &Arc<LinkedTrace>) -> AnalysisResult {
    diff(before, after, "{}").expect("an answer")
}

/// Rows of `diff` by part.
fn parts(answer: &AnalysisResult) -> BTreeMap<String, BTreeMap<&'static str, Value>> {
    rows(answer, "diff").into_iter().map(|row| (row["part"].as_str().unwrap().to_owned(), row)).collect()
}

fn sum(rows: &[BTreeMap<&'static str, Value>], column: &str, is_wanted: impl Fn(&str) -> bool) -> i64 {
    let class = |row: &BTreeMap<&'static str, Value>| row.get("class").and_then(Value::as_str).unwrap_or("").to_owned();
    rows.iter().filter(|row| is_wanted(&class(row))).map(|row| row[column].as_i64().unwrap()).sum()
}

const NAMES: [&str; 4] = ["gemm", "relu", "ncclDevKernel_AllReduce", "softmax"];

fn some_work() -> impl Strategy<Value = (usize, Vec<Work>)> {
    (1..4_usize).prop_flat_map(|num_steps| {
        let work = (0..num_steps, 50..230_i64, 1..90_i64, 7..9_i64, 0..NAMES.len());
        let named =
            |(step, start, dur, stream, name): (usize, i64, i64, i64, usize)| (step, start, dur, stream, NAMES[name]);
        (Just(num_steps), prop::collection::vec(work.prop_map(named), 1..12))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tables_add_up_to_the_headline_to_the_nanosecond(before in some_work(), after in some_work()) {
        let answer = compared(&run(before.0, &before.1), &run(after.0, &after.1));
        let (parts, kernels) = (rows(&answer, "diff"), rows(&answer, "diff_kernels"));
        let (operators, classes) = (rows(&answer, "diff_operators"), rows(&answer, "diff_device_work"));
        for (column, (num, work)) in [("before_ns", &before), ("after_ns", &after)] {
            let step = parts[0][column].as_i64().unwrap();
            prop_assert_eq!(step, STEP * 1000);
            prop_assert_eq!(sum(&parts[1..], column, |_| true), step);
            let expected = (work.iter().map(|(_, _, dur, ..)| dur * 1000).sum::<i64>() as f64 / *num as f64).round() as i64;
            prop_assert_eq!(sum(&kernels, column, |_| true), expected);
            prop_assert_eq!(classes[0][column].as_i64(), Some(expected));
            if operators.iter().any(|row| row["name"] != "outside of operators") {
                prop_assert_eq!(sum(&operators, column, |_| true), expected);
            }
            for row in &classes[1..] {
                let class = row["class"].as_str().unwrap();
                prop_assert_eq!(sum(&kernels, column, |other| other == class), row[column].as_i64().unwrap());
            }
        }
        let headline = self::parts(&answer);
        for (class, part) in [("computation", "compute"), ("communication", "exposed_communication")] {
            let Some(row) = classes.iter().find(|row| row["class"] == class) else { continue };
            for (exposed, side) in [("before_exposed_ns", "before_ns"), ("after_exposed_ns", "after_ns")] {
                prop_assert_eq!(&row[exposed], &headline[part][side]);
            }
        }
        for row in rows(&answer, "diff") {
            let share = row["share"].as_f64();
            prop_assert!(share.is_none_or(|share| (-1.0..=1.0).contains(&share)));
        }
    }
}

#[test]
fn the_tail_after_the_step_counts_for_the_step_that_launched_it() {
    // 40 µs of the kernel run after the end of the only step.
    let (before, after) = (run(1, &[(0, 60, 80, 7, "gemm")]), run(1, &[(0, 60, 90, 7, "gemm")]));
    let answer = compared(&before, &after);
    let columns = ["part", "before_ns", "after_ns", "change_ns"];
    let row =
        |name: &str, before: i64, after: i64| vec![json!(name), json!(before), json!(after), json!(after - before)];
    let found: Vec<_> =
        picked(&answer, "diff", &columns).into_iter().filter(|row| row[1] != 0 || row[2] != 0).collect();
    assert_eq!(
        found,
        [
            row("step", 100_000, 100_000),
            row("compute", 80_000, 90_000),
            row("idle", 60_000, 60_000),
            row("ran_outside", -40_000, -50_000)
        ]
    );
    assert_eq!(picked(&answer, "diff_kernels", &["change_ns"]), [[json!(10_000)]]);
    let selected = diff(&before, &after, r#"{"iteration": 0}"#).expect("an answer");
    assert_eq!(picked(&selected, "diff_kernels", &["before_ns", "after_ns"]), [[json!(80_000), json!(90_000)]]);
}

#[test]
fn work_that_runs_in_the_next_step_is_not_that_step_s() {
    let work = [(0, 60, 80, 7, "gemm"), (1, 60, 20, 7, "gemm")];
    let trace = run(2, &work);
    let answer = diff(&trace, &trace, r#"{"iteration": 1}"#).expect("an answer");
    let parts = parts(&answer);
    assert_eq!(parts["compute"]["before_ns"], 20_000);
    assert_eq!(parts["launched_outside"]["before_ns"], 40_000);
    assert_eq!(parts["idle"]["before_ns"], 40_000);
}

#[test]
fn work_on_two_streams_counts_once_in_the_step_and_in_full_by_kernel() {
    let trace = run(1, &[(0, 50, 20, 7, "gemm"), (0, 60, 20, 8, "gemm"), (0, 50, 40, 9, "ncclKernel")]);
    let answer = compared(&trace, &trace);
    let columns = ["class", "before_ns", "before_exposed_ns", "before_overlapped_ns"];
    assert_eq!(
        picked(&answer, "diff_device_work", &columns),
        [
            vec![json!("all"), json!(80_000), json!(40_000), json!(40_000)],
            vec![json!("computation"), json!(40_000), json!(30_000), json!(10_000)],
            vec![json!("communication"), json!(40_000), json!(10_000), json!(30_000)]
        ]
    );
    let parts = parts(&answer);
    assert_eq!(
        (&parts["compute"]["after_ns"], &parts["exposed_communication"]["after_ns"]),
        (&json!(30_000), &json!(10_000))
    );
}

#[test]
fn work_outside_of_all_steps_is_told() {
    let mut events = vec![json!({"ph": "X", "cat": "kernel", "name": "warmup", "pid": 0, "tid": 7, "ts": 1, "dur": 5})];
    events.push(
        json!({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 50, "dur": 50}),
    );
    events.push(json!({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 60, "dur": 5}));
    let trace = linked(&json!(events));
    let parts = parts(&compared(&trace, &trace));
    assert_eq!(
        parts["step"]["note"],
        "device events launched outside of all iterations are left out: 1 before, 1 after"
    );
    assert_eq!(parts["compute"]["before_ns"], 5_000);
}

/// The same run, but for events of these categories.
fn without(trace: &Value, categories: &[&str]) -> Value {
    let events = trace["traceEvents"].as_array().unwrap();
    let kept: Vec<_> =
        events.iter().filter(|event| !categories.contains(&event["cat"].as_str().unwrap_or(""))).collect();
    json!({ "traceEvents": kept })
}

fn full() -> Value {
    json!({"traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
        {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 1, "dur": 60,
         "args": {"Python id": 1}},
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 20,
         "args": {"Input Dims": [[2, 3], [3, 4]]}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 6, "dur": 2,
         "args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 30, "dur": 50,
         "args": {"correlation": 1, "device": 0, "stream": 7}},
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 85, "dur": 5,
         "args": {"device": 0, "stream": 7}},
        {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 1, "tid": 1, "ts": 7, "args": {"Bytes": 8}}
    ]})
}

#[test]
fn device_time_is_not_compared_with_a_trace_that_has_none() {
    let (gpu, cpu) = (linked(&full()), linked(&without(&full(), &["kernel", "gpu_memcpy", "cuda_runtime"])));
    for (before, after, reason) in [(&gpu, &cpu, "not recorded after"), (&cpu, &gpu, "not recorded before")] {
        let answer = compared(before, after);
        let parts = parts(&answer);
        assert_eq!((&parts["step"]["before_ns"], &parts["step"]["after_ns"]), (&json!(100_000), &json!(100_000)));
        assert_eq!(parts["device work"]["note"], reason);
        for column in ["before_ns", "after_ns", "change_ns", "share"] {
            assert_eq!(parts["device work"][column], Value::Null);
        }
        assert!(parts["step"]["note"].as_str().unwrap().contains(&format!("device work ({reason})")));
        assert!(!parts.contains_key("compute") && parts.contains_key("aten::mm"));
        // Both sides of an operator are host times.
        let times = picked(&answer, "diff_operators", &["name", "before_ns", "after_ns"]);
        assert_eq!(times.len(), 1);
        assert!((18_000..=20_000).contains(&times[0][1].as_i64().unwrap()), "{times:?}");
        for name in ["diff_kernels", "diff_device_work"] {
            assert_eq!(rows(&answer, name), [], "{name}");
        }
        let places = picked(&answer, "diff_structure", &["before", "after"]);
        assert_eq!(places, Vec::<Vec<Value>>::new());
    }
}

#[test]
fn copies_alone_are_no_recording_of_kernels() {
    let answer = compared(&linked(&full()), &linked(&without(&full(), &["kernel"])));
    assert_eq!(parts(&answer)["device work"]["note"], "one of the traces recorded copies alone");
    assert_eq!(rows(&answer, "diff_kernels"), []);
}

#[test]
fn every_kind_that_one_trace_lacks_is_told() {
    let mut plain = without(&full(), &["python_function", "cpu_instant_event"]);
    for event in plain["traceEvents"].as_array_mut().unwrap() {
        if let Some(args) = event["args"].as_object_mut() {
            args.remove("Input Dims");
        }
    }
    let answer = compared(&linked(&full()), &linked(&plain));
    let told: BTreeMap<String, Value> = rows(&answer, "diff_recorded")
        .into_iter()
        .map(|row| (row["kind"].as_str().unwrap().to_owned(), row["reason"].clone()))
        .collect();
    for kind in ["input shapes", "Python frames", "modules", "memory events"] {
        assert_eq!(told[kind], "not recorded after", "{kind}");
    }
    for kind in ["operators", "device work", "kernels", "iterations"] {
        assert_eq!(told[kind], Value::Null, "{kind}");
    }
    assert_eq!(told["Execution Trace nodes"], "not recorded");
    for name in ["diff_shapes", "diff_modules"] {
        assert_eq!(rows(&answer, name), [], "{name}");
    }
    assert_eq!(parts(&answer)["compute"]["change_ns"], 0);
}

#[test]
fn iterations_of_one_trace_are_not_weighed_against_a_whole_recording() {
    let whole = without(&full(), &["user_annotation"]);
    let mut twice = full();
    let more = json!({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 1, "tid": 1, "ts": 100, "dur": 900});
    twice["traceEvents"].as_array_mut().unwrap().push(more);
    let answer = compared(&linked(&twice), &linked(&whole));
    let parts = parts(&answer);
    assert_eq!((&parts["step"]["before_ns"], &parts["step"]["after_ns"]), (&json!(1_000_000), &json!(89_000)));
    assert!(parts["step"]["note"].as_str().unwrap().contains("iterations (not recorded after)"));
    assert_eq!(rows(&answer, "diff_iterations"), []);
    assert_eq!(picked(&answer, "diff_kernels", &["change_ns"]), [[json!(0)], [json!(0)]]);
}

#[test]
fn a_trace_without_operators_adds_and_removes_none() {
    let device = without(&full(), &["cpu_op", "python_function"]);
    let answer = compared(&linked(&full()), &linked(&device));
    assert_eq!(rows(&answer, "diff_operators"), []);
    assert_eq!(parts(&answer)["compute"]["before_ns"], 50_000);
    let empty = linked(&json!([]));
    let answer = compared(&empty, &linked(&full()));
    assert_eq!(answer.reason.as_deref(), Some("the trace before has no events"));
}

#[test]
fn a_share_beyond_the_whole_change_is_explained() {
    let answer = compared(&run(1, &[(0, 50, 20, 7, "gemm")]), &run(1, &[(0, 50, 30, 7, "gemm")]));
    assert_eq!(parts(&answer)["compute"]["share"], Value::Null); // the step did not change
    let longer = json!({"traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 1, "tid": 1, "ts": 0, "dur": 101},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 50, "dur": 40}]});
    let parts = parts(&compared(&run(1, &[(0, 50, 20, 7, "gemm")]), &linked(&longer)));
    assert_eq!((&parts["step"]["share"], &parts["compute"]["share"]), (&json!(1.0), &Value::Null));
    assert!(parts["compute"]["note"].as_str().unwrap().starts_with("changed by more than the step"));
    assert_eq!(parts["exposed_copy"]["share"], json!(0.0));
}

/// Six steps with three kernels each, without the records of some: by step, and start in it.
fn losing(is_lost: impl Fn(i64, i64) -> bool) -> Arc<LinkedTrace> {
    let all: Vec<Work> = (0..6).flat_map(|step| [40, 52, 64].map(|start| (step, start, 10, 7, "gemm"))).collect();
    let mut written = Vec::new();
    write_chrome(&run(6, &all).trace, &mut written).unwrap();
    let mut file: Value = serde_json::from_slice(&written).unwrap();
    let is_kept = |event: &Value| {
        let start = event["ts"].as_f64().unwrap_or_default() as i64;
        event["cat"] != "kernel" || !is_lost(start / STEP, start % STEP)
    };
    file["traceEvents"].as_array_mut().unwrap().retain(is_kept);
    linked(&file)
}

#[test]
fn steps_that_lost_device_work_are_not_compared() {
    let whole = losing(|_, _| false);
    let answer = compared(&whole, &losing(|step, _| step < 3));
    let note = parts(&answer)["step"]["note"].as_str().unwrap().to_owned();
    assert!(note.contains("parts are without iterations that lost device work: 0 before, 3 after"), "{note}");
    let kernels = picked(&answer, "diff_kernels", &["before_ns", "after_ns", "before_count", "after_count"]);
    assert_eq!(kernels, [[json!(30_000), json!(30_000), json!(3.0), json!(3.0)]]);
    assert_eq!(rows(&answer, "diff_iterations").len(), 6);
    // Each step lost its last kernel.
    let answer = compared(&whole, &losing(|_, start| start == 64));
    let device = &parts(&answer)["device work"];
    assert_eq!((&device["note"], &device["after_ns"]), (&json!("one of the traces lost too much of it"), &Value::Null));
    assert_eq!(rows(&answer, "diff_kernels"), []);
}
