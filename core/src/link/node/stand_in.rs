//! Finds nodes for calls that were recorded without the observer of the Execution Trace.
//!
//! The observer slows the host down, so a recording may run it in one iteration alone. The nodes of
//! that iteration then stand for the same calls in the others.

use super::align::{PlacePair, align};
use super::arguments::{ArgumentMatch, InputArguments};
use super::consensus::NameSequences;
use super::name_ids::NameIds;
use super::thread::{CallSequence, of_events};
use crate::column::OptionalColumn;
use crate::link::iteration::Iteration;
use crate::link::link_method::LinkMethod;
use crate::trace::Trace;
use crate::trace::iteration::iteration_number;

/// A stretch is compared with the observed one if neither has so many times the calls of the other:
/// this keeps the time linear.
const MAX_RATIO: usize = 4;

/// The nodes that stand for events; rows of nodes, a row an event.
#[derive(Debug, Clone, Default)]
pub struct StandIns {
    /// Of calls with the same inputs.
    pub alike: OptionalColumn,
    /// Of calls at the same place: an input has another value, or nothing is known of inputs.
    pub placed: OptionalColumn,
}

impl StandIns {
    /// The node that stands for an event, and how it was found.
    pub fn find(&self, event: usize) -> Option<(u32, LinkMethod)> {
        let alike = self.alike.get(event).map(|node| (node, LinkMethod::ObservedIteration));
        alike.or_else(|| Some((self.placed.get(event)?, LinkMethod::ObservedPlace)))
    }
}

/// Calls of one thread in one iteration.
struct IterationCalls<'a> {
    rows: &'a [u32],
    names: &'a [u32],
}

/// The node that stands for each event, by thread: that of the same call in the observed iteration
/// before, or else after. Empty without nodes, and where the observer ran in no iteration, or in
/// all.
///
/// The node of a call whose inputs have other shapes or types stands for no event.
pub(super) fn find(trace: &Trace, iterations: &[Iteration], node_of_event: &OptionalColumn) -> StandIns {
    let num_observed = iterations.iter().filter(|iteration| iteration.is_observed).count();
    if trace.nodes.is_empty() || num_observed == 0 || num_observed == iterations.len() {
        return StandIns::default();
    }
    let [mut alike, mut placed] = [(); 2].map(|()| OptionalColumn::empty(trace.events.len()));
    let arguments = InputArguments::new(trace);
    let mut are_inputs_known = false;
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
                for [event, observed] in same_calls(calls, observed, &arguments) {
                    let Some(node) = node_of_event.get(observed as usize) else { continue };
                    are_inputs_known = are_inputs_known || arguments.are_known(event);
                    let is_alike = arguments.compare([event, observed]) == ArgumentMatch::Alike;
                    let column = if is_alike { &mut alike } else { &mut placed };
                    column.set(event as usize, node);
                }
            }
        }
    }
    if are_inputs_known { StandIns { alike, placed } } else { StandIns { placed: alike, alike: placed } }
}

/// The calls of each iteration in which the thread has any, with its place; in the order of time.
fn parts<'a>(trace: &Trace, iterations: &[Iteration], sequence: &'a CallSequence) -> Vec<(usize, IterationCalls<'a>)> {
    let places = sequence.rows.iter().map(|row| Iteration::at(iterations, trace.events.start.at(*row as usize)));
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

/// Rows of events, each with that of the same call in the observed iteration.
///
/// Calls with the same inputs first; between them, those at the same place whose values differ.
fn same_calls(
    calls: &IterationCalls<'_>,
    observed: &IterationCalls<'_>,
    arguments: &InputArguments<'_>,
) -> Vec<[u32; 2]> {
    let (few, many) = (calls.rows.len().min(observed.rows.len()), calls.rows.len().max(observed.rows.len()));
    if few * MAX_RATIO < many {
        return Vec::new();
    }
    let events = |(at, to): PlacePair| [calls.rows[at as usize], observed.rows[to as usize]];
    let aligned = |least: ArgumentMatch| {
        let is_contradicted = |pair: PlacePair| arguments.compare(events(pair)) < least;
        let names = NameSequences { a: calls.names, b: observed.names, is_contradicted: &is_contradicted };
        align(&names, 0..observed.names.len(), 0)
    };
    let placed = aligned(ArgumentMatch::OtherValue);
    // Other work may have a stretch in common with that of the observed iteration.
    if (placed.num_matched as usize) * 2 < few {
        return Vec::new();
    }
    let alike = aligned(ArgumentMatch::Alike).certain;
    let is_between = |(at, to): &PlacePair| {
        let next = alike.partition_point(|pair| pair.0 < *at);
        alike.get(next).is_none_or(|after| *at < after.0 && *to < after.1)
            && next.checked_sub(1).is_none_or(|before| alike[before].1 < *to)
    };
    let placed: Vec<_> = placed.certain.into_iter().filter(is_between).collect();
    alike.into_iter().chain(placed).map(events).collect()
}
