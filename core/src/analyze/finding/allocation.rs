//! Finds device allocations inside the loop.

use super::super::number_text::plural;
use super::rule::{Rule, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use crate::vendor::allocates;

pub(super) static ALLOCATION: Rule = Rule {
    name: "allocation_in_steady_state",
    doc: "the driver allocates or frees device memory after the first iteration, and each call waits for the device",
    cost: "host time of the calls",
    advice: "keep shapes alike, or set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; do not call \
             torch.cuda.empty_cache() in the loop",
    is_pattern: false,
    find: RuleScope::Trace(found),
};

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let calls = context.named(allocates).into_iter().filter(|row| is_steady(context, *row));
    let costs = calls.map(|row| (context.name(row).to_owned(), context.time(row).dur().0, row));
    let confidence = if context.links.iterations.len() > 1 { 0.9 } else { 0.5 };
    let found = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let detail = plural(costs.len(), "call");
        let all_ns = context.all_ns(&costs);
        RuleMatch::of(subject, costs, confidence).at_most(all_ns).detailed(detail)
    };
    by_subject(costs).into_iter().map(found).collect()
}

/// Whether an event comes after the first iteration; without iterations, after the one-time
/// start-up.
fn is_steady(context: &RuleContext<'_>, row: u32) -> bool {
    match context.links.iterations.len() {
        0 | 1 => context.is_in_loop(row) && !context.is_start_up(row),
        _ => context.links.iteration.get(row as usize).is_some_and(|iteration| iteration > 0),
    }
}
