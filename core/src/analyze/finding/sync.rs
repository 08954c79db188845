//! Finds host waits that leave the device idle.

use rustc_hash::FxHashMap;

use super::super::number_text::{duration_text, plural};
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use crate::link::EdgeKind;
use crate::time::TimeRange;
use crate::trace::kind::EventKind;

pub(super) static SYNC: Rule = Rule {
    name: "host_device_sync",
    doc: "a call inside the loop waits for the device, which is then idle until the next launch",
    cost: "device idle time from the start of the wait to the next device work, limited to the duration of the wait",
    advice: "keep the result on the device, copy with non_blocking=True to pinned memory, or wait for an event later; \
             torch.cuda.set_sync_debug_mode(\"warn\") reports the lines",
    is_pattern: false,
    data: RuleData::Calls,
    find: RuleScope::Trace(|context| found(context, false)),
};

pub(super) static ITEM: Rule = Rule {
    name: "item_in_loop",
    doc: "the host waits for one number: .item(), float() or a condition on a tensor inside the loop",
    cost: "device idle time from the start of the wait to the next device work, limited to the duration of the wait",
    advice: "keep numbers such as the loss as tensors (loss.detach()), accumulate them on the device, and read them \
             every N iterations",
    is_pattern: true,
    data: RuleData::Host,
    find: RuleScope::Trace(|context| found(context, true)),
};

/// Calls that read one number of a tensor.
const ITEMS: [&str; 3] = ["aten::item", "aten::_local_scalar_dense", "aten::is_nonzero"];

fn found(context: &RuleContext<'_>, is_item: bool) -> Vec<RuleMatch> {
    let items = context.named(|name| ITEMS.contains(&name));
    let around_item = context.around(&items);
    let is_operator = |row: usize| context.trace.events.kind[row] == EventKind::Operator;
    let operators = outermost_operators(context, is_operator);
    let waits = waits(context).into_iter().filter(|call| around_item.get(*call as usize).is_some() == is_item);
    let costs = waits.map(|call| {
        let subject = operators(call).unwrap_or(call);
        (context.name(subject).to_owned(), cost_ns(context, call), call)
    });
    by_subject(costs).into_iter().map(|(subject, costs)| rule_match(context, subject, costs)).collect()
}

/// The outermost operator around an event.
fn outermost_operators<'a>(
    context: &'a RuleContext<'_>,
    is_operator: impl Fn(usize) -> bool + 'a,
) -> impl Fn(u32) -> Option<u32> + 'a {
    let around = context.links.nesting.innermost(&is_operator);
    move |row| std::iter::successors(around.get(row as usize), |row| around.get(*row as usize)).last()
}

/// Rows of calls on the host inside the loop that waited for device work; of those for the same
/// work the one that took longest: a copy may be waited for by its own call and by one after it.
fn waits(context: &RuleContext<'_>) -> Vec<u32> {
    let is_looked_at = |call: u32| {
        let row = call as usize;
        !context.trace.is_on_device(row) && context.selection.contains(row) && context.is_in_loop(call)
    };
    let dur = |call: u32| context.trace.events.dur.at(call as usize);
    let mut longest: FxHashMap<u32, u32> = FxHashMap::default();
    for edge in context.linked.sync_edges() {
        if edge.kind == EdgeKind::Sync && is_looked_at(edge.target) {
            let known = longest.entry(edge.source).or_insert(edge.target);
            if dur(edge.target) > dur(*known) {
                *known = edge.target;
            }
        }
    }
    let mut calls: Vec<u32> = longest.into_values().collect();
    crate::sort::ascending(&mut calls);
    calls.dedup();
    calls
}

fn cost_ns(context: &RuleContext<'_>, call: u32) -> i64 {
    context.lost_ns(until_next(context, call)).min(context.time(call).dur().0)
}

/// From the start of a wait to the next device work.
fn until_next(context: &RuleContext<'_>, call: u32) -> TimeRange {
    let wait = context.time(call);
    TimeRange { start: wait.start, end: context.busy.any.next_start(wait.end).unwrap_or(wait.end) }
}

fn rule_match(context: &RuleContext<'_>, subject: String, costs: Vec<(i64, u32)>) -> RuleMatch {
    let waited = crate::time::sum_ns(costs.iter().map(|(_, call)| context.time(*call).dur().0));
    let detail = format!("{}, {} in total", plural(costs.len(), "wait"), duration_text(waited));
    let is_costly = costs.iter().any(|(ns, _)| *ns > 0);
    let lost = context.all_lost(costs.iter().map(|(_, call)| until_next(context, *call)));
    RuleMatch::of(subject, costs, if is_costly { 0.9 } else { 0.4 }).during(lost).detailed(detail)
}
