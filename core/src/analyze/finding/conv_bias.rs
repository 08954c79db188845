//! Finds convolution biases that a following batch norm cancels.

use serde_json::Value;

use super::super::number_text::plural;
use super::operator_trees::OperatorTrees;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::RuleContext;
use super::rule_match::RuleMatch;
use crate::trace::arg_key::ArgKey;

pub(super) static CONV_BIAS: Rule = Rule {
    name: "conv_bias_before_batch_norm",
    doc: "a convolution has a bias right before a batch norm, which cancels the bias",
    cost: "time of adding the bias, if a separate operator adds it",
    advice: "set bias=False in the convolution",
    is_pattern: true,
    data: RuleData::Host,
    find: RuleScope::Trace(found),
};

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    let norms = context.named(|name| name == "aten::batch_norm");
    if norms.is_empty() {
        return Vec::new();
    }
    let tree = OperatorTrees::new(context);
    let mut types = context.json_args(ArgKey::InputTypes);
    let mut shapes = context.json_args(ArgKey::InputShapes);
    let mut rows = Vec::new();
    for row in norms {
        let Some(before) = convolution_before(&tree, &mut types, row) else { continue };
        let has_type = |at: &Value| at.get(2).and_then(Value::as_str).is_some_and(|dtype| !dtype.is_empty());
        let has_shape = |at: &Value| at.get(2).and_then(Value::as_array).is_some_and(|dims| !dims.is_empty());
        if has_type(types.of(before)) || has_shape(shapes.of(before)) {
            rows.push(before);
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let detail = format!("{} with a bias before a batch norm", plural(rows.len(), "call"));
    vec![RuleMatch::of("convolution", with_added(context, rows), 0.9).detailed(detail)]
}

/// The convolution right before a batch norm, which in training counts its batches first.
fn convolution_before(
    tree: &OperatorTrees<'_>,
    types: &mut super::rule_context::JsonArgs<'_>,
    row: u32,
) -> Option<u32> {
    let mut before = tree.before(row)?;
    let is_counter =
        tree.name(before) == "aten::add_" && types.of(before).get(0).is_none_or(|dtype| dtype == "long int");
    if is_counter {
        before = tree.before(before)?;
    }
    matches!(tree.name(before), "aten::conv1d" | "aten::conv2d" | "aten::conv3d").then_some(before)
}

/// Convolutions with the time of the additions inside them.
fn with_added(context: &RuleContext<'_>, mut rows: Vec<u32>) -> Vec<(i64, u32)> {
    crate::sort::ascending(&mut rows);
    rows.dedup();
    let around = context.around(&rows);
    let mut costs: Vec<(i64, u32)> = rows.iter().map(|row| (0, *row)).collect();
    for add in context.named(|name| name == "aten::add_") {
        let Some(convolution) = around.get(add as usize) else { continue };
        if let Ok(at) = rows.binary_search(&convolution) {
            crate::time::add_ns(&mut costs[at].0, context.time_of(add));
        }
    }
    costs
}
