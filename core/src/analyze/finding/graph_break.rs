//! Finds graph breaks: a compiled function that leaves its graph and enters another one.

use rustc_hash::FxHashMap;

use super::super::interval::{difference, within};
use super::super::number_text::plural;
use super::compile;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::column::OptionalColumn;
use crate::id::TrackId;
use crate::sort;
use crate::time::{TimeRange, Ts, sum_ns};
use crate::trace::kind::EventKind;

pub(super) static GRAPH_BREAK: Rule = Rule {
    name: "graph_break",
    doc: "torch.compile leaves its graph in the middle of a function and enters another one",
    cost: "device idle time while the host goes from one graph to the next; that host time itself where no device works",
    advice: "move the code at this line out of the compiled function, or write it in a way that can be traced; \
             TORCH_LOGS=graph_breaks gives the reason, fullgraph=True makes a break an error",
    is_pattern: false,
    data: RuleData::Host,
    find: RuleScope::Trace(found),
};

/// How Dynamo names its range around compiled code.
const REGION: &str = "Torch-Compiled Region";

/// How Inductor names its range around the call of a graph.
pub(super) const GRAPH: &str = "## Call CompiledFxGraph";

/// How Dynamo names the rest of a function after a break: `torch_dynamo_resume_in_forward_at_8`.
const RESUMED: &str = "torch_dynamo_resume_in_";

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let regions = context.named(|name| name.starts_with(REGION));
    if regions.is_empty() {
        return Vec::new();
    }
    let around = context.around(&regions);
    let places = places(context, &around);
    let ends = graph_ends(context, &regions);
    let compiling = compile::times(context);
    let mut breaks: FxHashMap<String, Vec<(Vec<TimeRange>, u32)>> = FxHashMap::default();
    for region in regions.iter().copied().filter(|region| context.is_in_loop(*region)) {
        let Some(outer) = around.get(region as usize) else { continue };
        let subject = places.get(&region).cloned().unwrap_or_else(|| context.name(region).to_owned());
        // Compilation has a finding of its own.
        let between = between(context, &ends, region, outer);
        let times = difference(&[between], &within(&compiling, between));
        breaks.entry(subject).or_default().push((times, region));
    }
    let of_place = |(subject, breaks): (String, Vec<(Vec<TimeRange>, u32)>)| {
        let lost = |times: &[TimeRange]| sum_ns(times.iter().map(|time| context.lost_ns(*time)));
        let costs: Vec<_> = breaks.iter().map(|(times, region)| (lost(times), *region)).collect();
        let during = context.all_lost(breaks.iter().flat_map(|(times, _)| times.iter().copied()));
        let detail = plural(costs.len(), "break");
        RuleMatch::of(subject, costs, 0.9).during(during).detailed(detail)
    };
    let mut matches: Vec<RuleMatch> = breaks.into_iter().map(of_place).collect();
    sort::by_key(&mut matches, |one| one.subject.clone());
    matches
}

/// The line after the break of each region whose frame is recorded.
fn places(context: &RuleContext<'_>, around: &OptionalColumn) -> FxHashMap<u32, String> {
    let frames = context.named(|name| name.contains(RESUMED));
    let mut places = FxHashMap::default();
    for frame in frames.into_iter().filter(|row| context.trace.events.kind[*row as usize] == EventKind::Python) {
        if let Some((region, place)) = around.get(frame as usize).zip(place(context.name(frame))) {
            places.entry(region).or_insert(place);
        }
    }
    places
}

/// `model.py(8): forward` for `model.py(8): torch_dynamo_resume_in_forward_at_8`.
fn place(name: &str) -> Option<String> {
    let (line, function) = name.split_once("): ")?;
    let function = function.rsplit(RESUMED).next()?;
    let (function, number) = function.rsplit_once("_at_")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("{line}): {function}"))
}

/// When calls of graphs, and the regions after breaks, ended on each thread: ascending.
fn graph_ends(context: &RuleContext<'_>, regions: &[u32]) -> FxHashMap<TrackId, Vec<Ts>> {
    let mut ends: FxHashMap<TrackId, Vec<Ts>> = FxHashMap::default();
    for row in context.named(|name| name.starts_with(GRAPH)).iter().chain(regions) {
        ends.entry(context.trace.events.track.at(*row as usize)).or_default().push(context.time(*row).end);
    }
    ends.values_mut().for_each(|ends| sort::ascending(ends));
    ends
}

/// From the end of the graph before a region to its start.
fn between(context: &RuleContext<'_>, ends: &FxHashMap<TrackId, Vec<Ts>>, region: u32, outer: u32) -> TimeRange {
    let (start, track) = (context.time(region).start, context.trace.events.track.at(region as usize));
    let ends = ends.get(&track).map_or(&[][..], Vec::as_slice);
    let before = ends[..ends.partition_point(|end| *end <= start)].last().copied();
    let first = context.time(outer).start;
    TimeRange { start: before.unwrap_or(first).max(first).min(start), end: start }
}
