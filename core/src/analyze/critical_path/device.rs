//! Adds device work to the graph: the order on each stream, and what delayed each item.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{NodePriority, PathEdge, PathGraphBuilder, PathKind, PathNode};
use super::host::EventNodes;
use super::wait::WorkWaits;
use crate::analyze::idle::streams;
use crate::analyze::idle::work;
use crate::analyze::selection::Selection;
use crate::id::TrackId;
use crate::time::Ts;

/// Adds all streams one by one, then the waits for them.
pub(super) fn add_device(
    selection: &Selection<'_>,
    waits: &WorkWaits,
    builder: &mut PathGraphBuilder,
    places: &mut EventNodes,
) {
    let tracks = streams(selection);
    for (track, _) in &tracks {
        for row in work(selection, *track) {
            add_work(selection, row, builder, places);
        }
    }
    for (track, _) in &tracks {
        hold_back(selection, *track, waits, builder, places);
    }
    for (target, source) in waits.pairs() {
        wake(*target, *source, waits, builder, places);
    }
}

fn add_work(selection: &Selection<'_>, row: usize, builder: &mut PathGraphBuilder, places: &mut EventNodes) {
    let (time, event) = (selection.time(row), row as u32);
    let end_turn = if time.start < time.end { NodePriority::DeviceEnd } else { NodePriority::DeviceStart };
    let source = builder.node(PathNode { event, is_start: true, time: time.start }, NodePriority::DeviceStart);
    let target = builder.node(PathNode { event, is_start: false, time: time.end }, end_turn);
    let weight_ns = time.dur().0.max(0);
    builder.edge(PathEdge { source, target, weight_ns, kind: PathKind::Kernel, event });
    places.starts.set(row, source);
    places.ends.set(row, target);
}

/// Work may depend on its launch, on earlier work of its stream, and on work of another stream. The
/// latest of these delays it, and the time from there belongs to that edge. The others only order
/// the nodes and take no time.
fn hold_back(
    selection: &Selection<'_>,
    track: TrackId,
    waits: &WorkWaits,
    builder: &mut PathGraphBuilder,
    places: &EventNodes,
) {
    let (events, links) = (&selection.linked.trace.events, &selection.linked.links);
    let mut running: BinaryHeap<Reverse<(Ts, u32)>> = BinaryHeap::new();
    let mut before = None;
    for row in work(selection, track) {
        let (Some(start), Some(end)) = (places.starts.get(row), places.ends.get(row)) else { continue };
        while let Some(Reverse((ended, node))) = running.peek().copied().filter(|next| next.0.0 <= builder.time(start))
        {
            running.pop();
            before = Some((ended, node));
        }
        let launch = links.launch.get(row).map(|launch| launch as usize);
        let enqueued = launch.map(|launch| events.start.at(launch));
        let launch = launch.and_then(|launch| places.starts.get(launch));
        let mut held = DelayedWork { start, event: row as u32, enqueued, launch, last: None, others: Vec::new() };
        if let Some((_, node)) = before {
            held.by(builder, node, PathKind::KernelKernel);
        }
        for source in waits.sources(row as u32) {
            if let Some(node) = places.ends.get(source as usize) {
                held.by(builder, node, PathKind::Sync);
            }
        }
        held.add(builder);
        running.push(Reverse((builder.time(end), end)));
    }
}

/// The cause of a delay of device work.
struct DelayedWork {
    start: u32,
    event: u32,
    /// When it was enqueued, where that is known.
    enqueued: Option<Ts>,
    /// The start of its launch, if selected.
    launch: Option<u32>,
    /// The latest dependency, with its kind.
    last: Option<(u32, PathKind)>,
    others: Vec<u32>,
}

impl DelayedWork {
    fn by(&mut self, builder: &PathGraphBuilder, node: u32, kind: PathKind) {
        if !builder.is_before(node, self.start) {
            return;
        }
        if self.last.is_none_or(|(last, _)| builder.time(node) > builder.time(last)) {
            self.others.extend(self.last.replace((node, kind)).map(|(last, _)| last));
        } else {
            self.others.push(node);
        }
    }

    fn add(mut self, builder: &mut PathGraphBuilder) {
        let launch = self.launch.filter(|launch| builder.time(*launch) <= builder.time(self.start));
        let is_after = |enqueued: Ts| self.last.is_none_or(|(last, _)| enqueued > builder.time(last));
        let (mut kept, mut others) = (self.last, std::mem::take(&mut self.others));
        if self.enqueued.is_none_or(is_after) {
            // The launch came last. If the launch is outside the selection or unknown, the cause of
            // the delay is unknown.
            others.extend(self.last.map(|(last, _)| last));
            kept = launch.map(|launch| (launch, PathKind::Launch));
        } else {
            others.extend(launch);
        }
        if let Some((source, kind)) = kept {
            let weight_ns = builder.gap_ns(source, self.start);
            builder.edge(PathEdge { source, target: self.start, weight_ns, kind, event: self.event });
        }
        others.into_iter().for_each(|node| builder.order(node, self.start));
    }
}

/// From the work to the end of a call that waited for it: the time that the call took after the
/// work ended.
fn wake(call: u32, work: u32, waits: &WorkWaits, builder: &mut PathGraphBuilder, places: &EventNodes) {
    let (call_at, work_at) = (call as usize, work as usize);
    let (Some(start), Some(target)) = (places.starts.get(call_at), places.ends.get(call_at)) else { return };
    let (Some(source), Some(until)) = (places.ends.get(work_at), waits.until(call)) else { return };
    let is_device = builder.turn(start) == NodePriority::DeviceStart;
    if is_device {
        return;
    }
    let is_late = until > builder.time(start) && until <= builder.time(target);
    let weight_ns = if is_late { builder.time(target).since(until).0 } else { 0 };
    builder.edge(PathEdge { source, target, weight_ns, kind: PathKind::Sync, event: call });
}
