//! Tests findings about compiled code: graph breaks, small graphs, fusion and recompilation.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{Finding, MIN_SHARE, Selection, SourceFile, findings};
use serde_json::{Value, json};

use crate::files;

fn found(trace: &Arc<LinkedTrace>, name: &str) -> Vec<Finding> {
    let all = findings(&Selection::all(trace), MIN_SHARE);
    all.into_iter().filter(|finding| finding.name == name).collect()
}

fn host(category: &str, name: &str, start: i64, dur: i64) -> Value {
    json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur})
}

/// A launch and its kernels, one right after the other.
fn launch(events: &mut Vec<Value>, call: &str, start: i64, kernels: &[(i64, i64)]) {
    let args = json!({"correlation": events.len() + 1, "device": 0, "stream": 7});
    let mut event = host("cuda_runtime", call, start, 2);
    event["args"] = args.clone();
    events.push(event);
    for (start, dur) in kernels {
        events.push(json!({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": start, "dur": dur, "args": args}));
    }
}

fn linked(events: &[Value]) -> Arc<LinkedTrace> {
    Arc::new(LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string())))
}

/// Three steps of a function with one break. The first graph launches a kernel of 10 µs at 10 µs,
/// the second one at 80 µs.
fn broken(has_frames: bool, has_device: bool) -> Arc<LinkedTrace> {
    let mut events = Vec::new();
    for step in 0..3_i64 {
        let at = |time: i64| 200 * step + time;
        events.push(host("user_annotation", &format!("ProfilerStep#{step}"), at(0), 190));
        events.push(host("cpu_op", "Torch-Compiled Region: 0/0", at(2), 150));
        events.push(host("cpu_op", "## Call CompiledFxGraph f4fe ##", at(5), 15));
        events.push(host("cpu_op", "Torch-Compiled Region: 1/0", at(70), 80));
        events.push(host("cpu_op", "## Call CompiledFxGraph fto7 ##", at(75), 15));
        if has_frames {
            let name = "model.py(8): torch_dynamo_resume_in_forward_at_8";
            events.push(host("python_function", name, at(71), 78));
        }
        if has_device {
            launch(&mut events, "cudaLaunchKernel", at(6), &[(at(10), 30)]);
            launch(&mut events, "cudaLaunchKernel", at(76), &[(at(80), 30)]);
        }
    }
    linked(&events)
}

#[test]
fn a_graph_break_costs_the_idle_time_between_two_graphs() {
    let [finding] = &found(&broken(true, true), "graph_break")[..] else { panic!("one finding") };
    // The first graph was called until 20 µs, its kernel runs until 40 µs; the second starts at 70.
    assert_eq!((finding.subject.as_str(), finding.count, finding.cost_ns), ("model.py(8): forward", 3, 3 * 30_000));
}

#[test]
fn a_graph_break_without_frames_or_devices_is_found_as_well() {
    let [finding] = &found(&broken(false, true), "graph_break")[..] else { panic!("one finding") };
    assert_eq!(finding.subject, "Torch-Compiled Region: 1/0");
    let [finding] = &found(&broken(true, false), "graph_break")[..] else { panic!("one finding") };
    assert_eq!((finding.count, finding.cost_ns), (3, 3 * 50_000));
}

#[test]
fn a_break_does_not_cost_what_is_compiled_meanwhile() {
    let events = [
        host("cpu_op", "Torch-Compiled Region: 0/0", 0, 1_200),
        host("cpu_op", "## Call CompiledFxGraph f4fe ##", 5, 15),
        host("cpu_op", "entire_frame_compile", 50, 1_000),
        host("cpu_op", "Torch-Compiled Region: 1/0", 1_070, 80),
    ];
    let [finding] = &found(&linked(&events), "graph_break")[..] else { panic!("one finding") };
    assert_eq!(finding.cost_ns, 50_000);
}

#[test]
fn regions_one_after_another_are_no_break() {
    let mut events = Vec::new();
    for step in 0..4 {
        events.push(host("cpu_op", "Torch-Compiled Region: 0/0", 200 * step, 50));
        events.push(host("cpu_op", "Torch-Compiled Region: 1/0", 200 * step + 100, 50));
    }
    assert!(found(&linked(&events), "graph_break").is_empty());
}

/// Steps that replay graphs of some kernels of 1 µs each; a graph every 50 µs.
fn replayed(num_graphs: i64, num_kernels: i64) -> Arc<LinkedTrace> {
    let mut events = Vec::new();
    for step in 0..3 {
        let length = 50 * num_graphs;
        events.push(host("user_annotation", &format!("ProfilerStep#{step}"), length * step, length - 1));
        for graph in 0..num_graphs {
            let start = length * step + 50 * graph;
            let kernels: Vec<_> = (0..num_kernels).map(|at| (start + 5 + at, 1)).collect();
            launch(&mut events, "cudaGraphLaunch", start, &kernels);
        }
    }
    linked(&events)
}

#[test]
fn many_small_graphs_are_found() {
    let [finding] = &found(&replayed(10, 4), "small_graphs")[..] else { panic!("one finding") };
    // Nine gaps of 46 µs in each of three steps.
    assert_eq!((finding.count, finding.cost_ns), (27, 27 * 46_000));
    assert!(finding.detail.contains("10 graphs of 4 kernels in an iteration"), "{}", finding.detail);
    assert!(found(&replayed(10, 40), "small_graphs").is_empty(), "large graphs");
    assert!(found(&replayed(4, 4), "small_graphs").is_empty(), "few graphs");
}

#[test]
fn operators_that_a_graph_calls_instead_of_fusing_them_are_found() {
    let mut events = Vec::new();
    for step in 0..3 {
        let at = |time: i64| 200 * step + time;
        events.push(host("cpu_op", "## Call CompiledFxGraph f4fe ##", at(0), 90));
        for (place, name) in (0..).zip(["aten::addmm", "aten::copy_"]) {
            events.push(host("cpu_op", name, at(20 * place), 15));
            launch(&mut events, "cudaLaunchKernel", at(20 * place + 1), &[(at(10 + 30 * place), 20)]);
        }
        events.push(host("cpu_op", "aten::add", at(100), 15));
        launch(&mut events, "cudaLaunchKernel", at(101), &[(at(110), 20)]);
    }
    let [finding] = &found(&linked(&events), "missed_fusion")[..] else { panic!("one finding") };
    assert_eq!((finding.subject.as_str(), finding.count, finding.cost_ns), ("aten::copy_", 3, 3 * 20_000));
}

#[test]
fn operators_inside_of_others_or_of_benchmarks_could_not_be_fused() {
    for around in ["aten::sort", "CachingAutotuner.benchmark_all_configs", "torch/_inductor/cudagraph_trees.py(1): run"]
    {
        let category = if around.contains(".py(") { "python_function" } else { "cpu_op" };
        let mut events = vec![host("cpu_op", "## Call CompiledFxGraph f4fe ##", 0, 90), host(category, around, 10, 60)];
        events.push(host("cpu_op", "aten::copy_", 20, 30));
        launch(&mut events, "cudaLaunchKernel", 21, &[(30, 50)]);
        assert!(found(&linked(&events), "missed_fusion").is_empty(), "{around}");
    }
}

/// The detail of the finding about a step that compiles frame 0 for the second time.
fn recompiled(name: &str, text: &str) -> String {
    let events = [
        host("user_annotation", "ProfilerStep#1", 0, 100),
        host("cpu_op", "entire_frame_compile", 10, 50),
        host("user_annotation", "entire_frame_compile_data: fn_name=_compile, compile_id=0/1", 11, 1),
    ];
    let file = SourceFile { name: name.to_owned(), text: text.to_owned() };
    let trace = Arc::new(linked(&events).with_sources(vec![file]));
    found(&trace, "recompilation").pop().unwrap().detail
}

#[test]
fn a_recompilation_names_the_guard_that_failed() {
    const GUARD: &str = "tensor 'x' size mismatch at index 0. expected 4, actual 5";
    let told = format!("compiled 1 time; 0/1: {GUARD}");
    assert_eq!(recompiled("-_0_1_0/recompile_reasons_18.json", &format!("0/0: {GUARD}")), told);
    assert_eq!(recompiled("-_0_1_0/recompile_reasons_18.json", &json!([format!("0/0: {GUARD}")]).to_string()), told);
    let record =
        r#"{"artifact": {"name": "recompile_reasons", "encoding": "json"}, "frame_id": 0, "frame_compile_id": 1}"#;
    let log = format!("V1128 1 a.py:1] {{}}\nV1128 1 guards.py:63] {record}\n\t0/0: {GUARD}\nV1128 1 a.py:1] {{}}\n");
    assert_eq!(recompiled("dedicated_log_torch_trace_a.log", &log), told);
    for (name, text) in [("-_0_2_0/recompile_reasons_1.json", GUARD), ("recompile_reasons.json", GUARD), ("a.log", "")]
    {
        assert_eq!(recompiled(name, text), "compiled 1 time", "{name}");
    }
    let cut = &log[..log.find(GUARD).unwrap()];
    assert_eq!(recompiled("dedicated_log_torch_trace_a.log", cut), "compiled 1 time");
}
