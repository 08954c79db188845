//! Tests waits that no device reports.

use kinetoscope::link::{LinkMethod, LinkedTrace};
use kinetoscope::{EventKind, Trace};
use proptest::prelude::*;

use crate::{files, shared};

/// An event as category, name, process, thread, start, duration and correlation.
type Event = (&'static str, &'static str, i64, i64, i64, i64, i64);

fn linked(events: &[Event]) -> LinkedTrace {
    let event = |(category, name, process, thread, start, dur, id): &Event| {
        let stream = if category.ends_with("runtime") { String::new() } else { format!(r#","stream":{thread}"#) };
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":{process},"tid":{thread},"ts":{start},"dur":{dur},
                "args":{{"correlation":{id}{stream}}}}}"#
        )
    };
    let events = events.iter().map(event).collect::<Vec<_>>().join(",");
    LinkedTrace::new(files::trace(&format!(r#"{{"traceEvents":[{events}]}}"#)))
}

/// Waits as pairs of rows, each with full confidence.
fn waits(events: &[Event]) -> Vec<(u32, u32)> {
    let linked = linked(events);
    let edges = linked.sync_edges();
    assert!(edges.iter().all(|edge| edge.how == LinkMethod::EndedInside && edge.confidence < 0.9));
    edges.iter().map(|edge| (edge.source, edge.target)).collect()
}

const LAUNCH: (&str, &str) = ("cuda_runtime", "cudaLaunchKernel");

fn launch(id: i64, start: i64) -> Event {
    (LAUNCH.0, LAUNCH.1, 1, 1, start, 2, id)
}

fn kernel(id: i64, stream: i64, start: i64, dur: i64) -> Event {
    ("kernel", "k", 0, stream, start, dur, id)
}

#[test]
fn a_call_to_synchronize_waits_for_what_ended_last_inside_of_it() {
    for name in ["cudaStreamSynchronize", "hipDeviceSynchronize", "cuCtxSynchronize", "synchronizeStream"] {
        let events = [
            launch(1, 0),
            launch(2, 5),
            launch(3, 10),
            kernel(1, 7, 10, 30),
            kernel(2, 20, 10, 45),
            // It goes on when the call is over.
            kernel(3, 21, 10, 90),
            // It is enqueued by another thread when the call has begun.
            (LAUNCH.0, LAUNCH.1, 1, 2, 25, 2, 4),
            kernel(4, 22, 40, 18),
            ("hip_runtime", name, 1, 1, 20, 40, 9),
        ];
        assert_eq!(waits(&events), [(4, 8)], "{name}");
    }
}

#[test]
fn a_stream_that_goes_on_was_not_waited_for() {
    let events = |name: &'static str| {
        let call = ("cuda_runtime", name, 1, 1, 20, 40, 9);
        [launch(1, 0), launch(2, 5), kernel(1, 7, 10, 45), kernel(2, 7, 55, 90), call]
    };
    assert_eq!(waits(&events("cudaStreamSynchronize")), []);
    // The record before the second kernel was enqueued.
    assert_eq!(waits(&events("cudaEventSynchronize")), [(2, 4)]);
}

#[test]
fn a_call_that_nothing_ended_in_waits_for_nothing() {
    let wait = ("cuda_runtime", "cudaEventSynchronize", 1, 1, 20, 10, 9);
    assert_eq!(waits(&[launch(1, 0), kernel(1, 7, 10, 10), wait]), []);
    assert_eq!(waits(&[launch(1, 0), kernel(1, 7, 10, 30), wait]), []);
    assert_eq!(waits(&[launch(1, 0), kernel(1, 7, 10, 15), ("cuda_runtime", "cudaEventQuery", 1, 1, 20, 10, 9)]), []);
    // Work of another process.
    assert_eq!(waits(&[(LAUNCH.0, LAUNCH.1, 2, 1, 0, 2, 1), kernel(1, 7, 10, 15), wait]), []);
}

#[test]
fn a_copy_that_is_over_before_its_call_was_waited_for() {
    let call = |dur| ("cuda_runtime", "cudaMemcpyAsync", 1, 1, 0, dur, 1);
    let copy = ("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 0, 7, 5, 10, 1);
    assert_eq!(waits(&[call(20), copy]), [(1, 0)]);
    assert_eq!(waits(&[call(14), copy]), []);
    // The device's clock is early.
    assert_eq!(waits(&[("cuda_runtime", "cudaMemcpyAsync", 1, 1, 8, 20, 1), copy]), []);
    // The host has no part in it.
    assert_eq!(waits(&[call(20), ("gpu_memcpy", "Memcpy DtoD (Device -> Device)", 0, 7, 5, 10, 1)]), []);
    // A slow call is no wait.
    assert_eq!(waits(&[(LAUNCH.0, LAUNCH.1, 1, 1, 0, 40, 1), kernel(1, 7, 5, 10)]), []);
    // The rest of a graph still runs.
    assert_eq!(waits(&[call(20), copy, kernel(1, 7, 15, 30)]), []);
}

#[test]
fn a_call_that_need_not_wait_for_its_copy_did_not_though_the_copy_was_quick() {
    let copied = |call, copy| waits(&[("cuda_runtime", call, 1, 1, 0, 20, 1), ("gpu_memcpy", copy, 0, 7, 5, 10, 1)]);
    let (pinned, pageable) = ("Memcpy DtoH (Device -> Pinned)", "Memcpy DtoH (Device -> Pageable)");
    assert_eq!(copied("cudaMemcpyAsync", pinned), []);
    assert_eq!(copied("cudaMemcpy", pinned), [(1, 0)]);
    assert_eq!(copied("cudaMemcpyAsync", pageable), [(1, 0)]);
}

#[test]
fn a_wait_with_a_report_of_its_own_is_as_the_report_says() {
    let report = r#"{"traceEvents":[
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":0,"dur":1,"args":{"correlation":1}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"correlation":2}},
        {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":20,"args":{"correlation":1,"stream":7}},
        {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":8,"ts":5,"dur":25,"args":{"correlation":2,"stream":8}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":1,"ts":10,"dur":30,"args":{"correlation":3}},
        {"ph":"X","cat":"cuda_sync","name":"Stream Sync","pid":0,"tid":-1,"ts":10,"dur":20,
            "args":{"cuda_sync_kind":"Stream Sync","correlation":3,"stream":7}}]}"#;
    let linked = LinkedTrace::new(files::trace(report));
    let edges: Vec<_> = linked.sync_edges().iter().map(|edge| (edge.how, edge.source, edge.target)).collect();
    assert_eq!(edges, [(LinkMethod::StreamOrder, 2, 4)]);
}

proptest! {
    #[test]
    fn nothing_waits_for_what_ends_later_or_was_not_enqueued(
        events in prop::collection::vec((0..4_usize, 1..4_i64, 0..100_i64, 0..60_i64, 0..8_i64), 0..40)
    ) {
        const SORTS: [(&str, &str); 4] =
            [LAUNCH, ("cuda_runtime", "cudaStreamSynchronize"), ("kernel", "k"), ("gpu_memcpy", "c")];
        let events = events.iter().map(|(sort, thread, start, dur, id)| {
            let (category, name) = SORTS[*sort];
            (category, name, i64::from(*sort < 2), *thread, *start, *dur, *id)
        });
        let events: Vec<Event> = events.collect();
        let linked = linked(&events);
        let (links, events) = (&linked.links, &linked.trace.events);
        for edge in linked.sync_edges() {
            let (source, target) = (edge.source as usize, edge.target as usize);
            prop_assert!(events.kind[source].is_device_work());
            prop_assert!(events.start.at(target) <= events.end(source) && events.end(source) <= events.end(target));
            let launch = links.launch.get(source).map(|launch| events.start.at(launch as usize));
            prop_assert!(launch <= Some(events.start.at(target)));
        }
    }
}

#[test]
fn waits_of_real_files_are_found_without_reports() {
    const HTA: &str = "facebookresearch__HolisticTraceAnalysis/tests/data";
    const AMD: &str = "AMD-AGI__TraceLens/tests/traces";
    for (name, num_waits) in [
        (format!("{AMD}/mi300/resnet_act_checkpoint.json.gz"), 1),
        (format!("{AMD}/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz"), 1),
        (format!("{HTA}/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz"), 2),
        (format!("{HTA}/with_gpu_user_annotation/step_based_trace_2543932.json.gz"), 6),
        (format!("{HTA}/trace_diff/control/control.json.gz"), 60),
    ] {
        let Some(trace) = shared::trace(&name) else { continue };
        assert_eq!(waits_found(trace).len(), num_waits, "{name}");
    }
}

/// Pairs of work and the call that nothing but the times say waited for it.
fn waits_found(trace: Trace) -> Vec<(u32, u32)> {
    let linked = LinkedTrace::new(trace);
    let found = linked.sync_edges().iter().filter(|edge| edge.how == LinkMethod::EndedInside);
    found.map(|edge| (edge.source, edge.target)).collect()
}

#[test]
fn what_is_found_without_reports_is_what_they_say() {
    let folder = "facebookresearch__HolisticTraceAnalysis/tests/data/critical_path";
    for (name, num_waits) in [
        ("alexnet/benchmark_result_2869224_1695835535_trace.json.gz", 17),
        ("cuda_event_sync/event_sync_trace.json.gz", 1),
    ] {
        let Some(mut trace) = shared::trace(&format!("{folder}/{name}")) else { continue };
        let reported = LinkedTrace::new(trace.clone());
        for kind in trace.events.kind.iter_mut().filter(|kind| **kind == EventKind::Sync) {
            *kind = EventKind::Other;
        }
        let is_known = |(source, target): &(u32, u32)| {
            reported.sync_edges().iter().any(|edge| (edge.source, edge.target) == (*source, *target))
        };
        let found = waits_found(trace);
        assert!(found.iter().all(is_known), "{name}: {found:?}");
        let is_wait = |target: &u32| reported.trace.event_name(*target as usize).contains("Synchronize");
        assert_eq!(found.iter().filter(|(_, target)| is_wait(target)).count(), num_waits, "{name}");
    }
}
