//! The work that a call enqueues for sure.

use crate::vendor;

/// Device work that runs for each call of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EnqueuedWork {
    Kernel,
    Graph,
    Copy,
}

impl EnqueuedWork {
    pub(crate) fn of(call: &str) -> Option<Self> {
        match () {
            () if vendor::launches_graph(call) => vendor::enqueues(call).then_some(Self::Graph),
            () if vendor::copies(call) => Some(Self::Copy),
            () if vendor::launches_one_kernel(call) => Some(Self::Kernel),
            () => None,
        }
    }
}
