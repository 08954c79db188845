//! Tests iterations of serving engines and trainers: which ranges mark them, and where they end.

use std::sync::Arc;

use kinetoscope::analyze::{MarkerRow, Selection, TOP, analysis, brief_summary};
use kinetoscope::edit::{Redaction, redact};
use kinetoscope::link::StepMarker;
use kinetoscope::read::snapshot::read_snapshot;
use kinetoscope::trace::step_name::Phase;
use kinetoscope::{Limits, LinkedTrace, write_snapshot};
use serde_json::json;

use crate::{files, job, shared};

/// An event of thread `tid`: category, name, start and duration in µs.
type Call<'a> = (i64, &'a str, &'a str, i64, i64);

fn linked(calls: &[Call<'_>]) -> LinkedTrace {
    let event = |(tid, cat, name, ts, dur): &Call<'_>| {
        let pid = i32::from(*cat != "kernel");
        json!({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur})
    };
    let events: Vec<_> = calls.iter().map(event).collect();
    LinkedTrace::new(files::trace(&json!({"traceEvents": events}).to_string()))
}

/// Number, start and end in µs of each iteration.
fn iterations(linked: &LinkedTrace) -> Vec<(i64, i64, i64)> {
    let iterations = linked.links.iterations.iter();
    iterations.map(|row| (row.number, row.start.0 / 1_000, row.range().end.0 / 1_000)).collect()
}

fn taken(linked: &LinkedTrace) -> Option<StepMarker> {
    linked.links.iteration_source.taken
}

const DECODE: &str = "execute_context_0(0)_generation_4(4)";
const PREFILL: &str = "execute_context_1(64)_generation_0(0)";

#[test]
fn a_step_lasts_until_the_next_one_if_work_follows_its_marker() {
    // vLLM samples after the range; the copy of the result ends the last step.
    let found = linked(&[
        (1, "user_annotation", PREFILL, 0, 50),
        (1, "cpu_op", "aten::mm", 10, 20),
        (1, "cpu_op", "aten::argmax", 60, 20),
        (1, "user_annotation", DECODE, 100, 50),
        (1, "cpu_op", "aten::argmax", 160, 20),
        (1, "user_annotation", DECODE, 200, 50),
        (1, "cpu_op", "aten::argmax", 260, 20),
    ]);
    assert_eq!(iterations(&found), [(0, 0, 100), (1, 100, 200), (2, 200, 280)]);
    assert_eq!(taken(&found), Some(StepMarker::Engine));
}

#[test]
fn a_step_ends_with_its_marker_if_nothing_follows() {
    let found = linked(&[
        (1, "user_annotation", DECODE, 0, 50),
        (1, "cpu_op", "aten::mm", 10, 20),
        (2, "cpu_op", "aten::mm", 60, 20), // of another thread
        (1, "python_function", "scheduler.py(1): recv_requests", 60, 20),
        (1, "user_annotation", DECODE, 100, 50),
    ]);
    assert_eq!(iterations(&found), [(0, 0, 50), (1, 100, 150)]);
}

#[test]
fn the_last_step_is_no_longer_than_the_longest_other() {
    let found = linked(&[
        (1, "user_annotation", DECODE, 0, 50),
        (1, "cpu_op", "aten::argmax", 60, 20),
        (1, "user_annotation", DECODE, 100, 50),
        (1, "cpu_op", "aten::argmax", 160, 20),
        (1, "cpu_op", "aten::empty", 5_000, 20), // after the loop
    ]);
    assert_eq!(iterations(&found), [(0, 0, 100), (1, 100, 200)]);
}

#[test]
fn steps_inside_steps_and_ranges_of_the_device_mark_none() {
    let found = linked(&[
        (1, "user_annotation", "step[TARGET_VERIFY bs=2]", 0, 100),
        (1, "user_annotation", "step[DECODE bs=2]", 10, 50),
        (7, "gpu_user_annotation", "step[TARGET_VERIFY bs=2]", 0, 100),
    ]);
    assert_eq!(iterations(&found), [(0, 0, 100)]);
}

#[test]
fn each_thread_counts_its_own_steps() {
    let found = linked(&[
        (1, "user_annotation", DECODE, 0, 50),
        (2, "user_annotation", DECODE, 20, 50),
        (1, "user_annotation", DECODE, 100, 50),
        (2, "user_annotation", DECODE, 120, 50),
    ]);
    assert_eq!(iterations(&found), [(0, 0, 50), (0, 20, 70), (1, 100, 150), (1, 120, 170)]);
}

#[test]
fn an_engine_s_numbers_are_kept() {
    let found = linked(&[
        (1, "user_annotation", "[Executor] _forward_step 7: 0 ctx reqs, 3 gen reqs", 0, 50),
        (1, "user_annotation", "[Executor] _forward_step 8: 0 ctx reqs, 3 gen reqs", 100, 50),
    ]);
    assert_eq!(iterations(&found), [(7, 0, 50), (8, 100, 150)]);
}

#[test]
fn the_profiler_s_steps_are_taken_unless_an_engine_has_more() {
    let steps = [
        (1, "user_annotation", "ProfilerStep#3", 0, 100),
        (1, "user_annotation", DECODE, 10, 50),
        (1, "user_annotation", "ProfilerStep#4", 100, 100),
        (1, "user_annotation", PREFILL, 110, 50),
    ];
    let equal = linked(&steps);
    assert_eq!(iterations(&equal), [(3, 0, 100), (4, 100, 200)]);
    let phases: Vec<_> = equal.links.iterations.iter().map(|row| row.facts.phase.map(Phase::name)).collect();
    assert_eq!(phases, [Some("decode"), Some("prefill")]);

    let more = linked(&[&steps[..], &[(1, "user_annotation", DECODE, 170, 20)]].concat());
    assert_eq!(iterations(&more), [(0, 10, 60), (1, 110, 160), (2, 170, 190)]);
}

#[test]
fn stages_are_taken_where_nothing_better_is() {
    let stage = "gpu_model_runner: preprocess";
    let stages = [(1, "user_annotation", stage, 10, 5), (1, "user_annotation", stage, 60, 5)];
    let profiler = linked(&[&stages[..], &[(1, "user_annotation", "ProfilerStep#3", 0, 100)]].concat());
    assert_eq!(taken(&profiler), Some(StepMarker::Profiler));
    let engine = linked(&[&stages[..], &[(1, "user_annotation", DECODE, 0, 50)]].concat());
    assert_eq!(taken(&engine), Some(StepMarker::Engine));
    assert_eq!(taken(&linked(&stages[..1])), Some(StepMarker::Stage));
}

#[test]
fn two_steps_in_one_of_the_profiler_describe_neither() {
    let found = linked(&[
        (1, "user_annotation", "ProfilerStep#3", 0, 100),
        (1, "user_annotation", DECODE, 10, 20),
        (1, "user_annotation", PREFILL, 40, 20),
        (1, "user_annotation", "ProfilerStep#4", 100, 100),
    ]);
    assert!(found.links.iterations.iter().all(|row| row.facts.phase.is_none()));
}

#[test]
fn stages_trainers_and_functions_mark_steps() {
    let twice = |cat, name| linked(&[(1, cat, name, 0, 50), (1, cat, name, 100, 50)]);
    for (cat, name, marker) in [
        ("user_annotation", "gpu_model_runner: preprocess", Some(StepMarker::Stage)),
        ("user_annotation", "[pl][profile]run_training_batch", Some(StepMarker::Trainer)),
        ("python_function", "vllm/v1/worker/gpu_worker.py(612): execute_model", Some(StepMarker::Function)),
        ("python_function", "sglang/srt/managers/scheduler.py(9): run_batch", Some(StepMarker::Function)),
        ("python_function", "transformers/trainer.py(9): training_step", Some(StepMarker::Function)),
        ("user_annotation", "vllm/v1/worker/gpu_worker.py(612): execute_model", None),
        ("python_function", "mine.py(1): execute_model", None),
        ("python_function", DECODE, None),
        ("cuda_runtime", DECODE, None),
    ] {
        assert_eq!(taken(&twice(cat, name)), marker, "{cat} {name}");
    }
    let once = linked(&[(1, "python_function", "transformers/trainer.py(9): training_step", 0, 50)]);
    assert_eq!((taken(&once), iterations(&once)), (None, Vec::new()));
}

#[test]
fn the_summary_tells_what_else_could_mark_them() {
    let found = linked(&[
        (1, "user_annotation", DECODE, 0, 50),
        (1, "user_annotation", "gpu_model_runner: preprocess", 5, 10),
        (1, "user_annotation", DECODE, 100, 50),
    ]);
    let markers = brief_summary(&Selection::all(&Arc::new(found)), TOP).iteration_markers;
    let row = |marker, name: &str, count, is_taken| MarkerRow { marker, name: name.to_owned(), count, is_taken };
    let stage = row("stage", "gpu_model_runner: preprocess", 1, false);
    assert_eq!(markers, [row("engine", DECODE, 2, true), stage]);
    let profiler = Arc::new(linked(&[(1, "user_annotation", "ProfilerStep#3", 0, 50)]));
    assert_eq!(brief_summary(&Selection::all(&profiler), TOP).iteration_markers, []);
}

#[test]
fn the_user_s_events_mark_steps_of_any_loop() {
    let calls = [
        (1, "user_annotation", "ProfilerStep#3", 0, 300),
        (1, "user_annotation", "my step 1", 0, 50),
        (1, "cpu_op", "aten::mm", 60, 20),
        (1, "python_function", "loop.py(1): decode", 100, 50),
        (1, "user_annotation", "my step 2", 100, 40),
        (1, "kernel", "my step 3", 200, 20),
    ];
    let marked = |patterns: &[&str]| {
        let patterns: Vec<_> = patterns.iter().map(ToString::to_string).collect();
        LinkedTrace::with_iterations(linked(&calls).trace, &patterns, 1)
    };
    let steps = marked(&["my step *"]).unwrap();
    assert_eq!((iterations(&steps), taken(&steps)), (vec![(0, 0, 100), (1, 100, 140)], Some(StepMarker::User)));
    assert_eq!(iterations(&marked(&["*: decode", "aten::mm"]).unwrap()), [(0, 60, 80), (1, 100, 150)]);
    assert_eq!(iterations(&marked(&[]).unwrap()), [(3, 0, 300)]);
    let error = marked(&["my step 3", "x"]).unwrap_err().to_string();
    assert_eq!(error, r#"expected host events with a name like one of ["my step 3", "x"], found none"#);

    let redacted = LinkedTrace::new(redact([&steps.trace], Redaction::default()).remove(0));
    assert_eq!((iterations(&redacted), taken(&redacted)), (iterations(&steps), taken(&steps)));
    let texts: Vec<&str> = redacted.trace.strings.iter().collect();
    assert!(!texts.iter().any(|text| text.contains("my step 1")), "{texts:?}");

    let bytes = write_snapshot(&steps.trace).unwrap();
    assert_eq!(iterations(&LinkedTrace::new(read_snapshot(&bytes, Limits::default()).unwrap())), iterations(&steps));
}

#[test]
fn gaps_divide_steps_of_a_loop_without_names() {
    let mut calls = Vec::new();
    for step in 0..4 {
        for call in 0..3 {
            calls.push((1, "cpu_op", "aten::mm", 1_000 * step + 100 * call, 40));
            calls.push((1, "cuda_runtime", "cudaLaunchKernel", 1_000 * step + 100 * call + 10, 5));
        }
        calls.push((2, "cpu_op", "aten::loads", 1_000 * step + 600, 10));
    }
    let marked = |calls: &[Call<'_>]| LinkedTrace::with_iterations(linked(calls).trace, &[String::from("gaps")], 1);
    let steps = marked(&calls).unwrap();
    assert_eq!(iterations(&steps), [(0, 0, 240), (1, 1_000, 1_240), (2, 2_000, 2_240), (3, 3_000, 3_240)]);
    let redacted = LinkedTrace::new(redact([&steps.trace], Redaction::default()).remove(0));
    assert_eq!(iterations(&redacted), iterations(&steps));
    let even: Vec<Call<'_>> = (0..9).map(|call| (1, "cpu_op", "aten::mm", 100 * call, 40)).collect();
    let error = marked(&even).unwrap_err().to_string();
    assert!(error.starts_with("expected gaps between the calls of a thread"), "{error}");
    calls.push((1, "user_annotation", "gaps", 0, 50));
    assert_eq!(iterations(&marked(&calls).unwrap()).len(), 1, "an event of that name marks iterations");
}

#[test]
fn gaps_are_those_of_all_threads_that_launch() {
    let mut calls = Vec::new();
    for step in 0..3 {
        for call in 0..2 {
            calls.push((1, "cuda_runtime", "cudaLaunchKernel", 1_000 * step + 100 * call, 50));
        }
        for call in 0..4 {
            calls.push((2, "cuda_runtime", "cudaLaunchKernel", 1_000 * step + 200 + 50 * call, 40));
        }
        calls.push((1, "cuda_runtime", "cudaStreamSynchronize", 1_000 * step + 400, 20));
        calls.push((3, "cuda_runtime", "cudaEventQuery", 1_000 * step + 700, 5));
    }
    calls.push((1, "cuda_runtime", "cudaDeviceSynchronize", 4_500, 400));
    let steps = LinkedTrace::with_iterations(linked(&calls).trace, &[String::from("gaps")], 1).unwrap();
    assert_eq!(iterations(&steps), [(0, 0, 420), (1, 1_000, 1_420), (2, 2_000, 2_420)]);
}

#[test]
fn public_traces_of_engines_have_steps() {
    for (name, phase, num_requests) in [
        ("vllm_decode_full/graph_execution.json.gz", Phase::Decode, 32),
        ("sglang_decode/sglang_Qwen3-8B_decode.json.gz", Phase::Decode, 32),
    ] {
        let name = format!("AMD-AGI__TraceLens/tests/traces/inference/{name}");
        let Some(trace) = shared::trace(&name) else { return };
        let found = LinkedTrace::new(trace);
        let facts: Vec<_> =
            found.links.iterations.iter().map(|row| (row.facts.phase, row.facts.num_requests)).collect();
        assert_eq!(facts, [(Some(phase), Some(num_requests))], "{name}");
    }
}

#[test]
fn the_breakdown_sums_phases() {
    let found = linked(&[
        (1, "user_annotation", "execute_context_2(48)_generation_0(0)", 0, 100),
        (7, "kernel", "gemm", 10, 50),
        (1, "user_annotation", "execute_context_0(0)_generation_2(2)", 100, 100),
        (7, "kernel", "gemm", 110, 30),
        (1, "user_annotation", "execute_context_0(0)_generation_3(3)", 200, 300),
        (7, "kernel", "gemm", 210, 40),
        (1, "user_annotation", "step[IDLE bs=0]", 500, 100),
    ]);
    let answer = analysis("breakdown").unwrap().answer(&Arc::new(found), "{}").unwrap();
    let counts = ["phase", "num_iterations", "num_requests", "num_context_tokens", "num_generated_tokens"];
    let expected = [vec![json!("prefill"), json!(1), json!(2), json!(48), json!(0)]];
    let decode = vec![json!("decode"), json!(2), json!(5), json!(0), json!(5)];
    assert_eq!(job::rows(&answer, "phases", &counts), [&expected[..], &[decode]].concat());
    let times = ["span_ns", "compute_ns", "idle_ns", "output_token_ns", "tokens_per_s"];
    let prefill = vec![json!(100_000), json!(50_000), json!(50_000), json!(null), json!(480_000.0)];
    let decode = vec![json!(400_000), json!(70_000), json!(330_000), json!(200_000), json!(12_500.0)];
    assert_eq!(job::rows(&answer, "phases", &times), [prefill, decode]);
}

#[test]
fn a_rate_without_the_phase_s_own_tokens_is_unknown() {
    // TensorRT-LLM tells the tokens of prompts alone.
    let found = linked(&[
        (1, "user_annotation", "[Executor] _forward_step 7: 0 ctx reqs, 0 ctx tokens, 3 gen reqs", 0, 100),
        (1, "user_annotation", "[Executor] _forward_step 8: 1 ctx reqs, 64 ctx tokens, 3 gen reqs", 100, 100),
        (7, "kernel", "gemm", 10, 50),
    ]);
    let answer = analysis("breakdown").unwrap().answer(&Arc::new(found), "{}").unwrap();
    let rows = job::rows(&answer, "phases", &["phase", "tokens_per_s"]);
    assert_eq!(rows, [vec![json!("decode"), json!(null)], vec![json!("mixed"), json!(null)]]);
}

#[test]
fn sums_of_a_phase_are_unknown_if_a_step_does_not_tell() {
    let found = linked(&[
        (1, "user_annotation", "step[TARGET_VERIFY bs=2]", 0, 100),
        (1, "user_annotation", "step[TARGET_VERIFY bs=2]", 100, 100),
        (1, "user_annotation", "step[DECODE bs=2]", 200, 100),
        (7, "kernel", "gemm", 10, 50),
    ]);
    let answer = analysis("breakdown").unwrap().answer(&Arc::new(found), "{}").unwrap();
    let names = ["phase", "num_requests", "num_generated_tokens", "output_token_ns", "tokens_per_s"];
    let decode = vec![json!("decode"), json!(2), json!(2), json!(100_000), json!(20_000.0)];
    let verify = vec![json!("verify"), json!(4), json!(null), json!(null), json!(null)];
    assert_eq!(job::rows(&answer, "phases", &names), [decode, verify]);
}
