//! Memory of the device allocated while the loop runs.

use super::super::words::plural;
use super::found::{Found, by_subject};
use super::scene::Scene;
use super::{Find, Rule};

pub(super) static ALLOCATION: Rule = Rule {
    name: "allocation_in_steady_state",
    doc: "the driver allocates or frees memory after the first iteration, which waits for the device",
    cost: "host time of the calls",
    advice: "keep shapes alike, or PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; do not call \
             torch.cuda.empty_cache() in the loop",
    is_pattern: false,
    find: Find::Trace(found),
};

/// Calls that allocate or free, in the runtimes of NVIDIA and AMD.
const CALLS: [&str; 16] = [
    "cudaMalloc",
    "cudaFree",
    "cudaMallocAsync",
    "cudaFreeAsync",
    "cudaHostAlloc",
    "cudaMallocHost",
    "cudaFreeHost",
    "cuMemCreate",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemSetAccess",
    "hipMalloc",
    "hipFree",
    "hipHostMalloc",
    "hipHostFree",
    "hipMallocAsync",
];

/// Whether a call allocates or frees.
pub(super) fn is_call(name: &str) -> bool {
    CALLS.contains(&name)
}

fn found(scene: &Scene<'_>) -> Vec<Found> {
    let calls = scene.named(is_call).into_iter().filter(|row| is_steady(scene, *row));
    let costs = calls.map(|row| (scene.name(row).to_owned(), scene.time(row).dur().0, row));
    let confidence = if scene.links.iterations.len() > 1 { 0.9 } else { 0.5 };
    let found = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let detail = plural(costs.len(), "call");
        let all_ns = scene.all_ns(&costs);
        Found::of(subject, costs, confidence).at_most(all_ns).told(detail)
    };
    by_subject(costs).into_iter().map(found).collect()
}

/// Whether an event comes after the first iteration, where there are several; else, after what is done once.
fn is_steady(scene: &Scene<'_>, row: u32) -> bool {
    match scene.links.iterations.len() {
        0 | 1 => scene.is_in_loop(row) && !scene.is_start_up(row),
        _ => scene.links.iteration.get(row as usize).is_some_and(|iteration| iteration > 0),
    }
}
