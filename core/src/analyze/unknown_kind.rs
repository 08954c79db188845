//! Finds events of no known kind that may be the work of an accelerator.

use crate::trace::Trace;

/// Events of no known kind that last. In a trace with device work, only those that say that they
/// ran on a device: any others are events of the host.
pub(super) fn of_unknown_kind(trace: &Trace) -> Vec<u32> {
    if trace.events.kind.iter().any(|kind| kind.is_device_work()) {
        return trace.unknown_work().into_iter().map(|(row, _)| row).collect();
    }
    trace.of_unknown_kind().map(|row| row as u32).collect()
}
