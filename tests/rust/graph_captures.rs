//! Tests kernels of replayed graphs: which call of a capture they come from.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{MIN_SHARE, Selection, findings, operators};
use kinetoscope::edit::trim;
use kinetoscope::link::{CapturedGraphs, CapturedKernel, LinkMethod};
use kinetoscope::time::{TimeRange, Ts};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;

/// A capture or replay that is made up, in the order of time.
#[derive(Default)]
struct Recording {
    events: Vec<Value>,
    time: i64,
    correlation: i64,
}

impl Recording {
    fn host(&mut self, cat: &str, name: &str, dur: i64, args: &Value) -> i64 {
        let start = self.time;
        self.events.push(json!({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur,
            "args": args}));
        start
    }

    /// Captures operators, each of which launches a kernel or copies.
    fn capture(&mut self, operators: &[&str], call: &str) -> &mut Self {
        self.host("cuda_runtime", "cudaStreamBeginCapture", 2, &json!({}));
        self.time += 5;
        for operator in operators {
            self.correlation += 1;
            let args = json!({"correlation": self.correlation});
            self.host("cpu_op", operator, 8, &json!({}));
            self.time += 2;
            self.host("cuda_runtime", call, 3, &args);
            self.time += 10;
        }
        self.host("cuda_runtime", "cudaStreamEndCapture", 2, &json!({}));
        self.time += 5;
        self
    }

    /// Replays kernels, each with a name, a stream and the number of its node.
    fn replay(&mut self, graph: Option<u64>, kernels: &[(&str, i64, Option<u64>)]) -> &mut Self {
        self.correlation += 1;
        self.host("cuda_runtime", "cudaGraphLaunch", 5, &json!({"correlation": self.correlation}));
        self.time += 10;
        for (name, stream, node) in kernels {
            let mut args = json!({"correlation": self.correlation, "stream": stream, "device": 0});
            if let Some((graph, node)) = graph.zip(*node) {
                args["graph id"] = json!(graph);
                args["graph node id"] = json!((graph << 32) + node);
            }
            self.events.push(json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream,
                "ts": self.time, "dur": 4, "args": args}));
            self.time += 5;
        }
        self
    }

    fn linked(&self) -> Arc<LinkedTrace> {
        Arc::new(LinkedTrace::new(files::trace(&json!({"traceEvents": self.events}).to_string())))
    }
}

/// Names of the kernels with a known call, each with that of the operator around the call.
fn pairs(kernels: &[CapturedKernel], replay: &LinkedTrace, capture: &LinkedTrace) -> Vec<(String, String)> {
    let name = |linked: &LinkedTrace, row: u32| linked.trace.event_name(row as usize).to_owned();
    let operator = |launch: u32| capture.links.operator.get(launch as usize).unwrap();
    kernels.iter().map(|pair| (name(replay, pair.kernel), name(capture, operator(pair.launch)))).collect()
}

const LAUNCH: &str = "cudaLaunchKernel";

#[test]
fn kernels_belong_to_the_operators_that_captured_them() {
    let mut recording = Recording::default();
    recording.capture(&["aten::mm", "aten::add"], LAUNCH);
    recording.replay(None, &[("gemm", 7, None), ("vectorized", 7, None)]);
    recording.replay(None, &[("gemm", 7, None), ("vectorized", 7, None)]);
    let linked = recording.linked();
    let once = [("gemm", "aten::mm"), ("vectorized", "aten::add")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(pairs(&linked.links.captured, &linked, &linked), [once.clone(), once].concat());
    assert!(linked.links.captured.iter().all(|pair| pair.how == LinkMethod::CaptureOrder && pair.has_inputs()));
    let mm = (0..linked.trace.events.len()).find(|row| linked.trace.event_name(*row) == "aten::mm").unwrap();
    assert_eq!(linked.device_ns(mm), 0, "the call itself ran nothing");
    let rows = operators(&Selection::all(&linked));
    let of_mm = rows.iter().find(|row| row.name == "aten::mm").unwrap();
    assert_eq!((of_mm.count, of_mm.device_self_ns), (1, Some(8_000)), "of both replays");
}

#[test]
fn graphs_of_larger_batches_than_their_steps_are_found() {
    let found = |num_requests: u64| {
        let mut recording = Recording::default();
        recording.capture(&["aten::mm", "aten::add"], LAUNCH);
        for event in recording.events.iter_mut().filter(|event| event["name"] == "aten::mm") {
            event["args"] = json!({"Input Dims": [[8, 64], [64, 64]]});
        }
        for _ in 0..3 {
            let step = format!("execute_context_0(0)_generation_{num_requests}({num_requests})");
            recording.host("user_annotation", &step, 24, &json!({}));
            recording.time += 1;
            recording.replay(None, &[("gemm", 7, None), ("vectorized", 7, None)]);
            recording.time += 5;
        }
        let findings = findings(&Selection::all(&recording.linked()), MIN_SHARE);
        findings.into_iter().find(|finding| finding.name == "padded_graph")
    };
    let finding = found(6).unwrap();
    // Two kernels of 4 µs in each of three steps, for 8 tokens in place of 6.
    assert_eq!((finding.subject.as_str(), finding.count, finding.cost_ns), ("graph of 8 tokens", 3, 3 * 2_000));
    assert!(found(8).is_none());
}

#[test]
fn calls_that_name_their_kernels_are_found_wherever_they_are() {
    // ROCm names the kernel of a launch. Two captures have the first one; copies have no names.
    let mut capture = Recording::default();
    for (operator, kernel) in [("aten::mm", "a"), ("aten::mul", "c"), ("aten::bmm", "a"), ("aten::add", "b")] {
        capture.host("cpu_op", operator, 8, &json!({}));
        capture.time += 2;
        capture.host("cuda_runtime", "hipExtModuleLaunchKernel", 3, &json!({"kernel": kernel}));
        capture.time += 10;
    }
    let mut replay = Recording::default();
    replay.replay(None, &[("a", 7, None), ("b", 8, None)]);
    let (capture, replay) = (capture.linked(), replay.linked());
    let found = CapturedGraphs::new(Arc::clone(&replay), Arc::clone(&capture)).kernels;
    assert!(found.iter().all(|pair| pair.how == LinkMethod::KernelName));
    let wanted = [("a", "aten::bmm"), ("b", "aten::add")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(pairs(&found, &replay, &capture), wanted);
}

#[test]
fn a_capture_after_the_replay_is_of_another_graph() {
    let mut recording = Recording::default();
    recording.replay(None, &[("gemm", 7, None), ("add", 7, None)]);
    recording.capture(&["aten::mm", "aten::add"], LAUNCH);
    assert_eq!(recording.linked().links.captured, []);
}

#[test]
fn a_capture_of_other_work_does_not_fit() {
    for (operators, call) in [
        (&["aten::mm"][..], LAUNCH),
        (&["aten::mm", "aten::copy_"], "cudaMemcpyAsync"),
        (&["aten::mm", "triton_b"], LAUNCH),
    ] {
        let mut recording = Recording::default();
        recording.capture(operators, call);
        recording.replay(None, &[("gemm", 7, None), ("triton_a", 7, None)]);
        assert_eq!(recording.linked().links.captured, [], "{operators:?}");
    }
}

#[test]
fn streams_without_numbers_of_nodes_have_no_order() {
    let mut recording = Recording::default();
    recording.capture(&["aten::mm", "aten::add"], LAUNCH);
    recording.replay(None, &[("gemm", 7, None), ("vectorized", 8, None)]);
    assert_eq!(recording.linked().links.captured, []);
}

#[test]
fn graphs_of_one_shape_were_captured_in_the_order_of_their_numbers() {
    let mut recording = Recording::default();
    recording.capture(&["aten::mm", "aten::add"], LAUNCH);
    recording.capture(&["aten::bmm", "aten::mul"], LAUNCH);
    recording.replay(Some(9), &[("b1", 7, Some(0)), ("b2", 7, Some(1))]);
    recording.replay(Some(4), &[("a1", 7, Some(0)), ("a2", 7, Some(1))]);
    let linked = recording.linked();
    let wanted = [("b1", "aten::bmm"), ("b2", "aten::mul"), ("a1", "aten::mm"), ("a2", "aten::add")];
    let wanted = wanted.map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(pairs(&linked.links.captured, &linked, &linked), wanted);
}

#[test]
fn captures_that_differ_make_a_link_unsure() {
    let mut recording = Recording::default();
    recording.capture(&["aten::mm", "aten::add"], LAUNCH);
    recording.capture(&["aten::bmm", "aten::add"], LAUNCH);
    recording.replay(None, &[("k1", 7, None), ("k2", 7, None)]);
    let linked = recording.linked();
    assert!(linked.links.captured.iter().all(|pair| pair.confidence < 0.5) && linked.links.captured.len() == 2);
}

proptest! {
    #[test]
    fn numbers_of_nodes_tell_the_order_on_any_stream(
        places in prop::collection::vec((0..4_usize, 0..3_i64, any::<u32>()), 2..12)
    ) {
        let operators = ["aten::mm", "aten::add", "aten::mul", "aten::sum"];
        let names: Vec<&str> = places.iter().map(|(operator, ..)| operators[*operator]).collect();
        let mut kernels: Vec<(&str, i64, Option<u64>)> =
            (0..).zip(&places).map(|(node, (operator, stream, _))| (operators[*operator], 7 + stream, Some(node))).collect();
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|at| places[*at].2);
        kernels = order.iter().map(|at| kernels[*at]).collect();
        let (mut capture, mut replay) = (Recording::default(), Recording::default());
        let (capture, replay) = (capture.capture(&names, LAUNCH).linked(), replay.replay(Some(2), &kernels).linked());
        let found = CapturedGraphs::new(Arc::clone(&replay), Arc::clone(&capture)).kernels;
        prop_assert_eq!(found.len(), places.len());
        for (kernel, operator) in pairs(&found, &replay, &capture) {
            prop_assert_eq!(kernel, operator);
        }
    }
}

#[test]
fn a_trimmed_replay_knows_its_operators_without_the_capture() {
    let mut recording = Recording::default();
    recording.capture(&["aten::mm", "aten::add"], LAUNCH);
    recording.time += 1_000;
    let start = Ts(recording.time * 1_000);
    recording.replay(None, &[("gemm", 7, None), ("vectorized", 7, None)]);
    let linked = recording.linked();
    let part = LinkedTrace::new(trim(&linked, TimeRange { start, end: Ts(recording.time * 1_000) }).trace);
    let rows = || 0..part.trace.events.len();
    assert!(rows().all(|row| part.trace.event_name(row) != "aten::mm"), "the capture is far away");
    let operators: Vec<_> = rows().filter_map(|row| part.captured_operator(row)).collect();
    assert_eq!(operators, ["aten::mm", "aten::add"]);
}
