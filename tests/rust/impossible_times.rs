//! Tests recordings with impossible times: durations that cannot be, work before its launch.

use std::sync::Arc;

use kinetoscope::analyze::{AnalysisResult, VerdictState, analysis, launches, verdict};
use kinetoscope::edit::{Redaction, redact};
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::table::ColumnValues;
use kinetoscope::write::chrome::write_chrome;
use kinetoscope::{Limits, LinkedTrace, write_snapshot};
use serde_json::{Value, json};

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
            assert_eq!(linked.trace.events.dur.at(row).0, 1_000_000);
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
        (linked.trace.events.dur.at(row).0, linked.trace.events.impossible_dur(row).map(|dur| dur.0))
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
    assert_eq!(linked.trace.events.dur.at(1).0, 310_000);
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

/// Twenty kernels, one each 2 ms, of which the last has another duration; and Kineto's own event.
fn with_last_kernel(dur: i64, recorded: Option<i64>) -> Arc<LinkedTrace> {
    let mut events: Vec<Value> = Vec::new();
    events.extend(recorded.map(|dur| {
        json!({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans",
            "tid": "PyTorch Profiler", "ts": 0, "dur": dur, "args": {"Op count": 0}})
    }));
    for at in 0..20 {
        events.push(operator("aten::mm", at * 2_000, 40));
        events.push(call(CUDA, CUDA.kernel, at as usize + 1, at * 2_000 + 10, 5));
        events.push(work("kernel", "gemm", at as usize + 1, at * 2_000 + 30, if at < 19 { 500 } else { dur }));
    }
    linked(&events)
}

#[test]
fn the_last_work_does_not_outlast_the_recording() {
    for (dur, recorded, end) in
        [(1_600_000, Some(40_000), 40_000), (90_000, Some(40_000), 40_000), (1_600_000, None, 38_040)]
    {
        let linked = with_last_kernel(dur, recorded);
        let verdict = verdict(&linked);
        let problem = of(&verdict, "overlong_work").unwrap();
        assert_eq!((verdict.state, problem.count, problem.stream), (VerdictState::Inconsistent, 1, Some(7)));
        assert_eq!(linked.trace.range().dur().0, end * 1_000);
        assert_eq!(parts(&linked)[0], 19 * 500_000 + (end - 38_030) * 1_000);
    }
    // It may end after the last call.
    for recorded in [None, Some(60_000)] {
        assert_eq!(verdict(&with_last_kernel(20_000, recorded)).state, VerdictState::Complete);
    }
}

#[test]
fn a_call_longer_than_the_recording_ends_before_the_next() {
    for recorded in [None, Some(50_000)] {
        for (name, category) in [("aten::mm", "cpu_op"), ("cudaLaunchKernelExC", "cuda_runtime")] {
            let linked = with_last_kernel(500, recorded);
            let mut events: Vec<Value> = Vec::new();
            let rows = 0..linked.trace.events.len();
            for row in rows {
                let id = linked.trace.correlation_id(row).unwrap_or_default() as usize;
                let start = linked.trace.events.start.at(row).0 / 1_000;
                let dur = linked.trace.events.dur.at(row).0 / 1_000;
                let mut event = match linked.trace.event_name(row) {
                    "aten::mm" => operator("aten::mm", start, dur),
                    "gemm" => work("kernel", "gemm", id, start, dur),
                    "PyTorch Profiler (0)" => {
                        json!({"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "s",
                            "ts": start, "dur": dur})
                    }
                    call_name => call(CUDA, call_name, id, start, dur),
                };
                if event["name"] == name && event["cat"] == category && start / 2_000 == 3 {
                    event["dur"] = json!(1_600_000);
                }
                events.push(event);
            }
            let linked = self::linked(&events);
            let verdict = verdict(&linked);
            assert_eq!(of(&verdict, "overlong_call").unwrap().count, 1, "{name} {recorded:?}");
            let long = linked.trace.events.recorded[0].0 as usize;
            // The next of its kind starts 2 ms later.
            assert_eq!(linked.trace.events.dur.at(long).0, 2_000_000, "{name} {recorded:?}");
        }
    }
}

#[test]
fn work_that_waits_in_a_queue_says_nothing_about_a_drift() {
    let mut events = Vec::new();
    let mut free = 0;
    for at in 0..400_i64 {
        let launch = at * 20 + 10;
        let (start, dur) = (free.max(launch + 8), if at < 100 { 10 } else { 200 });
        free = start + dur;
        events.push(call(CUDA, CUDA.kernel, at as usize + 1, launch, 5));
        events.push(work("kernel", "k", at as usize + 1, start - 320, dur));
    }
    let message = |events: &[Value]| of(&verdict(&linked(events)), "work_before_launch").unwrap().message.clone();
    assert!(message(&events).contains("clock_offset_ns=312000"), "{}", message(&events));
    // A wait for the device that is over before the work would be.
    events.push(call(CUDA, CUDA.synchronize, 900, 8_100, free - 320 + 100 - 8_100));
    assert!(message(&events).contains("no single one"), "{}", message(&events));
}

#[test]
fn each_device_has_a_clock() {
    let mut events = Vec::new();
    for at in 0..40_i64 {
        let id = 2 * at as usize;
        events.push(call(CUDA, CUDA.kernel, id + 1, at * 2_000 + 10, 5));
        events.push(work("kernel", "k", id + 1, at * 2_000 + 30, 500));
        events.push(call(CUDA, CUDA.kernel, id + 2, at * 2_000 + 110, 5));
        let mut other = work("kernel", "k", id + 2, at * 2_000 + 130 - 320, 500);
        (other["pid"], other["args"]["device"]) = (json!(1), json!(1));
        events.push(other);
    }
    let linked = linked(&events);
    let problem = of(&verdict(&linked), "work_before_launch").unwrap().clone();
    assert_eq!((problem.count, problem.num_all, problem.device), (40, Some(40), Some(1)));
    assert!(problem.message.contains("clock_device=1, clock_offset_ns=300000"), "{}", problem.message);
    let options = r#"{"clock_device": 1, "clock_offset_ns": 300000}"#;
    let answer = analysis("launches").unwrap().answer(&linked, options).unwrap();
    for row in files::rows(&*answer.tables[0]) {
        assert_eq!(row["delay_ns"], if row["device"] == 0 { 15_000 } else { 0 });
    }
}

#[test]
fn a_stream_that_often_ends_late_is_remarked() {
    let run = |share: usize| {
        let kernel = |at: usize| {
            let start = at as i64 * 1_000;
            let dur = if at.is_multiple_of(share) && at < 39 { 5_000 } else { 500 };
            [call(CUDA, CUDA.kernel, at + 1, start + 10, 5), work("kernel", "k", at + 1, start + 30, dur)]
        };
        verdict(&linked(&(0..40).flat_map(kernel).collect::<Vec<_>>()))
    };
    for share in [3, 4] {
        let verdict = run(share);
        let remark = of(&verdict, "out_of_order_work").unwrap();
        assert_eq!((verdict.state, remark.count), (VerdictState::Complete, 39_u64.div_ceil(share as u64)));
    }
    assert_eq!(of(&run(5), "out_of_order_work"), None);
}
