//! Tests waits for device work.

use kinetoscope::link::{EdgeKind, LinkMethod, LinkedTrace};
use kinetoscope::{EventKind, Trace};

use crate::{files, shared};

const DEVICE: &str = r#""device":0,"stream":"#;

/// Edges of waits in a trace of events given as category, thread, start, duration and arguments.
fn waits(events: &[(&str, &str, i64, i64, String)]) -> Vec<(LinkMethod, u32, u32)> {
    let event = |(category, thread, start, dur, args): &(&str, &str, i64, i64, String)| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"e","pid":1,"tid":"{thread}","ts":{start},"dur":{dur},
                "args":{{{args}}}}}"#
        )
    };
    let events = events.iter().map(event).collect::<Vec<_>>().join(",");
    let linked = LinkedTrace::new(files::trace(&format!(r#"{{"traceEvents":[{events}]}}"#)));
    linked.sync_edges().iter().map(|edge| (edge.how, edge.source, edge.target)).collect()
}

fn call(id: i64, start: i64, dur: i64) -> (&'static str, &'static str, i64, i64, String) {
    ("cuda_runtime", "1", start, dur, format!(r#""correlation":{id}"#))
}

fn kernel(id: i64, stream: i64, start: i64, dur: i64) -> (&'static str, &'static str, i64, i64, String) {
    let thread = if stream == 7 { "7" } else { "20" };
    ("kernel", thread, start, dur, format!(r#""correlation":{id},{DEVICE}{stream}"#))
}

fn sync(kind: &str, id: i64, stream: i64, more: &str) -> (&'static str, &'static str, i64, i64, String) {
    let args = format!(r#""cuda_sync_kind":"{kind}","correlation":{id},{DEVICE}{stream}{more}"#);
    ("cuda_sync", "-1", 100, 5, args)
}

const ON_EVENT: &str = r#","wait_on_stream":7,"wait_on_cuda_event_record_corr_id":3,"wait_on_cuda_event_id":1"#;

#[test]
fn a_stream_and_a_device_wait_for_what_was_enqueued_last() {
    let events = [
        call(1, 0, 2),
        call(2, 5, 2),
        kernel(1, 7, 10, 50),
        kernel(2, 20, 10, 30),
        call(8, 20, 45),
        sync("Stream Sync", 8, 7, ""),
        call(9, 70, 5),
        sync("Context Sync", 9, -1, ""),
        call(4, 80, 2),
        kernel(4, 7, 90, 9),
        call(10, 95, 9),
        sync("Context Sync", 10, -1, ""),
    ];
    let expected = [(2, 4), (2, 6), (3, 6), (9, 10)].map(|(source, target)| (LinkMethod::StreamOrder, source, target));
    assert_eq!(waits(&events), expected);
}

#[test]
fn an_event_waits_for_what_was_enqueued_before_it_was_recorded() {
    let events = [
        call(1, 0, 2),
        kernel(1, 7, 10, 50),
        call(3, 5, 1),
        call(2, 8, 2),
        kernel(2, 7, 60, 100),
        call(8, 20, 45),
        sync("Event Sync", 8, -1, ON_EVENT),
        call(5, 70, 1),
        sync("Stream Wait Event", 5, 20, ON_EVENT),
        call(6, 75, 1),
        kernel(6, 20, 90, 5),
        // A query that found it still at work did not wait.
        call(11, 12, 1),
        sync("Event Sync", 11, -1, ON_EVENT),
    ];
    assert_eq!(waits(&events), [(LinkMethod::SyncEvent, 1, 5), (LinkMethod::SyncEvent, 1, 10)]);
}

#[test]
fn what_is_not_in_the_file_is_not_waited_for() {
    let events = [
        kernel(1, 7, 10, 50),
        sync("Stream Sync", 8, 7, ""),
        sync("Event Sync", 8, -1, ON_EVENT),
        sync("Stream Wait Event", 9, 7, ON_EVENT),
        sync("Something Else", 9, 7, ""),
    ];
    assert_eq!(waits(&events), [(LinkMethod::StreamOrder, 0, 1)]);
}

fn integer(trace: &Trace, row: usize, key: &str) -> Option<i64> {
    let mut pairs = trace.args.pairs(&trace.strings, trace.events.args(row));
    pairs.find(|(other, _)| *other == key).and_then(|(_, json)| json.parse().ok())
}

#[test]
fn waits_of_real_files_are_for_the_right_stream_and_over_in_time() {
    let folder = "facebookresearch__HolisticTraceAnalysis/tests/data/critical_path";
    for (name, num_sync) in [
        ("alexnet/benchmark_result_2869224_1695835535_trace.json.gz", 15),
        ("cuda_event_sync/event_sync_trace.json.gz", 4),
    ] {
        let Some(trace) = shared::trace(&format!("{folder}/{name}")) else { continue };
        let linked = LinkedTrace::new(trace);
        let (trace, events) = (&linked.trace, &linked.trace.events);
        assert!(linked.sync_edges().len() >= num_sync, "{name}: {:?}", linked.sync_edges());
        for edge in linked.sync_edges().iter().filter(|edge| edge.how != LinkMethod::EndedInside) {
            let (source, target) = (edge.source as usize, edge.target as usize);
            assert_eq!(edge.kind, EdgeKind::Sync);
            assert!(
                events.kind[source].is_device_work() && events.end(source) <= events.end(target),
                "{name}: {edge:?}"
            );
            let reports = (0..events.len()).filter(|row| events.kind[*row] == EventKind::Sync);
            let mut reports = reports.filter(|row| {
                let stream = if trace.is_on_device(target) { integer(trace, target, "stream") } else { None };
                stream.map_or(linked.links.launch.get(*row) == Some(edge.target), |stream| {
                    integer(trace, *row, "stream") == Some(stream)
                })
            });
            let stream = integer(trace, source, "stream");
            assert!(reports.any(|row| {
                let waited = integer(trace, row, "wait_on_stream").or_else(|| integer(trace, row, "stream"));
                waited == stream || trace.event_name(row) == "Context Sync"
            }));
        }
    }
}
