//! Links nodes with events by the first method that fits: ids, order of names, or within one
//! iteration.

use super::call::calls;
use super::iteration_match::{IterationMatch, RecordingPair};
use super::matched_nodes::MatchedNodes;
use super::node_links::NodeLinks;
use super::recorded::RecordedTime;
use super::sequence::FIT;
use super::shape::InputShapes;
use super::stand_in::StandIns;
use super::{fill, id, parent, process, recorded, sequence, stand_in, thread};
use crate::column::OptionalColumn;
use crate::error::Position;
use crate::link::iteration::Iteration;
use crate::link::link_method::LinkMethod;
use crate::trace::Trace;
use crate::trace::arg_key::ArgKey;
use crate::trace::node::{Node, NodeKind};
use crate::warning::{WarningKind, Warnings};

pub(in crate::link) fn link_nodes(trace: &Trace, iterations: &[Iteration], warnings: &mut Warnings) -> NodeLinks {
    let found = find(trace, iterations, warnings);
    let mut links = NodeLinks {
        node_of_event: OptionalColumn::empty(trace.events.len()),
        stand_ins: StandIns::default(),
        event_of_node: OptionalColumn::empty(trace.nodes.len()),
        parent_of_node: parent::link_parents(trace, warnings),
        how: found.how,
        confidence: found.confidence,
        windows: found.windows,
        recorded: RecordedTime::default(),
        without_node: Vec::new(),
        without_event: Vec::new(),
    };
    for (event, node) in found.rows {
        links.node_of_event.set(event as usize, node);
        if links.event_of_node.get(node as usize).is_none() {
            links.event_of_node.set(node as usize, event);
        }
    }
    links.recorded = RecordedTime::of(trace, &links, iterations);
    (links.without_node, links.without_event) = recorded::missing(trace, &links);
    recorded::count_missing(trace, &links, warnings);
    links.stand_ins = stand_in::find(trace, iterations, &links.node_of_event);
    links
}

/// In the header of the Execution Trace, the iteration to link (see `LinkedTrace::relink`): so a
/// snapshot keeps it.
pub(in crate::link) const ASKED_FOR: &str = "linked_iteration";

pub(super) fn find(trace: &Trace, iterations: &[Iteration], warnings: &mut Warnings) -> MatchedNodes {
    // An Execution Trace without calls contradicts nothing.
    let is_node_call =
        |node: &Node| matches!(node.kind(trace.strings.text(node.name)), NodeKind::Operator | NodeKind::Annotation);
    if !trace.nodes.iter().any(is_node_call) || calls(trace).next().is_none() {
        return MatchedNodes::default();
    }
    let asked = trace.execution_header.iter().find(|(key, _)| trace.strings.text(*key) == ASKED_FOR);
    if let Some((_, iteration)) = asked {
        let number = trace.strings.text(*iteration).parse().ok();
        let observed = number.and_then(|number| by_observed(trace, iterations, number));
        return observed.unwrap_or_else(|| by_names(trace, iterations, number, warnings));
    }
    if process::are_of_two_processes(trace) {
        warnings.push_many(WarningKind::OtherProcess, 1, Position::default);
        return MatchedNodes::default();
    }
    let recorded = id::shared(trace, ArgKey::RecordId);
    if recorded.count > 0 {
        // Ids count from 1 in every run, so those of another run are shared too, but they name
        // other operators.
        if !recorded.are_of_one_run() {
            warnings.push_many(WarningKind::ForeignExecutionTrace, 1, Position::default);
            return MatchedNodes { confidence: recorded.agreement(), ..MatchedNodes::default() };
        }
        return recorded.found(LinkMethod::RecordId);
    }
    let external = id::shared(trace, ArgKey::ExternalId);
    if external.is_one_numbering() {
        return external.found(LinkMethod::ExternalId);
    }
    by_names(trace, iterations, None, warnings)
}

/// Links an iteration in which the observer did not run with the nodes that stand for its calls.
/// `None` if the observer ran in it, or if it does not fit the observed one.
fn by_observed(trace: &Trace, iterations: &[Iteration], number: i64) -> Option<MatchedNodes> {
    let place = iterations.iter().position(|iteration| iteration.number == number && !iteration.is_observed)?;
    let recorded = id::shared(trace, ArgKey::RecordId);
    if recorded.count == 0 || !recorded.are_of_one_run() || process::are_of_two_processes(trace) {
        return None;
    }
    let observed = recorded.found(LinkMethod::RecordId).rows;
    let mut node_of_event = OptionalColumn::empty(trace.events.len());
    observed.iter().for_each(|(event, node)| node_of_event.set(*event as usize, *node));
    let stand_ins = stand_in::find(trace, iterations, &node_of_event);
    let is_inside = |row: &usize| Iteration::at(iterations, trace.events.start.at(*row)) == Some(place);
    let rows = (0..trace.events.len()).filter(is_inside);
    let rows: Vec<_> = rows.filter_map(|row| Some((row as u32, stand_ins.find(row)?.0))).collect();
    let fit = rows.len() as f32 / observed.len().max(1) as f32;
    let [first, last] = [rows.first()?.0, rows.last()?.0];
    let window = IterationMatch { iteration: number, fit, first, last, is_of_events: true, is_linked: true };
    let confidence = fit * LinkMethod::ObservedIteration.confidence();
    let found = MatchedNodes { rows, how: Some(LinkMethod::ObservedIteration), confidence, windows: vec![window] };
    (fit >= FIT).then_some(found)
}

/// Links by the order of names: from end to end, or else the one recording within the other.
pub(super) fn by_names(
    trace: &Trace,
    iterations: &[Iteration],
    iteration: Option<i64>,
    warnings: &mut Warnings,
) -> MatchedNodes {
    let threads = thread::threads(trace);
    let shapes = InputShapes::new(trace);
    let mut found = MatchedNodes::default();
    if iteration.is_none() {
        found = sequence::found(sequence::align_threads(&threads, &shapes), LinkMethod::Sequence);
    }
    if found.how.is_none() {
        let chosen = RecordingPair::new(trace, iterations, &threads, &shapes).link(iteration);
        let part = sequence::found(chosen.linked, LinkMethod::Window);
        let confidence = match part.how {
            Some(_) => part.confidence * chosen.sureness,
            None => part.confidence.max(found.confidence),
        };
        let mut windows = chosen.windows;
        windows.iter_mut().for_each(|window| window.is_linked &= part.how.is_some());
        found = MatchedNodes { confidence, windows, ..part };
    }
    if found.how.is_some() {
        fill::fill(trace, &mut found.rows);
    } else {
        warnings.push_many(WarningKind::UnlikeExecutionTrace, 1, Position::default);
    }
    found
}
