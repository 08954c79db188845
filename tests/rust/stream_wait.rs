//! Streams that wait for others, where no device reports it.

use kinetoscope::EventKind;
use kinetoscope::analyze::{PathKind, Selection, critical_path};
use kinetoscope::link::{How, LinkedTrace};

use crate::{files, shared};

/// Two streams; on the second work is launched after a call, early, and begins some time after work of the first ended.
fn linked(call: &str, process: i64, begins: i64) -> LinkedTrace {
    let launch = |id, start| {
        format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{start},"dur":2,
                "args":{{"correlation":{id}}}}}"#
        )
    };
    let work = |name, id, stream, start, dur| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":{stream},"ts":{start},"dur":{dur},
                "args":{{"correlation":{id},"device":0,"stream":{stream}}}}}"#
        )
    };
    let wait = format!(
        r#"{{"ph":"X","cat":"cuda_runtime","name":"{call}","pid":{process},"tid":1,"ts":20,"dur":2,"args":{{"correlation":9}}}}"#
    );
    let events = [
        launch(1, 0),
        launch(2, 10),
        wait,
        launch(3, 30),
        launch(4, 40),
        work("first", 1, 7, 5, 10),
        work("awaited", 2, 7, 50, 450),
        // Enqueued after the call: whoever waits does not wait for it.
        work("later", 4, 7, 500, 1),
        work("waited", 3, 20, begins, 100),
    ];
    LinkedTrace::new(files::trace(&format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))))
}

/// Who waited for what, by name.
fn waits(linked: &LinkedTrace) -> Vec<(&str, &str)> {
    let name = |row: u32| linked.trace.event_name(row as usize);
    let found = linked.sync_edges().iter().filter(|edge| edge.how == How::EndedBefore);
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
        (format!("{HTA}/trace_diff/control/control.json.gz"), 32),
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
    let found: Vec<_> = linked.sync_edges().iter().filter(|edge| edge.how == How::EndedBefore).collect();
    assert_eq!(found.len(), 1);
    let mut known = reported.sync_edges().iter();
    assert!(known.any(|edge| (edge.source, edge.target) == (found[0].source, found[0].target)));
    assert!(reported.sync_edges().iter().all(|edge| edge.how != How::EndedBefore));
}
