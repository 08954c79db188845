//! Tests recordings with impossible times: durations that cannot be, work before its launch.

use std::sync::Arc;

use kinetoscope::analyze::{AnalysisResult, VerdictState, analysis, launches, verdict};
use kinetoscope::edit::{Redaction, redact};
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::table::ColumnValues;
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::{Limits, LinkedTrace, write_snapshot};
use serde_json::Value;

use crate::files;
use crate::verdict::{CUDA, HIP, call, linked, of, operator, parts, whole, work};

/// A run in order of kernels of 800 µs, of which some have a duration of 1.6 s.
fn overflowed(num: usize, is_long: impl Fn(usize) -> bool) -> Vec<Value> {
    let of_kernel = |at: usize| {
        let (id, start) = (at + 1, 150 + at as i64 * 1_000);
        let dur = if is_long(at) { 1_600_000 } else { 800 };
        [
            call(HIP, HIP.kernel, id, start - 130, 10),
            work("kernel", if is_long(at) { "fmha" } else { "gemm" }, id, start, dur),
        ]
    };
    (0..num).flat_map(of_kernel).collect()
}

#[test]
fn work_that_passes_the_next_start_is_cut_there_and_keeps_its_recorded_duration() {
    for is_long in
        [(|at| at == 20) as fn(usize) -> bool, |at| at == 7 || at == 8 || at == 30, |at| at % 2 == 0, |at| at < 39]
    {
        let events = overflowed(40, is_long);
        let linked = linked(&events);
        let num_long = (0..39).filter(|at| is_long(*at)).count();
        let verdict = verdict(&linked);
        assert_eq!(verdict.state, VerdictState::Inconsistent);
        let problem = of(&verdict, "overlong_work").unwrap();
        assert_eq!((problem.count as usize, problem.num_all, problem.stream), (num_long, Some(40), Some(7)));
        assert!(problem.message.contains("1.6") && problem.message.contains("next start"), "{}", problem.message);
        assert_eq!(linked.trace.range().dur().0, 39_930_000);
        let rows: Vec<_> =
            (0..linked.trace.events.len()).filter(|row| linked.trace.event_name(*row) == "fmha").collect();
        for row in rows {
            assert_eq!(linked.trace.events.dur[row].0, 1_000_000);
            assert_eq!(linked.trace.events.impossible_dur(row).unwrap().0, 1_600_000_000);
        }
        assert_eq!(parts(&linked)[0], 40 * 800_000 + num_long as i64 * 200_000);
    }
}

#[test]
fn the_recorded_duration_outlives_files_snapshots_and_edits() {
    let original = linked(&overflowed(40, |at| at == 20));
    let dur = |linked: &LinkedTrace| {
        let row = (0..linked.trace.events.len()).find(|row| linked.trace.event_name(*row) == "fmha").unwrap();
        (linked.trace.events.dur[row].0, linked.trace.events.impossible_dur(row).map(|dur| dur.0))
    };
    let expected = (1_000_000, Some(1_600_000_000));
    assert_eq!(dur(&original), expected);
    let mut text = Vec::new();
    write_chrome(&original.trace, &mut text).unwrap();
    assert_eq!(dur(&LinkedTrace::new(files::trace(std::str::from_utf8(&text).unwrap()))), expected);
    let snapshot = write_snapshot(&original.trace).unwrap();
    assert_eq!(dur(&LinkedTrace::new(read_snapshot(&snapshot, Limits::default()).unwrap())), expected);
    let redacted = redact([&original.trace], Redaction::default()).pop().unwrap();
    assert_eq!(LinkedTrace::new(redacted).trace.events.recorded.len(), 1);
    assert_eq!(dur(&LinkedTrace::new(original.trace.clone())), expected, "linked again");
    let column = |name: &str| {
        let events = kinetoscope::table::table("events").unwrap();
        let column = events.columns.iter().find(|column| column.name == name).unwrap();
        column.values(&original, 41..42)
    };
    assert_eq!(column("recorded_dur_ns"), ColumnValues::Int([Some(1_600_000_000)].into_iter().collect()));
    assert_eq!(column("dur_ns"), ColumnValues::Int([Some(1_000_000)].into_iter().collect()));
}

#[test]
fn real_overlap_of_a_stream_stays() {
    let kernel = |id: usize, start: i64, dur: i64| {
        [call(CUDA, CUDA.kernel, id, start - 10, 5), work("kernel", "k", id, start, dur)]
    };
    let is_kept = |events: Vec<Value>| linked(&events).trace.events.recorded.is_empty();
    // A kernel that is launched before the last one ends (programmatic dependent launch).
    assert!(is_kept((0..20).flat_map(|at| kernel(at + 1, 100 + at as i64 * 100, 130)).collect()));
    // A little longer than the next.
    assert!(is_kept([kernel(1, 100, 150), kernel(2, 120, 60), kernel(3, 300, 5)].concat()));
    // Branches of one graph.
    let branches = (0..30).map(|at| work("kernel", "k", 1, 100 + at * 10, if at % 3 == 0 { 900 } else { 5 }));
    assert!(is_kept([call(CUDA, CUDA.graph, 1, 0, 5)].into_iter().chain(branches).collect()));
    // A stream that runs out of order.
    let unordered = (0..30).flat_map(|at| kernel(at + 1, 100 + at as i64 * 10, if at % 3 == 0 { 250 } else { 5 }));
    assert!(is_kept(unordered.collect()));
    // The last kernel of a recording may outlast its host.
    assert!(is_kept([kernel(1, 100, 5), kernel(2, 200, 900_000)].concat()));
}

#[test]
fn work_does_not_run_on_after_the_host_waited_for_it() {
    let events = [
        call(CUDA, CUDA.kernel, 1, 0, 5),
        work("kernel", "k", 1, 10, 900_000),
        call(CUDA, CUDA.synchronize, 2, 20, 300),
        call(CUDA, CUDA.kernel, 3, 400, 5),
    ];
    let linked = linked(&events);
    assert_eq!(linked.trace.events.dur[1].0, 310_000);
    assert_eq!(of(&verdict(&linked), "overlong_work").unwrap().count, 1);
}

#[test]
fn no_call_lasts_for_years() {
    let years = 3_000_000_000_000_000; // microseconds
    let linked = linked(&[operator("aten::a", 0, 40), operator("aten::b", 50, years), operator("aten::c", 60, 30)]);
    assert_eq!(linked.trace.range().dur().0, 90_000);
    let verdict = verdict(&linked);
    assert_eq!(
        (verdict.state, of(&verdict, "overlong_call").unwrap().events.clone()),
        (VerdictState::Inconsistent, vec![1])
    );
}

#[test]
fn no_event_is_years_from_all_others() {
    let year = 31_536_000_000_000; // microseconds
    for far in [year, -year, 50 * year] {
        let mut events: Vec<_> = (0..20).map(|at| operator("aten::a", at * 100, 40)).collect();
        events.push(operator("aten::far", far, 7));
        let linked = linked(&events);
        assert_eq!(linked.trace.range().dur().0, 1_940_000);
        let verdict = verdict(&linked);
        let problem = of(&verdict, "far_time").unwrap();
        assert_eq!((verdict.state, &problem.events), (VerdictState::Inconsistent, &vec![20]));
    }
    // Two recordings in one file.
    let twice: Vec<_> = (0..20).map(|at| operator("aten::a", at % 2 * year + at * 100, 40)).collect();
    assert_eq!(verdict(&linked(&twice)).state, VerdictState::Complete);
}

/// Launches a millisecond apart; the device clock is behind by so many microseconds.
fn skewed(behind: impl Fn(usize) -> i64) -> Arc<LinkedTrace> {
    let of_kernel = |at: usize| {
        let start = at as i64 * 1_000;
        [call(CUDA, CUDA.kernel, at + 1, start, 10), work("kernel", "gemm", at + 1, start + 15 - behind(at), 400)]
    };
    linked(&(1..21).flat_map(of_kernel).collect::<Vec<_>>())
}

#[test]
fn work_before_its_launch_has_no_delay() {
    let linked = skewed(|_| 320);
    let verdict = verdict(&linked);
    let problem = of(&verdict, "work_before_launch").unwrap();
    assert_eq!((verdict.state, problem.count, problem.num_all), (VerdictState::Inconsistent, 20, Some(20)));
    assert!(problem.message.contains("launches(clock_offset_ns=305000)"), "{}", problem.message);
    let rows = launches(&whole(&linked));
    assert!(rows.iter().all(|row| row.delay_ns(&linked, 0).is_none()));
    assert!(rows.iter().all(|row| row.delay_ns(&linked, 305_000) == Some(0)));
    assert!(rows.iter().all(|row| row.delay_ns(&linked, 320_000) == Some(5_000)));
    let of_calls = analysis("launches").unwrap().answer(&linked, "{}").unwrap();
    let delay = |answer: &AnalysisResult| files::rows(&*answer.tables[1])[0]["mean_delay_ns"].clone();
    assert_eq!(delay(&of_calls), Value::Null);
    let repaired = analysis("launches").unwrap().answer(&linked, r#"{"clock_offset_ns": 320000}"#).unwrap();
    assert_eq!(delay(&repaired), 5_000);
}

#[test]
fn an_offset_that_changes_is_not_offered() {
    let drifting = verdict(&skewed(|at| 100 + 40 * at as i64));
    let message = &of(&drifting, "work_before_launch").unwrap().message;
    assert!(message.contains("no single one repairs it") && !message.contains("clock_offset_ns"), "{message}");
    // Some kernels alone; and what rounding explains.
    assert_eq!(of(&verdict(&skewed(|at| if at > 15 { 90 } else { 0 })), "work_before_launch").unwrap().count, 5);
    assert_eq!(verdict(&skewed(|_| 16)).state, VerdictState::Complete);
}
