//! Tests the runs of gloo: which operator asked for which, whatever the backend calls it.

use kinetoscope::link::Collective;
use kinetoscope::trace::collective::CollectivePattern;
use kinetoscope::{Input, Limits, LinkedTrace, read};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Operators of `c10d`: the name, the run's name, how many runs it has, and the elements of a run.
const KINDS: [(&str, &str, usize); 8] = [
    ("c10d::allreduce_", "gloo:all_reduce", 1),
    ("c10d::_reduce_scatter_base_", "gloo:all_reduce", 1),
    ("c10d::reduce_scatter_", "gloo:all_reduce", 2),
    ("c10d::reduce_scatter_tensor_coalesced_", "gloo:all_reduce", 1),
    ("c10d::_allgather_base_", "gloo:all_gather", 1),
    ("c10d::broadcast_", "gloo:broadcast", 1),
    ("c10d::alltoall_base_", "gloo:all_to_all", 1),
    ("c10d::barrier", "gloo:barrier", 1),
];

/// A trace in which operators follow each other on their threads, with `aten` operators between an
/// operator and its runs; the runs are on threads of the backend.
struct Recording {
    events: Vec<Value>,
    nodes: Vec<Value>,
    id: i64,
    now: i64,
}

impl Recording {
    fn new() -> Self {
        let root = json!({"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, "attrs": []});
        Self { events: Vec::new(), nodes: vec![root], id: 10, now: 100 }
    }

    fn put(&mut self, name: &str, thread: i64, dur: i64, inputs: &Value) {
        self.id += 1;
        let dims: Vec<Value> = inputs.as_array().unwrap().iter().map(|side| json!([side])).collect();
        let types = vec!["float"; dims.len()];
        self.events.push(json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": self.now,
            "dur": dur, "args": {"Record function id": self.id, "Input Dims": dims, "Input type": types}}));
        let tensor = |side: &Value| json!([7, 8, 0, side, 4, "cpu"]);
        let values: Vec<Value> = inputs.as_array().unwrap().iter().map(tensor).collect();
        let types = vec!["Tensor(float)"; values.len()];
        self.nodes.push(json!({"id": self.id, "name": name, "ctrl_deps": 1, "attrs": [
            {"name": "rf_id", "value": self.id}, {"name": "tid", "value": 1}],
            "inputs": {"values": values, "shapes": dims, "types": types},
            "outputs": {"values": [], "shapes": [], "types": []}}));
    }

    /// An operator with `elems` that go in, and half as many that come out of it.
    fn call(&mut self, kind: usize, thread: i64, elems: i64, has_run: bool) {
        let (name, run, num_runs) = KINDS[kind];
        self.put(name, thread, 5, &json!([elems / 2, elems]));
        self.put("aten::empty", thread, 1, &json!([elems]));
        for _ in 0..num_runs * usize::from(has_run) {
            self.now += 3;
            self.put(run, 90 + self.id % 2, 4, &json!([elems]));
        }
        self.now += 20;
    }

    fn linked(&self, with_nodes: bool) -> LinkedTrace {
        let kineto = json!({"traceEvents": self.events}).to_string();
        let execution = json!({"schema": "1.1.1-chakra.0.0.4", "nodes": self.nodes}).to_string();
        let texts = if with_nodes { vec![kineto, execution] } else { vec![kineto] };
        LinkedTrace::new(read(texts.iter().map(|text| Input::new(text.as_bytes())), Limits::default()).unwrap())
    }
}

fn names(linked: &LinkedTrace) -> Vec<&str> {
    linked.collectives().rows.iter().map(|row| row.name.as_deref().unwrap_or_default()).collect()
}

#[test]
fn a_reduce_scatter_that_runs_as_an_all_reduce_is_one_call_with_its_own_sizes() {
    for with_nodes in [true, false] {
        let mut recording = Recording::new();
        for _ in 0..5 {
            (0..4).for_each(|_| recording.call(0, 1, 16, true));
            recording.call(1, 1, 8, true);
        }
        let linked = recording.linked(with_nodes);
        let found = names(&linked);
        let count = |name: &str| found.iter().filter(|other| **other == name).count();
        assert_eq!((found.len(), count("all_reduce"), count("reduce_scatter_base")), (25, 20, 5), "{with_nodes}");
        let scattered = linked.collectives().rows.iter().filter(|row| row.name.as_deref() != Some("all_reduce"));
        for row in scattered {
            assert_eq!((row.in_bytes(), row.out_bytes()), (Some(32), Some(16)), "{with_nodes}");
            assert_eq!(row.time(&linked.trace).map(|time| time.dur().0), Some(4_000));
        }
    }
}

#[test]
fn all_runs_of_one_operator_are_its_time() {
    let mut recording = Recording::new();
    recording.call(2, 1, 10, true);
    let linked = recording.linked(true);
    let [row] = linked.collectives().rows.as_slice() else { panic!("one, found {:?}", names(&linked)) };
    assert_eq!((row.runs().count(), row.time(&linked.trace).map(|time| time.dur().0)), (2, Some(7_000)));
}

#[test]
fn an_operator_that_raised_takes_no_run_of_the_next() {
    let mut recording = Recording::new();
    recording.call(0, 1, 16, false);
    recording.call(1, 1, 8, true);
    recording.call(0, 1, 24, true);
    let linked = recording.linked(true);
    let timed: Vec<_> = linked.collectives().rows.iter().map(|row| (row.in_bytes(), row.run.is_some())).collect();
    assert_eq!(timed, [(Some(32), false), (Some(32), true), (Some(48), true)]);
}

#[test]
fn without_record_ids_the_order_tells() {
    let mut recording = Recording::new();
    (0..3).for_each(|_| recording.call(0, 1, 16, true));
    recording.call(1, 1, 8, true);
    for event in &mut recording.events {
        event["args"].as_object_mut().unwrap().remove("Record function id");
    }
    let linked = recording.linked(false);
    assert_eq!(names(&linked), ["all_reduce", "all_reduce", "all_reduce", "reduce_scatter_base"]);
    assert!(linked.collectives().rows.iter().all(|row| row.run.is_some()));
}

/// The name of a row, the number of its runs, and the bytes that go in.
fn told(row: &Collective) -> (Option<&str>, usize, Option<i64>) {
    (row.name.as_deref(), row.runs().count(), row.in_bytes())
}

proptest! {
    #[test]
    fn each_run_is_put_to_the_operator_before_it(
        calls in prop::collection::vec((0..KINDS.len(), 1..3_i64, 1..40_i64), 1..24), with_nodes in any::<bool>(),
    ) {
        let mut recording = Recording::new();
        for (kind, thread, elems) in &calls {
            recording.call(*kind, *thread, elems * 2, true);
        }
        let linked = recording.linked(with_nodes);
        let rows = &linked.collectives().rows;
        prop_assert_eq!(rows.len(), calls.len());
        for (row, (kind, _, elems)) in rows.iter().zip(&calls) {
            let (operator, _, num_runs) = KINDS[*kind];
            let name = kinetoscope::trace::collective::known(operator).map(|(name, _)| name);
            prop_assert_eq!(row.runs().count(), num_runs, "{:?}", told(row));
            prop_assert_eq!(row.pattern, kinetoscope::trace::collective::known(operator).map(|(_, pattern)| pattern));
            if row.pattern.is_some_and(CollectivePattern::has_message) && *kind != 0 && *kind != 5 {
                prop_assert_eq!(row.in_bytes(), Some(elems * 8), "{:?}", name);
            }
        }
    }
}
