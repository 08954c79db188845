//! Finds serving engines that choose the next token on the host.

use super::super::number_text::plural;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::{RuleMatch, by_subject};
use crate::trace::arg_key::ArgKey;
use crate::trace::kind::EventKind;

pub(super) static HOST_SAMPLING: Rule = Rule {
    name: "sampling_on_host",
    doc: "a serving engine samples the next token with operators on the host while the device waits",
    cost: "device idle time while these operators run on the host",
    advice: "sample on the device, and copy only the chosen tokens to the host",
    is_pattern: false,
    data: RuleData::Device,
    find: RuleScope::Trace(found),
};

/// Operators that turn logits into tokens.
const SAMPLING: [&str; 12] = [
    "aten::softmax",
    "aten::_softmax",
    "aten::log_softmax",
    "aten::_log_softmax",
    "aten::topk",
    "aten::sort",
    "aten::argmax",
    "aten::argsort",
    "aten::cumsum",
    "aten::multinomial",
    "aten::exponential_",
    "aten::scatter_",
];

/// Tensors with a smaller last dimension are no logits.
const MIN_VOCABULARY: i64 = 1_000;

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let is_serving = context.links.iterations.iter().any(|iteration| iteration.facts.phase.is_some());
    let rows = if is_serving { context.outermost(context.named(|name| SAMPLING.contains(&name))) } else { Vec::new() };
    if rows.is_empty() || !context.has_device() {
        return Vec::new();
    }
    let on_device = launching(context, &rows);
    let mut dims = context.json_args(ArgKey::InputShapes);
    let on_host = rows.into_iter().filter(|row| on_device.binary_search(row).is_err());
    let costs = on_host.filter_map(|row| {
        let logits = dims.of(row).pointer("/0").and_then(|shape| shape.as_array()?.last()?.as_i64());
        let is_large = logits.is_none_or(|length| length >= MIN_VOCABULARY);
        is_large.then(|| (context.operator(row).to_owned(), context.lost_ns(context.time(row)), row))
    });
    let of_operator = |(subject, costs): (String, Vec<(i64, u32)>)| {
        let during = context.all_lost(costs.iter().map(|(_, row)| context.time(*row)));
        let detail = plural(costs.len(), "call");
        RuleMatch::of(subject, costs, 0.7).during(during).detailed(detail)
    };
    by_subject(costs).into_iter().map(of_operator).collect()
}

/// Those of the operators that call the device or own work of it, ascending.
fn launching(context: &RuleContext<'_>, rows: &[u32]) -> Vec<u32> {
    let around = context.around(rows);
    let kinds = &context.trace.events.kind;
    let calls = (0..kinds.len()).filter(|row| kinds[*row] == EventKind::Launch);
    let owners = (0..kinds.len()).filter_map(|row| context.links.operator.get(row)).map(|owner| owner as usize);
    let own = |row: usize| rows.binary_search(&(row as u32)).ok().map(|at| rows[at]);
    let mut found: Vec<u32> = calls.chain(owners).filter_map(|row| around.get(row).or_else(|| own(row))).collect();
    crate::sort::ascending(&mut found);
    found.dedup();
    found
}
