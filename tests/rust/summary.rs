//! Tests the summary on a small trace by hand.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{Selection, Summary, TOP, brief_summary, summary};
use kinetoscope::time::{TimeRange, Ts};

use crate::files;

/// Two operators, one inside the other; two kernels that overlap; one iteration.
const TRACE: &str = r#"{"deviceProperties": [{"id": 0, "name": "A"}], "traceEvents": [
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": 0.0, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "outer", "pid": 1, "tid": 1, "ts": 10.0, "dur": 40},
    {"ph": "X", "cat": "cpu_op", "name": "inner", "pid": 1, "tid": 1, "ts": 20.0, "dur": 10},
    {"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 1, "tid": 1, "ts": 22.0, "dur": 2, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 1, "tid": 1, "ts": 40.0, "dur": 2, "args": {"correlation": 2}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 30.0, "dur": 30, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 8, "ts": 50.0, "dur": 20, "args": {"correlation": 2}}
]}"#;

#[test]
fn it_says_what_was_worked_out_by_hand() {
    let linked = Arc::new(LinkedTrace::new(files::trace(TRACE)));
    let summary = summary(&Selection::all(&linked), TOP);
    assert_eq!(summary.outline.duration_ns, 100_000);
    assert_eq!((summary.outline.devices[0].busy_ns, summary.outline.devices[0].name.as_str()), (40_000, "A"));
    assert_eq!((summary.kernels[0].count, summary.kernels[0].total_ns, summary.kernels[0].max_ns), (2, 50_000, 30_000));
    let inner = summary.operators.iter().find(|row| row.name == "inner").unwrap();
    let outer = summary.operators.iter().find(|row| row.name == "outer").unwrap();
    assert_eq!((inner.device_self_ns, inner.device_total_ns, inner.self_ns), (Some(30_000), Some(30_000), 8_000));
    assert_eq!((outer.device_self_ns, outer.device_total_ns, outer.self_ns), (Some(20_000), Some(50_000), 28_000));
    assert_eq!(
        (summary.outline.iterations[0].iteration, summary.outline.iterations[0].device_busy_ns),
        (3, Some(40_000))
    );
}

#[test]
fn a_range_cuts_events_at_its_ends() {
    let linked = Arc::new(LinkedTrace::new(files::trace(TRACE)));
    let range = Some(TimeRange { start: Ts(40_000), end: Ts(60_000) });
    let summary = summary(&Selection::within(&linked, range), TOP);
    assert_eq!(summary.outline.duration_ns, 20_000);
    assert_eq!((summary.outline.devices[0].busy_ns, summary.kernels[0].total_ns), (20_000, 30_000));
    assert!(summary.operators.iter().all(|row| row.name != "inner"));
}

#[test]
fn an_empty_trace_has_an_empty_summary() {
    let linked = Arc::new(LinkedTrace::new(files::trace("[]")));
    let summary = summary(&Selection::all(&linked), TOP);
    assert_eq!((summary.outline.duration_ns, summary.outline.num_events, summary.outline.devices.len()), (0, 0, 0));
}

#[test]
fn a_summary_without_findings_is_the_same_in_all_else() {
    let linked = Arc::new(files::pair("synthetic_cuda"));
    let all = Selection::all(&linked);
    let (whole, brief) = (summary(&all, 20), brief_summary(&all, 20));
    assert!(!whole.findings.is_empty());
    assert_eq!((brief.findings.len(), brief.num_findings), (0, 0));
    let but_for_findings = |told: &Summary| {
        let mut value = serde_json::to_value(told).unwrap();
        value.as_object_mut().unwrap().retain(|key, _| !key.contains("findings"));
        value
    };
    assert_eq!(but_for_findings(&brief), but_for_findings(&whole));
}

#[test]
fn the_time_in_which_the_profiler_processed_what_it_recorded_is_not_part_of_the_trace() {
    let duration_ns = |name: &str| {
        let end = format!(r#"{{"ph": "i", "name": "{name}", "pid": "", "tid": "", "ts": 900, "s": "g"}}]}}"#);
        let linked = Arc::new(LinkedTrace::new(files::trace(&TRACE.replace("]}", &format!(", {end}")))));
        brief_summary(&Selection::all(&linked), TOP).outline.duration_ns
    };
    assert_eq!(duration_ns("Record Window End"), 100_000);
    assert_eq!(duration_ns("[memory]"), 900_000);
}

#[test]
fn a_call_that_waits_for_a_device_is_no_launch() {
    let json = r#"[
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 0.0, "dur": 2, "args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 3.0, "dur": 30, "args": {"correlation": 1}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 1, "ts": 5.0, "dur": 30},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpy", "pid": 1, "tid": 1, "ts": 40.0, "dur": 20, "args": {"correlation": 2}},
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pageable)", "pid": 0, "tid": 7, "ts": 45.0, "dur": 10, "args": {"correlation": 2}}
    ]"#;
    let linked = Arc::new(LinkedTrace::new(files::trace(json)));
    let outline = summary(&Selection::all(&linked), TOP).outline;
    let of = |kind: &str| {
        let row = outline.time_by_kind.iter().find(|row| row.kind == kind).unwrap();
        (row.count, row.total_ns)
    };
    assert_eq!((of("launch"), of("wait"), of("copy")), ((1, 2_000), (2, 50_000), (1, 10_000)));
}
