//! Tests device events, launches, operators, and forward-backward links.

use std::sync::Arc;

use kinetoscope::analyze::{UnlinkedReason, coverage};
use kinetoscope::link::{CapturedGraphs, CapturedKernel, EdgeKind, LinkMethod, LinkedTrace};

use crate::{files, shared};

/// A trace of events given as category, thread, start, duration and arguments; flows may follow.
fn linked(events: &[(&str, &str, i64, i64, &str)], flows: &[(&str, i64, &str, i64, &str)]) -> LinkedTrace {
    let event = |(at, (category, thread, start, dur, args)): (usize, &(&str, &str, i64, i64, &str))| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"e{at}","pid":1,"tid":"{thread}","ts":{start},"dur":{dur},
                "args":{{{args}}}}}"#
        )
    };
    let flow = |(phase, id, thread, time, category): &(&str, i64, &str, i64, &str)| {
        format!(r#"{{"ph":"{phase}","id":{id},"pid":1,"tid":"{thread}","ts":{time},"cat":"{category}","name":"f"}}"#)
    };
    let elements: Vec<_> = events.iter().enumerate().map(event).chain(flows.iter().map(flow)).collect();
    LinkedTrace::new(files::trace(&format!(r#"{{"traceEvents":[{}]}}"#, elements.join(","))))
}

/// All edges of a kind: how they were found, and their ends.
fn edges(linked: &LinkedTrace, kind: EdgeKind) -> Vec<(LinkMethod, u32, u32)> {
    let edges = linked.edge_list().iter().filter(|edge| edge.kind == kind);
    edges.map(|edge| (edge.how, edge.source, edge.target)).collect()
}

#[test]
fn a_flow_tells_the_launch_where_no_correlation_does() {
    let events = [
        ("cpu_op", "1", 0, 100, ""),
        ("cuda_runtime", "1", 10, 5, r#""correlation":7"#),
        ("kernel", "9", 20, 5, r#""correlation":7,"stream":9,"device":0"#),
        ("cuda_runtime", "1", 30, 5, ""),
        ("kernel", "9", 40, 5, r#""stream":9,"device":0"#),
        ("kernel", "9", 50, 5, r#""stream":9,"device":0"#),
        ("kernel", "9", 60, 5, r#""stream":9,"device":0"#),
    ];
    // Of a graph, many kernels have one launch; a call without device work has an end and no start.
    let flows = [
        ("s", 3, "1", 30, "ac2g"),
        ("f", 3, "9", 40, "ac2g"),
        ("f", 3, "9", 50, "ac2g"),
        ("f", 4, "1", 10, "ac2g"),
        ("f", 5, "9", 60, "ac2g"),
    ];
    let linked = linked(&events, &flows);
    assert_eq!(
        edges(&linked, EdgeKind::Launch),
        [(LinkMethod::Correlation, 1, 2), (LinkMethod::Flow, 3, 4), (LinkMethod::Flow, 3, 5)]
    );
    assert_eq!([2, 4, 5, 6].map(|row| linked.links.operator.get(row)), [Some(0), Some(0), Some(0), None]);
    assert_eq!(linked.edges_of(5), linked.edges_of(3)[1..]);
}

#[test]
fn a_device_event_without_a_launch_may_name_its_operator() {
    let events = [
        ("cpu_op", "1", 0, 10, r#""External id":5,"Record function id":70"#),
        ("cpu_op", "1", 20, 10, r#""External id":6"#),
        ("kernel", "9", 40, 5, r#""Record function id":70,"External id":6,"stream":9,"device":0"#),
        ("kernel", "9", 50, 5, r#""External id":6,"stream":9,"device":0,"correlation":99"#),
        ("kernel", "9", 60, 5, r#""External id":5,"stream":9,"device":0,"correlation":5"#),
        ("kernel", "9", 70, 5, r#""External id":0,"stream":9,"device":0"#),
        // It was over before the operator that has the id began.
        ("kernel", "9", 15, 3, r#""External id":6,"stream":9,"device":0"#),
    ];
    let linked = linked(&events, &[]);
    assert_eq!(edges(&linked, EdgeKind::External), [(LinkMethod::RecordId, 0, 2), (LinkMethod::ExternalId, 1, 3)]);
    assert_eq!(edges(&linked, EdgeKind::Launch), []);
    assert_eq!([4, 5, 6].map(|row| linked.links.operator.get(row)), [None; 3]);
    assert_eq!(linked.device_time().self_ns[1], 5_000);
}

#[test]
fn external_ids_that_mean_something_else_name_no_operator() {
    let events = [
        ("cpu_op", "1", 0, 10, r#""External id":5"#),
        ("cpu_op", "1", 20, 10, r#""External id":6"#),
        ("cuda_runtime", "1", 25, 2, r#""correlation":7"#),
        ("kernel", "9", 40, 5, r#""External id":5,"correlation":7,"stream":9,"device":0"#),
        ("kernel", "9", 50, 5, r#""External id":6,"correlation":99,"stream":9,"device":0"#),
    ];
    let linked = linked(&events, &[]);
    assert_eq!(edges(&linked, EdgeKind::External), []);
    assert_eq!([3, 4].map(|row| linked.links.operator.get(row)), [Some(1), None]);
}

#[test]
fn backward_operators_name_the_thread_and_number_of_the_forward_one() {
    let forward = r#""Sequence number":4,"Fwd thread id":0"#;
    let backward = r#""Sequence number":4,"Fwd thread id":1"#;
    let events = [
        ("cpu_op", "1", 0, 20, forward),
        ("cpu_op", "1", 5, 10, forward),
        ("cpu_op", "3", 6, 10, forward),
        ("cpu_op", "2", 50, 10, backward),
        ("cpu_op", "2", 51, 5, backward),
        ("cpu_op", "1", 90, 5, forward),
        ("cpu_op", "2", 70, 5, r#""Sequence number":3,"Fwd thread id":1"#),
        ("cpu_op", "1", 30, 5, r#""Sequence number":3,"Fwd thread id":0"#),
    ];
    let linked = linked(&events, &[]);
    assert_eq!(
        edges(&linked, EdgeKind::ForwardBackward),
        [(LinkMethod::SequenceNumber, 1, 4), (LinkMethod::SequenceNumber, 7, 6)]
    );
}

/// Pairs of a kind, however they were found.
fn pairs(linked: &LinkedTrace, kind: EdgeKind) -> Vec<(u32, u32)> {
    let mut pairs: Vec<_> = edges(linked, kind).into_iter().map(|(_, source, target)| (source, target)).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn sequence_numbers_tell_what_the_flows_of_real_files_tell() {
    let mut num_pairs = 0;
    for (name, mut trace) in shared::traces() {
        let flows = LinkedTrace::new(trace.clone());
        let by_flow: Vec<_> = flows.forward_backward().iter().filter(|pair| pair.how == LinkMethod::Flow).collect();
        if by_flow.is_empty() {
            continue;
        }
        trace.flows.clear();
        let numbers = LinkedTrace::new(trace);
        let found: Vec<_> = numbers.forward_backward().iter().map(|pair| (pair.forward, pair.backward)).collect();
        for pair in &by_flow {
            assert!(found.contains(&(pair.forward, pair.backward)), "{name}: {pair:?}");
        }
        assert_eq!(pairs(&flows, EdgeKind::ForwardBackward).len(), found.len(), "{name}");
        num_pairs += by_flow.len();
    }
    assert!(num_pairs == 0 || num_pairs > 1500, "{num_pairs}");
}

#[test]
fn flows_of_real_files_tell_what_the_correlations_tell() {
    let mut num_pairs = 0;
    for (name, mut trace) in shared::traces() {
        let by_correlation = LinkedTrace::new(trace.clone());
        // Without the arguments of its launches, a file has flows alone.
        let template = trace.args.push(kinetoscope::trace::args::ArgsTemplate::new(Vec::new(), &trace.strings));
        for row in 0..trace.events.len() {
            if trace.events.kind[row] == kinetoscope::EventKind::Launch {
                trace.events.template.set(row, template);
            }
        }
        let by_flow = LinkedTrace::new(trace);
        let found = pairs(&by_flow, EdgeKind::Launch);
        for (launch, device) in &found {
            assert_eq!(by_correlation.links.launch.get(*device as usize), Some(*launch), "{name}: {device}");
        }
        num_pairs += found.len();
    }
    assert!(num_pairs == 0 || num_pairs > 50_000, "{num_pairs}");
}

#[test]
fn every_kernel_of_a_real_graph_finds_its_operator() {
    let folder = "AMD-AGI__TraceLens/tests/traces/inference/sglang_decode";
    let Some(graph) = shared::trace(&format!("{folder}/sglang_Qwen3-8B_decode.json.gz")) else { return };
    let Some(capture) = shared::trace(&format!("{folder}/capture_traces/bs_32_rank0.json.gz")) else { return };
    let linked = |trace| Arc::new(LinkedTrace::new(trace));
    let graphs = CapturedGraphs::new(linked(graph), linked(capture));
    assert_eq!(graphs.kernels.len(), 544);
    let operator = |captured: &CapturedKernel| graphs.capture.links.operator.get(captured.launch as usize);
    assert!(graphs.kernels.iter().all(|captured| operator(captured).is_some()));
}

#[test]
fn coverage_says_how_and_why_not() {
    let events = [
        ("cpu_op", "1", 10, 10, r#""External id":5"#),
        ("cuda_runtime", "1", 12, 2, r#""correlation":7"#),
        ("cuda_runtime", "1", 30, 2, r#""correlation":8"#),
        ("kernel", "9", 40, 5, r#""correlation":7,"stream":9,"device":0"#),
        ("kernel", "9", 50, 5, r#""correlation":8,"stream":9,"device":0"#),
        ("kernel", "9", 55, 5, r#""correlation":6,"stream":9,"device":0"#),
        ("kernel", "9", 5, 5, r#""correlation":99,"stream":9,"device":0"#),
        ("kernel", "9", 70, 5, r#""correlation":99,"stream":9,"device":0"#),
        ("kernel", "9", 80, 5, r#""correlation":98,"External id":5,"stream":9,"device":0"#),
        ("kernel", "9", 90, 5, r#""stream":9,"device":0"#),
    ];
    let coverage = coverage(&linked(&events, &[]));
    assert_eq!(coverage.device_events.linked, [(LinkMethod::Correlation, 2)].into());
    let why =
        [(UnlinkedReason::LaunchedBefore, 2), (UnlinkedReason::NoCorrelation, 1), (UnlinkedReason::LaunchMissing, 2)];
    assert_eq!(coverage.device_events.unlinked, why.into());
    assert_eq!(coverage.device_owners.linked, [(LinkMethod::ExternalId, 1), (LinkMethod::Enclosure, 1)].into());
    assert_eq!(coverage.device_owners.unlinked[&UnlinkedReason::OperatorMissing], 1);
    assert_eq!(coverage.device_owners.unlinked[&UnlinkedReason::LaunchMissing], 1);
}

#[test]
fn what_real_files_do_not_link_was_launched_before_they_began() {
    let mut num_early = 0;
    for (name, trace) in shared::traces() {
        let coverage = coverage(&LinkedTrace::new(trace));
        let missing = coverage.device_events.unlinked.get(&UnlinkedReason::LaunchMissing);
        // These were cut, and shrunk out.
        let is_part = ["trunc_", "trace_compare"].iter().any(|part| name.contains(part));
        assert!(missing.is_none() || is_part, "{name}");
        num_early += coverage.device_events.unlinked.get(&UnlinkedReason::LaunchedBefore).unwrap_or(&0);
    }
    assert!(num_early == 0 || num_early > 2_000, "{num_early}");
}

/// Device and stream of each track of a file with these events: process, thread and arguments.
fn streams(events: &[(&str, &str, &str)]) -> Vec<(Option<i64>, Option<i64>)> {
    let event = |(process, thread, args): &(&str, &str, &str)| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"k","pid":"{process}","tid":"{thread}","ts":1,"dur":1,"args":{{{args}}}}}"#
        )
    };
    let elements: Vec<_> = events.iter().map(event).collect();
    let tracks = files::trace(&format!("[{}]", elements.join(","))).tracks;
    tracks.into_iter().filter_map(|track| track.stream).map(|stream| (stream.device, stream.stream)).collect()
}

#[test]
fn any_event_of_a_stream_tells_its_device() {
    let told = r#""device":3,"stream":8"#;
    assert_eq!(streams(&[("GPU", "a", ""), ("GPU", "a", told)]), [(Some(3), Some(8))]);
    assert_eq!(streams(&[("GPU", "a", r#""stream":8"#), ("GPU", "a", r#""device":3"#)]), [(Some(3), Some(8))]);
    // An argument counts more than the place, wherever it stands.
    assert_eq!(streams(&[("0", "7", ""), ("0", "7", told)]), [(Some(3), Some(8))]);
    assert_eq!(streams(&[("0", "7", ""), ("GPU", "a", "")]), [(Some(0), Some(7)), (None, None)]);
    let moved = r#""original_stream":7,"stream":100"#;
    let drawn_elsewhere = [("GPU", "100", moved), ("GPU", "7", r#""device":3"#)];
    assert_eq!(streams(&drawn_elsewhere), [(Some(3), Some(7))]);
}

#[test]
fn labels_of_ranks_leave_the_device_in_the_place_of_a_process() {
    let events = [("rank 0: 2", "7", ""), ("[TP01] 3", "7", ""), ("rank 1", "7", "")];
    assert_eq!(streams(&events), [(Some(2), Some(7)), (Some(3), Some(7)), (None, Some(7))]);
}
