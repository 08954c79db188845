//! Finds operators inside compiled graphs that run a kernel of their own.

use super::super::roofline::is_fusible;
use super::copy::is_with_host;
use super::graph_break::GRAPH;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::trace::kind::EventKind;

pub(super) static MISSED_FUSION: Rule = Rule {
    name: "missed_fusion",
    doc: "inside a compiled graph, an operator on each element or a copy runs a kernel of its own",
    cost: "device time of these kernels; a fused one would still read and write its result",
    advice: "read why Inductor calls the operator (TORCH_LOGS=output_code): often it has no decomposition, or a custom \
             operator changes its input",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

/// Parts of the names of functions that call operators beside the graph: they measure kernels, or
/// copy the inputs of a replayed graph.
const OTHERS: [&str; 4] = ["benchmark", "utotun", "do_bench", "cudagraph_trees"];

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let graphs = context.named(|name| name.starts_with(GRAPH));
    if graphs.is_empty() {
        return Vec::new();
    }
    let around = context.around(&graphs);
    let missed = context.selection.device_work().filter_map(|row| {
        let operator = context.links.operator.get(row)?;
        let graph = around.get(operator as usize)?;
        let name = context.operator(operator);
        let is_missed = is_fusible(name)
            && context.is_in_loop(row as u32)
            && !is_with_host(context.name(row as u32))
            && is_called_by(context, graph, operator);
        is_missed.then(|| (name.to_owned(), row as u32))
    });
    context.matches_of_work(missed.collect(), "kernel", 0.7)
}

/// Whether a graph itself calls an operator, not another operator or function inside.
fn is_called_by(context: &RuleContext<'_>, graph: u32, operator: u32) -> bool {
    let parent = |row: &u32| context.links.nesting.parent.get(*row as usize).filter(|parent| *parent != graph);
    std::iter::successors(parent(&operator), parent).all(|row| {
        let is_operator = context.trace.events.kind[row as usize] == EventKind::Operator;
        let name = context.operator(row);
        (!is_operator || is_fusible(name)) && !OTHERS.iter().any(|part| name.contains(part))
    })
}
