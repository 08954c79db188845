//! Reasons for missing links.

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::id::StrId;
use crate::link::{Iteration, LinkMethod, LinkedTrace, UnlaunchedReason, calls};
use crate::operator_name::base_name;
use crate::trace::iteration::iteration_number;
use crate::trace::kind::EventKind;
use crate::trace::node::{Node, NodeKind};

/// Why something is not linked: the first of these that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnlinkedReason {
    /// There is no second file, or nothing in it that could be linked.
    NoPartner,
    /// The two files fit too little, or their ids name different calls.
    OtherRun,
    /// A call outside of observed iterations, which have no equal one.
    NotObserved,
    /// An annotation of a name that only one file has.
    OneSided,
    /// An operator of a name that only one file has.
    NameAbsent,
    /// A thread on which nothing was linked.
    ThreadAbsent,
    /// No record id, where all that is linked is linked by them.
    NoRecordId,
    /// A node whose parent is not in its file.
    ParentMissing,
    /// Before the first or after the last that is linked on its thread.
    OutsideWindow,
    /// The other file has nothing at its place, or more than one that could be meant.
    Unmatched,
    /// A device event that was enqueued before the recording began.
    LaunchedBefore,
    /// A device event without a correlation id.
    NoCorrelation,
    /// A device event of a process without a recorded launch.
    NoLaunches,
    /// A device event whose launch is not in the file.
    LaunchMissing,
    /// A device event that several launches may have enqueued.
    AmbiguousLaunch,
    /// A launch that is inside of no operator.
    OperatorMissing,
    /// Work of a graph, where no capture is known.
    NoCapture,
    /// Work of a graph on several streams without numbers of nodes.
    UnknownOrder,
    /// Work of a graph that no capture has.
    OtherCapture,
}

impl UnlinkedReason {
    /// Its meaning in words.
    pub fn message(self) -> &'static str {
        match self {
            Self::NoPartner => "no second file, or nothing in it can be linked",
            Self::OtherRun => "the two files seem to come from different runs",
            Self::NotObserved => "the observed iteration has no equal call",
            Self::OneSided => "only one of the files has annotations of this name",
            Self::NameAbsent => "only one of the files has operators of this name",
            Self::ThreadAbsent => "the other file lacks the thread",
            Self::NoRecordId => "no record id",
            Self::OutsideWindow => "outside the time range of the other file",
            Self::ParentMissing => "the node's parent is not in the file",
            Self::Unmatched => "no match, or several possible matches, in the other file",
            Self::LaunchedBefore => "launched before the recording began",
            Self::NoCorrelation => "no correlation id",
            Self::NoLaunches => "the file has no launches of its process (its calls of the runtime were not traced)",
            Self::LaunchMissing => "its launch is not in the file",
            Self::AmbiguousLaunch => "several launches may be its",
            Self::OperatorMissing => "its launch is outside all operators",
            Self::NoCapture => "the capture of its graph is not in the file (pass its trace as `capture`)",
            Self::UnknownOrder => "its graph ran on several streams, and has no node ids that tell the order",
            Self::OtherCapture => "no capture has the work of its graph",
        }
    }
}

/// The calls of one file, which rows of the other may lack.
pub(super) struct FileSide<'a> {
    /// Names of all calls, without overloads.
    names: FxHashSet<&'a str>,
    /// Whether an observer ran in an iteration.
    has_observed: bool,
    call: fn(&LinkedTrace, usize) -> ReportedCall,
}

/// The facts of a call that both files record.
struct ReportedCall {
    name: StrId,
    is_annotation: bool,
    /// Whether an observer ran in its iteration; `None` for nodes and outside of iterations.
    is_observed: Option<bool>,
    /// Whether the other file was recorded at that time; `None` if it has nothing of the thread.
    is_recorded: Option<bool>,
    /// A defect that prevents a link at any position.
    defect: Option<UnlinkedReason>,
}

impl<'a> FileSide<'a> {
    /// The Execution Trace.
    pub(super) fn of_nodes(linked: &'a LinkedTrace) -> Self {
        let trace = &linked.trace;
        let is_root = |node: &&Node| node.kind(trace.strings.text(node.name)) == NodeKind::Root;
        Self::new(linked, trace.nodes.iter().filter(|node| !is_root(node)).map(|node| node.name), node_call)
    }

    /// The Kineto trace.
    pub(super) fn of_events(linked: &'a LinkedTrace) -> Self {
        let trace = &linked.trace;
        let calls = calls(trace);
        Self::new(linked, calls.map(|row| trace.events.name.at(row)), event_call)
    }

    fn new(
        linked: &'a LinkedTrace,
        names: impl Iterator<Item = StrId>,
        call: fn(&LinkedTrace, usize) -> ReportedCall,
    ) -> Self {
        let names: FxHashSet<StrId> = names.collect();
        let names = names.into_iter().map(|name| base_name(linked.trace.strings.text(name))).collect();
        Self { names, has_observed: linked.links.iterations.iter().any(|each| each.is_observed), call }
    }

    /// Why a row of this side is not linked with the other.
    pub(super) fn reason(&self, linked: &LinkedTrace, row: usize, other: &Self) -> UnlinkedReason {
        let call = (self.call)(linked, row);
        if linked.links.nodes.how.is_none() {
            return if other.names.is_empty() { UnlinkedReason::NoPartner } else { UnlinkedReason::OtherRun };
        }
        if self.has_observed && call.is_observed == Some(false) {
            return UnlinkedReason::NotObserved;
        }
        if !other.names.contains(base_name(linked.trace.strings.text(call.name))) {
            return if call.is_annotation { UnlinkedReason::OneSided } else { UnlinkedReason::NameAbsent };
        }
        let Some(is_recorded) = call.is_recorded else { return UnlinkedReason::ThreadAbsent };
        call.defect.unwrap_or(if is_recorded { UnlinkedReason::Unmatched } else { UnlinkedReason::OutsideWindow })
    }
}

fn node_call(linked: &LinkedTrace, row: usize) -> ReportedCall {
    let (node, links) = (&linked.trace.nodes[row], &linked.links.nodes);
    let is_orphan = node.parent.is_some_and(|id| id != node.id) && links.parent_of_node.get(row).is_none();
    ReportedCall {
        name: node.name,
        is_annotation: node.kind(linked.trace.strings.text(node.name)) == NodeKind::Annotation,
        is_observed: None,
        is_recorded: links.recorded.has_node(&linked.trace, row),
        defect: no_record_id(linked, node.record_id != 0).or(is_orphan.then_some(UnlinkedReason::ParentMissing)),
    }
}

fn event_call(linked: &LinkedTrace, row: usize) -> ReportedCall {
    let events = &linked.trace.events;
    ReportedCall {
        name: events.name.at(row),
        is_annotation: events.kind[row] == EventKind::Annotation,
        is_observed: is_observed(linked, row),
        is_recorded: linked.links.nodes.recorded.has_event(&linked.trace, row),
        defect: no_record_id(linked, linked.trace.record_id(row).is_some()),
    }
}

/// An empty last iteration, which is none, is told by its own annotation.
fn is_observed(linked: &LinkedTrace, row: usize) -> Option<bool> {
    let (trace, iterations) = (&linked.trace, &linked.links.iterations);
    let around = Iteration::at(iterations, trace.events.start.at(row)).map(|at| iterations[at].is_observed);
    around.or_else(|| iteration_number(trace.event_name(row)).map(|_| trace.record_id(row).is_some()))
}

/// The lack of an id, where links go by ids.
fn no_record_id(linked: &LinkedTrace, has_id: bool) -> Option<UnlinkedReason> {
    (linked.links.nodes.how == Some(LinkMethod::RecordId) && !has_id).then_some(UnlinkedReason::NoRecordId)
}

impl From<UnlaunchedReason> for UnlinkedReason {
    fn from(reason: UnlaunchedReason) -> Self {
        match reason {
            UnlaunchedReason::NoLaunches => Self::NoLaunches,
            UnlaunchedReason::LaunchedBefore => Self::LaunchedBefore,
            UnlaunchedReason::LaunchMissing => Self::LaunchMissing,
            UnlaunchedReason::NoCorrelation => Self::NoCorrelation,
        }
    }
}
