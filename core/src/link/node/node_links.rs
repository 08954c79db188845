//! The links between events and nodes, as columns.

use super::iteration_match::IterationMatch;
use super::recorded::RecordedTime;
use super::stand_in::StandIns;
use crate::column::OptionalColumn;
use crate::link::link_method::LinkMethod;

/// The node of each host event. One method links the whole trace: the first that fits.
#[derive(Debug, Clone, Default)]
pub struct NodeLinks {
    /// Row of the node of an event; a row an event.
    pub node_of_event: OptionalColumn,
    /// Nodes that stand for events: those of the same calls in the iteration in which the observer
    /// ran, where it did not run in all.
    pub stand_ins: StandIns,
    /// Row of the event of a node; a row a node.
    pub event_of_node: OptionalColumn,
    /// Row of the parent of a node; a row a node.
    pub parent_of_node: OptionalColumn,
    /// How the links were found; `None` when nothing is linked.
    pub how: Option<LinkMethod>,
    /// Confidence from 0 to 1. By ids: the share of common ids with equal names. By names: the
    /// `fit`, which is the share of events with a node times the share of nodes with an event.
    /// Without links: the value that was too low.
    ///
    /// Where one recording fits into the other in several places, `fit × (0.5 + 0.5 × min(1, (fit −
    /// next) / (0.1 × fit)))`: as much as the fit if the next best one is a tenth worse, half as
    /// much if it is as good, unless the iteration was asked for.
    pub confidence: f32,
    /// Where one recording fits into the other, when they are not of the same length; in their
    /// order, the linked one and the first thousand.
    pub windows: Vec<IterationMatch>,
    /// The time that both files recorded.
    pub recorded: RecordedTime,
    /// Rows of the operators that have no node although the Execution Trace has the calls around
    /// them; ascending.
    pub without_node: Vec<u32>,
    /// Rows of the nodes that have no event although the Kineto trace has the calls around them.
    pub without_event: Vec<u32>,
}

impl NodeLinks {
    /// The node of an event, or the one that stands for it, and how it was found.
    pub fn find(&self, event: usize) -> Option<(u32, LinkMethod)> {
        let own = self.node_of_event.get(event).zip(self.how);
        own.or_else(|| self.stand_ins.find(event))
    }
}
