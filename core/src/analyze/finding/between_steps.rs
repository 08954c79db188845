//! Finds idle times of the device between two steps of a serving engine.

use rustc_hash::FxHashMap;

use super::super::idle::self_during;
use super::super::number_text::plural;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::analyze::interval::{difference, total_ns, union, within};
use crate::label::without_addresses;
use crate::sort;
use crate::time::{TimeRange, Ts, add_ns};

pub(super) static BETWEEN_STEPS: Rule = Rule {
    name: "host_between_steps",
    doc: "the device is idle between steps of a serving engine while the host schedules, samples or detokenizes",
    cost: "device idle time from the last work of a step to the first of the next",
    advice: "schedule the next step while the device works (asynchronous scheduling), or move this work to another process",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

/// So much of the idle time is explained by name.
const NUM_NAMED: usize = 3;

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let iterations = &context.links.iterations;
    if !iterations.iter().any(|iteration| iteration.facts.phase.is_some()) {
        return Vec::new();
    }
    let work = work_of_steps(context);
    let mut costs = Vec::new();
    let mut times = Vec::new();
    let mut hosts: FxHashMap<String, i64> = FxHashMap::default();
    for place in 1..iterations.len() {
        let (Some(before), Some(after)) = (work[place - 1], work[place]) else { continue };
        let gap = TimeRange { start: before.end, end: after.start };
        if gap.end <= gap.start {
            continue;
        }
        let idle = difference(&[gap], &within(context.busy.any.ranges(), gap));
        costs.push((total_ns(&idle), iterations[place].event));
        let thread = context.trace.events.track.at(iterations[place].event as usize);
        for (row, ns) in self_during(context.linked, thread, gap) {
            let name = without_addresses(context.subject(row as usize)).into_owned();
            add_ns(hosts.entry(name).or_default(), ns);
        }
        times.extend(idle);
    }
    if costs.is_empty() {
        return Vec::new();
    }
    let detail = format!("{}{}", plural(costs.len(), "gap"), most(hosts));
    vec![RuleMatch::of("steps", costs, 0.8).during(union(times)).detailed(detail)]
}

/// From the first start of the selected device work of each step to its last end.
fn work_of_steps(context: &RuleContext<'_>) -> Vec<Option<TimeRange>> {
    let events = &context.trace.events;
    let mut found: Vec<Option<TimeRange>> = vec![None; context.links.iterations.len()];
    for row in context.selection.device_work() {
        let Some(place) = context.links.iteration.get(row) else { continue };
        let time = TimeRange { start: events.start.at(row), end: events.end(row) };
        let known = found[place as usize].get_or_insert(time);
        *known = TimeRange { start: known.start.min(time.start), end: Ts(known.end.0.max(time.end.0)) };
    }
    found
}

/// The events with most of the host time, with their shares.
fn most(hosts: FxHashMap<String, i64>) -> String {
    let mut hosts: Vec<(String, i64)> = hosts.into_iter().filter(|(_, ns)| *ns > 0).collect();
    let all_ns = hosts.iter().fold(0_i64, |sum, (_, ns)| sum.saturating_add(*ns)).max(1);
    sort::by(&mut hosts, |(a, a_ns), (b, b_ns)| b_ns.cmp(a_ns).then_with(|| a.cmp(b)));
    let share = |ns: i64| (ns as f64 / all_ns as f64 * 100.0).round();
    let named = hosts.iter().take(NUM_NAMED).map(|(name, ns)| format!("{name} {} %", share(*ns)));
    let named: Vec<_> = named.collect();
    if named.is_empty() { String::new() } else { format!("; host: {}", named.join(", ")) }
}
