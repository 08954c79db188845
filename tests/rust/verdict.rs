//! Tests the verdict on recordings: lost device work, marks of the recorder, rules for events.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::interval::{difference, total_ns};
use kinetoscope::analyze::{
    BreakdownSpan, IdleCause, KERNEL_WAIT_NS, MICRO_NS, MIN_SHARE, Problem, Selection, Verdict, VerdictState,
    breakdown, findings, gaps, operators, summary, verdict,
};
use kinetoscope::time::{TimeRange, Ts};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// The calls of a platform.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calls {
    pub(crate) category: &'static str,
    pub(crate) kernel: &'static str,
    pub(crate) graph: &'static str,
    pub(crate) copy: &'static str,
    pub(crate) synchronize: &'static str,
}

pub(crate) const CUDA: Calls = Calls {
    category: "cuda_runtime",
    kernel: "cudaLaunchKernelExC",
    graph: "cudaGraphLaunch",
    copy: "cudaMemcpyAsync",
    synchronize: "cudaDeviceSynchronize",
};
pub(crate) const HIP: Calls = Calls {
    category: "cuda_runtime",
    kernel: "hipExtModuleLaunchKernel",
    graph: "hipGraphLaunch",
    copy: "hipMemcpyWithStream",
    synchronize: "hipDeviceSynchronize",
};
const XPU: Calls = Calls {
    category: "xpu_runtime",
    kernel: "urEnqueueKernelLaunchWithArgsExp",
    graph: "",
    copy: "urEnqueueUSMMemcpy",
    synchronize: "urQueueFinish",
};
const PLATFORMS: [Calls; 3] = [CUDA, HIP, XPU];

pub(crate) fn linked(events: &[Value]) -> Arc<LinkedTrace> {
    linked_with(events, &json!({}))
}

fn linked_with(events: &[Value], header: &Value) -> Arc<LinkedTrace> {
    let mut file = header.clone();
    file["traceEvents"] = json!(events);
    Arc::new(LinkedTrace::new(files::trace(&file.to_string())))
}

pub(crate) fn call(calls: Calls, name: &str, id: usize, start: i64, dur: i64) -> Value {
    json!({"ph": "X", "cat": calls.category, "name": name, "pid": 9, "tid": 9, "ts": start, "dur": dur,
        "args": {"correlation": id}})
}

pub(crate) fn work(category: &str, name: &str, id: usize, start: i64, dur: i64) -> Value {
    json!({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7, "ts": start, "dur": dur,
        "args": {"device": 0, "stream": 7, "correlation": id}})
}

fn step(number: usize, start: i64, dur: i64) -> Value {
    json!({"ph": "X", "cat": "user_annotation", "name": format!("ProfilerStep#{number}"), "pid": 9, "tid": 9,
        "ts": start, "dur": dur})
}

pub(crate) fn operator(name: &str, start: i64, dur: i64) -> Value {
    json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 9, "tid": 9, "ts": start, "dur": dur})
}

pub(crate) fn of<'a>(verdict: &'a Verdict, name: &str) -> Option<&'a Problem> {
    verdict.problems.iter().find(|problem| problem.name == name)
}

pub(crate) fn whole(linked: &Arc<LinkedTrace>) -> Selection<'_> {
    Selection::all(linked)
}

/// `[compute, copies, idle, unknown]` of the only device.
pub(crate) fn parts(linked: &Arc<LinkedTrace>) -> [i64; 4] {
    let selection = whole(linked);
    let row = breakdown(&selection, &[BreakdownSpan::of(selection.span())], MICRO_NS)[0];
    assert_eq!(
        row.span_ns,
        row.compute_ns
            + row.exposed_communication_ns
            + row.exposed_copy_ns
            + row.exposed_other_ns
            + row.idle_ns
            + row.unknown_ns
    );
    assert_eq!(row.busy_ns, row.span_ns - row.idle_ns - row.unknown_ns);
    [row.compute_ns, row.exposed_copy_ns, row.idle_ns, row.unknown_ns]
}

fn has_finding(linked: &Arc<LinkedTrace>, name: &str) -> bool {
    findings(&whole(linked), MIN_SHARE).iter().any(|finding| finding.name == name)
}

/// Twenty steps of 10 ms: a graph that runs for 8 ms, of which only the first is in the file, a
/// wait for it, and a kernel that is in the file.
#[test]
fn graph_launches_without_kernels_leave_unknown_time() {
    for calls in [CUDA, HIP] {
        let mut events = Vec::new();
        for at in 0..20 {
            let start = at as i64 * 10_000;
            events.push(step(at, start, 10_000));
            events.push(call(calls, calls.graph, 2 * at + 1, start + 200, 300));
            events.push(call(calls, calls.synchronize, 1_000 + at, start + 600, 8_600));
            events.push(call(calls, calls.kernel, 2 * at + 2, start + 9_300, 10));
            events.push(work("kernel", "sampler", 2 * at + 2, start + 9_400, 100));
            let nodes = (0..20).filter(|_| at == 0).map(|node| work("kernel", "node", 1, 520 + node * 405, 400));
            events.extend(nodes);
        }
        let linked = linked(&events);
        let verdict = verdict(&linked);
        assert_eq!(verdict.state, VerdictState::Incomplete);
        let lost = of(&verdict, "lost_device_work").unwrap();
        assert_eq!((lost.count, lost.num_all, lost.device, lost.stream), (19, Some(20), Some(0), Some(7)));
        assert_eq!((lost.start_ns, lost.events.len()), (Some(10_200_000), 19));
        assert!(lost.message.contains("19 of 20 graph launches have no device work"), "{}", lost.message);
        // From each graph launch to the end of the wait for it; not from there to the next one.
        let [compute, _, idle, unknown] = parts(&linked);
        assert_eq!((compute, unknown), (20 * 400_000 + 20 * 100_000, 19 * 9_000_000));
        assert_eq!(idle, 200_000_000 - compute - unknown);
        assert!(!has_finding(&linked, "long_idle") && !has_finding(&linked, "launch_bound"));
        let unknown: Vec<_> =
            gaps(&whole(&linked), KERNEL_WAIT_NS).into_iter().filter(|gap| gap.wait == IdleCause::Unknown).collect();
        assert_eq!((unknown.len(), unknown[0].time.dur().0, unknown[0].after_id), (19, 9_000_000, None));
    }
}

/// Ten steps of 5 ms with three kernels each. Those of the first four are not in the file.
fn dropped(is_dropped: impl Fn(usize) -> bool) -> Arc<LinkedTrace> {
    let mut events = Vec::new();
    for at in 0..10 {
        let start = at as i64 * 5_000;
        events.push(step(at, start, 5_000));
        for part in 0..3 {
            let (id, begin) = (3 * at + part + 1, start + 60 + part as i64 * 100);
            events.push(operator("aten::mm", begin, 80));
            events.push(call(CUDA, CUDA.kernel, id, begin + 20, 10));
            if !is_dropped(at) {
                events.push(work("kernel", "gemm", id, start + 500 + part as i64 * 950, 900));
            }
        }
    }
    linked(&events)
}

#[test]
fn a_dropped_start_of_the_device_is_unknown() {
    let linked = dropped(|step| step < 4);
    let verdict = verdict(&linked);
    let lost = of(&verdict, "lost_device_work").unwrap();
    assert_eq!((lost.count, lost.num_all), (12, Some(30)));
    assert!(lost.message.contains("at the start") && lost.advice.contains("warm"), "{lost:?}");
    let summary = summary(&whole(&linked), 20);
    let busy: Vec<_> = summary.outline.iterations.iter().map(|row| row.device_busy_ns).collect();
    assert_eq!(busy, [[None; 4].as_slice(), &[Some(2_700_000); 6]].concat());
    assert!(summary.outline.iterations[..4].iter().all(|row| row.device_unknown_ns > 4_500_000));
    assert!(summary.outline.iterations[5..].iter().all(|row| row.device_unknown_ns == 0));
    // Of the four steps, no idle time is reported but that before the first launch.
    let (steps, [.., unknown]) = (20_000_000, parts(&linked));
    assert_eq!(unknown, steps - 80_000 + 500_000);
}

#[test]
fn a_dropped_end_and_a_hole_of_the_device_are_told_from_each_other() {
    let end = verdict(&dropped(|step| step >= 8));
    let lost = of(&end, "lost_device_work").unwrap();
    assert!(lost.message.starts_with("6 of 30 kernel launches at the end"), "{}", lost.message);
    let hole = verdict(&dropped(|step| step == 5));
    let lost = of(&hole, "lost_device_work").unwrap();
    assert_eq!(
        lost.message,
        "3 of 30 kernel launches have no device work: its records are missing (device 0, stream 7)"
    );
    assert_eq!((lost.start_ns, lost.end_ns), (Some(25_080_000), Some(30_500_000)));
    assert_eq!(verdict(&dropped(|_| false)), Verdict { state: VerdictState::Complete, problems: Vec::new() });
}

#[test]
fn kernels_of_a_device_may_be_missing_where_its_copies_are_not() {
    for calls in PLATFORMS {
        let mut events = Vec::new();
        for at in 0..5 {
            let (id, start) = (2 * at + 1, at as i64 * 2_000);
            events.push(operator("aten::mm", start, 500));
            events.push(call(calls, calls.kernel, id, start + 50, 100));
            events.push(operator("aten::copy_", start + 600, 200));
            events.push(call(calls, calls.copy, id + 1, start + 650, 100));
            events.push(work("gpu_memcpy", "Memcpy", id + 1, start + 900, 300));
        }
        let linked = linked(&events);
        let verdict = verdict(&linked);
        assert_eq!((verdict.state, verdict.problems.len()), (VerdictState::Incomplete, 1), "{verdict:?}");
        assert!(verdict.problems[0].message.starts_with("5 of 5 kernel launches have no device work"), "{verdict:?}");
        let [compute, copies, idle, unknown] = parts(&linked);
        // From each launch to the copy after it.
        assert_eq!((compute, copies, unknown), (0, 1_500_000, 5 * 850_000));
        assert_eq!(idle, 9_200_000 - copies - unknown);
        assert!(!has_finding(&linked, "long_idle"));
        let rows = operators(&whole(&linked));
        let device = |name: &str| rows.iter().find(|row| row.name == name).unwrap().device_total_ns;
        assert_eq!((device("aten::mm"), device("aten::copy_")), (None, Some(1_500_000)));
    }
}

#[test]
fn a_recording_without_any_device_work_says_so_and_not_what_to_switch_on() {
    let linked = linked(&[call(CUDA, CUDA.kernel, 1, 0, 5), call(CUDA, CUDA.kernel, 2, 10, 5)]);
    let verdict = verdict(&linked);
    let lost = of(&verdict, "lost_device_work").unwrap();
    assert_eq!((lost.count, lost.num_all, lost.device), (2, Some(2), None));
    assert!(lost.message.contains("none of their records") && !lost.advice.contains("ctivit"), "{lost:?}");
}

#[test]
fn launches_that_run_nothing_lose_nothing() {
    let state = |events: &[Value]| verdict(&linked(events)).state;
    let kernel = |id, start| call(CUDA, CUDA.kernel, id, start, 5);
    let ran = [kernel(1, 0), work("kernel", "k", 1, 10, 5)];
    let with = |more: &[Value]| state(&[&ran, more].concat());
    assert_eq!(with(&[kernel(2, 20)]), VerdictState::Incomplete);
    // A fill of no bytes, a wait, a description of a graph.
    for name in ["cudaMemsetAsync", "cudaStreamWaitEvent", "cudaGraphAddKernelNode", "cudaLaunchHostFunc"] {
        assert_eq!(with(&[call(CUDA, name, 2, 20, 5)]), VerdictState::Complete, "{name}");
    }
    // While a graph is captured, launches of any thread of the process only add to it.
    let [begin, end] = ["cudaStreamBeginCapture", "cudaStreamEndCapture"]
        .map(|name| call(CUDA, name, 50, if name.contains("Begin") { 20 } else { 60 }, 2));
    let mut other_thread = kernel(3, 40);
    other_thread["tid"] = json!(10);
    assert_eq!(with(&[begin.clone(), kernel(2, 30), other_thread.clone(), end.clone()]), VerdictState::Complete);
    assert_eq!(with(&[begin.clone(), kernel(2, 30), end.clone(), kernel(4, 70)]), VerdictState::Incomplete);
    assert_eq!(with(&[begin, kernel(2, 30)]), VerdictState::Complete, "a capture that the recording cuts");
    let mut other_process = other_thread;
    other_process["pid"] = json!(10);
    assert_eq!(with(&[end, other_process]), VerdictState::Incomplete);
    // Where only the call that makes the graph is recorded.
    let instantiate = call(HIP, "hipGraphInstantiate", 51, 60, 5);
    assert_eq!(with(&[kernel(2, 30), kernel(3, 40), instantiate]), VerdictState::Complete);
}

#[test]
fn a_call_inside_a_launch_is_no_launch_of_its_own() {
    let inner = |id, start| {
        json!({"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernelEx", "pid": 9, "tid": 9, "ts": start, "dur": 2,
            "args": {"correlation": id}})
    };
    let outer = |id, start| call(CUDA, CUDA.kernel, id, start, 6);
    for (outer_id, inner_id, of_work) in [(1, 1, 1), (1, 2, 1), (1, 2, 2)] {
        let events = [outer(outer_id, 0), inner(inner_id, 2), work("kernel", "k", of_work, 20, 5)];
        let linked = linked(&events);
        assert_eq!(verdict(&linked).state, VerdictState::Complete, "{outer_id} {inner_id} {of_work}");
        assert_eq!(linked.warnings().count(), 0, "{outer_id} {inner_id} {of_work}");
    }
    let events = [outer(1, 0), inner(2, 2), outer(3, 10), inner(3, 12), work("kernel", "k", 3, 20, 5)];
    let lost = of(&verdict(&linked(&events)), "lost_device_work").unwrap().clone();
    assert_eq!((lost.count, lost.num_all), (1, Some(2)));
}

#[test]
fn work_without_a_recorded_launch_is_a_defect_only_where_its_launch_has_to_be_there() {
    let counted = |events: &[Value]| {
        let linked = linked(events);
        let counts = linked.warnings().map(|warning| (warning.kind.name(), warning.count)).collect::<Vec<_>>();
        (verdict(&linked).state, counts)
    };
    let (launch, gemm) = (call(CUDA, CUDA.kernel, 5, 0, 5), |id| work("kernel", "gemm", id, 20 * id as i64, 5));
    let mut nameless = gemm(9);
    nameless["args"] = json!({"device": 0, "stream": 7});
    let note = (VerdictState::Complete, vec![("unrecorded_launch", 1)]);
    assert_eq!(counted(&[gemm(1)]), note, "no launches at all");
    assert_eq!(counted(&[launch.clone(), gemm(5), gemm(1)]), note, "older than the first launch");
    assert_eq!(counted(&[launch.clone(), gemm(5), nameless]), note, "names no launch");
    assert_eq!(counted(&[launch, gemm(5), gemm(7)]), (VerdictState::Incomplete, vec![("missing_launch", 1)]));
}

/// One launch of a run in order: the time until the next call, the duration of its work, and
/// whether the work is in the file. A wait for the device may follow.
#[derive(Debug, Clone, Copy)]
struct Launch {
    pause: i64,
    dur: i64,
    is_lost: bool,
    is_awaited: bool,
}

fn launch_strategy() -> impl Strategy<Value = Launch> {
    (1..40_i64, 1..60_i64, prop::bool::weighted(0.4), prop::bool::weighted(0.2))
        .prop_map(|(pause, dur, is_lost, is_awaited)| Launch { pause, dur, is_lost, is_awaited })
}

proptest! {
    /// No time in which lost work ran is idle, and no other time is taken from the parts.
    #[test]
    fn lost_work_runs_in_unknown_time(run in prop::collection::vec(launch_strategy(), 1..40)) {
        let (mut events, mut truth, mut recorded) = (Vec::new(), Vec::new(), Vec::new());
        let (mut host, mut device) = (0, 0);
        for (at, launch) in run.iter().enumerate() {
            events.push(call(CUDA, CUDA.kernel, at + 1, host, 1));
            let start = device.max(host + 2);
            device = start + launch.dur;
            let time = TimeRange { start: Ts(start * 1_000), end: Ts(device * 1_000) };
            if launch.is_lost {
                truth.push(time);
            } else {
                recorded.push(time);
                events.push(work("kernel", "k", at + 1, start, launch.dur));
            }
            host += launch.pause + 1;
            if launch.is_awaited {
                let end = device.max(host + 1);
                events.push(call(CUDA, CUDA.synchronize, 1_000 + at, host, end - host));
                host = end + 1;
            }
        }
        // The recording lasts until all has run.
        events.push(operator("last", host.max(device), 1));
        let linked = linked(&events);
        let lost = linked.lost_work();
        prop_assert_eq!(lost.ranges.len(), run.iter().filter(|launch| launch.is_lost).count());
        let state = verdict(&linked).state;
        prop_assert_eq!(state == VerdictState::Complete, truth.is_empty());
        if !recorded.is_empty() {
            prop_assert_eq!(total_ns(&difference(&truth, lost.of_device(Some(0)))), 0);
            parts(&linked);
            let selection = whole(&linked);
            let in_gaps: i64 = gaps(&selection, KERNEL_WAIT_NS)
                .iter()
                .filter(|gap| gap.wait == IdleCause::Unknown)
                .map(|gap| gap.time.dur().0)
                .sum();
            prop_assert_eq!(in_gaps, parts(&linked)[3]);
        }
    }
}

#[test]
fn the_recorder_says_itself_what_it_dropped() {
    let problem = |header: Value, name: &str| {
        let verdict = verdict(&linked_with(&[operator("aten::a", 0, 4)], &header));
        of(&verdict, name).map(|problem| (verdict.state, problem.count, problem.message.clone()))
    };
    let log = |line: &str| json!({"INFO": ["INFO:2026-01-08 08:51:50 8:3 first line", line]});
    let line = "WARN:2024-05-22 17:15:23 29:29 CuptiActivityApi.cpp:3] Dropped 4181 activity records";
    let (state, count, message) = problem(log(line), "dropped_records").unwrap();
    assert_eq!((state, count), (VerdictState::Incomplete, 4181));
    assert!(message.contains("CuptiActivityApi"), "{message}");
    assert_eq!(problem(json!({"cupti_dropped_records": 12}), "dropped_records").unwrap().1, 12);
    assert_eq!(problem(log("WARN: 7 records were dropped"), "dropped_records").unwrap().1, 7);
    assert_eq!(problem(log("0 records dropped"), "dropped_records"), None);
    for metadata in [json!({"dropout": 12}), json!({"moe_dropped_tokens": 17}), json!({"notes": ["dropped 3 records"]})]
    {
        assert_eq!(problem(metadata, "dropped_records"), None);
    }
    for line in [
        "init.cpp:156] CUPTI initialization failed - CUDA profiler activities will be missing",
        "failed to initialize roctracer",
    ] {
        assert_eq!(problem(log(line), "no_device_tracing").unwrap().0, VerdictState::Incomplete, "{line}");
    }
    let exceeded = "Exceeded max GPU buffer count (33 >= 33) - terminating tracing";
    for line in ["CUPTI stopped early? = 1", "profiler state DEVICE_STOPPED", exceeded] {
        assert_eq!(problem(log(line), "recording_stopped").unwrap().0, VerdictState::Incomplete, "{line}");
    }
    assert_eq!(problem(log("CUPTI stopped early? = 0"), "recording_stopped"), None);
    let counts = "Record counts: Out-of-range = 38, Blocklisted runtime = 45, Invalid ext correlations = 0";
    let (state, count, _) = problem(log(counts), "out_of_range_records").unwrap();
    assert_eq!((state, count), (VerdictState::Complete, 38), "warm-up leaves such records");
}

/// The rules of `PyTorch`'s own validator that concern waits: a wait, and what it may refer to.
#[test]
fn reported_waits_name_an_event_that_was_recorded_before() {
    let wait = |kind: &str, start: i64, more: Value| {
        let mut args = json!({"cuda_sync_kind": kind, "device": 0, "stream": 7, "correlation": 90});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"ph": "X", "cat": "cuda_sync", "name": kind, "pid": 0, "tid": 7, "ts": start, "dur": 1, "args": args})
    };
    let id = |id: i64| json!({"wait_on_cuda_event_record_corr_id": id, "wait_on_stream": 8});
    let record = |start: i64| call(CUDA, "cudaEventRecordWithFlags", 5, start, 2);
    let names = |events: &[Value]| {
        let names: Vec<_> =
            verdict(&linked(events)).problems.iter().map(|problem| (problem.name, problem.state)).collect();
        names
    };
    let (remark, inconsistent) = (VerdictState::Complete, VerdictState::Inconsistent);
    assert_eq!(names(&[record(0), wait("Stream Wait Event", 10, id(5))]), []);
    assert_eq!(names(&[record(0), wait("Stream Wait Event", 10, id(6))]), [("wait_for_unknown_record", remark)]);
    assert_eq!(names(&[record(20), wait("Stream Wait Event", 10, id(5))]), [("wait_for_later_record", inconsistent)]);
    for kind in ["Stream Wait Event", "Event Sync"] {
        assert_eq!(names(&[wait(kind, 10, id(-1))]), [("wait_without_record_id", remark)]);
        assert_eq!(names(&[wait(kind, 10, json!({}))]), [("wait_without_record_id", remark)]);
    }
    let kernel = [call(CUDA, CUDA.kernel, 1, 0, 1), work("kernel", "k", 1, 5, 20)];
    let waited = |start: i64| [kernel.as_slice(), &[wait("Stream Sync", start, json!({}))]].concat();
    assert_eq!(names(&waited(25)), []);
    assert_eq!(names(&waited(15)), [("work_after_sync", inconsistent)]);
}

#[test]
fn communications_and_sequence_numbers_are_checked() {
    let comms = |args: Value| {
        json!({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 9, "tid": 9, "ts": 0, "dur": 4,
            "args": args})
    };
    let all = json!({"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1, "Out msg nelems": 1, "Group size": 2});
    assert_eq!(verdict(&linked(&[comms(all.clone())])).problems, []);
    for key in ["Collective name", "dtype", "In msg nelems", "Out msg nelems", "Group size"] {
        let mut args = all.clone();
        args.as_object_mut().unwrap().remove(key);
        let verdict = verdict(&linked(&[comms(args), comms(all.clone())]));
        let problem = of(&verdict, "communication_without_metadata").unwrap();
        assert_eq!((problem.count, problem.num_all, verdict.state), (1, Some(2), VerdictState::Complete), "{key}");
    }
    let backward = |name: &str, number: i64, start: i64| {
        let name = format!("autograd::engine::evaluate_function: {name}");
        json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 9, "tid": 9, "ts": start, "dur": 4,
            "args": {"Sequence number": number}})
    };
    let shared = verdict(&linked(&[
        backward("AddBackward0", 7, 0),
        backward("MulBackward0", 7, 10),
        backward("MulBackward0", 8, 20),
    ]));
    assert_eq!(of(&shared, "shared_sequence_number").unwrap().num_all, Some(2));
    assert_eq!(verdict(&linked(&[backward("AddBackward0", 7, 0), backward("AddBackward0", 7, 10)])).problems, []);
}

#[test]
fn steps_of_several_processes_are_said_beside_the_verdict() {
    let step = |process: u32, number: i64, start: i64| {
        json!({"ph": "X", "cat": "user_annotation", "name": format!("ProfilerStep#{number}"), "pid": process,
            "tid": process, "ts": start, "dur": 100})
    };
    let merged = verdict(&linked(&[step(1, 5, 0), step(1, 6, 100), step(2, 5, 40), step(2, 6, 140)]));
    let problem = of(&merged, "steps_of_several_processes").unwrap();
    assert_eq!((problem.count, problem.num_all, problem.events.as_slice()), (2, Some(4), &[2, 3][..]));
    assert!(problem.is_shown);
    assert_eq!(merged.state, VerdictState::Complete);
    let device = json!({"ph": "X", "cat": "gpu_user_annotation", "name": "ProfilerStep#5", "pid": 0, "tid": 7,
        "ts": 40, "dur": 100, "args": {"device": 0, "stream": 7}});
    assert_eq!(verdict(&linked(&[step(1, 5, 0), step(1, 6, 100), device])).problems, []);
}

#[test]
fn damage_of_a_file_is_a_problem_with_the_worst_state_first() {
    let text = r#"{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": -3},
        {"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 9, "du"#;
    let verdict = verdict(&LinkedTrace::new(files::trace(text)));
    let states: Vec<_> = verdict.problems.iter().map(|problem| (problem.name, problem.state)).collect();
    assert_eq!(states, [("negative_duration", VerdictState::Inconsistent), ("truncated", VerdictState::Incomplete)]);
}
