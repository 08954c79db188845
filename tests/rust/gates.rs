//! Tests gates and budgets: verdicts on small runs, and values that are not recorded.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{AnalysisResult, RankedTrace, check, gate};
use serde_json::{Value, json};

use crate::diff::rows;
use crate::files;

/// A run whose iterations take so many microseconds, half of which are in one operator.
fn run(durs: &[i64]) -> Vec<RankedTrace> {
    vec![(None, linked(durs))]
}

fn linked(durs: &[i64]) -> Arc<LinkedTrace> {
    let mut events = Vec::new();
    let mut start = 0;
    for (step, dur) in durs.iter().enumerate() {
        let mut event = |category: &str, name: &str, dur: i64| {
            events.push(json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur}));
        };
        event("user_annotation", &format!("ProfilerStep#{step}"), *dur);
        event("cpu_op", "aten::mm", dur / 2);
        start += dur;
    }
    Arc::new(LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string())))
}

fn statuses(answer: &AnalysisResult) -> Vec<String> {
    rows(answer, "gate").iter().map(|row| row["status"].as_str().unwrap_or_default().to_owned()).collect()
}

fn decided(before: &[Vec<RankedTrace>], after: &[Vec<RankedTrace>], request: &Value) -> AnalysisResult {
    gate(before, after, &request.to_string(), 1).expect("a decision")
}

const STEADY: [i64; 6] = [1000, 1002, 998, 1001, 999, 1000];
const SLOW: [i64; 6] = [1100, 1102, 1098, 1101, 1099, 1100];

#[test]
fn growth_beyond_threshold_and_noise_is_worse() {
    let (steady, slow) = ([run(&STEADY)], [run(&SLOW)]);
    let metrics = json!({"metrics": ["step", "operator:aten::mm"]});
    assert_eq!(statuses(&decided(&steady, &slow, &metrics)), ["worse", "worse"]);
    assert_eq!(statuses(&decided(&slow, &steady, &metrics)), ["better", "better"]);
    assert_eq!(statuses(&decided(&steady, &slow, &json!({"fail_over": "12%"}))), ["same"]);
    let causes = decided(&steady, &slow, &json!({}));
    assert_eq!(rows(&causes, "gate_causes")[0]["name"], "aten::mm");
}

#[test]
fn growth_within_the_noise_is_noisy() {
    let noisy = [run(&[500, 1500, 700, 1300, 1000, 1400])];
    assert_eq!(statuses(&decided(&[run(&STEADY)], &noisy, &json!({}))), ["noisy"]);
}

#[test]
fn few_iterations_that_differ_hide_changes() {
    let few = [run(&[500, 1500])];
    let answer = decided(&few, &few, &json!({}));
    assert_eq!(statuses(&answer), ["same"]);
    assert!(rows(&answer, "gate")[0]["note"].as_str().is_some_and(|note| note.contains("hides")));
}

#[test]
fn runs_that_differ_are_noise() {
    let baselines = [run(&STEADY), run(&SLOW), run(&STEADY.map(|dur| dur + 1))];
    assert_eq!(statuses(&decided(&baselines[..1], &[run(&SLOW)], &json!({}))), ["worse"]);
    assert_eq!(statuses(&decided(&baselines, &[run(&SLOW)], &json!({}))), ["noisy"]);
}

#[test]
fn the_same_run_twice_is_refused() {
    let twice = gate(&[run(&STEADY), run(&STEADY)], &[run(&SLOW)], "{}", 1);
    assert!(twice.is_err_and(|error| error.to_string().contains("found run 1 again as run 2")));
}

#[test]
fn one_iteration_is_unknown() {
    let answer = decided(&[run(&[1000])], &[run(&[2000])], &json!({}));
    assert_eq!(statuses(&answer), ["unknown"]);
    assert_eq!(rows(&answer, "gate")[0]["is_failing"], Value::Null);
    let allowed = decided(&[run(&[1000])], &[run(&[2000])], &json!({"allow_unknown": true}));
    assert_eq!(rows(&allowed, "gate")[0]["is_failing"], false);
}

#[test]
fn runs_without_a_common_rank_are_an_error() {
    let job = |ranks: [i64; 2]| ranks.map(|rank| (Some(rank), linked(&STEADY))).to_vec();
    assert!(gate(&[job([0, 1])], &[job([2, 3])], "{}", 1).is_err());
    let both = gate(&[job([0, 1])], &[job([1, 2])], "{}", 1).expect("rank 1");
    let found: Vec<_> = rows(&both, "gate").iter().map(|row| json!([row["rank"], row["status"]])).collect();
    assert_eq!(found, [json!([1, "same"]), json!([0, "unknown"]), json!([2, "unknown"])]);
    assert!(gate(&[], &[job([0, 1])], "{}", 1).is_err());
}

#[test]
fn budgets_are_kept_broken_or_unknown() {
    let request = json!({"budget": {"step": "1 ms", "slowest_step": "1001 us", "peak_memory": "1 GiB",
                                    "forbid": ["host_device_sync", "straggler"], "operators": {"aten::mm": "60 %"}}});
    let answer = check(&run(&STEADY), &request.to_string(), 1).expect("a decision");
    let found: Vec<_> =
        rows(&answer, "budgets").iter().map(|row| format!("{} {}", row["budget"], row["status"])).collect();
    let expected = [
        "\"forbid.host_device_sync\" \"unknown\"",
        "\"forbid.straggler\" \"unknown\"",
        "\"operators.aten::mm\" \"kept\"",
        "\"peak_memory\" \"unknown\"",
        "\"slowest_step\" \"broken\"",
        "\"step\" \"kept\"",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_job_has_the_row_of_its_worst_rank() {
    let job = [(Some(3), linked(&STEADY)), (Some(5), linked(&SLOW))];
    let answer = check(&job, r#"{"budget": {"step": "2 ms", "min_iterations": 7}}"#, 1).expect("a decision");
    let row = rows(&answer, "budgets").into_iter().find(|row| row["budget"] == "step").expect("a row");
    assert_eq!((row["rank"].clone(), row["value"].clone()), (json!(5), json!(1_100_000.0)));
}
