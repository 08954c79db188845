//! Tests the critical path on small traces by hand, and its laws on all traces.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{CriticalPath, PathKind, Selection, WhatIf, critical_path, critical_path_of_hta, path_rows};
use kinetoscope::time::{TimeRange, Ts};
use proptest::prelude::*;

use crate::{files, shared};

/// An event as category, name, thread, start, duration and `correlation`.
type Event<'a> = (&'a str, &'a str, u32, i64, i64, i64);

fn json((category, name, thread, start, dur, id): &Event<'_>, more: &str) -> String {
    let pid = i32::from(!matches!(*category, "kernel" | "gpu_memcpy" | "cuda_sync"));
    format!(
        r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":{pid},"tid":{thread},"ts":{start}.0,"dur":{dur}.0,
            "args":{{"correlation":{id},"device":0,"stream":{thread}{more}}}}}"#
    )
}

fn linked(events: &[Event<'_>], more: &[String]) -> Arc<LinkedTrace> {
    let events: Vec<_> = events.iter().map(|event| json(event, "")).chain(more.iter().cloned()).collect();
    Arc::new(LinkedTrace::new(files::trace(&format!(r#"{{"traceEvents":[{}]}}"#, events.join(",")))))
}

/// Steps that take time, as kind, name and microseconds.
fn steps(linked: &Arc<LinkedTrace>) -> Vec<(&'static str, String, i64)> {
    let selection = Selection::all(linked);
    let rows = path_rows(&selection, &critical_path(&selection));
    let rows = rows.into_iter().filter(|row| row.dur_ns > 0);
    rows.map(|row| (row.kind.name(), row.name.to_string(), row.dur_ns / 1000)).collect()
}

fn expected(steps: &[(&'static str, &str, i64)]) -> Vec<(&'static str, String, i64)> {
    steps.iter().map(|(kind, name, us)| (*kind, (*name).to_owned(), *us)).collect()
}

/// One launch that the device is idle for, two that wait for their turn.
const BUSY_DEVICE: &[Event<'_>] = &[
    ("cpu_op", "aten::mm", 1, 0, 12, 0),
    ("cuda_runtime", "launch", 1, 2, 2, 1),
    ("cuda_runtime", "launch", 1, 5, 2, 2),
    ("cuda_runtime", "launch", 1, 8, 2, 3),
    ("kernel", "a", 7, 9, 20, 1),
    ("kernel", "b", 7, 30, 20, 2),
    ("kernel", "c", 7, 51, 9, 3),
];

#[test]
fn a_busy_device_is_followed_back_to_the_launch_that_it_was_idle_for() {
    let path = [
        ("operator", "aten::mm", 2),
        ("launch", "a", 7),
        ("kernel", "a", 20),
        ("kernel_kernel", "b", 1),
        ("kernel", "b", 20),
        ("kernel_kernel", "c", 1),
        ("kernel", "c", 9),
    ];
    assert_eq!(steps(&linked(BUSY_DEVICE, &[])), expected(&path));
}

#[test]
fn a_call_that_waited_costs_what_it_took_after_the_device_was_done() {
    let wait = ("cuda_runtime", "cudaStreamSynchronize", 1, 13, 50, 9);
    let after = ("cpu_op", "aten::item", 1, 70, 5, 0);
    let path = [
        ("operator", "aten::mm", 2),
        ("launch", "a", 7),
        ("kernel", "a", 20),
        ("kernel_kernel", "b", 1),
        ("kernel", "b", 20),
        ("kernel_kernel", "c", 1),
        ("kernel", "c", 9),
        ("sync", "cudaStreamSynchronize", 3),
        ("operator", "aten::item", 5),
    ];
    let events = [BUSY_DEVICE, &[wait, after]].concat();
    let report = json(&("cuda_sync", "Stream Sync", 7, 13, 50, 9), r#","cuda_sync_kind":"Stream Sync""#);
    assert_eq!(steps(&linked(&events, &[report])), expected(&path));
    // So it is where the device reports no waits.
    assert_eq!(steps(&linked(&events, &[])), expected(&path));
}

#[test]
fn a_host_that_waits_for_lost_work_waits_and_does_not_work() {
    let launch = ("cuda_runtime", "cudaLaunchKernel", 1, 0, 10, 1);
    let wait = ("cuda_runtime", "cudaDeviceSynchronize", 1, 10, 90, 2);
    let linked = linked(&[launch, wait], &[]);
    let selection = Selection::all(&linked);
    let bounds: Vec<_> = path_rows(&selection, &critical_path(&selection))
        .into_iter()
        .filter(|row| row.dur_ns > 0)
        .map(|row| (row.bound.name(), row.dur_ns / 1000))
        .collect();
    assert_eq!(bounds, [("host", 10), ("wait", 90)]);
}

#[test]
fn a_stream_that_waits_for_another_is_held_back_by_it() {
    let events = [
        ("cuda_runtime", "launch", 1, 0, 2, 1),
        ("cuda_runtime", "cudaEventRecord", 1, 3, 1, 2),
        ("cuda_runtime", "cudaStreamWaitEvent", 1, 5, 1, 3),
        ("cuda_runtime", "launch", 1, 7, 2, 4),
        ("kernel", "first", 7, 4, 40, 1),
        ("kernel", "second", 20, 46, 10, 4),
    ];
    let report = json(
        &("cuda_sync", "Stream Wait Event", 20, 5, 1, 3),
        r#","cuda_sync_kind":"Stream Wait Event","wait_on_stream":7,"wait_on_cuda_event_record_corr_id":2"#,
    );
    let path = [("launch", "first", 4), ("kernel", "first", 40), ("sync", "second", 2), ("kernel", "second", 10)];
    assert_eq!(steps(&linked(&events, &[report])), expected(&path));
    // So it is where the device reports no waits.
    assert_eq!(steps(&linked(&events, &[])), expected(&path));
    let unknown = [("launch", "second", 39), ("kernel", "second", 10)];
    let events = [&events[..2], &events[3..]].concat();
    assert_eq!(steps(&linked(&events, &[]))[2..], expected(&unknown));
}

#[test]
fn the_backward_thread_follows_the_forward_thread_and_is_waited_for() {
    let numbered =
        |event: &Event<'_>, forward: i64| json(event, &format!(r#","Sequence number":5,"Fwd thread id":{forward}"#));
    let events = [("cpu_op", "step", 1, 60, 10, 0)];
    let more = [numbered(&("cpu_op", "forward", 1, 0, 20, 0), 0), numbered(&("cpu_op", "backward", 2, 25, 30, 0), 1)];
    let path = [("operator", "forward", 20), ("operator", "backward", 30), ("operator", "step", 10)];
    assert_eq!(steps(&linked(&events, &more)), expected(&path));
}

#[test]
fn a_graph_launches_many_kernels_on_several_streams() {
    let events = [
        ("cuda_runtime", "cudaGraphLaunch", 1, 0, 5, 1),
        ("kernel", "a", 7, 8, 10, 1),
        ("kernel", "b", 7, 19, 10, 1),
        ("kernel", "c", 20, 8, 5, 1),
    ];
    let path = [("launch", "a", 8), ("kernel", "a", 10), ("kernel_kernel", "b", 1), ("kernel", "b", 10)];
    assert_eq!(steps(&linked(&events, &[])), expected(&path));
}

#[test]
fn a_change_saves_what_no_other_path_takes() {
    let other = [("cuda_runtime", "launch", 1, 11, 1, 4), ("kernel", "other", 20, 13, 40, 4)];
    let linked = linked(&[BUSY_DEVICE, &other].concat(), &[]);
    let selection = Selection::all(&linked);
    let path = critical_path(&selection);
    let new = |name: &str, factor: f64| {
        let found = WhatIf::of(&selection, &path, Some(name), factor);
        (found.num_events, (found.length_ns - found.new_length_ns) / 1000)
    };
    assert_eq!(path.length_ns(), 60_000);
    assert_eq!(new("a", 1.0), (6, 0));
    assert_eq!(new("gap", 0.0), (0, 0));
    // With `b` in half its time, the path that there was takes 50; but the other stream needs 53.
    assert_eq!(new("b", 0.5), (1, 7));
    assert_eq!(new("b", 2.0), (1, -20));
    // All that is inside of an operator is meant with it.
    assert_eq!(new("aten::mm", 0.0), (5, 2));
}

#[test]
fn what_is_looked_at_cuts_the_path() {
    let linked = linked(BUSY_DEVICE, &[]);
    let selection = Selection::within(&linked, Some(TimeRange { start: Ts(20_000), end: Ts(40_000) }));
    let path = critical_path(&selection);
    assert_eq!(path.length_ns(), 20_000);
    assert!(path.steps().all(|edge| edge.kind != PathKind::Launch));
}

/// That the path is one, no longer than the span, and no shorter than the work of any stream whose
/// works do not overlap.
fn check(linked: &Arc<LinkedTrace>) -> CriticalPath {
    let selection = Selection::all(linked);
    let found = critical_path(&selection);
    let (nodes, edges) = (&found.graph.nodes, &found.graph.edges);
    for edge in edges {
        assert!(edge.source < edge.target, "{edge:?} leads back");
        let between = nodes[edge.target as usize].time.since(nodes[edge.source as usize].time).0;
        assert!((0..=between).contains(&edge.weight_ns), "{edge:?} is heavier than {between}");
    }
    let steps: Vec<_> = found.steps().collect();
    assert!(steps.windows(2).all(|pair| pair[0].target == pair[1].source));
    assert!(found.length_ns() <= selection.span().dur().0);
    assert!(found.length_ns() >= busiest_ns(linked), "the path is shorter than a stream's work");
    for is_last_left_out in [false, true] {
        let like_hta = critical_path_of_hta(&selection, is_last_left_out);
        let steps: Vec<_> = like_hta.steps().collect();
        assert!(steps.windows(2).all(|pair| pair[0].target == pair[1].source));
    }
    found
}

fn busiest_ns(linked: &LinkedTrace) -> i64 {
    let (trace, nesting) = (&linked.trace, &linked.links.nesting);
    let busy = |track: usize| {
        let rows = nesting.track_rows(kinetoscope::id::TrackId::from(track)).iter().map(|row| *row as usize);
        let works: Vec<_> = rows.filter(|row| trace.events.kind[*row].is_device_work()).collect();
        let is_serial = works.windows(2).all(|pair| trace.events.end(pair[0]) <= trace.events.start.at(pair[1]));
        if is_serial { works.iter().map(|row| trace.events.dur.at(*row).0).sum() } else { 0 }
    };
    let streams = (0..trace.tracks.len()).filter(|track| trace.tracks[*track].stream.is_some());
    streams.map(busy).max().unwrap_or(0)
}

proptest! {
    #[test]
    fn it_is_a_path_on_any_trace(
        events in prop::collection::vec((0..5_usize, 1..4_u32, 0..60_i64, 0..30_i64, 0..9_i64), 0..50),
    ) {
        let categories = ["cpu_op", "kernel", "cuda_runtime", "gpu_memcpy", "cuda_sync"];
        let kinds = ["Stream Sync", "Context Sync", "Event Sync", "Stream Wait Event"];
        let event = |(category, thread, start, dur, id): &(usize, u32, i64, i64, i64)| {
            let kind = kinds[*id as usize % kinds.len()];
            let names = ["cudaDeviceSynchronize", "cudaLaunchKernel", "cudaMemcpyAsync", "cudaEventRecord", kind];
            let name = names[(*dur + *id) as usize % names.len()];
            let more = format!(
                r#","cuda_sync_kind":"{kind}","wait_on_stream":{thread},"wait_on_cuda_event_record_corr_id":{id},
                "Sequence number":{id},"Fwd thread id":{}"#, dur % 3
            );
            json(&(categories[*category], name, *thread, *start, *dur, *id), &more)
        };
        check(&linked(&[], &events.iter().map(event).collect::<Vec<_>>()));
    }
}

#[test]
fn extreme_times_are_survived() {
    let event = |start: &str, dur: &str| {
        format!(r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{start},"dur":{dur}}}"#)
    };
    let most = "9223372036854775";
    let events = [event("0", most), event(&format!("-{most}"), most), event(most, most)].join(",");
    let linked = Arc::new(LinkedTrace::new(files::trace(&format!("[{events}]"))));
    assert!(critical_path(&Selection::all(&linked)).length_ns() > 0);
    assert_eq!(critical_path_of_hta(&Selection::all(&linked), false).length_ns(), 0);
}

#[test]
fn real_traces_have_a_path() {
    for (name, trace) in shared::traces() {
        let found = check(&Arc::new(LinkedTrace::new(trace)));
        assert_eq!(found.path.is_empty(), found.graph.edges.is_empty(), "{name}");
    }
}
