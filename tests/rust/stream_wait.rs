//! Tests waits between streams that no device reports.

use kinetoscope::EventKind;
use kinetoscope::analyze::{PathKind, Selection, critical_path};
use kinetoscope::link::{LinkMethod, LinkedTrace};

use crate::{files, shared};

/// A call as name, process and start.
type Call = (&'static str, i64, i64);

/// Work as name, device, stream, start, duration and the start of its launch, where the file has
/// that.
type Work = (&'static str, i64, i64, i64, i64, Option<i64>);

const WAIT: &str = "cudaStreamWaitEvent";

/// The calls, and the work with launches of process 1.
fn traced(calls: &[Call], works: &[Work]) -> LinkedTrace {
    let call = |id: usize, (name, process, start): Call| {
        format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"{name}","pid":{process},"tid":1,"ts":{start},"dur":2,
                "args":{{"correlation":{id}}}}}"#
        )
    };
    let mut events: Vec<String> = calls.iter().enumerate().map(|(at, one)| call(100 + at, *one)).collect();
    let mut launches: Vec<i64> = Vec::new();
    let is_graph = |launch: i64| works.iter().filter(|work| work.5 == Some(launch)).count() > 1;
    for (name, device, stream, start, dur, launch) in works {
        // Work of one call has its number.
        let known = launch.and_then(|launch| launches.iter().position(|other| *other == launch));
        let id = known.unwrap_or(launches.len()) + 1;
        if let (Some(launch), None) = (launch, known) {
            let call_name = if is_graph(*launch) { "cudaGraphLaunch" } else { "cudaLaunchKernel" };
            events.push(call(id, (call_name, 1, *launch)));
        }
        launches.push(launch.unwrap_or(-1));
        events.push(format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":{device},"tid":{stream},"ts":{start},"dur":{dur},
                "args":{{"correlation":{id},"device":{device},"stream":{stream}}}}}"#
        ));
    }
    LinkedTrace::new(files::trace(&format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))))
}

/// Two streams; on the second work is launched after a call, early, and begins some time after work
/// of the first ended.
fn linked(call: &'static str, process: i64, begins: i64) -> LinkedTrace {
    traced(
        &[(call, process, 20)],
        &[
            ("first", 0, 7, 5, 10, Some(0)),
            ("awaited", 0, 7, 50, 450, Some(10)),
            ("waited", 0, 20, begins, 100, Some(30)),
            // Enqueued after the call: whoever waits does not wait for it.
            ("later", 0, 7, 500, 1, Some(40)),
        ],
    )
}

/// Waits by name: waiter and awaited.
fn waits(linked: &LinkedTrace) -> Vec<(&str, &str)> {
    let name = |row: u32| linked.trace.event_name(row as usize);
    let found = linked.sync_edges().iter().filter(|edge| edge.how == LinkMethod::EndedBefore);
    found.map(|edge| (name(edge.target), name(edge.source))).collect()
}

#[test]
fn work_that_begins_as_another_stream_ends_waited_for_it() {
    for call in ["cudaStreamWaitEvent", "hipStreamWaitEvent", "cuStreamWaitEvent"] {
        assert_eq!(waits(&linked(call, 1, 504)), [("waited", "awaited")], "{call}");
    }
}

#[test]
fn work_that_begins_at_another_time_or_was_not_made_to_wait_did_not() {
    assert_eq!(waits(&linked("cudaStreamWaitEvent", 1, 600)), [], "long after");
    assert_eq!(waits(&linked("cudaStreamWaitEvent", 1, 499)), [], "before its end");
    assert_eq!(waits(&linked("cudaEventRecord", 1, 504)), [], "no call");
    assert_eq!(waits(&linked("cudaStreamWaitEvent", 2, 504)), [], "another process's call");
}

#[test]
fn it_waited_for_what_was_enqueued_last_when_an_event_was_recorded() {
    // The copy ends later, but more was enqueued after it when the stream was made to wait.
    let works = [
        ("copy", 0, 7, 50, 452, Some(0)),
        ("more", 0, 7, 505, 100, Some(5)),
        ("awaited", 0, 13, 50, 450, Some(10)),
        ("waited", 0, 20, 504, 100, Some(30)),
    ];
    assert_eq!(waits(&traced(&[(WAIT, 1, 20)], &works)), [("waited", "awaited")]);
    // Or when the record says so, long before.
    let calls = [("cudaEventRecord", 1, 3), (WAIT, 1, 20)];
    assert_eq!(waits(&traced(&calls, &works)), [("waited", "copy")]);
}

#[test]
fn what_ends_while_a_launch_is_on_its_way_holds_nothing_up() {
    let works = |launch| [("other", 0, 7, 50, 450, Some(10)), ("soon", 0, 20, 504, 100, Some(launch))];
    assert_eq!(waits(&traced(&[(WAIT, 1, 20)], &works(495))), []);
    assert_eq!(waits(&traced(&[(WAIT, 1, 20)], &works(480))), [("soon", "other")]);
}

#[test]
fn a_stream_may_wait_for_one_of_another_device() {
    let works = [("copy", 0, 7, 50, 450, Some(10)), ("consumer", 1, 7, 504, 100, Some(30))];
    assert_eq!(waits(&traced(&[(WAIT, 1, 20)], &works)), [("consumer", "copy")]);
}

#[test]
fn work_whose_launch_was_not_recorded_holds_up_and_is_waited_for() {
    let awaited = ("awaited", 0, 7, 50, 450, None);
    let waited = ("waited", 0, 20, 504, 100, Some(30));
    assert_eq!(waits(&traced(&[(WAIT, 1, 20)], &[awaited, waited])), [("waited", "awaited")]);
    let own = ("own", 0, 20, 50, 452, None);
    assert_eq!(waits(&traced(&[(WAIT, 1, 20)], &[awaited, own, waited])), []);
}

#[test]
fn work_of_a_graph_waits_for_its_own_first() {
    let works = [
        ("before", 0, 7, 50, 400, Some(10)),
        ("first", 0, 20, 460, 20, Some(30)),
        ("second", 0, 21, 482, 20, Some(30)),
    ];
    assert_eq!(waits(&traced(&[(WAIT, 1, 20)], &works)), [("first", "before")]);
}

#[test]
fn calls_of_another_process_hide_none() {
    let mut calls = vec![(WAIT, 1, 20)];
    calls.extend((0..1_000).map(|_| (WAIT, 2, 25)));
    let works = [("awaited", 0, 7, 50, 450, Some(10)), ("waited", 0, 20, 504, 100, Some(30))];
    assert_eq!(waits(&traced(&calls, &works)), [("waited", "awaited")]);
}

#[test]
fn the_critical_path_leads_to_work_after_some_of_no_duration() {
    let works = [("waited", 0, 7, 500, 100, Some(30)), ("awaited", 0, 20, 500, 0, Some(10))];
    let linked = traced(&[(WAIT, 1, 20)], &works).into();
    let path = critical_path(&Selection::all(&linked));
    let last = path.steps().last().expect("a path");
    assert_eq!((linked.trace.event_name(last.event as usize), last.weight_ns), ("waited", 100_000));
}

#[test]
fn the_critical_path_leads_over_it_from_stream_to_stream() {
    let linked = linked("cudaStreamWaitEvent", 1, 504).into();
    let path = critical_path(&Selection::all(&linked));
    let name = |event: u32| linked.trace.event_name(event as usize);
    let steps: Vec<_> = path.steps().map(|edge| (name(edge.event), edge.kind, edge.weight_ns)).collect();
    let end = [
        ("awaited", PathKind::Kernel, 450_000),
        ("waited", PathKind::Sync, 4_000),
        ("waited", PathKind::Kernel, 100_000),
    ];
    assert_eq!(steps[steps.len() - 3..], end);
}

#[test]
fn waits_of_streams_are_found_in_real_files_without_reports() {
    const HTA: &str = "facebookresearch__HolisticTraceAnalysis/tests/data";
    for (name, num_waits) in [
        (format!("{HTA}/nccl_parser_config/nccl_data.json.gz"), 3),
        (format!("{HTA}/trace_diff/control/control.json.gz"), 30),
        ("AMD-AGI__TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz".to_owned(), 15),
    ] {
        let Some(trace) = shared::trace(&name) else { continue };
        assert_eq!(waits(&LinkedTrace::new(trace)).len(), num_waits, "{name}");
    }
}

#[test]
fn what_is_found_without_reports_is_what_they_say() {
    let name = "facebookresearch__HolisticTraceAnalysis/tests/data/critical_path/alexnet/\
                benchmark_result_2869224_1695835535_trace.json.gz";
    let Some(mut trace) = shared::trace(name) else { return };
    let reported = LinkedTrace::new(trace.clone());
    trace.events.kind.iter_mut().filter(|kind| **kind == EventKind::Sync).for_each(|kind| *kind = EventKind::Other);
    let linked = LinkedTrace::new(trace);
    let found: Vec<_> = linked.sync_edges().iter().filter(|edge| edge.how == LinkMethod::EndedBefore).collect();
    assert_eq!(found.len(), 1);
    let mut known = reported.sync_edges().iter();
    assert!(known.any(|edge| (edge.source, edge.target) == (found[0].source, found[0].target)));
    assert!(reported.sync_edges().iter().all(|edge| edge.how != LinkMethod::EndedBefore));
}
