//! Finds calls in which the host waits for a device.

use crate::link::LinkedTrace;
use crate::strings::TextCache;
use crate::trace::kind::EventKind;
use crate::vendor;

/// Whether an event is a call in which the host waits for a device: a synchronizing one, or one of
/// which a link tells it, such as a copy that outlasts its own work.
pub(super) fn host_waits(linked: &LinkedTrace) -> Vec<bool> {
    let (trace, kinds) = (&linked.trace, &linked.trace.events.kind);
    let mut is_wait = vec![false; kinds.len()];
    let mut names = TextCache::new(&trace.strings, vendor::synchronizes);
    for (row, is_wait) in is_wait.iter_mut().enumerate() {
        *is_wait = kinds[row] == EventKind::Launch && names.of(trace.events.name.at(row));
    }
    for target in linked.sync_edges().iter().map(|edge| edge.target as usize) {
        is_wait[target] |= kinds[target] == EventKind::Launch;
    }
    is_wait
}
