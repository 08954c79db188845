//! Device time of host events: each nanosecond of device work belongs to the operator that owns it, and to all that
//! the operator is inside of.

use super::Links;
use crate::time::add_ns;
use crate::trace::Trace;

/// Durations of device work (kernels, copies, fills), summed; a row an event, 0 for device events.
#[derive(Debug, Clone, Default)]
pub struct DeviceTime {
    /// Of the work that the event itself owns.
    pub self_ns: Vec<i64>,
    /// Of that work and the work of all events inside it.
    pub total_ns: Vec<i64>,
}

pub(super) fn attribute(trace: &Trace, links: &Links) -> DeviceTime {
    let (events, nesting) = (&trace.events, &links.nesting);
    let mut self_ns = vec![0_i64; events.len()];
    for row in 0..events.len() {
        if !events.kind[row].is_device_work() {
            continue;
        }
        if let Some(owner) = links.operator.get(row) {
            add_ns(&mut self_ns[owner as usize], events.dur[row].0);
        }
    }
    let mut total_ns = self_ns.clone();
    // Children come after their parents in this order.
    for row in nesting.order.iter().rev() {
        if let Some(parent) = nesting.parent.get(*row as usize) {
            let inside = total_ns[*row as usize];
            add_ns(&mut total_ns[parent as usize], inside);
        }
    }
    DeviceTime { self_ns, total_ns }
}
