//! Finds decode steps that wait for launches which a graph would replay.

use super::super::interval::{total_ns, union};
use super::super::number_text::plural;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::time::TimeRange;
use crate::trace::step_name::Phase;
use crate::vendor::launches_graph;

pub(super) static UNCAPTURED_DECODE: Rule = Rule {
    name: "uncaptured_decode",
    doc: "decode steps launch each kernel by itself, and the device waits for the launches",
    cost: "device idle time before kernels that decode steps without a graph launched too late",
    advice: "replay a CUDA or HIP graph for the batch sizes that occur (in vLLM: enforce_eager=False, cudagraph_capture_sizes)",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

/// Fewer kernels are no work for a graph.
const MIN_KERNELS: usize = 8;

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let iterations = &context.links.iterations;
    let is_decode = |place: usize| iterations[place].facts.phase == Some(Phase::Decode);
    if !(0..iterations.len()).any(is_decode) {
        return Vec::new();
    }
    let mut num_kernels = vec![0_usize; iterations.len()];
    let mut has_graph = vec![false; iterations.len()];
    for (launch, _) in context.links.launched.pairs() {
        let Some(place) = context.links.iteration.get(*launch as usize) else { continue };
        num_kernels[place as usize] += 1;
        has_graph[place as usize] |= launches_graph(context.name(*launch));
    }
    // The work of a replay may be lost.
    for launch in context.named(launches_graph) {
        let Some(place) = context.links.iteration.get(launch as usize) else { continue };
        has_graph[place as usize] = true;
    }
    let is_slow = |place: usize| is_decode(place) && !has_graph[place] && num_kernels[place] >= MIN_KERNELS;
    let mut idle: Vec<Vec<TimeRange>> = vec![Vec::new(); iterations.len()];
    for (launch, time) in context.late_launches() {
        let place = context.links.iteration.get(launch as usize).map(|place| place as usize);
        if let Some(place) = place.filter(|place| is_slow(*place)) {
            idle[place].extend(context.idle_parts(time));
        }
    }
    let idle: Vec<_> = idle.into_iter().map(union).collect();
    let places = (0..iterations.len()).filter(|place| !idle[*place].is_empty());
    let costs: Vec<_> = places.map(|place| (total_ns(&idle[place]), iterations[place].event)).collect();
    if costs.is_empty() {
        return Vec::new();
    }
    let detail = plural(costs.len(), "step");
    vec![RuleMatch::of("decode", costs, 0.8).during(union(idle.concat())).detailed(detail)]
}
