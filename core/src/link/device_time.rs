//! Sums device time by host event: work counts for its operator and for all events around its
//! launch.

use super::links::Links;
use super::node::NodeLinks;
use crate::time::add_ns;
use crate::trace::Trace;

/// Durations of device work (kernels, copies, fills), summed; a row an event, 0 for device events.
#[derive(Debug, Clone, Default)]
pub struct DeviceTime {
    /// Of the work that the event itself owns.
    pub self_ns: Vec<i64>,
    /// Of the work launched inside it. For annotations see
    /// [`device_ns`](super::LinkedTrace::device_ns): they enclose by time.
    pub total_ns: Vec<i64>,
}

pub(super) fn attribute(trace: &Trace, links: &Links) -> DeviceTime {
    let (events, nesting) = (&trace.events, &links.nesting);
    let (mut self_ns, mut total_ns) = (vec![0_i64; events.len()], vec![0_i64; events.len()]);
    let track = |row: u32| events.track.at(row as usize);
    for row in events.device_work() {
        // The operator that captured the kernel of a graph did not run it.
        let owner = links.operator.get(row).filter(|_| !links.is_captured(trace, row));
        if let Some(owner) = owner {
            add_ns(&mut self_ns[owner as usize], events.dur.at(row).0);
        }
        let launch = links.launch.get(row);
        // A runtime with a track of its own launches outside the operator: both sides sum the work.
        let is_apart = |owner: &u32| launch.is_none_or(|launch| track(*owner) != track(launch));
        for host in launch.into_iter().chain(owner.filter(is_apart)) {
            add_ns(&mut total_ns[host as usize], events.dur.at(row).0);
        }
    }
    // Children come after their parents in this order.
    for row in nesting.order.iter().rev() {
        if let Some(parent) = nesting.parent.get(*row as usize) {
            let inside = total_ns[*row as usize];
            add_ns(&mut total_ns[parent as usize], inside);
        }
    }
    DeviceTime { self_ns, total_ns }
}

/// For each node the device time of its event with all that is inside; of a node without one, that
/// of the nodes inside it; `None` where neither is known.
pub(super) fn of_nodes(trace: &Trace, links: &NodeLinks, device_time: &DeviceTime) -> Vec<Option<i64>> {
    let num_nodes = trace.nodes.len();
    let event_of = |node: usize| links.event_of_node.get(node);
    let mut total_ns: Vec<_> =
        (0..num_nodes).map(|node| event_of(node).map(|event| device_time.total_ns[event as usize])).collect();
    let mut num_inside = vec![0_u32; num_nodes];
    (0..num_nodes).filter_map(|node| links.parent_of_node.get(node)).for_each(|node| num_inside[node as usize] += 1);
    // From the innermost outwards; nodes that are inside each other are never reached.
    let mut done: Vec<_> = (0..num_nodes).filter(|node| num_inside[*node] == 0).collect();
    while let Some(node) = done.pop() {
        let Some(parent) = links.parent_of_node.get(node).map(|parent| parent as usize) else { continue };
        if let (Some(inside), None) = (total_ns[node], event_of(parent)) {
            add_ns(total_ns[parent].get_or_insert(0), inside);
        }
        num_inside[parent] -= 1;
        if num_inside[parent] == 0 {
            done.push(parent);
        }
    }
    total_ns
}
