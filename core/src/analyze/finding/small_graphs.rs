//! Finds iterations that replay many small graphs.

use std::collections::BTreeMap;

use super::super::interval::{total_ns, union};
use super::super::number_text::plural;
use super::super::statistics::median;
use super::rule::{Rule, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::time::TimeRange;
use crate::vendor::launches_graph;

pub(super) static SMALL_GRAPHS: Rule = Rule {
    name: "small_graphs",
    doc: "an iteration replays many small graphs, and the device waits for the next launch",
    cost: "device idle time before graphs whose launch came late",
    advice: "capture larger parts: remove graph breaks, or capture the whole step (in vLLM: cudagraph_mode FULL \
             in place of PIECEWISE)",
    is_pattern: false,
    find: RuleScope::Trace(found),
};

/// Fewer graphs in an iteration are no pattern.
const MIN_GRAPHS: usize = 8;

/// Graphs with more kernels are not small.
const MAX_KERNELS: i64 = 16;

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let lost = &context.links.lost_launches;
    let mut num_kernels: BTreeMap<u32, i64> = BTreeMap::new();
    for (launch, _) in context.links.launched.pairs() {
        let is_whole = lost.binary_search(launch).is_err();
        if is_whole && launches_graph(context.name(*launch)) && context.selection.begins_inside(*launch as usize) {
            *num_kernels.entry(*launch).or_default() += 1;
        }
    }
    let mut graphs: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
    for launch in num_kernels.keys().filter(|launch| context.is_in_loop(**launch)) {
        graphs.entry(context.links.iteration.get(*launch as usize)).or_default().push(*launch);
    }
    graphs.retain(|_, launches| {
        launches.len() >= MIN_GRAPHS && median(launches.iter().map(|launch| num_kernels[launch])) <= MAX_KERNELS
    });
    let mut idle: BTreeMap<u32, Vec<TimeRange>> = BTreeMap::new();
    for (launch, time) in context.late_launches().filter(|(launch, _)| num_kernels.contains_key(launch)) {
        if graphs.contains_key(&context.links.iteration.get(launch as usize)) {
            idle.entry(launch).or_default().extend(context.idle_parts(time));
        }
    }
    let idle: Vec<(u32, Vec<TimeRange>)> = idle.into_iter().map(|(launch, times)| (launch, union(times))).collect();
    let costs: Vec<_> = idle.iter().map(|(launch, times)| (total_ns(times), *launch)).collect();
    if costs.is_empty() {
        return Vec::new();
    }
    let in_one = median(graphs.values().map(|launches| launches.len() as i64));
    let size = median(graphs.values().flatten().map(|launch| num_kernels[launch]));
    let detail = format!("{in_one} graphs of {} in an iteration", plural(size as usize, "kernel"));
    let during = union(idle.into_iter().flat_map(|(_, times)| times).collect());
    vec![RuleMatch::of("graphs", costs, 0.8).during(during).detailed(detail)]
}
