//! Reasons for missing links.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::id::StrId;
use crate::link::{LinkMethod, LinkedTrace, is_call, node_order};
use crate::trace::kind::EventKind;
use crate::trace::node::NodeKind;

/// Why something is not linked: the first of these that holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnlinkedReason {
    /// There is no second file, or nothing in it that could be linked.
    NoPartner,
    /// The two files fit too little, or their ids name different calls.
    OtherRun,
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
    /// A launch that is inside of no operator.
    OperatorMissing,
}

impl UnlinkedReason {
    /// Its meaning in words.
    pub fn message(self) -> &'static str {
        match self {
            Self::NoPartner => "no second file, or nothing in it can be linked",
            Self::OtherRun => "the two files seem to come from different runs",
            Self::OneSided => "only one of the files has annotations of this name",
            Self::NameAbsent => "only one of the files has operators of this name",
            Self::ThreadAbsent => "the other file lacks the thread",
            Self::NoRecordId => "no record id",
            Self::OutsideWindow => "outside the time range of the other file",
            Self::ParentMissing => "the node's parent is not in the file",
            Self::Unmatched => "no match, or several possible matches, in the other file",
            Self::LaunchedBefore => "launched before the recording began",
            Self::NoCorrelation => "no correlation id",
            Self::NoLaunches => "the file has no launches of its process (CUDA calls were not traced)",
            Self::LaunchMissing => "its launch is not in the file",
            Self::OperatorMissing => "its launch is outside all operators",
        }
    }
}

/// The calls of one file, which rows of the other may lack.
pub(super) struct FileSide {
    names: FxHashSet<StrId>,
    /// By thread, the first and the last that is linked.
    linked: FxHashMap<Option<u64>, (i128, i128)>,
    call: fn(&LinkedTrace, usize) -> ReportedCall,
}

/// The facts of a call that both files record.
struct ReportedCall {
    name: StrId,
    thread: Option<u64>,
    /// Its place in the order of the thread.
    place: i128,
    is_annotation: bool,
    is_linked: bool,
    /// A defect that prevents a link at any position.
    defect: Option<UnlinkedReason>,
}

impl FileSide {
    /// The Execution Trace.
    pub(super) fn of_nodes(linked: &LinkedTrace) -> Self {
        let is_root = |row: &usize| {
            let node = &linked.trace.nodes[*row];
            node.kind(linked.trace.strings.text(node.name)) == NodeKind::Root
        };
        Self::new(linked, (0..linked.trace.nodes.len()).filter(|row| !is_root(row)), node_call)
    }

    /// The Kineto trace.
    pub(super) fn of_events(linked: &LinkedTrace) -> Self {
        Self::new(linked, (0..linked.trace.events.len()).filter(|row| is_call(&linked.trace, *row)), event_call)
    }

    fn new(
        linked: &LinkedTrace,
        rows: impl Iterator<Item = usize>,
        call: fn(&LinkedTrace, usize) -> ReportedCall,
    ) -> Self {
        let mut side = Self { names: FxHashSet::default(), linked: FxHashMap::default(), call };
        for call in rows.map(|row| call(linked, row)) {
            side.names.insert(call.name);
            if call.is_linked {
                let range = side.linked.entry(call.thread).or_insert((call.place, call.place));
                *range = (range.0.min(call.place), range.1.max(call.place));
            }
        }
        side
    }

    /// Why a row of this side is not linked with the other.
    pub(super) fn reason(&self, linked: &LinkedTrace, row: usize, other: &Self) -> UnlinkedReason {
        let call = (self.call)(linked, row);
        if linked.links.nodes.how.is_none() {
            return if other.names.is_empty() { UnlinkedReason::NoPartner } else { UnlinkedReason::OtherRun };
        }
        if !other.names.contains(&call.name) {
            return if call.is_annotation { UnlinkedReason::OneSided } else { UnlinkedReason::NameAbsent };
        }
        let Some((first, last)) = self.linked.get(&call.thread) else { return UnlinkedReason::ThreadAbsent };
        let is_inside = (first..=last).contains(&&call.place);
        call.defect.unwrap_or(if is_inside { UnlinkedReason::Unmatched } else { UnlinkedReason::OutsideWindow })
    }
}

fn node_call(linked: &LinkedTrace, row: usize) -> ReportedCall {
    let (node, links) = (&linked.trace.nodes[row], &linked.links.nodes);
    let is_orphan = node.parent.is_some_and(|id| id != node.id) && links.parent_of_node.get(row).is_none();
    ReportedCall {
        name: node.name,
        thread: node.thread,
        place: i128::from(node_order(node)),
        is_annotation: node.kind(linked.trace.strings.text(node.name)) == NodeKind::Annotation,
        is_linked: links.event_of_node.get(row).is_some(),
        defect: no_record_id(linked, node.record_id != 0).or(is_orphan.then_some(UnlinkedReason::ParentMissing)),
    }
}

fn event_call(linked: &LinkedTrace, row: usize) -> ReportedCall {
    let events = &linked.trace.events;
    ReportedCall {
        name: events.name[row],
        thread: Some(u64::from(events.track[row].0)),
        place: i128::from(events.start[row].0),
        is_annotation: events.kind[row] == EventKind::Annotation,
        is_linked: linked.links.nodes.node_of_event.get(row).is_some(),
        defect: no_record_id(linked, linked.trace.record_id(row).is_some()),
    }
}

/// The lack of an id, where links go by ids.
fn no_record_id(linked: &LinkedTrace, has_id: bool) -> Option<UnlinkedReason> {
    (linked.links.nodes.how == Some(LinkMethod::RecordId) && !has_id).then_some(UnlinkedReason::NoRecordId)
}
