//! Finds device allocations inside the loop.

use rustc_hash::FxHashSet;

use super::super::number_text::plural;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use crate::vendor::{self, allocates};

pub(super) static ALLOCATION: Rule = Rule {
    name: "allocation_in_steady_state",
    doc: "the driver allocates or frees device memory after the first iteration, and each call waits for the device",
    cost: "host time of the calls",
    advice: "keep shapes alike, or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; do not call \
             torch.cuda.empty_cache() in the loop",
    is_pattern: false,
    data: RuleData::Calls,
    find: RuleScope::Trace(found),
};

/// Without the cache, every tensor allocates and frees.
const UNCACHED: &str = "the caching allocator seems off or is emptied in the loop: unset \
     PYTORCH_NO_CUDA_MEMORY_CACHING (PYTORCH_NO_HIP_MEMORY_CACHING), remove torch.cuda.empty_cache() and \
     torch.cuda.ipc_collect() from the loop, or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";

/// Frees in this share of the iterations after the first are regular.
const REGULAR: f64 = 0.5;

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let calls = context.named(allocates).into_iter().filter(|row| is_steady(context, *row));
    let costs = calls.map(|row| (context.name(row).to_owned(), context.time(row).dur().0, row));
    let confidence = if context.links.iterations.len() > 1 { 0.9 } else { 0.5 };
    let found = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let is_uncached = vendor::frees(&subject) && is_regular(context, &costs);
        let cache = if is_uncached { ": caching seems off" } else { "" };
        let detail = format!("{}{cache}", plural(costs.len(), "call"));
        let times = context.all_times(&costs);
        let advice = is_uncached.then_some(UNCACHED);
        RuleMatch::of(subject, costs, confidence).during(times).detailed(detail).advised(advice)
    };
    by_subject(costs).into_iter().map(found).collect()
}

/// Whether calls recur: in most iterations after the first, or without iterations more than twice.
fn is_regular(context: &RuleContext<'_>, costs: &[(i64, u32)]) -> bool {
    let num_later = context.links.iterations.len().saturating_sub(1);
    if num_later == 0 {
        return costs.len() > 2;
    }
    let iterations = costs.iter().filter_map(|(_, row)| context.links.iteration.get(*row as usize));
    let iterations: FxHashSet<u32> = iterations.collect();
    iterations.len() as f64 >= REGULAR * num_later as f64
}

/// Whether an event comes after the first iteration; without iterations, after the one-time
/// start-up.
fn is_steady(context: &RuleContext<'_>, row: u32) -> bool {
    match context.links.iterations.len() {
        0 | 1 => context.is_in_loop(row) && !context.is_start_up(row),
        _ => context.links.iteration.get(row as usize).is_some_and(|iteration| iteration > 0),
    }
}
