//! The device waits for the host to launch the next of many short kernels.

use super::super::idle::{Gap, Wait};
use super::super::interval::total_ns;
use super::super::kernel::SHORT_NS;
use super::super::words::{plural, told_ns};
use super::found::Found;
use super::scene::Scene;
use super::{Find, Rule};
use crate::trace::kind::EventKind;

pub(super) static LAUNCH_BOUND: Rule = Rule {
    name: "launch_bound",
    doc: "kernels that are short, or many, are launched only after the device had nothing left to do",
    cost: "idle time of the device, in gaps of less than 1 ms, before work that was launched after the gap began",
    advice: "fewer, larger kernels: torch.compile, CUDA graphs (mode=\"reduce-overhead\"), fused optimizers and \
             operators, larger batches",
    is_pattern: false,
    find: Find::Trace(found),
};

/// Longer gaps have other reasons than launches, such as loading of data.
pub(super) const MAX_GAP_NS: i64 = 1_000_000;

/// Fewer kernels than this are not many.
const MANY: usize = 20;

/// Of the time looked at, what is lost in this share of it, before every other kernel, is lost to launches however long kernels are.
const MUCH: f64 = 0.2;

fn found(scene: &Scene<'_>) -> Vec<Found> {
    let is_kernel = |row: &usize| scene.trace.events.kind[*row] == EventKind::Kernel;
    let durs: Vec<i64> =
        scene.selection.device_work().filter(is_kernel).map(|row| scene.trace.events.dur[row].0).collect();
    let num_short = durs.iter().filter(|ns| **ns < SHORT_NS).count();
    if durs.len() < MANY {
        return Vec::new();
    }
    let is_late = |gap: &&Gap| gap.wait == Wait::Host && gap.time.dur().0 < MAX_GAP_NS;
    // Where another stream goes on, the device is not idle.
    let late: Vec<&Gap> = scene.gaps().iter().filter(is_late).collect();
    let idle = scene.busy.outside(late.iter().map(|gap| (gap.stream.device, gap.time)));
    let cost = |gap: &Gap| {
        let row = scene.trace.events.row_at(gap.after_id)? as u32;
        Some((scene.busy.outside_ns(gap.stream.device, gap.time), row)).filter(|(ns, _)| *ns > 0)
    };
    let costs: Vec<_> = late.iter().copied().filter_map(cost).collect();
    let is_much = idle.len() * 2 >= durs.len() && total_ns(&idle) as f64 >= MUCH * scene.span_ns as f64;
    if costs.is_empty() || (num_short * 2 < durs.len() && !is_much) {
        return Vec::new();
    }
    let median = median(durs.clone());
    let detail = format!(
        "{num_short} of {} kernels are shorter than {}, the median {}; the device waited {} times{}{}{}",
        durs.len(),
        told_ns(SHORT_NS),
        told_ns(median),
        idle.len(),
        of_graphs(scene),
        of_compiled(scene),
        if has_stacks(scene) { SLOWED } else { "" }
    );
    vec![Found { count: idle.len() as u64, ..Found::of("device", costs, 0.8).at_most(total_ns(&idle)).told(detail) }]
}

/// Where graphs are in use already, what is left to do is between them.
fn of_graphs(scene: &Scene<'_>) -> String {
    let launch = &scene.links.launch;
    let is_of_graph = |row: &usize| launch.get(*row).is_some_and(|call| scene.name(call).contains("GraphLaunch"));
    let count = scene.selection.device_work().filter(is_of_graph).count();
    if count == 0 { String::new() } else { format!("; {count} kernels, copies and fills are of graphs already") }
}

/// Where code is compiled already, what is left to do is what it launches, and what is around it.
fn of_compiled(scene: &Scene<'_>) -> String {
    let is_generated = |row: &usize| {
        let name = scene.name(*row as u32);
        name.starts_with("triton_") && name.contains("_fused_")
    };
    let count = scene.selection.device_work().filter(is_generated).count();
    if count == 0 { String::new() } else { format!("; {} of torch.compile already", plural(count, "kernel")) }
}

/// Whether each call of Python was recorded, which takes the host as long as many a launch.
fn has_stacks(scene: &Scene<'_>) -> bool {
    scene.trace.events.kind.contains(&EventKind::Python)
}

const SLOWED: &str = "; recording Python's stacks slowed the host: without them (with_stack=False) it may be less";

fn median(mut durs: Vec<i64>) -> i64 {
    crate::sort::ascending(&mut durs);
    durs.get(durs.len() / 2).copied().unwrap_or(0)
}
