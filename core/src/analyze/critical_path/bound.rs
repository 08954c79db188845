//! Determines the resource that bounds a step of the critical path.

use serde::{Deserialize, Serialize};

use super::graph::{PathEdge, PathKind};
use crate::analyze::breakdown::is_loader;
use crate::analyze::class::{WorkClass, classes};
use crate::analyze::host_wait::host_waits;
use crate::link::LinkedTrace;

/// The resource that bounds a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PathBound {
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
    /// The gap between the end of work and its waiter, or a call that waits for a device.
    Wait,
    /// Loading data on the host.
    DataLoading,
}

impl PathBound {
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

/// Determines the bounds of steps in a trace.
pub(super) struct BoundFinder<'a> {
    linked: &'a LinkedTrace,
    classes: Vec<WorkClass>,
    is_wait: Vec<bool>,
}

impl<'a> BoundFinder<'a> {
    pub(super) fn of(linked: &'a LinkedTrace) -> Self {
        Self { linked, classes: classes(linked), is_wait: host_waits(linked) }
    }

    pub(super) fn bound(&self, edge: &PathEdge) -> PathBound {
        match edge.kind {
            PathKind::Operator if is_loader(self.linked.trace.event_name(edge.event as usize)) => {
                PathBound::DataLoading
            }
            PathKind::Operator if self.is_wait[edge.event as usize] => PathBound::Wait,
            PathKind::Operator | PathKind::Between => PathBound::Host,
            PathKind::Launch => PathBound::Launch,
            PathKind::Dependency | PathKind::KernelKernel | PathKind::Sync => PathBound::Wait,
            PathKind::Kernel => match self.classes[edge.event as usize] {
                WorkClass::Communication => PathBound::Communication,
                WorkClass::Memory => PathBound::Copy,
                WorkClass::Computation | WorkClass::Other => PathBound::Compute,
            },
        }
    }
}
