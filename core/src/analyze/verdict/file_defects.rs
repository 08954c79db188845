//! Turns defects of the files, and of the links between them, into problems.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::problem::{Problem, VerdictState};
use crate::analyze::launch::{first_launch, launch_method};
use crate::analyze::unlinked_reason::UnlinkedReason;
use crate::link::LinkedTrace;
use crate::sort;
use crate::trace::kind::EventKind;
use crate::warning::{Severity, Warning, WarningKind};

pub(super) fn problems(linked: &LinkedTrace) -> Vec<Problem> {
    let of_warning = |warning: &Warning| match warning.kind {
        // These have problems of their own.
        WarningKind::LostDeviceWork
        | WarningKind::OverlongWork
        | WarningKind::OverlongCall
        | WarningKind::WorkBeforeLaunch
        | WarningKind::MissingLaunch => Vec::new(),
        WarningKind::OperatorWithoutNode => vec![operators_without_node(linked)],
        WarningKind::NodeWithoutEvent => vec![nodes_without_event(linked)],
        kind if kind.severity() == Severity::Note => Vec::new(),
        kind => {
            // A page is shared: folders of the machine that made it stay private.
            let place = warning.first.to_string();
            let place = &place[place.rfind(['/', '\\']).map_or(0, |at| at + 1)..];
            let message = if place.is_empty() {
                kind.message().to_owned()
            } else {
                format!("{} (first: {place})", kind.message())
            };
            let problem = Problem::new(kind.name(), state(kind), warning.count as usize, message);
            let event = warning.first.event.and_then(|event| u32::try_from(event).ok());
            vec![Problem { events: event.into_iter().collect(), ..problem }]
        }
    };
    linked.warnings().flat_map(of_warning).chain(missing_launches(linked)).collect()
}

fn operators_without_node(linked: &LinkedTrace) -> Problem {
    let (trace, rows) = (&linked.trace, &linked.links.nodes.without_node);
    let kind = WarningKind::OperatorWithoutNode;
    let names = most_frequent(rows.iter().map(|row| trace.event_name(*row as usize)));
    Problem::new(kind.name(), state(kind), rows.len(), format!("{} ({names})", kind.message())).of_rows(trace, rows)
}

fn nodes_without_event(linked: &LinkedTrace) -> Problem {
    let (trace, rows) = (&linked.trace, &linked.links.nodes.without_event);
    let kind = WarningKind::NodeWithoutEvent;
    let nodes = || rows.iter().map(|row| &trace.nodes[*row as usize]);
    let names = most_frequent(nodes().map(|node| trace.strings.text(node.name)));
    let first = nodes().next().map_or(0, |node| node.id);
    let message = format!("{} ({names}; first: node {first})", kind.message());
    Problem::new(kind.name(), state(kind), rows.len(), message)
}

/// So many names are given as examples.
const MAX_NAMES: usize = 3;

/// The most frequent names with their numbers.
fn most_frequent<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    sort::by_key(&mut counts, |(name, count)| (Reverse(*count), *name));
    let mut texts: Vec<_> = counts.iter().take(MAX_NAMES).map(|(name, count)| format!("{count} × {name}")).collect();
    if counts.len() > MAX_NAMES {
        texts.push(String::from("…"));
    }
    texts.join(", ")
}

/// The state that a defect means for a trace.
fn state(kind: WarningKind) -> VerdictState {
    match kind {
        WarningKind::Truncated
        | WarningKind::DamagedCompression
        | WarningKind::SecondDocument
        | WarningKind::MalformedElement
        | WarningKind::NotAnEvent
        | WarningKind::MissingStart
        | WarningKind::MissingTime
        | WarningKind::MissingDuration
        | WarningKind::UnfinishedBegin
        | WarningKind::UnmatchedEnd
        | WarningKind::MissingParent
        | WarningKind::OperatorWithoutNode
        | WarningKind::NodeWithoutEvent
        | WarningKind::UnfinishedExecutionTrace
        | WarningKind::OversizedValue
        | WarningKind::DamagedTable
        | WarningKind::LostPacket
        | WarningKind::DamagedMessage
        | WarningKind::InvalidValue => VerdictState::Incomplete,
        WarningKind::InvalidNumber
        | WarningKind::NegativeDuration
        | WarningKind::ZeroTime
        | WarningKind::FarTime
        | WarningKind::ImmenseTime
        | WarningKind::DuplicateNode
        | WarningKind::AmbiguousLaunch
        | WarningKind::ForeignExecutionTrace
        | WarningKind::OtherProcess
        | WarningKind::UnlikeExecutionTrace
        | WarningKind::BackwardDependency => VerdictState::Inconsistent,
        // Repairs without loss are remarks.
        _ => VerdictState::Complete,
    }
}

/// Device events without a launch, by the reason. Work that was enqueued before the recording began
/// lacks nothing, and neither does work without a correlation id, or a recording without launches.
fn missing_launches(linked: &LinkedTrace) -> Vec<Problem> {
    let kinds = [WarningKind::MissingLaunch, WarningKind::UnrecordedLaunch];
    if kinds.iter().all(|kind| linked.links.warnings.count(*kind) == 0) {
        return Vec::new();
    }
    let (trace, first) = (&linked.trace, first_launch(linked));
    let is_work = |row: &usize| trace.events.kind[*row].is_device_work();
    let has_launches = trace.events.has(EventKind::Launch);
    let (mut before, mut unnumbered, mut missing, mut num_all) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for row in (0..trace.events.len()).filter(is_work) {
        num_all += 1;
        match launch_method(linked, &first, row) {
            // Ambiguous ones are a problem of their own.
            Ok(_) | Err(UnlinkedReason::AmbiguousLaunch) => {}
            Err(UnlinkedReason::LaunchedBefore) => before.push(row as u32),
            Err(UnlinkedReason::NoCorrelation) => unnumbered.push(row as u32),
            Err(_) => missing.push(row as u32),
        }
    }
    let problem = |name, state, rows: &[u32], message: &str| {
        let problem = Problem::new(name, state, rows.len(), message).of_rows(trace, rows).of(num_all);
        (!rows.is_empty()).then_some(problem)
    };
    let (complete, missing_state) = (VerdictState::Complete, VerdictState::Incomplete);
    if !has_launches {
        missing.append(&mut unnumbered);
        missing.append(&mut before);
        let message = "device events belong to no operator, because the file has no launches";
        return problem("no_launches", complete, &missing, message).into_iter().collect();
    }
    [
        problem(
            "missing_launch",
            missing_state,
            &missing,
            "device events have no launch in the file, so they belong to no operator",
        ),
        problem(
            "no_correlation",
            complete,
            &unnumbered,
            "device events have no correlation id, so their launch is unknown",
        ),
        problem("launched_before", complete, &before, "device events were launched before the recording began"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
