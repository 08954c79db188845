//! Finds decode steps that replay a graph of a larger batch.

use super::super::number_text::plural;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::{JsonArgs, RuleContext};
use super::rule_match::{RuleMatch, by_subject};
use crate::sort;
use crate::time::add_ns;
use crate::trace::arg_key::ArgKey;
use crate::trace::step_name::{Phase, StepFacts};

pub(super) static PADDED_GRAPH: Rule = Rule {
    name: "padded_graph",
    doc: "decode steps replay a graph that was captured for more tokens than they have",
    cost: "at most the device time of the replayed work times the share of padded rows; less where the time goes to \
           reading weights",
    advice: "capture graphs for the batch sizes that occur (in vLLM: cudagraph_capture_sizes; in SGLang: --cuda-graph-bs)",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

/// Operators with a row per token.
const MATMULS: [&str; 3] = ["aten::mm", "aten::addmm", "aten::linear"];

/// The replayed work of a step.
#[derive(Default)]
struct ReplayedStep {
    dur_ns: i64,
    /// Rows of each matmul.
    rows: Vec<u64>,
}

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let iterations = &context.links.iterations;
    let padded = steps(context).into_iter().zip(iterations).filter_map(|(mut step, iteration)| {
        let tokens = tokens(&iteration.facts)?;
        sort::ascending(&mut step.rows);
        let rows = step.rows.chunk_by(|a, b| a == b).max_by_key(|same| same.len())?[0];
        let padding = rows.checked_sub(tokens).filter(|padding| *padding > 0)?;
        let cost_ns = step.dur_ns as f64 * padding as f64 / rows as f64;
        Some((format!("graph of {}", plural(rows as usize, "token")), cost_ns as i64, iteration.event))
    });
    let padded: Vec<_> = padded.collect();
    let of_size = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let detail = format!("replayed by {} with fewer", plural(costs.len(), "step"));
        RuleMatch::of(subject, costs, 0.5).detailed(detail)
    };
    by_subject(padded.into_iter()).into_iter().map(of_size).collect()
}

/// New tokens of a decode step.
fn tokens(facts: &StepFacts) -> Option<u64> {
    let is_decode = facts.phase == Some(Phase::Decode);
    facts.generation.num_tokens.or(facts.generation.num_requests).or(facts.num_requests).filter(|_| is_decode)
}

/// For each iteration, the replayed work whose capture is known.
fn steps(context: &RuleContext<'_>) -> Vec<ReplayedStep> {
    let mut steps: Vec<ReplayedStep> = Vec::new();
    steps.resize_with(context.links.iterations.len(), ReplayedStep::default);
    if !context.links.iterations.iter().any(|iteration| tokens(&iteration.facts).is_some()) {
        return steps;
    }
    let mut shapes = context.json_args(ArgKey::InputShapes);
    for row in context.selection.device_work() {
        let Some(captured) = context.linked.captured(row) else { continue };
        let Some(place) = context.links.iteration.get(row) else { continue };
        let step = &mut steps[place as usize];
        add_ns(&mut step.dur_ns, context.time(row as u32).dur().0);
        let operator = context.links.operator.get(row).filter(|_| captured.has_inputs());
        let operator = operator.filter(|row| MATMULS.contains(&context.operator(*row)));
        if let Some(rows) = operator.and_then(|operator| rows(&mut shapes, operator)) {
            step.rows.push(rows);
        }
    }
    steps
}

/// Rows of the first matrix among the inputs.
fn rows(shapes: &mut JsonArgs<'_>, operator: u32) -> Option<u64> {
    let mut matrices = shapes.of(operator).as_array()?.iter().filter_map(|shape| shape.as_array());
    let [rest @ .., _] = &matrices.find(|shape| shape.len() >= 2)?[..] else { return None };
    rest.iter().try_fold(1_u64, |product, length| product.checked_mul(length.as_u64()?))
}
