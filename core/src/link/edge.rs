//! An edge: one link of any kind, in one numbering for tables and screens.

use super::forward_backward::ForwardBackward;
use super::link_method::LinkMethod;
use super::owner::NamedOwner;

/// The meaning of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// From a launch to the device event it enqueued.
    Launch,
    /// From a forward operator to the backward operator it caused.
    ForwardBackward,
    /// From a host event to the Execution Trace's node of the same call.
    Node,
    /// From an operator to a device event that names it, where the launch between them is unknown.
    External,
    /// From a device event to its waiter: a host call, or the next work of another stream.
    Sync,
}

impl EdgeKind {
    /// The name used in tables and requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::ForwardBackward => "forward_backward",
            Self::Node => "node",
            Self::External => "external",
            Self::Sync => "sync",
        }
    }
}

/// A directed link between two rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Its kind.
    pub kind: EdgeKind,
    /// How it was found.
    pub how: LinkMethod,
    /// How sure it is, from 0 to 1.
    pub confidence: f32,
    /// Row of the event it starts at.
    pub source: u32,
    /// Row of the event it ends at; for [`EdgeKind::Node`], of the node.
    pub target: u32,
}

impl Edge {
    pub(super) fn launch(source: u32, target: u32, how: LinkMethod) -> Self {
        Self::between(EdgeKind::Launch, how, source, target)
    }

    pub(super) fn forward_backward(pair: ForwardBackward) -> Self {
        Self::between(EdgeKind::ForwardBackward, pair.how, pair.forward, pair.backward)
    }

    pub(super) fn named(named: NamedOwner) -> Self {
        Self::between(EdgeKind::External, named.how, named.operator, named.device)
    }

    pub(super) fn between(kind: EdgeKind, how: LinkMethod, source: u32, target: u32) -> Self {
        Self { kind, how, confidence: how.confidence(), source, target }
    }

    pub(super) fn node(source: u32, target: u32, how: LinkMethod, confidence: f32) -> Self {
        Self { kind: EdgeKind::Node, how, confidence, source, target }
    }
}
