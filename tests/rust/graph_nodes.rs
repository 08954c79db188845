//! Tests events and arrows of replayed graphs that are no launches and no device work.

use kinetoscope::analyze::coverage;
use kinetoscope::link::LinkMethod;
use kinetoscope::table::table;
use kinetoscope::{EventKind, LinkedTrace, category_kind};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

fn linked(events: &[Value]) -> LinkedTrace {
    LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string()))
}

fn launch(name: &str, start: i64, id: u64) -> Value {
    json!({"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 9, "tid": 9, "ts": start, "dur": 4, "args": {"correlation": id}})
}

fn on_stream(category: &str, name: &str, start: i64, dur: i64, correlation: Option<u64>) -> Value {
    let mut args = json!({"device": 0, "stream": 7});
    if let Some(id) = correlation {
        args["correlation"] = json!(id);
    }
    json!({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7, "ts": start, "dur": dur, "args": args})
}

fn arrow(phase: &str, (pid, tid, time): (i64, i64, i64), id: u64) -> Value {
    json!({"ph": phase, "id": id, "pid": pid, "tid": tid, "ts": time, "cat": "ac2g", "name": "ac2g", "bp": "e"})
}

#[test]
fn nodes_of_a_graph_without_device_work_are_on_their_stream_and_nothing_else() {
    for category in ["cuda_event", "gpu_event", "graph_event_node", "graph_host_node"] {
        assert_eq!(category_kind(category), (EventKind::Other, true), "{category}");
    }
}

#[test]
fn a_replay_counts_its_kernels_alone() {
    for correlation in [Some(5), Some(0), None] {
        let events = [
            launch("cudaGraphLaunch", 0, 5),
            on_stream("kernel", "gemm", 10, 5, Some(5)),
            on_stream("graph_event_node", "EventRecord", 15, 0, correlation),
            on_stream("graph_host_node", "HostNode: callback", 16, 3, correlation),
            on_stream("cuda_event", "EventRecord", 20, 0, correlation),
            on_stream("kernel", "relu", 22, 5, Some(5)),
        ];
        let linked = linked(&events);
        let found = coverage(&linked);
        assert_eq!((found.device_events.count, found.device_events.num_linked), (2, 2));
        assert_eq!(linked.links.launched.of(0).collect::<Vec<_>>(), [1, 5]);
        // All of them are on one track, that of the stream.
        assert_eq!(linked.trace.tracks.len(), 2);
        let launches = (0..6).filter(|row| linked.trace.events.kind[*row] == EventKind::Launch).count();
        assert_eq!(
            (launches, linked.warnings().filter(|warning| warning.kind.name().contains("launch")).count()),
            (1, 0)
        );
        assert!(table("events").is_some());
    }
}

#[test]
fn an_arrow_from_work_to_work_is_no_launch() {
    // The second kernel's launch is not in the file; the arrow says that it waits for the first.
    let events = |id: u64| {
        [
            launch("cudaGraphLaunch", 0, 5),
            on_stream("kernel", "first", 10, 5, Some(5)),
            on_stream("kernel", "second", 20, 5, None),
            arrow("s", (9, 9, 0), 5),
            arrow("f", (0, 7, 10), 5),
            arrow("s", (0, 7, 15), id),
            arrow("f", (0, 7, 20), id),
        ]
    };
    // An id of its own, and one that a launch has too.
    for id in [1 << 40, 5] {
        let linked = linked(&events(id));
        assert_eq!((linked.links.launch.get(1), linked.links.launch.get(2)), (Some(0), None), "{id}");
        assert_eq!(coverage(&linked).device_events.num_linked, 1);
    }
}

#[test]
fn an_arrow_from_a_launch_still_finds_work_without_correlation() {
    for name in ["hipGraphLaunch", "cudaGraphLaunch", "cudaLaunchKernel"] {
        let mut host = launch(name, 0, 5);
        host["args"] = json!({});
        let events = [
            host,
            on_stream("kernel", "first", 10, 5, None),
            arrow("s", (9, 9, 0), 5),
            arrow("f", (0, 7, 10), 5),
            // The same id, used again between two kernels.
            arrow("s", (0, 7, 15), 5),
            arrow("f", (0, 7, 30), 5),
            on_stream("kernel", "second", 30, 5, None),
        ];
        let linked = linked(&events);
        assert_eq!((linked.links.launch.get(1), linked.links.launch.get(2)), (Some(0), None), "{name}");
        assert_eq!(linked.links.launched.how(1), LinkMethod::Flow);
    }
}

proptest! {
    #[test]
    fn dependencies_link_nothing(arrows in prop::collection::vec((0..8_i64, 0..8_i64, 1..6_u64), 0..20)) {
        let mut events: Vec<Value> = (1..4).map(|at| launch("cudaLaunchKernel", at * 5, at as u64)).collect();
        events.extend((1..4).map(|at| on_stream("kernel", "with", at * 100, 10, Some(at as u64))));
        events.extend((4..8).map(|at| on_stream("kernel", "without", at * 100, 10, None)));
        for (from, to, id) in arrows {
            let (from, to) = (from.min(to), from.max(to));
            events.extend([arrow("s", (0, 7, from * 100 + 10), id), arrow("f", (0, 7, to * 100), id)]);
        }
        let linked = linked(&events);
        let launches: Vec<_> = (3..10).map(|row| linked.links.launch.get(row)).collect();
        prop_assert_eq!(launches, [Some(0), Some(1), Some(2), None, None, None, None]);
    }
}
