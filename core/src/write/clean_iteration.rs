//! Chooses the iteration whose times a written Execution Trace takes.

use std::collections::BTreeMap;

use crate::link::{FIT, LinkMethod, LinkedTrace};

/// The iteration without the observer of the Execution Trace in which the calls of the observed
/// iteration are most complete: of several traces, in the one that has the fewest.
///
/// `None` if a trace has none, and where the nodes are linked to an iteration on request.
pub fn clean_iteration<'a>(traces: impl IntoIterator<Item = &'a LinkedTrace>) -> Option<i64> {
    let mut least: Option<BTreeMap<i64, f32>> = None;
    for linked in traces {
        let shares = shares(linked);
        least = Some(match least {
            Some(least) => {
                shares.into_iter().filter_map(|(at, share)| Some((at, share.min(*least.get(&at)?)))).collect()
            }
            None => shares,
        });
    }
    let fitting = least?.into_iter().filter(|(_, share)| *share >= FIT);
    // The first of equal ones.
    fitting.rev().max_by(|one, other| one.1.total_cmp(&other.1)).map(|(number, _)| number)
}

/// The number of each iteration without the observer, with the share of nodes that stand for a call
/// in it.
fn shares(linked: &LinkedTrace) -> BTreeMap<i64, f32> {
    let (links, nodes) = (&linked.links, &linked.links.nodes);
    if nodes.how != Some(LinkMethod::RecordId) {
        return BTreeMap::new();
    }
    let mut counts = vec![0_u32; links.iterations.len()];
    let mut num_linked = 0_u32;
    for row in 0..linked.trace.events.len() {
        if nodes.node_of_event.get(row).is_some() {
            num_linked += 1;
        } else if let (Some(at), Some(_)) = (links.iteration.get(row), nodes.stand_ins.find(row)) {
            counts[at as usize] += 1;
        }
    }
    let mut shares = BTreeMap::new();
    for (iteration, count) in links.iterations.iter().zip(counts).filter(|(iteration, _)| !iteration.is_observed) {
        shares.entry(iteration.number).or_insert(count as f32 / num_linked.max(1) as f32);
    }
    shares
}

/// How many of these events are in an iteration in which the observer ran, which slows the host.
pub(super) fn num_observed(linked: &LinkedTrace, events: impl Iterator<Item = u32>) -> usize {
    let links = &linked.links;
    let iteration = |event: u32| links.iteration.get(event as usize).map(|at| &links.iterations[at as usize]);
    events.filter_map(iteration).filter(|iteration| iteration.is_observed).count()
}
