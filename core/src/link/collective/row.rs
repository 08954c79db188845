//! A collective, a wait for one, and all of a trace.

use std::sync::Arc;

use super::call::is_run_name;
use super::facts::CollectiveFacts;
use crate::link::linked_trace::LinkedTrace;
use crate::trace::collective::CollectivePattern;
use crate::trace::group::{GroupRanks, ProcessGroups};

/// A communication. Rows are those of the tables of events and nodes.
#[derive(Debug, Clone, Default)]
pub struct Collective {
    /// The requesting host event: its record, or else an event around or inside it.
    pub event: Option<u32>,
    /// The node of that call.
    pub node: Option<u32>,
    /// The outermost node of the call, which takes and gives its tensors.
    pub outer_node: Option<u32>,
    /// The host event that it was itself, where its backend works on the host (`gloo:all_reduce`).
    pub run: Option<u32>,
    /// Its further runs, where the backend needs several (`reduce_scatter` of gloo).
    pub more_runs: Vec<u32>,
    /// The device events that it was.
    pub device_events: Vec<u32>,
    /// Its name, one for all spellings; a record's own where it is unknown.
    pub name: Option<String>,
    /// Its communication pattern.
    pub pattern: Option<CollectivePattern>,
    /// Facts from the files: node first, then host event, then device event.
    pub facts: CollectiveFacts,
    /// Its group among the process groups.
    pub group: Option<u32>,
    /// The ranks of that group, where they are known.
    pub ranks: Option<Arc<GroupRanks>>,
    /// The place of this rank in the group.
    pub place: Option<i64>,
    /// The rank that sends to all or receives from all.
    pub root_rank: Option<i64>,
    /// The rank that sends, of two.
    pub src_rank: Option<i64>,
    /// The rank that receives, of two.
    pub dst_rank: Option<i64>,
    /// Its wait among the waits.
    pub wait: Option<u32>,
    /// Whether it is of one rank alone, which is no communication between ranks.
    pub is_local: bool,
    /// Whether its call raised an error, so that it never ran.
    pub is_failed: bool,
    /// The first launch of work inside of its call on the host.
    pub launch: Option<u32>,
    /// Whether its operator has several records, and launched work outside of them.
    pub(super) is_shared: bool,
}

/// Why no time is known of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UntimedReason {
    /// Only the Execution Trace has it.
    NodeAlone,
    /// Its operator has several records, and its work may be of any of them.
    SeveralRecords,
    /// The host launched nothing in its call.
    NothingLaunched,
    /// The host launched work, which is not in the file.
    NoDeviceWork,
}

impl UntimedReason {
    /// The reason in a trace: where the file ends early, launches are missing as well.
    pub(crate) fn of(self, linked: &LinkedTrace) -> Self {
        if self == Self::NothingLaunched && linked.lost_work().is_cut() { Self::NoDeviceWork } else { self }
    }

    /// The meaning in words.
    pub fn message(self) -> &'static str {
        match self {
            Self::NodeAlone => "only the Execution Trace has it",
            Self::SeveralRecords => "several records in one call: its work may be of any",
            Self::NothingLaunched => "its call launched nothing",
            Self::NoDeviceWork => "its work is not in the file",
        }
    }
}

impl Collective {
    /// The host events that it was itself.
    pub fn runs(&self) -> impl Iterator<Item = u32> + '_ {
        self.run.iter().chain(&self.more_runs).copied()
    }

    /// Whether it is known from a thread of the backend alone, which obeys an operator.
    pub(crate) fn is_run_alone(&self, linked: &LinkedTrace) -> bool {
        let name = |node: u32| linked.trace.strings.text(linked.trace.nodes[node as usize].name);
        self.node.map(name).map_or(self.event.is_none() && self.run.is_some(), is_run_name)
    }

    /// Why its time is not known; `None` where it is.
    pub fn untimed_reason(&self) -> Option<UntimedReason> {
        let is_timed = !self.device_events.is_empty() || self.run.is_some();
        let reason = match self.event {
            None => UntimedReason::NodeAlone,
            Some(_) if self.is_shared => UntimedReason::SeveralRecords,
            Some(_) if self.launch.is_some() => UntimedReason::NoDeviceWork,
            Some(_) => UntimedReason::NothingLaunched,
        };
        Some(reason).filter(|_| !is_timed)
    }
}

/// All communications of a trace, and the host's waits for them.
#[derive(Debug, Clone, Default)]
pub struct Collectives {
    /// Communications by the start of the call; those that only the Execution Trace knows, by their
    /// nodes.
    pub rows: Vec<Collective>,
    /// Waits, in the same order.
    pub waits: Vec<CollectiveWait>,
    /// The process groups, by their recorded names.
    pub groups: ProcessGroups,
    /// The rank whose trace it is, where a file tells it.
    pub rank: Option<i64>,
}

/// A wait of the host for a communication.
#[derive(Debug, Clone, Default)]
pub struct CollectiveWait {
    /// The call that waits.
    pub call: Collective,
    /// Index of the awaited collective.
    pub collective: Option<u32>,
}
