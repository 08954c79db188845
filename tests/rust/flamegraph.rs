//! Tests flame graphs: frames, weights, and that widths add up.

use std::collections::BTreeMap;
use std::sync::Arc;

use kinetoscope::analyze::{FlameRow, Selection, analysis, flame_changes, flamegraph, modules, typical_trace};
use kinetoscope::view::Session;
use kinetoscope::{EventKind, LinkedTrace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files;
use crate::laws::events;

const FRAMES: [&str; 4] = ["chain", "stack", "module", "operator"];
const WEIGHTS: [&str; 7] = ["device_ns", "host_ns", "self_ns", "calls", "allocated_bytes", "flops", "idle_ns"];

fn host(category: &str, name: &str, [start, dur]: [i64; 2], args: &Value) -> Value {
    json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur, "args": args})
}

fn frame(name: &str, time: [i64; 2]) -> Value {
    host("python_function", name, time, &json!({}))
}

fn launch(number: i64, start: i64) -> Value {
    host("cuda_runtime", "cudaLaunchKernel", [start, 1], &json!({"correlation": number}))
}

fn kernel(name: &str, number: i64, [start, dur]: [i64; 2]) -> Value {
    let args = json!({"correlation": number, "device": 0, "stream": 7});
    json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": dur, "args": args})
}

fn linked(events: &[Value]) -> Arc<LinkedTrace> {
    Arc::new(LinkedTrace::new(files::trace(&json!(events).to_string())))
}

/// The rows of the first table, each as depth, name, calls, own weight and all weight.
fn rows(linked: &Arc<LinkedTrace>, request: &Value) -> Vec<(i64, String, i64, i64, i64)> {
    let result = analysis("flamegraph").unwrap().answer(linked, &request.to_string()).unwrap();
    let row = |row: &Value| {
        let number = |column: &str| row[column].as_i64().unwrap();
        let name = row["name"].as_str().unwrap().to_owned();
        (number("depth"), name, number("count"), number("self_weight"), number("total_weight"))
    };
    files::rows(&*result.tables[0]).iter().map(row).collect()
}

fn expected(rows: &[(i64, &str, i64, i64, i64)]) -> Vec<(i64, String, i64, i64, i64)> {
    rows.iter().map(|(depth, name, count, own, all)| (*depth, (*name).to_owned(), *count, *own, *all)).collect()
}

/// A step with two layers of one kind, a kernel for each, one kernel without a launch.
fn step() -> Arc<LinkedTrace> {
    linked(&[
        frame("train.py(3): step", [0, 100]),
        frame("nn.Module: Net_0", [1, 90]),
        frame("nn.Module: Linear_0", [2, 30]),
        frame("torch/nn/modules/linear.py(9): forward", [3, 28]),
        host("cpu_op", "aten::linear", [4, 20], &json!({})),
        host("cpu_op", "aten::addmm", [5, 10], &json!({})),
        launch(1, 6),
        frame("nn.Module: Linear_1", [40, 30]),
        host("cpu_op", "aten::linear", [44, 20], &json!({})),
        launch(2, 46),
        kernel("gemm", 1, [8, 30]),
        kernel("gemm", 2, [50, 10]),
        kernel("stray", 9, [90, 5]),
    ])
}

#[test]
fn device_time_goes_from_module_to_operator_to_kernel() {
    let found = rows(&step(), &json!({}));
    let all = [
        (0, "Net_0", 1, 0, 40_000),
        (1, "Linear_0", 1, 0, 30_000),
        (2, "aten::linear", 1, 0, 30_000),
        (3, "aten::addmm", 1, 0, 30_000),
        (4, "gemm", 1, 30_000, 30_000),
        (1, "Linear_1", 1, 0, 10_000),
        (2, "aten::linear", 1, 0, 10_000),
        (3, "gemm", 1, 10_000, 10_000),
        (0, "(no module or operator)", 0, 0, 5_000),
        (1, "stray", 1, 5_000, 5_000),
    ];
    assert_eq!(found, expected(&all));
}

#[test]
fn calls_of_one_name_are_one_frame() {
    let found = rows(&step(), &json!({"by": "operator"}));
    let all = [
        (0, "aten::linear", 2, 10_000, 40_000),
        (1, "aten::addmm", 1, 30_000, 30_000),
        (0, "(no operator)", 0, 5_000, 5_000),
    ];
    assert_eq!(found, expected(&all));
}

#[test]
fn lost_device_work_is_no_idle_device() {
    let events = [host("cpu_op", "aten::mm", [0, 10], &json!({})), launch(1, 2)];
    let lost = analysis("flamegraph").unwrap().answer(&linked(&events), r#"{"weight": "device_ns"}"#).unwrap();
    assert_eq!(lost.reason.as_deref(), Some("device work ran, but the file has none of its records (see the verdict)"));
}

#[test]
fn modules_of_one_class_may_be_one_frame() {
    let found = rows(&step(), &json!({"by": "module", "classes": true}));
    let all = [(0, "Net", 1, 0, 40_000), (1, "Linear", 2, 40_000, 40_000), (0, "(no module)", 0, 5_000, 5_000)];
    assert_eq!(found, expected(&all));
}

#[test]
fn in_the_order_of_time_each_call_is_a_frame() {
    let found = rows(&step(), &json!({"by": "operator", "order": "time"}));
    let all = [
        (0, "aten::linear", 1, 0, 30_000),
        (1, "aten::addmm", 1, 30_000, 30_000),
        (0, "aten::linear", 1, 10_000, 10_000),
        (0, "(no operator)", 0, 5_000, 5_000),
    ];
    assert_eq!(found, expected(&all));
}

#[test]
fn frames_of_libraries_may_be_left_out() {
    let found = rows(&step(), &json!({"by": "stack", "weight": "host_ns", "program_only": true}));
    assert_eq!(found, expected(&[(0, "train.py(3): step", 1, 100_000, 100_000)]));
    let whole = rows(&step(), &json!({"by": "stack", "weight": "host_ns"}));
    let linear = whole.iter().find(|row| row.1 == "torch/nn/modules/linear.py(9): forward");
    assert_eq!(linear.map(|row| (row.0, row.3)), Some((3, 28_000)));
}

#[test]
fn self_time_is_that_of_frames_alone() {
    let found = rows(&step(), &json!({"by": "operator", "weight": "self_ns"}));
    // linear: 20 − 10 and 20 − 1; addmm: 10 − 1.
    assert_eq!(found, expected(&[(0, "aten::linear", 2, 29_000, 38_000), (1, "aten::addmm", 1, 9_000, 9_000)]));
    let host = rows(&step(), &json!({"by": "operator", "weight": "host_ns"}));
    assert_eq!(host[0], (0, String::from("(no operator)"), 0, 60_000, 60_000));
    assert_eq!(host[1], (0, String::from("aten::linear"), 2, 30_000, 40_000));
}

#[test]
fn a_graph_may_begin_with_a_name() {
    let callees = rows(&step(), &json!({"focus": "aten::linear"}));
    let all = [
        (0, "aten::linear", 2, 0, 40_000),
        (1, "aten::addmm", 1, 0, 30_000),
        (2, "gemm", 1, 30_000, 30_000),
        (1, "gemm", 1, 10_000, 10_000),
    ];
    assert_eq!(callees, expected(&all));
    let callers = rows(&step(), &json!({"focus": "gemm", "direction": "callers"}));
    let all = [
        (0, "gemm", 2, 0, 40_000),
        (1, "aten::addmm", 1, 0, 30_000),
        (2, "aten::linear", 1, 0, 30_000),
        (3, "Linear_0", 1, 0, 30_000),
        (4, "Net_0", 1, 30_000, 30_000),
        (1, "aten::linear", 1, 0, 10_000),
        (2, "Linear_1", 1, 0, 10_000),
        (3, "Net_0", 1, 10_000, 10_000),
    ];
    assert_eq!(callers, expected(&all));
    let none = analysis("flamegraph").unwrap().answer(&step(), r#"{"focus": "gem"}"#).unwrap();
    assert_eq!(none.reason.as_deref(), Some("no frame has this name"));
}

#[test]
fn backward_work_is_inside_the_line_of_its_forward_operator() {
    let numbered = |name: &str, thread: i64, start: i64| {
        let args = json!({"Sequence number": 4, "Fwd thread id": i64::from(thread == 2)});
        let name = name.to_owned();
        json!({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": thread, "ts": start, "dur": 8, "args": args})
    };
    let mut launch = launch(1, 62);
    launch["tid"] = json!(2);
    let found = linked(&[
        frame("train.py(3): step", [0, 50]),
        frame("nn.Module: Linear_0", [2, 30]),
        numbered("aten::addmm", 1, 5),
        numbered("autograd::engine::evaluate_function: AddmmBackward0", 2, 60),
        launch,
        kernel("gemm", 1, [70, 10]),
    ]);
    let stack =
        [(0, "train.py(3): step", 1, 0, 10_000), (1, "Linear_0", 1, 0, 10_000), (2, "(backward)", 0, 10_000, 10_000)];
    assert_eq!(rows(&found, &json!({"by": "stack"})), expected(&stack));
    let chain = [
        (0, "Linear_0", 1, 0, 10_000),
        (1, "autograd::engine::evaluate_function: AddmmBackward0", 1, 0, 10_000),
        (2, "gemm", 1, 10_000, 10_000),
    ];
    assert_eq!(rows(&found, &json!({})), expected(&chain));
}

#[test]
fn idle_time_is_for_what_the_launching_thread_did() {
    let found = linked(&[
        host("cpu_op", "aten::mm", [0, 10], &json!({})),
        launch(1, 2),
        host("cpu_op", "aten::item", [20, 60], &json!({})),
        host("cpu_op", "aten::mm", [85, 10], &json!({})),
        launch(2, 88),
        kernel("gemm", 1, [4, 6]),
        kernel("gemm", 2, [90, 6]),
    ]);
    let idle = rows(&found, &json!({"by": "operator", "weight": "idle_ns"}));
    // The stream waits from 10 to 90: item has 60 of it, mm 5 (1 of it in the launch), none 15.
    let all = [
        (0, "aten::item", 1, 60_000, 60_000),
        (0, "(no operator)", 0, 15_000, 15_000),
        (0, "aten::mm", 1, 5_000, 5_000),
    ];
    assert_eq!(idle, expected(&all));
}

#[test]
fn an_operator_inside_of_its_own_backward_pass_ends() {
    // The forward operator is inside of the operator that claims to be its backward operator.
    let numbered = |name: &str, time: [i64; 2], args: Value| host("cpu_op", name, time, &args);
    let args = json!({"Sequence number": 4, "Fwd thread id": 1});
    let found = linked(&[
        numbered("AddmmBackward0", [0, 90], args),
        frame("nn.Module: Linear_0", [2, 60]),
        numbered("aten::addmm", [5, 50], json!({"Sequence number": 4, "Fwd thread id": 0})),
        launch(1, 8),
        kernel("gemm", 1, [70, 10]),
    ]);
    for by in FRAMES {
        let found = flamegraph(&Selection::all(&found), by, "device_ns");
        assert_eq!(found.iter().filter(|row| row.depth == 0).map(|row| row.total_weight).sum::<i64>(), 10_000, "{by}");
    }
}

#[test]
fn a_change_is_that_of_each_frame_per_iteration() {
    let run = |dur: i64, num_steps: i64, extra: bool| {
        let mut events = Vec::new();
        for step in 0..num_steps {
            let (start, number) = (step * 100, 2 * step + 1);
            events.push(host("user_annotation", &format!("ProfilerStep#{step}"), [start, 90], &json!({})));
            events.push(host("cpu_op", "aten::mm", [start + 2, 10], &json!({})));
            events.push(launch(number, start + 4));
            events.push(kernel("gemm", number, [start + 20, dur]));
            if extra {
                events.push(host("cpu_op", "aten::add", [start + 30, 10], &json!({})));
                events.push(launch(number + 1, start + 34));
                events.push(kernel("add", number + 1, [start + 60, 5]));
            }
        }
        linked(&events)
    };
    let result = flame_changes(&run(10, 2, false), &run(20, 3, true), "{}").unwrap();
    let columns = ["depth", "name", "before_weight", "after_weight", "change_weight", "start_weight"];
    let found: Vec<Value> = files::rows(&*result.tables[0])
        .iter()
        .map(|row| columns.iter().map(|column| row[*column].clone()).collect())
        .collect();
    let expected = json!([
        [0, "aten::mm", 10_000.0, 20_000.0, 10_000.0, 0.0],
        [1, "gemm", 10_000.0, 20_000.0, 10_000.0, 0.0],
        [0, "aten::add", 0.0, 5_000.0, 5_000.0, 30_000.0],
        [1, "add", 0.0, 5_000.0, 5_000.0, 30_000.0],
    ]);
    assert_eq!(json!(found), expected);
}

/// The answer to a request of a screen.
fn asked(session: &Session, request: &Value) -> Value {
    let answer = session.query(request.to_string().as_bytes());
    let size = u32::from_le_bytes([answer[0], answer[1], answer[2], answer[3]]) as usize;
    serde_json::from_slice(&answer[4..4 + size]).unwrap()
}

#[test]
fn a_screen_shows_an_iteration_beside_one_of_the_observer() {
    let step = |name: &str, start: i64| host("user_annotation", name, [start, 90], &json!({}));
    let events = [
        step("ProfilerStep#0", 0),
        host("cpu_op", "aten::mm", [2, 80], &json!({"Record function id": 7})),
        launch(1, 4),
        kernel("gemm", 1, [20, 10]),
        step("ProfilerStep#1", 100),
        host("cpu_op", "aten::mm", [102, 10], &json!({})),
        launch(2, 104),
        kernel("gemm", 2, [120, 30]),
    ];
    let session = Session::new(linked(&events));
    let total = |request: Value| asked(&session, &request)["data"]["total"].clone();
    assert_eq!(total(json!({"type": "flame", "trimmed": true})), 30_000.0);
    assert_eq!(total(json!({"type": "flame", "trimmed": true, "iteration": 0})), 10_000.0);
    assert_eq!(total(json!({"type": "flame", "start": 0, "end": 100_000})), 10_000.0);
    let alone = asked(&session, &json!({"type": "flame", "against": 1}));
    assert_eq!(alone["error"], "expected the number of a trace, found 1");
}

#[test]
fn the_typical_rank_has_the_median_iteration() {
    let rank = |number: i64, dur: i64| {
        let step = host("user_annotation", "ProfilerStep#1", [0, dur], &json!({}));
        (Some(number), linked(&[step, host("cpu_op", "aten::mm", [2, 1], &json!({}))]))
    };
    assert_eq!(typical_trace(&[rank(0, 90), rank(1, 30), rank(2, 50)]), Some(2));
    assert_eq!(typical_trace(&[]), None);
}

/// Each frame is as wide as itself and the frames right inside it, which stand side by side.
fn add_up(rows: &[FlameRow]) -> Result<i64, String> {
    let mut inside: BTreeMap<Option<u32>, i64> = BTreeMap::new();
    for row in rows {
        let before = inside.entry(row.parent).or_default();
        let begin = row.parent.map_or(0, |parent| rows[parent as usize].start_weight);
        if row.start_weight != begin + *before {
            return Err(format!("{}: begins at {}, not {begin} + {before}", row.name(), row.start_weight));
        }
        *before += row.total_weight;
    }
    for (at, row) in (0..).zip(rows) {
        let within = inside.get(&Some(at)).copied().unwrap_or(0);
        if row.total_weight != row.self_weight + within || row.total_weight <= 0 {
            return Err(format!("{at} {}: {} + {within} ≠ {}", row.name(), row.self_weight, row.total_weight));
        }
        if row.parent.is_some_and(|parent| parent >= at || rows[parent as usize].depth + 1 != row.depth) {
            return Err(format!("{at} {}: in {:?}", row.name(), row.parent));
        }
    }
    Ok(inside.get(&None).copied().unwrap_or(0))
}

/// The weight of everything, added up without a tree.
fn whole_weight(selection: &Selection<'_>, weight: &str) -> Option<i64> {
    let trace = &selection.linked.trace;
    match weight {
        "device_ns" => Some(selection.device_work().map(|row| selection.dur_ns(row)).sum()),
        "host_ns" => {
            let is_threads = |row: usize| {
                let track = trace.events.track.at(row);
                let mut rows = selection.linked.links.nesting.track_rows(track).iter().map(|row| *row as usize);
                rows.any(|row| !matches!(trace.events.kind[row], EventKind::Overhead | EventKind::Other))
            };
            let is_host = |row: &usize| !trace.is_on_device(*row) && is_threads(*row);
            let host = selection.self_ns().into_iter().enumerate().filter(|(row, _)| is_host(row));
            Some(host.map(|(_, ns)| ns).sum())
        }
        _ => None,
    }
}

fn check_all(linked: &Arc<LinkedTrace>) -> Result<(), String> {
    let selection = Selection::all(linked);
    for by in FRAMES {
        for weight in WEIGHTS {
            let rows = flamegraph(&selection, by, weight);
            let sum = add_up(&rows).map_err(|error| format!("{by} {weight}: {error}"))?;
            if whole_weight(&selection, weight).is_some_and(|whole| whole != sum) {
                return Err(format!("{by} {weight}: {sum}"));
            }
        }
    }
    Ok(())
}

#[test]
fn widths_of_recordings_add_up_and_agree_with_modules() {
    for folder in ["compiled_cuda", "transformer_cuda", "transformer_cpu", "nccl_cuda", "graph_cuda", "decode_cuda"] {
        for entry in std::fs::read_dir(files::path("tests/data").join(folder)).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if !name.contains("trace") || !name.ends_with(".json.gz") {
                continue;
            }
            let bytes = std::fs::read(&file).unwrap();
            let trace = kinetoscope::read([kinetoscope::Input::new(&bytes)], kinetoscope::Limits::default()).unwrap();
            let linked = Arc::new(LinkedTrace::new(trace));
            check_all(&linked).unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut own: BTreeMap<String, i64> = BTreeMap::new();
            let selection = Selection::all(&linked);
            for row in flamegraph(&selection, "module", "device_ns").iter().filter(|row| row.kind == "module") {
                *own.entry(row.name().to_owned()).or_default() += row.self_weight;
            }
            for module in modules(&selection).iter().filter(|module| module.longest_id.is_some()) {
                assert_eq!(own.get(&module.module).copied().unwrap_or(0), module.device_self_ns, "{name}");
            }
        }
    }
}

proptest! {
    #[test]
    fn widths_of_any_trace_add_up(events in events()) {
        let found = check_all(&linked(&events));
        prop_assert!(found.is_ok(), "{found:?}");
    }
}
