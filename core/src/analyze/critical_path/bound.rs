//! What bounds a step of the critical path.

use serde::{Deserialize, Serialize};

use super::graph::{PathEdge, PathKind};
use crate::analyze::class::{Class, classes};
use crate::analyze::priority::is_loader;
use crate::link::LinkedTrace;

/// What would have to be faster for a step to be faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Bound {
    /// A thread's own work.
    Host,
    /// A kernel that computes.
    Compute,
    /// A kernel that communicates.
    Communication,
    /// A copy or a fill.
    Copy,
    /// The time that a launch takes to reach the device.
    Launch,
    /// What lies between the end of work and what waited for it.
    Wait,
    /// Loading data on the host.
    DataLoading,
}

impl Bound {
    /// All, in the order of their codes.
    pub const ALL: [Self; 7] =
        [Self::Host, Self::Compute, Self::Communication, Self::Copy, Self::Launch, Self::Wait, Self::DataLoading];

    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Compute => "compute",
            Self::Communication => "communication",
            Self::Copy => "copy",
            Self::Launch => "launch",
            Self::Wait => "wait",
            Self::DataLoading => "data_loading",
        }
    }
}

/// What bounds steps of a trace.
pub(super) struct Bounds<'a> {
    linked: &'a LinkedTrace,
    classes: Vec<Class>,
}

impl<'a> Bounds<'a> {
    pub(super) fn of(linked: &'a LinkedTrace) -> Self {
        Self { linked, classes: classes(linked) }
    }

    pub(super) fn bound(&self, edge: &PathEdge) -> Bound {
        match edge.kind {
            PathKind::Operator if is_loader(self.linked.trace.event_name(edge.event as usize)) => Bound::DataLoading,
            PathKind::Operator | PathKind::Between => Bound::Host,
            PathKind::Launch => Bound::Launch,
            PathKind::Dependency | PathKind::KernelKernel | PathKind::Sync => Bound::Wait,
            PathKind::Kernel => match self.classes[edge.event as usize] {
                Class::Communication => Bound::Communication,
                Class::Memory => Bound::Copy,
                Class::Computation | Class::Other => Bound::Compute,
            },
        }
    }
}
