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
