//! Joins host processes that are layers of one program, as other tools than Kineto write them.

use rustc_hash::FxHashMap;

use super::linked_trace::LinkedTrace;
use crate::id::StrId;
use crate::trace::kind::EventKind;

/// Processes that arrows tie together: the program, the layers of its runtime, and its device.
///
/// Files of Kineto have one process per program and no such arrows: each stands for itself.
#[derive(Debug, Default)]
pub(super) struct HostLayers {
    above: FxHashMap<StrId, StrId>,
    /// The process that names each program, by the root of its layers.
    names: FxHashMap<StrId, StrId>,
}

impl HostLayers {
    pub(super) fn of(linked: &LinkedTrace) -> Self {
        let trace = &linked.trace;
        let mut layers = Self::default();
        for (from, to) in linked.links.launched.arrows().ends() {
            layers.join(trace.process_of(from as usize), trace.process_of(to as usize));
        }
        if layers.above.is_empty() {
            return layers;
        }
        for kind in [EventKind::Operator, EventKind::Launch] {
            let rows = trace.events.rows_of(|other| other == kind);
            for process in rows.map(|row| trace.process_of(row)) {
                let root = layers.root(process);
                layers.names.entry(root).or_insert(process);
            }
        }
        layers
    }

    fn root(&self, process: StrId) -> StrId {
        let mut root = process;
        while let Some(above) = self.above.get(&root) {
            root = *above;
        }
        root
    }

    fn join(&mut self, one: StrId, other: StrId) {
        let roots = (self.root(one), self.root(other));
        if roots.0 != roots.1 {
            self.above.insert(roots.0.max(roots.1), roots.0.min(roots.1));
        }
    }

    /// The process that stands for the program of a process: that of its operators, else that of
    /// its calls.
    pub(super) fn program(&self, process: StrId) -> StrId {
        let root = self.root(process);
        self.names.get(&root).copied().unwrap_or(root)
    }
}
