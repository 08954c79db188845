//! Finds nodes for calls that were recorded without the observer of the Execution Trace.
//!
//! The observer slows the host down, so a recording may run it in one iteration alone. The nodes of
//! that iteration then stand for the same calls in the others.

use super::align::{PlacePair, align};
use super::consensus::NameSequences;
use super::name_ids::NameIds;
use super::node_links::NodeLinks;
use super::shape::InputShapes;
use super::thread::{CallSequence, of_events};
use crate::id::OptionalColumn;
use crate::link::iteration::Iteration;
use crate::trace::Trace;
use crate::trace::iteration::iteration_number;

/// A stretch is compared with the observed one if neither has so many times the calls of the other:
/// this keeps the time linear.
const MAX_RATIO: usize = 4;

/// Calls of one thread in one iteration.
struct IterationCalls<'a> {
    rows: &'a [u32],
    names: &'a [u32],
}

/// The node that stands for each event, by thread: that of the same call in the observed iteration
/// before, or else after. Empty where the observer ran in no iteration, or in all.
///
/// A node whose inputs have other shapes stands for no event.
pub(super) fn find(trace: &Trace, iterations: &[Iteration], links: &NodeLinks) -> OptionalColumn {
    let num_observed = iterations.iter().filter(|iteration| iteration.is_observed).count();
    if links.how.is_none() || num_observed == 0 || num_observed == iterations.len() {
        return OptionalColumn::default();
    }
    let mut column = OptionalColumn::empty(trace.events.len());
    let shapes = InputShapes::new(trace);
    for mut sequence in of_events(trace, &mut NameIds::new(&trace.strings)) {
        // The names of iterations differ in their numbers alone.
        for (row, name) in sequence.rows.iter().zip(&mut sequence.names) {
            if iteration_number(trace.event_name(*row as usize)).is_some() {
                *name = u32::MAX;
            }
        }
        let parts = parts(trace, iterations, &sequence);
        let mut observed = parts.iter().position(|(at, _)| iterations[*at].is_observed);
        for (place, (at, calls)) in parts.iter().enumerate() {
            if iterations[*at].is_observed {
                observed = Some(place);
            } else if let Some((_, observed)) = observed.map(|place| &parts[place]) {
                for (event, node) in stand_ins(calls, observed, links, &shapes) {
                    column.set(event as usize, node);
                }
            }
        }
    }
    column
}

/// The calls of each iteration in which the thread has any, with its place; in the order of time.
fn parts<'a>(trace: &Trace, iterations: &[Iteration], sequence: &'a CallSequence) -> Vec<(usize, IterationCalls<'a>)> {
    let places = sequence.rows.iter().map(|row| Iteration::at(iterations, trace.events.start[*row as usize]));
    let places: Vec<_> = places.collect();
    let mut start = 0;
    let mut parts = Vec::new();
    for part in places.chunk_by(|before, after| before == after) {
        let calls = start..start + part.len();
        start = calls.end;
        if let Some(at) = part[0] {
            parts.push((at, IterationCalls { rows: &sequence.rows[calls.clone()], names: &sequence.names[calls] }));
        }
    }
    parts
}

/// Rows of events, each with the node that stands for it.
fn stand_ins(
    calls: &IterationCalls<'_>,
    observed: &IterationCalls<'_>,
    links: &NodeLinks,
    shapes: &InputShapes<'_>,
) -> Vec<(u32, u32)> {
    let (few, many) = (calls.rows.len().min(observed.rows.len()), calls.rows.len().max(observed.rows.len()));
    if few * MAX_RATIO < many {
        return Vec::new();
    }
    let rows = |(at, to): PlacePair| {
        let event = calls.rows[at as usize];
        Some((event, links.node_of_event.get(observed.rows[to as usize] as usize)?))
    };
    let is_contradicted = |pair: PlacePair| rows(pair).is_some_and(|(event, node)| shapes.contradict(event, node));
    let names = NameSequences { a: calls.names, b: observed.names, is_contradicted: &is_contradicted };
    let aligned = align(&names, 0..observed.names.len(), 0);
    // Other work may have a stretch in common with that of the observed iteration.
    if (aligned.num_matched as usize) * 2 < few {
        return Vec::new();
    }
    aligned.certain.into_iter().filter_map(rows).collect()
}
