//! Tests findings about serving engines.

use std::sync::Arc;

use kinetoscope::LinkedTrace;
use kinetoscope::analyze::{Finding, MIN_SHARE, Selection, findings};

use crate::parts::{DECODE, Work, linked, work};

fn found(trace: &Arc<LinkedTrace>, name: &str) -> Option<Finding> {
    findings(&Selection::all(trace), MIN_SHARE).into_iter().find(|finding| finding.name == name)
}

/// Steps of 200 µs. In the first half, kernels of 5 µs run every 10 µs; then the host works.
fn steps(name: &'static str, call: &'static str, num_kernels: i64) -> Arc<LinkedTrace> {
    let mut ranges = Vec::new();
    let mut works: Vec<Work<'_>> = Vec::new();
    for step in 0..4 {
        ranges.push(("user_annotation", name, 200 * step, 100));
        ranges.push(("python_function", "scheduler.py(212): schedule", 200 * step + 110, 80));
        let kernels = (0..num_kernels).map(|at| 200 * step + 10 * at);
        works.extend(kernels.map(|start| work(call, start, (start + 4, 5))));
    }
    linked(&ranges, &works)
}

#[test]
fn idle_time_between_steps_names_what_the_host_did() {
    let trace = steps(DECODE, "aten::mm", 4);
    let finding = found(&trace, "host_between_steps").unwrap();
    // The last kernel of a step ends at 39 µs, the first of the next begins at 204 µs.
    assert_eq!((finding.count, finding.cost_ns), (3, 3 * 165_000));
    assert!(finding.detail.contains("3 gaps; host: scheduler.py(212): schedule"), "{}", finding.detail);
    assert_eq!(found(&steps("region", "aten::mm", 4), "host_between_steps").map(|finding| finding.count), None);
}

#[test]
fn decode_steps_of_many_launches_could_replay_a_graph() {
    let finding = found(&steps(DECODE, "aten::mm", 9), "uncaptured_decode").unwrap();
    // Eight gaps of 5 µs between nine kernels.
    assert_eq!((finding.count, finding.cost_ns), (4, 4 * 8 * 5_000));
    assert!(found(&steps(DECODE, "aten::mm", 4), "uncaptured_decode").is_none(), "few kernels");
    let prefill = "execute_context_1(64)_generation_0(0)";
    assert!(found(&steps(prefill, "aten::mm", 9), "uncaptured_decode").is_none(), "prompts have many shapes");
}

/// Decode steps of 100 µs: a kernel from 10 to 40 µs, and operators of these times.
fn steps_beside(operators: &[(&'static str, i64, i64)], call: &'static str) -> Arc<LinkedTrace> {
    let mut ranges = Vec::new();
    let mut works: Vec<Work<'_>> = Vec::new();
    for step in 0..4 {
        ranges.push(("user_annotation", DECODE, 100 * step, 98));
        ranges.extend(operators.iter().map(|(name, start, dur)| ("cpu_op", *name, 100 * step + start, *dur)));
        works.push(work(call, 100 * step + 1, (100 * step + 10, 30)));
    }
    linked(&ranges, &works)
}

#[test]
fn a_replay_whose_work_is_lost_is_no_launch_of_each_kernel() {
    let name = |step: i64| if step % 2 == 0 { "cudaGraphLaunch" } else { "cudaLaunchKernel" };
    let mut ranges = Vec::new();
    let mut works: Vec<Work<'_>> = Vec::new();
    for step in 0..4 {
        ranges.push(("user_annotation", DECODE, 200 * step, 100));
        ranges.push(("cuda_runtime", name(step), 200 * step + 95, 2));
        works.extend((0..9).map(|at| work("aten::mm", 200 * step + 10 * at, (200 * step + 10 * at + 4, 5))));
    }
    let finding = found(&linked(&ranges, &works), "uncaptured_decode").unwrap();
    assert_eq!(finding.count, 2, "steps without the launch of a graph");
}

#[test]
fn tokens_that_the_host_samples_are_found() {
    let sampled = [("aten::sort", 30, 40), ("aten::mul", 75, 10)];
    let finding = found(&steps_beside(&sampled, "aten::mm"), "sampling_on_host").unwrap();
    // The kernel runs until 40 µs, the sort until 70 µs.
    assert_eq!((finding.subject.as_str(), finding.count, finding.cost_ns), ("aten::sort", 4, 4 * 30_000));
    assert!(found(&steps_beside(&[], "aten::sort"), "sampling_on_host").is_none(), "it launches a kernel");
}

#[test]
fn copies_of_the_cache_are_found() {
    let finding = found(&steps_beside(&[], "_C_cache_ops::swap_blocks"), "kv_cache_copy").unwrap();
    assert_eq!((finding.count, finding.cost_ns), (4, 4 * 30_000));
    assert!(found(&steps_beside(&[], "aten::copy_"), "kv_cache_copy").is_none());
}
