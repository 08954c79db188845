//! Finds iterations that replay many small graphs.

use super::super::interval::{total_ns, union};
use super::super::number_text::plural;
use super::super::statistics::median;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::sort;
use crate::sorted_map::SortedMap;
use crate::time::TimeRange;
use crate::vendor::launches_graph;

pub(super) static SMALL_GRAPHS: Rule = Rule {
    name: "small_graphs",
    doc: "an iteration replays many small graphs, and the device waits for the next launch",
    cost: "device idle time before graphs whose launch came late",
    advice: "capture larger parts: remove graph breaks, or capture the whole step (in vLLM: cudagraph_mode FULL \
             in place of PIECEWISE)",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

/// Fewer graphs in an iteration are no pattern.
const MIN_GRAPHS: usize = 8;

/// Graphs with more kernels are not small.
const MAX_KERNELS: i64 = 16;

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let lost = &context.links.lost_launches;
    let is_graph = |launch: &u32| {
        let is_whole = lost.binary_search(launch).is_err();
        is_whole && launches_graph(context.name(*launch)) && context.selection.begins_inside(*launch as usize)
    };
    let mut kernels: Vec<u32> =
        context.links.launched.pairs().iter().map(|(launch, _)| *launch).filter(is_graph).collect();
    sort::ascending(&mut kernels);
    // The graphs that replay in each iteration, with the number of their kernels.
    let mut graphs: Vec<(Option<u32>, u32, i64)> = Vec::new();
    for same in kernels.chunk_by(|a, b| a == b).filter(|same| context.is_in_loop(same[0])) {
        graphs.push((context.links.iteration.get(same[0] as usize), same[0], same.len() as i64));
    }
    sort::ascending(&mut graphs);
    let iterations = graphs.chunk_by(|a, b| a.0 == b.0);
    let is_small = |graphs: &&[(Option<u32>, u32, i64)]| {
        graphs.len() >= MIN_GRAPHS && median(graphs.iter().map(|(.., kernels)| *kernels)) <= MAX_KERNELS
    };
    let iterations: Vec<_> = iterations.filter(is_small).collect();
    let mut idle: SortedMap<u32, Vec<TimeRange>> =
        SortedMap::of(iterations.iter().flat_map(|graphs| graphs.iter()).map(|(_, launch, _)| *launch));
    for (launch, time) in context.late_launches() {
        if let Some(times) = idle.get_mut(&launch) {
            times.push(time);
        }
    }
    let mut idle = idle.into_vec();
    idle.retain(|(_, times)| !times.is_empty());
    for (_, times) in &mut idle {
        *times = union(times.iter().flat_map(|time| context.idle_parts(*time)).collect());
    }
    let costs: Vec<_> = idle.iter().map(|(launch, times)| (total_ns(times), *launch)).collect();
    if costs.is_empty() {
        return Vec::new();
    }
    let in_one = median(iterations.iter().map(|graphs| graphs.len() as i64));
    let size = median(iterations.iter().flat_map(|graphs| graphs.iter()).map(|(.., kernels)| *kernels));
    let detail = format!("{in_one} graphs of {} in an iteration", plural(size as usize, "kernel"));
    let during = union(idle.into_iter().flat_map(|(_, times)| times).collect());
    vec![RuleMatch::of("graphs", costs, 0.8).during(during).detailed(detail)]
}
