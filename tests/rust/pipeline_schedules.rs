//! Tests the analysis of pipelines: schedules, micro-batches, and the bubble beside its ideal.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::RankedTrace;
use kinetoscope::write::chrome::write_chrome;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;
use crate::job::{asked, rows, trace};
use crate::pipelines::{
    Schedule, StageMarks, Step, gpipe, interleaved, marked_traces, one_forward_one_backward, run, usual,
};
use crate::worker::assert_alike;

const SHAPE: &[&str] =
    &["pipeline", "stage", "rank", "num_stages", "num_chunks", "num_micro_batches", "num_iterations", "schedule"];
const MARKS: [StageMarks; 2] = [StageMarks::Operators, StageMarks::Actions];

fn pipeline(traces: &[RankedTrace], columns: &[&str]) -> Vec<Vec<Value>> {
    rows(&asked("pipeline", traces, &json!({})), "pipeline", columns)
}

fn ranks(schedule: &Schedule) -> Vec<i64> {
    (0..schedule.len() as i64).collect()
}

#[test]
fn schedules_are_told_apart() {
    for (name, schedule, num_chunks, num_batches) in [
        ("gpipe", gpipe(4, 6), 1, 6),
        ("1f1b", one_forward_one_backward(4, 8), 1, 8),
        ("interleaved", interleaved(4, 4), 2, 4),
        ("gpipe", gpipe(2, 4), 1, 4),
        ("1f1b", one_forward_one_backward(2, 4), 1, 4),
    ] {
        for marks in MARKS {
            let traces = marked_traces(&schedule, &usual, &ranks(&schedule), marks);
            let num_stages = schedule.len() as i64;
            let wanted: Vec<_> = (0..num_stages)
                .map(|rank| json!([0, rank, rank, num_stages, num_chunks, num_batches, 1, name]))
                .collect();
            assert_eq!(json!(pipeline(&traces, SHAPE)), json!(wanted), "{name}, {marks:?}");
            let told =
                pipeline(&traces, &["mean_forward_ns", "mean_backward_ns", "bubble_share", "ideal_bubble_share"]);
            for row in told {
                assert_eq!(json!(row[..2]), json!([100_000, 200_000]), "{name}, {marks:?}");
                let (own, ideal) = (row[2].as_f64().unwrap(), row[3].as_f64().unwrap());
                let empty = num_stages as f64 - 1.0;
                assert!((ideal - empty / ((num_batches * num_chunks) as f64 + empty)).abs() < 1e-12);
                assert!((own - ideal).abs() < 1e-9, "{name}, {marks:?}: {own} is not {ideal}");
            }
            assert_alike(&traces, &json!({}));
        }
    }
}

#[test]
fn stages_need_not_be_in_the_order_of_ranks() {
    let schedule = one_forward_one_backward(4, 8);
    for marks in MARKS {
        let traces = marked_traces(&schedule, &usual, &[6, 2, 9, 4], marks);
        let wanted = json!([[2, 0, 6], [2, 1, 2], [2, 2, 9], [2, 3, 4]]);
        assert_eq!(json!(pipeline(&traces, &["pipeline", "stage", "rank"])), wanted, "{marks:?}");
    }
}

#[test]
fn work_without_a_direction_is_not_divided() {
    for (name, schedule) in [("gpipe", gpipe(4, 6)), ("1f1b", one_forward_one_backward(4, 6))] {
        let traces = marked_traces(&schedule, &usual, &ranks(&schedule), StageMarks::Bare);
        let told = pipeline(&traces, &["num_micro_batches", "schedule", "mean_forward_ns", "mean_backward_ns"]);
        assert_eq!(json!(told), json!(vec![json!([6, name, null, null]); 4]));
        assert_eq!(asked("pipeline", &traces, &json!({})).tables[1].num_rows(), 0);
        let shares = pipeline(&traces, &["bubble_share", "ideal_bubble_share"]);
        assert!(
            shares
                .iter()
                .all(|row| row[0].as_f64().zip(row[1].as_f64()).is_some_and(|(own, ideal)| (own - ideal).abs() < 1e-9))
        );
    }
}

#[test]
fn a_slow_stage_shows_in_its_passes() {
    let schedule = one_forward_one_backward(3, 6);
    let slow = |stage: i64, step: Step| usual(stage, step) * if stage == 1 { 3 } else { 1 };
    let traces = marked_traces(&schedule, &slow, &[0, 1, 2], StageMarks::Operators);
    let told = pipeline(&traces, &["mean_forward_ns", "mean_backward_ns"]);
    assert_eq!(json!(told), json!([[100_000, 200_000], [300_000, 600_000], [100_000, 200_000]]));
}

#[test]
fn a_pipeline_without_a_backward_pass() {
    let schedule: Schedule =
        gpipe(3, 5).into_iter().map(|steps| steps.into_iter().filter(|step| step.is_forward).collect()).collect();
    let traces = marked_traces(&schedule, &usual, &[0, 1, 2], StageMarks::Bare);
    let told = pipeline(&traces, &["num_micro_batches", "schedule", "mean_forward_ns", "mean_backward_ns"]);
    assert_eq!(json!(told), json!(vec![json!([5, "forward_only", 100_000, null]); 3]));
}

#[test]
fn a_stage_without_a_trace_is_missing_but_counts() {
    let schedule = gpipe(4, 4);
    let traces = marked_traces(&schedule, &usual, &[0, 1, 2, 3], StageMarks::Operators);
    let told = pipeline(&traces[..3], &["stage", "num_stages", "num_micro_batches", "schedule"]);
    assert_eq!(json!(told), json!([[0, 4, 4, null], [1, 4, 4, null], [2, 4, 4, null]]));
}

#[test]
fn lost_kernels_make_passes_and_bubbles_unknown() {
    let schedule = gpipe(2, 4);
    for marks in [StageMarks::Bare, StageMarks::Operators] {
        let traces = without_kernels(&marked_traces(&schedule, &usual, &[0, 1], marks));
        let told = pipeline(&traces, &["rank", "mean_forward_ns", "mean_backward_ns", "bubble_ns", "bubble_share"]);
        assert_eq!(json!(told), json!([[0, null, null, null, null], [1, null, null, null, null]]), "{marks:?}");
        assert_alike(&traces, &json!({}));
    }
}

#[test]
fn a_stage_with_lost_kernels_does_not_spoil_the_others() {
    let traces = traces_of(&gpipe(3, 4));
    let lossy = edited(&traces, |rank, events| {
        let mut seen = 0;
        events.retain(|event| {
            seen += i32::from(event["cat"] == "kernel");
            rank != 1 || event["cat"] != "kernel" || seen > 3
        });
    });
    let told = pipeline(&lossy, &["rank", "num_micro_batches", "schedule", "mean_forward_ns", "bubble_ns"]);
    let whole = |rank: i64| json!([rank, 4, "gpipe", 100_000, null]);
    assert_eq!(json!(told), json!([whole(0), [1, null, "gpipe", null, null], whole(2)]));
}

#[test]
fn work_before_the_first_iteration_does_not_count() {
    let warm = traces_of(&one_forward_one_backward(3, 2));
    let traces = edited(&traces_of(&gpipe(3, 4)), |rank, events| {
        let before = document(&warm[rank as usize].1)["traceEvents"].as_array().unwrap().clone();
        let first = number(&before, f64::max) + 1_000.0;
        let (start, end) = (number(events, f64::min), number(events, f64::max));
        for event in events.iter_mut() {
            event["ts"] = json!(event["ts"].as_f64().unwrap() - start + first);
            if let Some(correlation) = event["args"]["correlation"].as_i64() {
                event["args"]["correlation"] = json!(correlation + 1_000);
            }
        }
        events.push(json!({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1,
            "ts": first - 10.0, "dur": end - start + 100.0}));
        events.extend(before);
    });
    let told = pipeline(&traces, &["num_micro_batches", "schedule", "num_iterations"]);
    assert_eq!(json!(told), json!(vec![json!([4, "gpipe", 1]); 3]));
}

#[test]
fn clocks_that_contradict_the_messages_leave_bubbles_unknown() {
    let traces = traces_of(&gpipe(3, 4));
    let shifted = edited(&traces, |rank, events| {
        for event in events.iter_mut().filter(|_| rank == 1) {
            event["ts"] = json!(event["ts"].as_f64().unwrap() + 5_000.0);
        }
    });
    let bubbles = |traces: &[RankedTrace]| json!(pipeline(traces, &["bubble_ns"]));
    assert!(!bubbles(&traces).to_string().contains("null"));
    assert_eq!(bubbles(&shifted), json!([[null], [null], [null]]));
}

#[test]
fn a_range_around_a_step_is_no_pass() {
    let traces = edited(&traces_of(&gpipe(3, 4)), |_, events| {
        events.push(json!({"ph": "X", "cat": "user_annotation", "name": "Forward 1", "pid": 1, "tid": 1,
            "ts": number(events, f64::min) - 10.0, "dur": 100_000.0}));
    });
    let told = pipeline(&traces, &["num_micro_batches", "schedule", "mean_forward_ns"]);
    assert_eq!(json!(told), json!(vec![json!([4, "gpipe", 100_000]); 3]));
}

fn traces_of(schedule: &Schedule) -> Vec<RankedTrace> {
    marked_traces(schedule, &usual, &ranks(schedule), StageMarks::Operators)
}

/// The same traces, of which no device event was recorded.
fn without_kernels(traces: &[RankedTrace]) -> Vec<RankedTrace> {
    edited(traces, |_, events| events.retain(|event| event["cat"] != "kernel"))
}

/// The start of all events that comes first or last.
fn number(events: &[Value], choose: fn(f64, f64) -> f64) -> f64 {
    events.iter().filter_map(|event| event["ts"].as_f64()).reduce(choose).unwrap()
}

/// A trace as JSON, with no events but ranges.
fn document(linked: &LinkedTrace) -> Value {
    let mut bytes = Vec::new();
    write_chrome(&linked.trace, &mut bytes).unwrap();
    let mut document: Value = serde_json::from_slice(&bytes).unwrap();
    document["traceEvents"].as_array_mut().unwrap().retain(|event| event["ph"] == "X");
    document
}

/// The same traces with other events.
fn edited(traces: &[RankedTrace], edit: impl Fn(i64, &mut Vec<Value>)) -> Vec<RankedTrace> {
    let other = |(rank, linked): &RankedTrace| {
        let mut document = document(linked);
        edit(rank.unwrap(), document["traceEvents"].as_array_mut().unwrap());
        (*rank, Arc::new(LinkedTrace::new(files::trace(&document.to_string()))))
    };
    traces.iter().map(other).collect()
}

#[test]
fn messages_in_a_ring_are_no_pipeline() {
    let record = |kind: &str, own: i64, peer: i64, start: i64| {
        let side = if kind == "send" { "Dst Rank" } else { "Src Rank" };
        json!({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": start, "dur": 2,
            "args": {"Collective name": kind, "dtype": "Float", "In msg nelems": 8, "Out msg nelems": 8, "Group size": 3,
                side: peer, "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2]", "Rank": own}})
    };
    let rank = |own: i64| {
        let events = [record("send", own, (own + 1) % 3, 10), record("recv", own, (own + 2) % 3, 20)];
        let document = json!({"distributedInfo": {"rank": own}, "traceEvents": events});
        (Some(own), Arc::new(LinkedTrace::new(files::trace(&document.to_string()))))
    };
    let answer = asked("pipeline", &[rank(0), rank(1), rank(2)], &json!({}));
    assert_eq!(answer.reason.as_deref(), Some("ranks exchange messages, but not in the order of a pipeline"));
    let answer = asked("pipeline", &[trace(0, 1, &[], &[])], &json!({}));
    assert_eq!(answer.reason.as_deref(), Some("no rank sends a message to another one"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn each_pass_is_listed_with_its_time(
        num_stages in 2..5_i64, num_batches in 1..6_i64, jitter in prop::collection::vec(20..90_i64, 64), kind in 0..3,
        is_named in any::<bool>(),
    ) {
        let schedule = match kind {
            0 => gpipe(num_stages, num_batches),
            1 => one_forward_one_backward(num_stages, num_batches),
            _ => interleaved(num_stages, num_batches),
        };
        let dur = |stage: i64, step: Step| {
            jitter[(stage * 31 + step.batch * 7 + step.chunk * 3 + i64::from(step.is_forward)) as usize % 64]
        };
        let marks = MARKS[usize::from(is_named)];
        let traces = marked_traces(&schedule, &dur, &ranks(&schedule), marks);
        let answer = asked("pipeline", &traces, &json!({}));
        let mut told = rows(&answer, "micro_batches", &["rank", "pass", "start_ns", "end_ns", "busy_ns"]);
        let mut wanted: Vec<Vec<Value>> = Vec::new();
        for (stage, steps) in run(&schedule, &dur).iter().enumerate() {
            for (step, start, end) in steps {
                let pass = if step.is_forward { "forward" } else { "backward" };
                let [start, end] = [start, end].map(|time| time * 1_000);
                wanted.push(vec![json!(stage), json!(pass), json!(start), json!(end), json!(end - start)]);
            }
        }
        told.sort_by_key(|row| (row[0].as_i64(), row[2].as_i64()));
        wanted.sort_by_key(|row| (row[0].as_i64(), row[2].as_i64()));
        prop_assert_eq!(told, wanted);
        if is_named || kind < 2 {
            let mut numbers = rows(&answer, "micro_batches", &["rank", "pass", "chunk", "micro_batch"]);
            numbers.sort_by_key(|row| json!(row).to_string());
            numbers.dedup();
            let num_steps: usize = schedule.iter().map(Vec::len).sum();
            prop_assert!(numbers.len() == num_steps && numbers.iter().all(|row| !row[3].is_null()));
        }
    }
}
