//! The streams' part of the graph: what each did one after another, and what held each work back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{Builder, PathEdge, PathKind, PathNode, Turn};
use super::host::Places;
use super::wait::Waits;
use crate::analyze::idle::{streams, work};
use crate::analyze::selection::Selection;
use crate::id::TrackId;
use crate::time::Ts;

/// Adds all streams, each by itself, then what waits for them.
pub(super) fn add_device(selection: &Selection<'_>, waits: &Waits, builder: &mut Builder, places: &mut Places) {
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

fn add_work(selection: &Selection<'_>, row: usize, builder: &mut Builder, places: &mut Places) {
    let (time, event) = (selection.time(row), row as u32);
    let end_turn = if time.start < time.end { Turn::DeviceEnd } else { Turn::DeviceStart };
    let source = builder.node(PathNode { event, is_start: true, time: time.start }, Turn::DeviceStart);
    let target = builder.node(PathNode { event, is_start: false, time: time.end }, end_turn);
    let weight_ns = time.dur().0.max(0);
    builder.edge(PathEdge { source, target, weight_ns, kind: PathKind::Kernel, event });
    places.starts.set(row, source);
    places.ends.set(row, target);
}

/// What may hold work back: its launch, work before it on the stream, work of another that it waits for. What came last
/// did; the time from then on is its edge's. The others are an order that takes no time.
fn hold_back(selection: &Selection<'_>, track: TrackId, waits: &Waits, builder: &mut Builder, places: &Places) {
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
        let enqueued = launch.map(|launch| events.start[launch]);
        let launch = launch.and_then(|launch| places.starts.get(launch));
        let mut held = Held { start, event: row as u32, enqueued, launch, last: None, others: Vec::new() };
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

/// What held one work back.
struct Held {
    start: u32,
    event: u32,
    /// When it was enqueued, where that is known.
    enqueued: Option<Ts>,
    /// The start of its launch, where that is looked at.
    launch: Option<u32>,
    /// What came last, with how it held the work back.
    last: Option<(u32, PathKind)>,
    others: Vec<u32>,
}

impl Held {
    fn by(&mut self, builder: &Builder, node: u32, kind: PathKind) {
        if !builder.is_before(node, self.start) {
            return;
        }
        if self.last.is_none_or(|(last, _)| builder.time(node) > builder.time(last)) {
            self.others.extend(self.last.replace((node, kind)).map(|(last, _)| last));
        } else {
            self.others.push(node);
        }
    }

    fn add(mut self, builder: &mut Builder) {
        let launch = self.launch.filter(|launch| builder.time(*launch) <= builder.time(self.start));
        let is_after = |enqueued: Ts| self.last.is_none_or(|(last, _)| enqueued > builder.time(last));
        let (mut kept, mut others) = (self.last, std::mem::take(&mut self.others));
        if self.enqueued.is_none_or(is_after) {
            // The launch came last. Where it is not looked at, or is unknown, so is what held the work back.
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

/// From work to the end of a call that waited for it: what the call took from the end of the last work on.
fn wake(call: u32, work: u32, waits: &Waits, builder: &mut Builder, places: &Places) {
    let (call_at, work_at) = (call as usize, work as usize);
    let (Some(start), Some(target)) = (places.starts.get(call_at), places.ends.get(call_at)) else { return };
    let (Some(source), Some(until)) = (places.ends.get(work_at), waits.until(call)) else { return };
    let is_device = builder.turn(start) == Turn::DeviceStart;
    if is_device {
        return;
    }
    let is_late = until > builder.time(start) && until <= builder.time(target);
    let weight_ns = if is_late { builder.time(target).since(until).0 } else { 0 };
    builder.edge(PathEdge { source, target, weight_ns, kind: PathKind::Sync, event: call });
}
