//! Recognizes one-time start-up work of a process on a device.

use rustc_hash::FxHashMap;

use super::super::interval::RangeCover;
use super::super::number_text::plural;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use crate::id::TrackId;
use crate::time::TimeRange;
use crate::trace::kind::EventKind;
use crate::vendor::may_wait;

pub(super) static START_UP: Rule = Rule {
    name: "start_up",
    doc: "long calls load contexts, libraries and code before the first device work or in an operator's first call",
    cost: "time of the calls without device work",
    advice: "exclude this one-time cost: record after some iterations (ks.profile(wait=1, warmup=1, active=3))",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

/// Calls that only launch take no longer.
const LONG_NS: i64 = 5_000_000;

/// Whether an event is a long call of the runtime that is done once.
pub(super) fn is_one(context: &RuleContext<'_>, row: usize) -> bool {
    context.trace.events.kind[row] == EventKind::Launch
        && !context.trace.is_on_device(row)
        && context.selection.dur_ns(row) >= LONG_NS
        && !may_wait(context.trace.event_name(row))
        && context.is_start_up(row as u32)
}

/// When each thread was in one of these calls.
pub(super) fn by_thread(context: &RuleContext<'_>) -> FxHashMap<TrackId, RangeCover> {
    let mut times: FxHashMap<TrackId, Vec<TimeRange>> = FxHashMap::default();
    for row in calls(context) {
        times.entry(context.trace.events.track.at(row as usize)).or_default().push(context.time(row));
    }
    times.into_iter().map(|(thread, times)| (thread, RangeCover::of(times))).collect()
}

/// Rows of the long calls that are done once.
fn calls(context: &RuleContext<'_>) -> Vec<u32> {
    if !context.has_device() {
        return Vec::new();
    }
    context.selection.rows().filter(|row| is_one(context, *row)).map(|row| row as u32).collect()
}

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let cost = |row: u32| (context.name(row).to_owned(), context.lost_ns(context.time(row)), row);
    let told = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let lost = context.all_lost(costs.iter().map(|(_, row)| context.time(*row)));
        let detail = plural(costs.len(), "call");
        RuleMatch::of(subject, costs, 0.8).during(lost).detailed(detail)
    };
    by_subject(calls(context).into_iter().map(cost)).into_iter().map(told).collect()
}
