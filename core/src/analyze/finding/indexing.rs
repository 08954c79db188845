//! Elements of a tensor worked through one by one.

use super::super::words::plural;
use super::found::Found;
use super::scene::{JsonArgs, Scene};
use super::sibling::Operators;
use super::{Find, Rule};
use crate::id::StrId;
use crate::time::sum_ns;
use crate::trace::arg_key::ArgKey;

pub(super) static INDEXING: Rule = Rule {
    name: "indexing_in_a_loop",
    doc: "a Python loop takes one element of a tensor after another, with the same operators for each",
    cost: "host time of all rounds but the first",
    advice: "one operator on the whole tensor",
    is_pattern: true,
    find: Find::Trace(found),
};

/// What takes one element.
const SELECT: &str = "aten::select";

/// Fewer rounds than this are no loop worth mentioning.
const MANY: usize = 10;

/// With more operators to a round, the element is only a part of what the round is for: a token on its way through a model.
const LONG: usize = 8;

fn found(scene: &Scene<'_>) -> Vec<Found> {
    if scene.named(|name| name == SELECT).len() < MANY {
        return Vec::new();
    }
    let tree = Operators::new(scene);
    let mut inputs = scene.json_args(ArgKey::ConcreteInputs);
    let runs: Vec<_> = families(scene, &tree).iter().flat_map(|family| runs(scene, &mut inputs, family)).collect();
    if runs.is_empty() {
        return Vec::new();
    }
    let detail = format!("{} of {} rounds or more", plural(runs.len(), "loop"), MANY);
    vec![Found::of(SELECT, runs, 0.8).told(detail)]
}

/// Operators inside of the same one, or of none, in the order of time; only families that take elements.
fn families(scene: &Scene<'_>, tree: &Operators<'_>) -> Vec<Vec<u32>> {
    let mut inside: rustc_hash::FxHashMap<u32, Vec<u32>> = rustc_hash::FxHashMap::default();
    for row in scene.named(|name| name == SELECT) {
        if let Some(parent) = tree.parent(row) {
            inside.entry(parent).or_default();
        }
    }
    for row in scene.links.nesting.order.iter().filter(|row| scene.selection.contains(**row as usize)) {
        let is_operator = scene.trace.events.kind[*row as usize] == crate::trace::kind::EventKind::Operator;
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
fn runs(scene: &Scene<'_>, inputs: &mut JsonArgs<'_>, family: &[u32]) -> Vec<(i64, u32)> {
    let starts: Vec<usize> = (0..family.len()).filter(|at| scene.name(family[*at]) == SELECT).collect();
    let round = |at: usize| &family[starts[at]..starts.get(at + 1).copied().unwrap_or(family.len())];
    let names = |rows: &[u32]| rows.iter().map(|row| scene.trace.events.name[*row as usize]).collect::<Vec<StrId>>();
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
            runs.push((sum_ns(rest.map(|row| scene.time(*row).dur().0)), family[starts[at]]));
        }
        at = next;
    }
    runs
}

/// Which element is taken, where it was recorded.
fn index(inputs: &mut JsonArgs<'_>, row: u32) -> Option<String> {
    const INDEX: usize = 2; // select(self, dim, index)
    let text = inputs.of(row).get(INDEX)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}
