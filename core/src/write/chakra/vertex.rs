//! Lists the nodes of the Chakra trace in order of time, which every dependency follows.

use std::cmp::Reverse;

use super::et_plus_keys::EtPlusKeys;
use crate::column::OptionalColumn;
use crate::id::TrackId;
use crate::link::LinkedTrace;
use crate::time::{Dur, Ts};
use crate::trace::kind::EventKind;

/// A node of the Execution Trace, or an event of a device.
#[derive(Debug, Clone, Copy)]
pub(super) enum VertexOrigin {
    /// Row of the node.
    Node(u32),
    /// Row of the event.
    Event(u32),
}

/// A sequence of vertices: thread or stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum VertexRunner {
    /// A thread or a stream of the Kineto trace.
    Track(TrackId),
    /// A thread by the number that the Execution Trace gives it.
    Thread(Option<u64>),
    /// A stream, in an Execution Trace that was linked before.
    Stream(Option<i64>),
}

/// The source of a node of the Chakra trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChakraVertex {
    pub(super) origin: VertexOrigin,
    /// Its type, if known; always known for device events.
    pub(super) kind: Option<EventKind>,
    pub(super) is_on_device: bool,
    /// Row of the node that enqueued it, of a device event.
    pub(super) host: Option<u32>,
    pub(super) runner: VertexRunner,
    /// When it started and for how long it ran, where that was measured.
    pub(super) measured: Option<(Ts, Dur)>,
    /// Its time in the order: its start, or that of the previous vertex; never before its parent.
    pub(super) time: Option<Ts>,
}

impl ChakraVertex {
    /// When it was over, where that was measured.
    pub(super) fn end(&self) -> Option<Ts> {
        self.measured.map(|(start, dur)| start.after(dur))
    }
}

/// All vertices in their order, and where rows are among them.
#[derive(Debug)]
pub(super) struct ChakraVertices {
    pub(super) all: Vec<ChakraVertex>,
    /// Place of each node.
    pub(super) of_node: OptionalColumn,
    /// Place of each device event.
    pub(super) of_event: OptionalColumn,
    /// Device events that nothing of the Execution Trace enqueued and that ran before or after it:
    /// left out.
    pub(super) outside: Vec<u32>,
}

impl ChakraVertices {
    pub(super) fn of(linked: &LinkedTrace) -> Self {
        let mut all = nodes(linked);
        let (mut devices, outside) = device_events(linked, &all);
        all.append(&mut devices);
        let first = all.iter().find_map(|vertex| vertex.time);
        all.iter_mut().for_each(|vertex| vertex.time = vertex.time.or(first));
        // Device work comes after host work of the same start; otherwise the sort keeps the order.
        all.sort_by_key(|vertex| (vertex.time, vertex.is_on_device));
        let mut of_node = OptionalColumn::empty(linked.trace.nodes.len());
        let mut of_event = OptionalColumn::empty(linked.trace.events.len());
        for (place, vertex) in all.iter().enumerate() {
            match vertex.origin {
                VertexOrigin::Node(row) => of_node.set(row as usize, place as u32),
                VertexOrigin::Event(row) => of_event.set(row as usize, place as u32),
            }
        }
        Self { all, of_node, of_event, outside }
    }

    /// The vertex of a node.
    pub(super) fn node(&self, row: u32) -> Option<u32> {
        self.of_node.get(row as usize)
    }
}

/// The nodes by their ids, which were given as they began.
fn nodes(linked: &LinkedTrace) -> Vec<ChakraVertex> {
    let (trace, record) = (&linked.trace, &linked.links.nodes);
    let mut rows: Vec<u32> = (0..trace.nodes.len() as u32).collect();
    rows.sort_by_key(|row| trace.nodes[*row as usize].id);
    let mut runners: Vec<Option<VertexRunner>> = vec![None; rows.len()];
    let mut times: Vec<Option<Ts>> = vec![None; rows.len()];
    let (mut all, mut now) = (Vec::with_capacity(rows.len()), None);
    for row in rows {
        let at = row as usize;
        let (node, parent, event) = (&trace.nodes[at], record.parent_of_node.get(at), record.event_of_node.get(at));
        let plus = EtPlusKeys::of(node, &trace.strings);
        let of_event = |event: u32| (trace.events.start.at(event as usize), trace.events.dur.at(event as usize));
        let measured = event.map(of_event).or_else(|| plus.time());
        let is_on_device = plus.device_kind().is_some();
        let kind = plus.device_kind().or_else(|| Some(trace.events.kind[event? as usize]));
        let inherited = || {
            let parent = parent.filter(|parent| trace.nodes[*parent as usize].thread == node.thread)?;
            runners[parent as usize]
        };
        let runner = match event {
            _ if is_on_device => VertexRunner::Stream(plus.stream),
            Some(event) => VertexRunner::Track(trace.events.track.at(event as usize)),
            None => inherited().unwrap_or(VertexRunner::Thread(node.thread)),
        };
        let start = measured.map(|(start, _)| start);
        let time = if is_on_device {
            start.max(parent.and_then(|parent| times[parent as usize]))
        } else {
            now = now.max(start);
            now
        };
        (runners[at], times[at]) = (Some(runner), time);
        let host = parent.filter(|_| is_on_device);
        all.push(ChakraVertex { origin: VertexOrigin::Node(row), kind, is_on_device, host, runner, measured, time });
    }
    all
}

/// Device events by their starts: those that the nodes enqueued, and those of an unknown launch
/// that ran meanwhile. The others are given by their rows.
fn device_events(linked: &LinkedTrace, nodes: &[ChakraVertex]) -> (Vec<ChakraVertex>, Vec<u32>) {
    let (trace, events) = (&linked.trace, &linked.trace.events);
    let node_around = nodes_around(linked);
    let mut times = vec![None; nodes.len()];
    for vertex in nodes {
        if let VertexOrigin::Node(row) = vertex.origin {
            times[row as usize] = vertex.time;
        }
    }
    let is_work = |row: &usize| events.kind[*row].is_device_work() && trace.is_on_device(*row);
    let vertex = |row: usize| {
        let host = linked.links.operator.get(row).and_then(|operator| node_around.get(operator as usize));
        let (start, dur) = (events.start.at(row), events.dur.at(row));
        ChakraVertex {
            origin: VertexOrigin::Event(row as u32),
            kind: Some(events.kind[row]),
            is_on_device: true,
            host,
            runner: VertexRunner::Track(events.track.at(row)),
            measured: Some((start, dur)),
            time: Some(start).max(host.and_then(|host| times[host as usize])),
        }
    };
    let found: Vec<_> = (0..events.len()).filter(is_work).map(vertex).collect();
    let known = || nodes.iter().chain(found.iter().filter(|vertex| vertex.host.is_some()));
    let first = known().filter_map(|vertex| vertex.measured).map(|(start, _)| start).min();
    let last = known().filter_map(ChakraVertex::end).max();
    let is_meanwhile = |vertex: &ChakraVertex| {
        let start = vertex.measured.map(|(start, _)| start);
        start >= first && start <= last && first.is_some()
    };
    let (mut inside, outside): (Vec<_>, Vec<_>) =
        found.iter().copied().partition(|vertex| vertex.host.is_some() || is_meanwhile(vertex));
    inside.sort_by_key(|vertex| (vertex.time, vertex.measured.map(|(_, dur)| Reverse(dur))));
    let row = |vertex: &ChakraVertex| if let VertexOrigin::Event(row) = vertex.origin { Some(row) } else { None };
    (inside, outside.iter().filter_map(row).collect())
}

/// The node of each host event, or of the innermost event around it that has one.
fn nodes_around(linked: &LinkedTrace) -> OptionalColumn {
    let (record, nesting) = (&linked.links.nodes, &linked.links.nesting);
    let mut around = OptionalColumn::empty(linked.trace.events.len());
    // Parents come before their children in this order.
    for row in &nesting.order {
        let row = *row as usize;
        let parent = || around.get(nesting.parent.get(row)? as usize);
        if let Some(node) = record.node_of_event.get(row).or_else(parent) {
            around.set(row, node);
        }
    }
    around
}
