//! Finds loops over single elements of a tensor.

use super::super::number_text::plural;
use super::operator_trees::OperatorTrees;
use super::rule::{Rule, RuleData, RuleScope};
use super::rule_context::{JsonArgs, RuleContext};
use super::rule_match::RuleMatch;
use crate::id::StrId;
use crate::time::sum_ns;
use crate::trace::arg_key::ArgKey;

pub(super) static INDEXING: Rule = Rule {
    name: "indexing_in_a_loop",
    doc: "a Python loop runs the same operators for each element of a tensor",
    cost: "host time of all rounds except the first",
    advice: "apply one operator to the whole tensor",
    is_pattern: true,
    data: RuleData::Host,
    find: RuleScope::Trace(found),
};

/// Calls that take one element.
const SELECT: &str = "aten::select";

/// Fewer rounds than this are no loop worth mentioning.
const MANY: usize = 10;

/// More operators per round mean a larger purpose than one element, such as a token on its way
/// through a model.
const LONG: usize = 8;

fn found(context: &RuleContext<'_>) -> Vec<RuleMatch> {
    if context.named(|name| name == SELECT).len() < MANY {
        return Vec::new();
    }
    let tree = OperatorTrees::new(context);
    let mut inputs = context.json_args(ArgKey::ConcreteInputs);
    let runs: Vec<_> = families(context, &tree).iter().flat_map(|family| runs(context, &mut inputs, family)).collect();
    if runs.is_empty() {
        return Vec::new();
    }
    let detail = format!("{} with {} or more rounds", plural(runs.len(), "loop"), MANY);
    vec![RuleMatch::of(SELECT, runs, 0.8).detailed(detail)]
}

/// Operators inside of the same one, or of none, in the order of time; only families that take
/// elements.
fn families(context: &RuleContext<'_>, tree: &OperatorTrees<'_>) -> Vec<Vec<u32>> {
    let mut inside: rustc_hash::FxHashMap<u32, Vec<u32>> = rustc_hash::FxHashMap::default();
    for row in context.named(|name| name == SELECT) {
        if let Some(parent) = tree.parent(row) {
            inside.entry(parent).or_default();
        }
    }
    for row in context.links.nesting.order.iter().filter(|row| context.selection.contains(**row as usize)) {
        let is_operator = context.trace.events.kind[*row as usize] == crate::trace::kind::EventKind::Operator;
        let family = tree.parent(*row).filter(|_| is_operator).and_then(|parent| inside.get_mut(&parent));
        if let Some(family) = family {
            family.push(*row);
        }
    }
    let mut families: Vec<_> = inside.into_iter().collect();
    crate::sort::by_key(&mut families, |(parent, _)| *parent);
    families.into_iter().map(|(_, family)| family).chain(tree.roots.iter().cloned()).collect()
}

/// Loops in a family: the time of all rounds but the first, and the first operator.
fn runs(context: &RuleContext<'_>, inputs: &mut JsonArgs<'_>, family: &[u32]) -> Vec<(i64, u32)> {
    let starts: Vec<usize> = (0..family.len()).filter(|at| context.operator(family[*at]) == SELECT).collect();
    let round = |at: usize| &family[starts[at]..starts.get(at + 1).copied().unwrap_or(family.len())];
    let names =
        |rows: &[u32]| rows.iter().map(|row| context.trace.events.name.at(*row as usize)).collect::<Vec<StrId>>();
    let mut is_another = |at: usize| match [at - 1, at].map(|at| index(inputs, family[starts[at]])) {
        [Some(last), Some(this)] => last != this,
        _ => true,
    };
    let mut runs = Vec::new();
    let mut at = 0;
    while at < starts.len() {
        let first = names(round(at));
        let mut next = at + 1;
        // After the last element other things may follow at once.
        while next < starts.len()
            && names(round(next).get(..first.len()).unwrap_or_default()) == first
            && is_another(next)
        {
            next += 1;
            if round(next - 1).len() > first.len() {
                break;
            }
        }
        if next - at >= MANY && first.len() <= LONG {
            let rest = (at + 1..next).flat_map(|at| round(at).iter().take(first.len()));
            runs.push((sum_ns(rest.map(|row| context.time(*row).dur().0)), family[starts[at]]));
        }
        at = next;
    }
    runs
}

/// The index of the element, where it is recorded.
fn index(inputs: &mut JsonArgs<'_>, row: u32) -> Option<String> {
    const INDEX: usize = 2; // select(self, dim, index)
    let text = inputs.of(row).get(INDEX)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}
