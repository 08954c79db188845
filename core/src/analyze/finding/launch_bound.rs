//! Finds devices that wait for launches of many short kernels.

use super::super::idle::{IdleCause, IdleGap};
use super::super::interval::total_ns;
use super::super::kernel::SHORT_NS;
use super::super::number_text::{duration_text, plural};
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::trace::kind::EventKind;
use crate::vendor::launches_graph;

pub(super) static LAUNCH_BOUND: Rule = Rule {
    name: "launch_bound",
    doc: "the device runs out of work before the host launches the next kernel",
    cost: "device idle time in gaps below 1 ms, before work that was launched after the gap began",
    advice: "launch fewer, larger kernels: torch.compile, CUDA graphs (mode=\"reduce-overhead\"), fused optimizers and \
             operators, larger batches",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

/// Longer gaps have other reasons than launches, such as loading of data.
pub(super) const MAX_GAP_NS: i64 = 1_000_000;

/// Fewer kernels than this are not many.
const MANY: usize = 20;

/// If launches cost this share of the time, they limit the run however long the kernels are.
const MUCH: f64 = 0.2;

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let is_kernel = |row: &usize| context.trace.events.kind[*row] == EventKind::Kernel;
    let durs: Vec<i64> =
        context.selection.device_work().filter(is_kernel).map(|row| context.trace.events.dur.at(row).0).collect();
    let num_short = durs.iter().filter(|ns| **ns < SHORT_NS).count();
    if durs.len() < MANY {
        return Vec::new();
    }
    // Before lost work, the launch of no recorded work ends a gap.
    let is_late =
        |gap: &&IdleGap| gap.wait == IdleCause::Host && gap.after_id.is_some() && gap.time.dur().0 < MAX_GAP_NS;
    // Where another stream goes on, the device is not idle.
    let late: Vec<&IdleGap> = context.gaps().iter().filter(is_late).collect();
    let idle = context.busy.outside(late.iter().map(|gap| (gap.stream.device, gap.time)));
    let cost = |gap: &IdleGap| {
        let row = context.trace.events.row_at(gap.after_id?)? as u32;
        Some((context.busy.outside_ns(gap.stream.device, gap.time), row)).filter(|(ns, _)| *ns > 0)
    };
    let costs: Vec<_> = late.iter().copied().filter_map(cost).collect();
    let is_much = idle.len() * 2 >= durs.len() && total_ns(&idle) as f64 >= MUCH * context.span_ns as f64;
    if costs.is_empty() || (num_short * 2 < durs.len() && !is_much) {
        return Vec::new();
    }
    let median = median(durs.clone());
    let detail = format!(
        "{num_short} of {} kernels are shorter than {} (median {}); the device waited {} times{}{}{}",
        durs.len(),
        duration_text(SHORT_NS),
        duration_text(median),
        idle.len(),
        of_graphs(context),
        of_compiled(context),
        if has_stacks(context) { SLOWED } else { "" }
    );
    let count = idle.len() as u64;
    vec![RuleMatch { count, ..RuleMatch::of("device", costs, 0.8).during(idle).detailed(detail) }]
}

/// With graphs in use, only the gaps between them remain.
fn of_graphs(context: &RuleContext<'_>) -> String {
    let launch = &context.links.launch;
    let is_of_graph = |row: &usize| launch.get(*row).is_some_and(|call| launches_graph(context.name(call)));
    let count = context.selection.device_work().filter(is_of_graph).count();
    if count == 0 { String::new() } else { format!("; {count} kernels, copies and fills already run in graphs") }
}

/// With compiled code, only its launches and the code around it remain.
fn of_compiled(context: &RuleContext<'_>) -> String {
    let is_generated = |row: &usize| {
        let name = context.name(*row as u32);
        name.starts_with("triton_") && name.contains("_fused_")
    };
    let count = context.selection.device_work().filter(is_generated).count();
    if count == 0 { String::new() } else { format!("; torch.compile already generates {}", plural(count, "kernel")) }
}

/// Whether each call of Python was recorded, which takes the host as long as many a launch.
fn has_stacks(context: &RuleContext<'_>) -> bool {
    context.trace.events.has(EventKind::Python)
}

const SLOWED: &str = "; recording Python stacks slows the host (compare with with_stack=False)";

fn median(mut durs: Vec<i64>) -> i64 {
    crate::sort::ascending(&mut durs);
    durs.get(durs.len() / 2).copied().unwrap_or(0)
}
