//! Tests means of counters over kernels, operators, modules, iterations and events.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::analysis;
use serde_json::{Value, json};

use crate::files::{self, rows};
use crate::scene::{Scene, scene};

const GEMM: &str = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64";

/// A sample of a counter of a device, as `PyTorch` writes it.
fn sample(name: &str, device: i64, time: i64, value: impl Into<Value>) -> Value {
    let process = format!("GPU {device} Counters");
    json!({"ph": "C", "name": name, "pid": process, "ts": time, "args": {"": value.into()}})
}

fn kernel(name: &str, device: i64, start: i64, dur: i64) -> Value {
    let args = json!({"device": device, "stream": 7});
    json!({"ph": "X", "cat": "kernel", "name": name, "pid": device, "tid": 7, "ts": start, "dur": dur, "args": args})
}

fn linked(events: &[Value]) -> Arc<LinkedTrace> {
    Arc::new(LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string())))
}

fn tables(linked: &Arc<LinkedTrace>, request: &Value) -> [Vec<Value>; 2] {
    let answer = analysis("counter_means").unwrap().answer(linked, &request.to_string()).unwrap();
    [0, 1].map(|at| rows(&*answer.tables[at]))
}

fn means(linked: &Arc<LinkedTrace>, request: &Value) -> Vec<Value> {
    let [means, _] = tables(linked, request);
    means
}

/// Some columns of each row.
fn some(rows: &[Value], columns: &[&str]) -> Vec<Value> {
    rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect()
}

#[test]
fn a_kernel_has_the_mean_over_its_time() {
    // 20 % for 2 µs and 60 % for 8 µs; 5 µs more were sampled, and 5 µs were not.
    let linked = linked(&[
        sample("SM Active (%)", 0, 0, 20),
        sample("SM Active (%)", 0, 10, 60),
        sample("SM Active (%)", 0, 20, 100),
        kernel("a", 0, 8, 10),
        kernel("b", 0, 25, 10),
        kernel("c", 0, 100, 4),
    ]);
    let found = means(&linked, &json!({}));
    let expected = [
        json!(["b", "SM Active (%)", "%", 0, 1, 10_000, 5_000, 0.5, 100.0, 100.0, 100.0]),
        json!(["a", "SM Active (%)", "%", 0, 1, 10_000, 10_000, 1.0, 52.0, 20.0, 60.0]),
        json!(["c", "SM Active (%)", "%", 0, 1, 4_000, 0, 0.0, null, null, null]),
    ];
    let columns =
        ["name", "counter", "unit", "device", "count", "total_ns", "sampled_ns", "sampled_share", "mean", "min", "max"];
    let mut found = some(&found, &columns);
    found[..2].sort_by_key(|row| row[8].as_f64().map(|mean| -mean as i64));
    assert_eq!(found, expected);
    let [_, counters] = tables(&linked, &json!({}));
    let columns = ["counter", "source", "device", "num_values", "period_ns", "sampled_ns", "is_joined"];
    assert_eq!(some(&counters, &columns), [json!(["SM Active (%)", "samples", 0, 3, 10_000, 30_000, true])]);
}

#[test]
fn runs_of_a_kernel_count_by_their_time() {
    let mut events = vec![kernel("k", 0, 0, 30), kernel("k", 0, 40, 10)];
    events.extend((0..5).map(|at| sample("DRAM BW (%)", 0, 10 * at, 10 * at)));
    let found = means(&linked(&events), &json!({}));
    // 0, 10 and 20 for 10 µs each, and 40 for 10 µs.
    assert_eq!(some(&found, &["count", "total_ns", "mean", "max"]), [json!([2, 40_000, 17.5, 40.0])]);
}

#[test]
fn devices_have_counters_of_their_own() {
    let mut events = vec![kernel("k", 0, 0, 20), kernel("k", 1, 0, 20)];
    for device in [0, 1] {
        events.extend((0..2).map(|at| sample("SM Active (%)", device, 10 * at, 50 + 10 * device)));
    }
    let found = means(&linked(&events), &json!({}));
    assert_eq!(some(&found, &["device", "mean"]), [json!([0, 50.0]), json!([1, 60.0])]);
    // A counter of a device without work has no rows; it is listed.
    events.push(sample("SM Active (%)", 5, 0, 1));
    let [found, counters] = tables(&linked(&events), &json!({}));
    assert_eq!((found.len(), counters.len()), (2, 3));
    assert_eq!(some(&counters[2..], &["device", "is_joined", "period_ns"]), [json!([null, false, null])]);
}

#[test]
fn samples_without_a_number_are_unknown_and_their_order_does_not_matter() {
    let mut events = vec![kernel("k", 0, 0, 40)];
    for (time, value) in [(30, json!(8)), (10, json!("NaN")), (0, json!(4)), (20, json!("n/a"))] {
        events.push(sample("x", 0, time, value));
    }
    let found = means(&linked(&events), &json!({}));
    // Half of the time: 4 for 10 µs and 8 for 10 µs.
    let columns = ["sampled_ns", "sampled_share", "mean", "min", "max", "unit"];
    assert_eq!(some(&found, &columns), [json!([20_000, 0.5, 6.0, 4.0, 8.0, null])]);
}

#[test]
fn times_before_1970_and_late_counters_are_no_matter() {
    let mut events = vec![kernel("k", 0, -100, 100)];
    events.extend((0..6).map(|at| sample("x", 0, -60 + 10 * at, 1)));
    let found = means(&linked(&events), &json!({}));
    assert_eq!(some(&found, &["total_ns", "sampled_ns", "mean"]), [json!([100_000, 60_000, 1.0])]);
}

#[test]
fn gaps_were_not_sampled() {
    let times = [0, 10, 20, 30, 100, 110];
    let events: Vec<_> = times.iter().map(|time| sample("x", 0, *time, 1)).chain([kernel("k", 0, 0, 200)]).collect();
    let found = means(&linked(&events), &json!({}));
    assert_eq!(some(&found, &["sampled_ns", "mean"]), [json!([60_000, 1.0])]);
}

fn step() -> Scene {
    let mut scene = scene();
    scene.annotation("ProfilerStep#1", 0, 50).annotation("ProfilerStep#2", 50, 50);
    scene
        .host("python_function", "nn.Module: Linear_0", 1, 20)
        .operator("aten::linear", 2, 18)
        .operator("aten::mm", 3, 10);
    scene.kernel("gemm", 4, 10, 20).operator("aten::add", 55, 10).kernel("add", 56, 60, 20);
    scene.events.extend((0..10).map(|at| sample("SM Active (%)", 0, 10 * at, 10 * at)));
    scene.events.push(json!({"ph": "C", "name": "host", "pid": "metrics", "ts": 0, "args": {"cpu_share": 0.5}}));
    scene.events.push(json!({"ph": "C", "name": "host", "pid": "metrics", "ts": 50, "args": {"cpu_share": 1.0}}));
    scene
}

#[test]
fn time_belongs_to_operators_modules_and_iterations() {
    let linked = step().linked();
    let by = |by: &str| some(&means(&linked, &json!({"by": by})), &["name", "counter", "device", "total_ns", "mean"]);
    let sm = "SM Active (%)";
    assert_eq!(by("operator"), [json!(["aten::add", sm, 0, 20_000, 65.0]), json!(["aten::mm", sm, 0, 20_000, 15.0])]);
    assert_eq!(by("module"), [json!(["Linear_0", sm, 0, 20_000, 15.0])]);
    // Iterations are all of their time, and have counters of the host.
    let expected = [
        json!(["ProfilerStep#1", "host · cpu_share", null, 50_000, 0.5]),
        json!(["ProfilerStep#2", "host · cpu_share", null, 50_000, 1.0]),
        json!(["ProfilerStep#1", sm, 0, 50_000, 20.0]),
        json!(["ProfilerStep#2", sm, 0, 50_000, 70.0]),
    ];
    assert_eq!(by("iteration"), expected);
    assert_eq!(by("device")[1], json!(["all", sm, 0, 100_000, 45.0]));
}

#[test]
fn each_event_has_its_own_row() {
    let linked = step().linked();
    let found = some(&means(&linked, &json!({"by": "event"})), &["id", "name", "mean", "sampled_share"]);
    let ids: Vec<_> = (0..linked.trace.events.len()).filter(|row| linked.trace.is_on_device(*row)).collect();
    let id = |at: usize| linked.trace.events.position.at(ids[at]);
    assert_eq!(found, [json!([id(1), "add", 65.0, 1.0]), json!([id(0), "gemm", 15.0, 1.0])]);
}

#[test]
fn a_selection_cuts_times_and_a_pattern_chooses_counters() {
    let linked = step().linked();
    let iteration = some(&means(&linked, &json!({"iteration": 2})), &["name", "mean"]);
    assert_eq!(iteration, [json!(["add", 65.0])]);
    let cut = some(&means(&linked, &json!({"start_ns": 20_000, "end_ns": 65_000})), &["name", "total_ns", "mean"]);
    assert_eq!(cut, [json!(["gemm", 10_000, 20.0]), json!(["add", 5_000, 60.0])]);
    assert_eq!(means(&linked, &json!({"counter": "DRAM*"})).len(), 0);
    assert_eq!(means(&linked, &json!({"counter": "*Active*"})).len(), 2);
}

#[test]
fn a_sensor_without_a_number_is_of_the_only_device() {
    let mut events = vec![kernel("k", 3, 0, 20)];
    for time in [0, 10] {
        events.push(json!({"ph": "C", "name": "GPU", "pid": "metrics", "ts": time, "args": {"power_w": 250.0}}));
    }
    let found = means(&linked(&events), &json!({}));
    let columns = ["counter", "unit", "device", "mean"];
    assert_eq!(some(&found, &columns), [json!(["GPU · power_w", "W", 3, 250.0])]);
    // Of two devices nobody knows which one it is of.
    events.push(kernel("k", 4, 100, 20));
    assert_eq!(means(&linked(&events), &json!({})).len(), 0);
    assert_eq!(means(&linked(&events), &json!({"end_ns": 50_000})).len(), 0);
}

#[test]
fn values_of_single_kernels_are_weighted_by_their_time() {
    let mut first = kernel("k", 0, 0, 10);
    first["args"]["counter SQ_WAVES"] = json!(100.0);
    let mut second = kernel("k", 0, 20, 30);
    second["args"]["counter SQ_WAVES"] = json!(500.5);
    let range = json!({"ph": "X", "cat": "cuda_profiler_range", "name": "r", "pid": 0, "tid": 7, "ts": 60, "dur": 10,
        "args": {"device": 0, "stream": 7, "smsp__inst_executed.sum": 12}});
    let linked = linked(&[first, second, kernel("k", 0, 90, 60), range]);
    let found = means(&linked, &json!({}));
    let columns = ["name", "counter", "source", "count", "total_ns", "sampled_ns", "mean", "min", "max"];
    let expected = [
        json!(["k", "SQ_WAVES", "events", 3, 100_000, 40_000, (100.0 * 10.0 + 500.5 * 30.0) / 40.0, 100.0, 500.5]),
        json!(["r", "smsp__inst_executed.sum", "events", 1, 10_000, 10_000, 12.0, 12.0, 12.0]),
    ];
    assert_eq!(some(&found, &columns), expected);
}

#[test]
fn a_trace_without_counters_says_so() {
    let answer = |events: &[Value]| analysis("counter_means").unwrap().answer(&linked(events), "{}").unwrap().reason;
    assert_eq!(answer(&[kernel("k", 0, 0, 10)]).as_deref(), Some("no counter was recorded"));
    let alone = answer(&[kernel("k", 0, 0, 10), sample("x", 9, 0, 1)]).unwrap();
    assert!(alone.contains("`sampled_counters`"), "{alone}");
    assert!(analysis("counter_means").unwrap().answer(&linked(&[]), r#"{"by": "name"}"#).is_err());
}

/// A product of 100 µs, during which tensor cores are active so many percent of the time.
fn product(active: i64, period: i64, until: i64) -> Scene {
    let mut scene = scene();
    scene.operator("aten::mm", 0, 8).kernel(GEMM, 1, 10, 100);
    scene.events.extend((0..until / period).map(|at| sample("Tensor Active [Throughput %]", 0, period * at, active)));
    scene
}

#[test]
fn tensor_cores_that_idle_during_products_are_found() {
    let found = product(5, 10, 200).found("tensor_cores_idle");
    let [finding] = &found[..] else { panic!("one finding: {found:?}") };
    // 100 µs · (1 − 5 % / 25 %)
    assert_eq!((&*finding.subject, finding.cost_ns, finding.count), ("aten::mm", 80_000, 1));
    assert_eq!(finding.detail, "1 kernel, tensor cores active 5.0 % of the time, of which 100 % was sampled");
    assert_eq!(finding.evidence.len(), 1);
    // Those that are busy enough, or of which too little was sampled, are not.
    product(30, 10, 200).expect_none("tensor_cores_idle");
    product(5, 10, 50).expect_none("tensor_cores_idle");
    product(5, 80, 400).expect_none("tensor_cores_idle");
    // 70 of 100 µs
    assert_eq!(product(5, 10, 80).only("tensor_cores_idle"), (String::from("aten::mm"), 56, 1));
}

#[test]
fn hostile_counters_are_survived() {
    let mut events = vec![kernel("k", 0, 0, 10), kernel("", 0, i64::MAX / 2_000, 1)];
    for (time, value) in [(i64::MIN / 1_001, 1e308), (0, 1e308), (i64::MAX / 1_001, -1e308)] {
        events.push(sample("x", 0, time, value));
        events.push(sample("GPU", i64::MAX, time, value));
        events.push(json!({"ph": "C", "pid": "GPU", "ts": time}));
        events.push(json!({"ph": "C", "name": "", "pid": "GPU 0", "ts": time, "args": {"a": [1], "b": {"c": 1}}}));
    }
    for at in 0..3000 {
        events.push(sample(&format!("c{at}"), 0, at % 7, at));
    }
    let linked = linked(&events);
    for by in ["kernel", "operator", "module", "iteration", "device", "event"] {
        let _ = tables(&linked, &json!({"by": by}));
    }
}
